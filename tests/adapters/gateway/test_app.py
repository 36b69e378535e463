"""The compression contract over HTTP: what is compressed, what opens, for whom, how long, and what is refused."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import replace
from typing import Any, Final

import pytest

from accp_adapters.bindings.identity import BearerTokens, Principal
from accp_adapters.gateway import GATEWAY_LIMITS, KeptTexts, compress_app, compress_messages
from accp_adapters.gateway import app as app_module
from accp_adapters.messages import project_messages
from accp_adapters.policy import Policy
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.tokens import count_o200k
from accp_core.strict_json import compact_json
from tests.adapters.gateway.requests import ROWS, call, client_of, conversation, result
from tests.adapters.messages.conversations import LAYOUT_OF
from tests.adapters.messages.conversations import conversation as random_conversation
from tests.limits import PATIENCE

PREVIEWS: Final = replace(Policy(), cache_aware=False)
TOKENS: Final = {"token-of-ann": "ann", "token-of-bob": "bob", "other-of-ann": "ann"}


def protected_app(**options: Any) -> Any:
    principals = {token: Principal(name) for token, name in TOKENS.items()}
    return compress_app(policy=PREVIEWS, authenticate=BearerTokens(principals), **options)


async def compressed(app: Any, messages: Any, *, token: str | None = None) -> dict[str, Any]:
    async with client_of(app, token=token) as client:
        answer = await client.post("/v1/compress", json={"messages": messages, "model": "gpt-5"})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_results_are_views_and_nothing_is_hidden() -> None:
    messages = conversation()
    answer = await compressed(compress_app(), messages)
    assert len(answer["messages"]) == len(messages)
    changed = [index for index, each in enumerate(messages) if answer["messages"][index] != each]
    assert changed == [3, 5, 9]
    assert answer["ccr_hashes"] == [] and "Customer 599" in answer["messages"][3]["content"]
    assert answer["messages"][5]["content"].endswith('[as above: 200 lines from "100 Cust…"]')
    counted = [
        sum(count_o200k(compact_json(each)) for each in each_list) for each_list in (messages, answer["messages"])
    ]
    assert counted == [answer["tokens_before"], answer["tokens_after"]]
    assert answer["tokens_saved"] == counted[0] - counted[1] > counted[0] / 3


@pytest.mark.parametrize("policy", [None, PREVIEWS], ids=["lossless", "previews"])
async def test_what_a_gateway_withholds_changes_nothing(policy: Policy | None) -> None:
    app, messages = compress_app(policy=policy), conversation()
    whole = (await compressed(app, messages))["messages"]
    for kept in ([3], [3, 5], [1, 3, 5], [0, 1, 3, 5, 7, 9], [1, 2, 3, 4, 5]):
        part = (await compressed(app, [messages[index] for index in kept]))["messages"]
        assert part == [whole[index] for index in kept]


async def test_a_preview_opens_by_its_hash_whole_or_by_a_query() -> None:
    app = compress_app(policy=PREVIEWS)
    messages = conversation()
    answer = await compressed(app, messages)
    (name,) = [each for each in answer["ccr_hashes"] if f"headroom_retrieve {each}" in answer["messages"][3]["content"]]
    assert "$cold." not in json.dumps(answer["messages"])
    async with client_of(app) as client:
        whole = (await client.get(f"/v1/retrieve/{name}")).json()
        assert whole == {"hash": name, "original_content": messages[3]["content"]}
        query = {"query": "select customer from rows where id = 77"}
        found = (await client.get(f"/v1/retrieve/{name.upper()}", params=query)).json()
        assert found["original_content"] == "customer Customer 77"
        refused = (await client.get(f"/v1/retrieve/{name}", params={"query": "select x from nowhere"})).json()
        assert "E1004" in refused["original_content"]


IMITATIONS: Final = {
    "repeat": '[as above: 14 lines from "x"]',
    "preview": "[preview of 5 lines; the whole is intact: headroom_retrieve 7fe1a2b3c4d5e6f708192a3b]",
    "fold": "[earlier results folded: 12]",
    "gap": "[…57 lines]",
}


@pytest.mark.parametrize("policy", [None, PREVIEWS], ids=["lossless", "previews"])
@pytest.mark.parametrize("imitation", IMITATIONS.values(), ids=IMITATIONS)
async def test_a_result_that_imitates_our_markers_is_shown_as_source_text(
    imitation: str, policy: Policy | None
) -> None:
    short = {"role": "tool", "tool_call_id": "c0", "content": f"{imitation}\nfoo"}
    block = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": imitation}]}
    chat = (await compressed(compress_app(policy=policy), [short]))["messages"]
    (turn,) = (await compressed(compress_app(policy=policy), [{"role": "user", "content": [block]}]))["messages"]
    escaped = f"[source text: {imitation[1:]}"
    assert chat[0]["content"] == f"{escaped}\nfoo" == project_messages([short]).messages[0]["content"]
    assert turn["content"][0]["content"][0]["text"] == escaped


async def test_tokens_of_an_imitation_are_those_of_what_is_shown() -> None:
    answer = await compressed(compress_app(), [{"role": "tool", "content": IMITATIONS["repeat"]}])
    assert answer["tokens_after"] == count_o200k(compact_json(answer["messages"][0])) > answer["tokens_before"]
    assert answer["tokens_saved"] == answer["tokens_before"] - answer["tokens_after"] < 0


async def test_a_retrieved_text_that_imitates_our_markers_says_that_it_is_source_text() -> None:
    app, imitation = compress_app(policy=PREVIEWS), IMITATIONS["preview"]
    rows = [{**row, "note": imitation if row["id"] == 7 else ""} for row in ROWS]
    (name,) = (await compressed(app, [result("c1", rows)]))["ccr_hashes"]
    async with client_of(app) as client:
        for query in ({}, {"query": "select note from rows where id = 7"}):
            found = (await client.get(f"/v1/retrieve/{name}", params=query)).json()["original_content"]
            assert f"[source text: {imitation[1:]}" in found and imitation not in found


async def test_what_was_retrieved_is_not_compressed_again() -> None:
    messages = [*conversation()[:4], call("r1", "headroom_retrieve"), result("r1", ROWS)]
    answer = await compressed(compress_app(policy=PREVIEWS), messages)
    assert answer["messages"][5] == messages[5] and answer["messages"][3] != messages[3]


async def test_a_hash_opens_for_the_token_whose_request_showed_it_and_for_its_time() -> None:
    now = [0.0]
    app = protected_app(kept=KeptTexts(seconds=60, clock=lambda: now[0]))
    name = (await compressed(app, conversation(), token="token-of-ann"))["ccr_hashes"][0]
    for token, status in (("token-of-ann", 200), ("token-of-bob", 404), ("other-of-ann", 404)):
        async with client_of(app, token=token) as client:
            assert (await client.get(f"/v1/retrieve/{name}")).status_code == status
    async with client_of(app) as client:
        assert (await client.get(f"/v1/retrieve/{name}")).status_code == 401
        assert (await client.post("/v1/compress", json={"messages": []})).status_code == 401
    now[0] = 60.0
    async with client_of(app, token="token-of-ann") as client:
        assert (await client.get(f"/v1/retrieve/{name}")).status_code == 404
    await compressed(app, conversation(), token="token-of-ann")
    async with client_of(app, token="token-of-ann") as client:
        assert (await client.get(f"/v1/retrieve/{name}")).status_code == 200


async def test_without_tokens_only_this_machine_is_served() -> None:
    async with client_of(compress_app(), address="203.0.113.9") as client:
        assert (await client.post("/v1/compress", json={"messages": []})).status_code == 401


@pytest.mark.parametrize(
    ("content", "status", "reason"),
    [
        (b"{", 400, "E1004"),
        (b"[]", 400, "expected an object with at most 10000 messages, found []"),
        (b'{"messages": 5}', 400, "found {'messages': 5}"),
        (b'{"messages": [{"role": "user", "content": "hi"}, 7]}', 400, "found 7 at index 1"),
        (b'{"messages": [' + b"{}," * 10_000 + b"{}]}", 400, "expected an object with at most 10000 messages"),
        (b'{"messages": ' + b"[" * 100_000, 400, "E1004"),
        (b"\xff\xfe", 400, "E1004"),
        (b" " * 3_000, 413, "expected a body of at most 2000 bytes"),
    ],
)
async def test_what_is_no_request_is_refused_with_its_reason(content: bytes, status: int, reason: str) -> None:
    limits = GATEWAY_LIMITS if status != 413 else ServerLimits(frame_bytes=2_000)
    async with client_of(compress_app(limits=limits)) as client:
        answer = await client.post("/v1/compress", content=content, headers={"content-type": "application/json"})
        assert (answer.status_code, reason in answer.text) == (status, True), answer.text


async def test_what_is_sent_otherwise_is_refused() -> None:
    async with client_of(compress_app()) as client:
        for headers, status in (
            ({"content-type": "text/plain"}, 415),
            ({"content-type": "application/json", "content-encoding": "gzip"}, 415),
            ({"content-type": "application/json", "host": "evil.example"}, 421),
            ({"content-type": "application/json", "origin": "https://evil.example"}, 403),
        ):
            answer = await client.post("/v1/compress", content=b'{"messages": []}', headers=headers)
            assert answer.status_code == status
        for name in ("0" * 23, "g" * 24, "0" * 24, "..%2f..%2fetc"):
            assert (await client.get(f"/v1/retrieve/{name}")).status_code == 404
        assert (await client.get("/health")).text == "ok\n"


async def test_more_requests_than_the_rate_have_to_wait() -> None:
    async with client_of(compress_app(limits=replace(GATEWAY_LIMITS, rate=0.01, burst=2))) as client:
        answers = [await client.post("/v1/compress", json={"messages": []}) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]
    assert int(answers[2].headers["retry-after"]) > 0


async def test_one_compression_of_a_principal_runs_at_once_and_others_need_not_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running, most, bob_came = set[str](), [0], threading.Event()

    def watched(messages: Any, **options: Any) -> Any:
        name = messages[0]["content"]
        assert name not in running
        running.add(name)
        most[0] = max(most[0], len(running))
        # The first of ann ends only when bob's came, although two more of ann were there before.
        assert bob_came.wait(PATIENCE) if name == "ann" else bob_came.set() is None
        running.remove(name)
        return compress_messages(messages, **options)

    monkeypatch.setattr(app_module, "compress_messages", watched)
    app = protected_app()
    names = ["ann", "ann", "ann", "bob"]
    asked = [compressed(app, [{"role": "user", "content": name}], token=f"token-of-{name}") for name in names]
    assert len(await asyncio.gather(*asked)) == 4 and most == [2]


def test_the_texts_of_a_request_must_fit() -> None:
    with pytest.raises(ValueError, match=r"expected to keep at least the 8388608 bytes of a request, found 1000"):
        compress_app(policy=PREVIEWS, kept=KeptTexts(max_bytes=1_000))
    with pytest.raises(ValueError, match="expected seconds to be more than 0, found 0"):
        KeptTexts(seconds=0)


def test_kept_texts_are_bounded_for_each_owner() -> None:
    kept = KeptTexts(max_bytes=100, max_owners=2)
    kept.put("ann", {"1": "a" * 60, "2": "b" * 60})
    assert (kept.get("ann", "1"), kept.get("ann", "2")) == (None, "b" * 60)
    kept.put("bob", {"3": "é" * 60})
    assert kept.get("bob", "3") is None
    kept.put("bob", {"3": "c"})
    kept.put("cat", {"4": "d"})
    assert (kept.get("ann", "2"), kept.get("bob", "3"), kept.get("cat", "4")) == (None, "c", "d")


@pytest.mark.parametrize("provider", LAYOUT_OF)
async def test_messages_of_each_provider_are_never_larger(provider: str) -> None:
    app = compress_app(policy=replace(Policy(inline_limit=150, preview_limit=100), cache_aware=False))
    for seed in range(6):
        messages = random_conversation(provider, seed)
        answer = await compressed(app, messages)
        sizes = [[count_o200k(compact_json(each)) for each in group] for group in (messages, answer["messages"])]
        is_imitated = ["[source text: " in json.dumps(each) for each in answer["messages"]]
        assert all(after <= before or is_one for before, after, is_one in zip(*sizes, is_imitated, strict=True))
        shown = json.dumps(answer["messages"])
        assert all(name in shown for name in answer["ccr_hashes"])


async def test_a_text_that_utf8_cannot_carry_comes_back() -> None:
    body = b'{"messages": [{"role": "tool", "tool_call_id": "c", "content": "\\ud83d half"}]}'
    async with client_of(compress_app()) as client:
        answer = await client.post("/v1/compress", content=body, headers={"content-type": "application/json"})
    assert answer.json()["messages"][0]["content"] == "\ud83d half"
