"""A list of calls over HTTP, in front of real servers: each call has the client's headers, one result comes back."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import mcp_types as types
import pytest
from mcp import Client as SdkClient

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.proxy.admission import ProxyLimits
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from tests.adapters.mcp.messages import ERAS, Era
from tests.adapters.mcp.proxy.tenants import Client, rows_server
from tests.adapters.mcp.proxy.test_remote import EVENTS, START, Talk
from tests.adapters.mcp.proxy.upstream import Saying, Upstream
from tests.adapters.mcp.serving import proxying, serving
from tests.adapters.mcp.transcripts import ask, modern
from tests.harness.mcp_suite.server import build, http_app
from tests.limits import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
A, B = {"authorization": "Bearer alice"}, {"authorization": "Bearer bob"}
CANCELLED = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}\n'


def listing(**settings: Any) -> Relay:
    return encoder_relay(Encoder(tools="names", call_lists=True, allow=("*",), **settings))


def texts(result: dict[str, Any]) -> list[str]:
    return [block["text"] for block in result["content"]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving(http_app(build()), lifespan="on") as origin:
        yield f"{origin}/mcp"


def said(era: Era, method: str, identity: int, **params: Any) -> bytes:
    return modern(method, identity, **params) if era == ERAS[1] else ask(method, identity, **params)


def started(talk: Talk, era: Era) -> Talk:
    for line in START if era == ERAS[0] else ():
        talk.say(line)
    talk.call(said(era, "tools/list", 1))
    return talk


def test_the_server_asks_the_client_within_a_later_call(url: str) -> None:
    calls = [{"call": "test_simple_text"}, {"call": "test_sampling", "arguments": {"prompt": "Hello?"}}]
    with Talk(url, listing()) as talk:
        started(talk, ERAS[0]).send(ask("tools/call", 2, name="accp_tools", arguments={"calls": calls}))
        asked = talk.hear()
        assert asked["method"] == "sampling/createMessage"
        result = {"role": "assistant", "content": {"type": "text", "text": "Hi!"}, "model": "none"}
        talk.send(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode() + b"\n")
        answer = talk.hear()
    assert (answer["id"], texts(answer["result"])) == (2, ["2 test_sampling: LLM response: Hi!"])


async def test_the_endpoint_passes_questions_of_the_server_within_a_later_call(url: str) -> None:
    async def sample(*_: Any) -> types.CreateMessageResult:
        text = types.TextContent(type="text", text="Hi!")
        return types.CreateMessageResult(role="assistant", content=text, model="none")

    calls = [{"call": "test_simple_text"}, {"call": "test_sampling", "arguments": {"prompt": "Hello?"}}]
    with proxying(url, listing) as proxy:
        async with SdkClient(proxy, mode="legacy", sampling_callback=sample) as client:
            await client.list_tools()
            result = await client.call_tool("accp_tools", {"calls": calls})
    assert [block.text for block in result.content if isinstance(block, types.TextContent)] == [
        "2 test_sampling: LLM response: Hi!"
    ]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("stateless", [False, True], ids=["sessions", "stateless"])
def test_each_call_has_the_credentials_of_its_client(era: Era, stateless: bool) -> None:
    """Nobody has listed the tools, as after a restart."""
    server = rows_server("alice", "bob", stateless=stateless, rows=3)
    calls = [
        {"call": "report", "arguments": {"region": "Berlin"}, "show": "items.0.owner"},
        {"call": "report", "arguments": {"region": {"$from": 1, "query": "items.1.owner"}}, "show": "items.2.owner"},
    ]
    with serving(server, lifespan="on") as origin, proxying(f"{origin}/mcp", listing) as proxy:
        for name, headers in (("alice", A), ("bob", B)):
            client = Client(proxy, headers, era).start()
            result = client.ask("tools/call", name="accp_tools", arguments={"calls": calls})["result"]
            assert texts(result) == [f"1 report: {name}", f"2 report: {name}"]
        refused = Client(proxy, {}, era).call("accp_tools", calls=calls)
    assert refused.startswith("401")


class Shop(Upstream):
    """Lists one tool, and answers its calls as `answers` say, one after the other."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        super().__init__()
        self.answers = list(answers)
        self.calls: list[dict[str, Any]] = []
        self.answering = self._answer
        self.gone = threading.Event()

    async def _answer(self, scope: Any, body: bytes, say: Saying) -> None:
        message = json.loads(body or b"{}")
        if message.get("method") == "tools/list":
            tools = [{"name": f"get_{n}", "description": "Reads. " * 30, "inputSchema": {}} for n in range(9)]
            await self._say(say, {"result": {"tools": tools}}, message)
        elif message.get("method") != "tools/call":
            await say(b"", 202)
        else:
            self.calls.append(message)
            await self._say(say, self.answers.pop(0), message)

    async def _say(self, say: Saying, answer: dict[str, Any], message: dict[str, Any]) -> None:
        given = {
            "content_type": "application/json",
            "data": json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}),
        }
        given |= answer.get("raw", {})
        if answer.get("hangs"):
            await say(b": open\n\n", more=True, **EVENTS)
            await say.run_until_disconnect()
            self.gone.set()
            return
        data = given.pop("data").replace("ID", json.dumps(message["id"]))
        await say(data.encode(), **given)


def text_result(text: str) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}]}}


def event(text: str, *, head: str = "") -> dict[str, Any]:
    data = json.dumps(text_result(text))[1:]
    note = 'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'
    return {"raw": {"data": f'{note}{head}data: {{"jsonrpc":"2.0","id":ID,{data}\n\n', **EVENTS}}


THREE = {"calls": [{"call": "get_1", "show": ""}, {"call": "get_2", "show": ""}, {"call": "get_3", "show": ""}]}
MADE = "1 get_1: a"
FAILURES = [
    ({"raw": {"status": 401, "data": "who?", "content_type": "text/plain"}}, "HTTP 401"),
    ({"raw": {"data": "", "status": 202}}, "expected a JSON-RPC response"),
    ({"raw": {"data": ": nothing\n\n", **EVENTS}}, "without a response"),
    ({"error": {"code": -32001, "message": "it broke"}}, "it broke"),
    ({"raw": {"data": '{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}'}}, "no"),
]


def over_streams(shop: Shop, era: Era, relay: Relay | None = None) -> dict[str, Any]:
    with serving(shop) as origin, Talk(f"{origin}/mcp", relay or listing()) as talk:
        talk.call(said(era, "tools/list", 1))
        answer: dict[str, Any] = talk.call(said(era, "tools/call", 2, name="accp_tools", arguments=THREE))
    return answer


def over_endpoint(shop: Shop, era: Era, **options: Any) -> httpx.Response:
    with serving(shop) as origin, proxying(f"{origin}/mcp", listing, **options) as proxy:
        client = Client(proxy, {"mcp-session-id": "s", **A}, era)
        return client.post("tools/call", {"name": "accp_tools", "arguments": THREE})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("failure", "reason"), FAILURES)
def test_a_later_call_that_fails_ends_the_list_and_says_what_was_made(
    failure: dict[str, Any], reason: str, era: Era
) -> None:
    answer = over_streams(Shop(text_result("a"), failure), era)
    response = over_endpoint(Shop(text_result("a"), failure), era)
    is_stream = response.headers["content-type"].startswith("text/event-stream")
    document = json.loads(response.text.rpartition("data: ")[2] if is_stream else response.text)
    for each, identity in ((answer, 2), (document, 7)):
        assert each["id"] == identity
        shown, failed = texts(each["result"])
        assert (shown, each["result"]["isError"]) == (MADE, True)
        assert failed.startswith("call 2, get_2, failed: ")
        assert reason in failed
        assert failed.endswith("; made before it: get_1")


def test_each_call_has_an_id_of_its_own_and_the_headers_that_fit_it() -> None:
    shop = Shop(text_result("a"), text_result("b"), text_result("c"))
    answer = over_endpoint(shop, ERAS[1])
    assert texts(answer.json()["result"]) == [MADE, "2 get_2: b", "3 get_3: c"]
    sent = [headers for _, _, headers, body in shop.requests if b"tools/call" in body]
    assert [headers["mcp-name"] for headers in sent] == ["get_1", "get_2", "get_3"]
    assert {(headers["authorization"], headers["mcp-session-id"]) for headers in sent} == {("Bearer alice", "s")}
    identities = [call["id"] for call in shop.calls]
    assert identities[0] == 7
    assert len(set(identities)) == 3
    assert all(call["params"]["_meta"] == shop.calls[0]["params"]["_meta"] for call in shop.calls)


@pytest.mark.parametrize("era", ERAS)
def test_streams_and_documents_may_follow_one_another(era: Era) -> None:
    answers = [text_result("a"), event("b", head="id: 5\n"), text_result("c")]
    response = over_endpoint(Shop(*answers), era)
    note, rest, last = response.text.strip().split("\n\n")
    assert "notifications/message" in note
    assert rest.split("\n") == ["id: 5", "data: "]
    document = json.loads(last.rpartition("data: ")[2])
    assert (document["id"], texts(document["result"])) == (7, [MADE, "2 get_2: b", "3 get_3: c"])
    answer = over_streams(Shop(event("a"), text_result("b"), event("c")), era)
    assert texts(answer["result"]) == [MADE, "2 get_2: b", "3 get_3: c"]
    response = over_endpoint(Shop(event("a"), event("b"), event("c")), era)
    assert response.text.count("notifications/message") == 3
    assert response.text.count('"id"') == 1


@pytest.mark.parametrize(
    "first", [FAILURES[0][0], {"raw": {"status": 400, "data": '{"id":7,"error":{"code":-32020}}'}}]
)
def test_what_the_server_says_to_the_first_call_instead_of_a_result_is_the_response(first: dict[str, Any]) -> None:
    response = over_endpoint(Shop(first), ERAS[0])
    assert (response.status_code, response.text) == (first["raw"]["status"], first["raw"]["data"])


@pytest.mark.parametrize("later", [text_result("x" * 9_000), event("x" * 9_000)], ids=["document", "event"])
def test_a_result_beyond_the_limit_of_a_message_ends_the_list(later: dict[str, Any]) -> None:
    response = over_endpoint(Shop(text_result("a"), later), ERAS[0], limits=ProxyLimits(message_bytes=8_000))
    assert "call 2, get_2, failed: expected a response of at most 8000 bytes" in response.text
    assert "x" * 100 not in response.text


def test_a_cancelled_list_of_the_new_era_ends_the_exchange_of_its_call() -> None:
    shop = Shop(text_result("a"), {"hangs": True})
    with serving(shop) as origin, Talk(f"{origin}/mcp", listing()) as talk:
        talk.call(modern("tools/list", 1))
        talk.send(modern("tools/call", 2, name="accp_tools", arguments=THREE))
        wait_for_calls(shop, 2)
        talk.send(CANCELLED)
        assert shop.gone.wait(PATIENCE)
        assert talk.close() == []
    assert len(shop.calls) == 2
    assert not any(b"cancelled" in body for *_, body in shop.requests)


def wait_for_calls(shop: Shop, count: int) -> None:
    waiting = threading.Event()
    for _ in range(int(PATIENCE * 100)):
        if len(shop.calls) >= count:
            return
        waiting.wait(0.01)
    raise AssertionError(f"expected {count} calls, found {len(shop.calls)}")


def test_a_cancelled_list_of_the_era_before_cancels_the_call_that_runs() -> None:
    shop = Shop(text_result("a"), {"hangs": True})
    with serving(shop) as origin, proxying(f"{origin}/mcp", listing) as proxy:
        headers = {"mcp-session-id": "s"}
        asking = threading.Thread(target=_ask_until_cut, args=(Client(proxy, headers), shop))
        asking.start()
        wait_for_calls(shop, 2)
        httpx.post(proxy, content=CANCELLED.replace(b"2}", b"7}"), headers=headers, timeout=PATIENCE)
        cancelled = [json.loads(body) for *_, body in shop.requests if b"cancelled" in body]
        assert cancelled[0]["params"]["requestId"] == shop.calls[1]["id"] != 7
    asking.join(PATIENCE)


def _ask_until_cut(client: Client, shop: Shop) -> None:
    try:
        client.post("tools/call", {"name": "accp_tools", "arguments": THREE})
    except httpx.HTTPError:
        shop.gone.set()


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_that_disconnects_ends_the_list(era: Era) -> None:
    shop = Shop(text_result("a"), {"hangs": True})
    with serving(shop) as origin, proxying(f"{origin}/mcp", listing) as proxy:
        body = said(era, "tools/call", 2, name="accp_tools", arguments=THREE)
        async with httpx.AsyncClient(timeout=PATIENCE) as http:
            asking = asyncio.create_task(http.post(proxy, content=body, headers={"mcp-session-id": "s"}))
            await asyncio.to_thread(wait_for_calls, shop, 2)
            asking.cancel()
        assert await asyncio.to_thread(shop.gone.wait, PATIENCE)
    assert len(shop.calls) == 2


def test_a_server_that_has_gone_ends_the_list() -> None:
    class Cut(Shop):
        async def _say(self, say: Saying, answer: dict[str, Any], message: dict[str, Any]) -> None:
            if len(self.calls) == 2:
                raise ConnectionError
            await super()._say(say, answer, message)

    answer = over_streams(Cut(text_result("a"), {}), ERAS[0])
    response = over_endpoint(Cut(text_result("a"), {}), ERAS[0])
    for each in (answer, response.json()):
        assert texts(each["result"])[0] == MADE
        assert each["result"]["isError"]
