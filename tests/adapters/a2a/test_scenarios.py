"""Every scenario over every transport: what comes through frames is what comes without."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from accp_adapters.tokens import o200k_base
from tests.adapters.a2a.calls import ASKED, Recorder, asking, connect, request, told
from tests.adapters.a2a.serve import Served, Wrap, always, negotiating, plain, serve

pytestmark = pytest.mark.asyncio(loop_scope="module")

SCENARIOS = (
    *("tck-complete-task", "tck-artifact-text", "tck-artifact-file", "tck-artifact-file-url", "tck-artifact-data"),
    *("tck-message-response", "tck-input-required", "tck-reject-task", "tck-stream-artifact-chunked"),
    *("auth", "fail", "reject", "crash", "several", "anything"),
)
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[^\"]*Z|127.0.0.1:[0-9]+")
SOME_ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
HEX_ID = re.compile(r"(?<=[mc]id:)[0-9a-f]{12}")
SOME_HEX = "49679033e07c"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def agents() -> AsyncIterator[dict[Wrap, Served]]:
    async with serve(plain) as one, serve(negotiating) as two, serve(always) as three:
        yield {plain: one, negotiating: two, always: three}


@pytest.mark.parametrize(
    ("binding", "streaming"), [("JSONRPC", False), ("JSONRPC", True), ("HTTP+JSON", True), ("GRPC", False)]
)
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_a_scenario_decodes_to_exactly_the_plain_result(
    agents: dict[Wrap, Served], scenario: str, binding: str, streaming: bool
) -> None:
    name = f"{scenario}-{binding}-{streaming}"
    async with await connect(agents[plain].card, binding, streaming=streaming, aware=False) as client:
        expected = await told(client, request(name))
    for wrap in (negotiating, always):
        served = agents[wrap]
        options = {"streaming": streaming, "never_larger": wrap is negotiating}
        async with await connect(served.card, binding, **options) as client:
            assert await told(client, request(name)) == expected
        assert served.agent.seen[-1].parts == ASKED


@pytest.mark.parametrize("wrap", [negotiating, always, plain])
@pytest.mark.parametrize("aware", [True, False])
async def test_frames_are_sent_only_where_both_peers_know_them(
    agents: dict[Wrap, Served], wrap: Wrap, aware: bool
) -> None:
    name = f"several-both-{wrap.__name__}-{aware}"
    async with Recorder() as http, await connect(agents[wrap].card, aware=aware, http=http) as client:
        events = await told(client, request(name))
    frames = aware and wrap is not plain
    assert ("application/accp" in http.asked[0]) == frames
    assert ("@agent>done:task{" in http.answered[0]) == frames
    async with await connect(agents[plain].card, aware=False) as client:
        assert await told(client, request(name)) == events


@pytest.mark.parametrize("streaming", [False, True], ids=["blocking", "streaming"])
@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON", "GRPC"])
async def test_frames_arrive_over_every_transport(agents: dict[Wrap, Served], binding: str, streaming: bool) -> None:
    async with await connect(agents[always].card, binding, streaming=streaming, aware=False) as client:
        events = await told(client, request(f"several-seen-{binding}-{streaming}"), context=asking())
    text = str(events)
    assert ("@agent>stream:task{idx:" if streaming else "@agent>sync:task{d:{") in text
    assert ("@agent>sync:task{" in text) and ("@agent>done:task{d:" in text)


async def test_a_foreign_context_is_as_foreign_as_without_frames(agents: dict[Wrap, Served]) -> None:
    results = []
    for wrap in (plain, always):
        async with await connect(agents[wrap].card) as client:
            (response,) = [each async for each in client.send_message(request("tck-input-required-own"))]
            foreign = request("tck-input-required-foreign", task_id=response.task.id, context_id="somebody's")
            said = json.dumps(await told(client, foreign), sort_keys=True)
            results.append(UUID.sub("x", said))
    assert results[0] == results[1]


@pytest.mark.parametrize("streaming", [False, True], ids=["blocking", "streaming"])
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_no_body_on_the_wire_is_larger_in_bytes_or_tokens(
    agents: dict[Wrap, Served], scenario: str, streaming: bool
) -> None:
    sizes = []
    for wrap in (plain, negotiating):
        options = {"streaming": streaming, "never_larger": True}
        async with Recorder() as http, await connect(agents[wrap].card, http=http, **options) as client:
            await told(client, request(f"{scenario}-size-{streaming}"))
        # Ids are of one length, but not of as many tokens: each becomes the same one.
        bodies = [HEX_ID.sub(SOME_HEX, UUID.sub(SOME_ID, body)) for body in (*http.asked, *http.answered)]
        sizes.append([(len(body.encode()), o200k_base()(body)) for body in bodies])
    for before, after in zip(*sizes, strict=True):
        assert after[0] <= before[0]
        assert after[1] <= before[1]
