"""A gateway over HTTP: sessions of their own, streams of both kinds, what is refused."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.http_front import PATH, GatewayApp
from accp_adapters.mcp.proxy.admission import ProxyLimits
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from accp_adapters.serving.hosts import AllowedHosts
from tests.adapters.mcp.gateway.client import asking, conformance
from tests.adapters.mcp.serving import encoding, free_port, gateway
from tests.limits import PATIENCE, async_wait_until

pytestmark = pytest.mark.anyio
ACCEPT = {"accept": "application/json, text/event-stream"}
CLIENT = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"sampling": {}},
    "clientInfo": {"name": "t", "version": "1"},
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Client:
    """One client over HTTP."""

    def __init__(self, url: str, http: httpx.AsyncClient) -> None:
        self.url, self.http, self.headers = url, http, dict(ACCEPT)

    async def post(self, method: str, identity: Any = None, **params: Any) -> httpx.Response:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        content = message if identity is None else message | {"id": identity}
        return await self.http.post(self.url, json=content, headers=self.headers, timeout=PATIENCE)

    async def start(self) -> Any:
        answer = await self.post("initialize", 0, **CLIENT)
        self.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        assert (await self.post("notifications/initialized")).status_code == 202
        return answer.json()["result"]

    async def call(self, name: str, **arguments: Any) -> Any:
        answer = await self.post("tools/call", 5, name=name, arguments=arguments)
        return (messages(answer.text) or [answer.json()])[-1]["result"]


def messages(text: str) -> list[Any]:
    return [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]


async def test_each_client_has_servers_of_its_own() -> None:
    with gateway(asking("red")) as url:
        async with httpx.AsyncClient() as http:
            one, other = Client(url, http), Client(url, http)
            assert (await one.start())["serverInfo"]["name"] == "accp-mcp-gateway"
            await other.start()
            pids = [await each.call("red__pid") for each in (one, other, one)]
            assert pids[0] == pids[2] != pids[1]
            assert (await http.delete(url, headers=one.headers)).status_code == 204
            assert (await one.post("tools/list", 1)).status_code == 404
            assert (await other.call("red__pid")) == pids[1]


async def test_a_remote_server_is_one_of_many_and_fails_alone() -> None:
    with gateway(asking("blue"), is_bare=True) as inner:
        remote = ServerSettings("web", url=inner, headers=[(b"x-key", b"1")])
        gone = ServerSettings("gone", url=f"http://127.0.0.1:{free_port()}/mcp")
        with gateway(remote, asking("red"), gone) as url:
            async with httpx.AsyncClient() as http:
                client = Client(url, http)
                await client.start()
                listed = (await client.post("tools/list", 1)).json()["result"]["tools"]
                assert {tool["name"].partition("__")[0] for tool in listed} == {"web", "red"}
                pids = [(await client.call(f"{name}__pid"))["content"] for name in ("web", "red")]
                assert pids[0] != pids[1]
                assert "'gone' is not available: it refuses" in str(await client.call("gone__pid"))


async def test_what_comes_before_an_answer_is_a_stream_with_it() -> None:
    with gateway(conformance("sdk"), is_bare=True) as url:
        async with httpx.AsyncClient() as http:
            client = Client(url, http)
            await client.start()
            token = {"progressToken": "p"}
            answer = await client.post("tools/call", 1, name="test_tool_with_progress", arguments={}, _meta=token)
            said = [each.get("method") for each in messages(answer.text)]
            assert said == ["notifications/progress"] * 3 + [None]
            orders = await client.call("orders")
            assert orders["content"][0]["text"].startswith("[20] id customer")


async def test_a_question_of_a_server_comes_on_an_open_stream_and_is_answered_by_a_post() -> None:
    with gateway(asking("red")) as url:
        async with httpx.AsyncClient() as http:
            client = Client(url, http)
            await client.start()
            params = {"name": "red__ask", "arguments": {"method": "sampling/createMessage"}}
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            async with http.stream("POST", url, json=body, headers=client.headers, timeout=PATIENCE) as answer:
                lines = answer.aiter_lines()
                asked = json.loads((await _data(lines)).removeprefix("data: "))
                response = {"jsonrpc": "2.0", "id": asked["id"], "result": {"role": "assistant"}}
                assert (await http.post(url, json=response, headers=client.headers)).status_code == 202
                result = json.loads((await _data(lines)).removeprefix("data: "))["result"]
            assert result["content"][0]["text"] == "role assistant"


async def _data(lines: Any) -> str:
    async for line in lines:
        if line.startswith("data: "):
            return str(line)
    raise AssertionError("expected another event")


async def test_what_belongs_to_no_call_comes_on_the_stream_of_a_get() -> None:
    with gateway(asking("red")) as url:
        async with httpx.AsyncClient() as http:
            client = Client(url, http)
            await client.start()
            async with http.stream("GET", url, headers=client.headers, timeout=PATIENCE) as first:
                assert first.headers["content-type"] == "text/event-stream"
                lines = first.aiter_lines()
                await client.call("red__grow")
                assert "notifications/tools/list_changed" in await _data(lines)
                async with http.stream("GET", url, headers=client.headers, timeout=PATIENCE) as second:
                    assert [line async for line in lines] in ([], [""])
                    await client.call("red__grow")
                    assert "list_changed" in await _data(second.aiter_lines())


async def test_what_is_not_for_the_endpoint_is_refused() -> None:
    with gateway(asking("red"), hosts=AllowedHosts(), limits=ProxyLimits(body_bytes=1_000)) as url:
        async with httpx.AsyncClient() as http:
            client = Client(url, http)
            ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            for given, status in (
                ({"url": url.removesuffix(PATH) + "/other"}, 404),
                ({"headers": {"origin": "https://example.com"}}, 403),
                ({"headers": {"host": "example.com"}}, 421),
                ({"headers": {"mcp-session-id": "unknown"}}, 404),
                ({}, 400),
                ({"content": b"no JSON"}, 400),
                ({"content": b"[" * 1_001}, 413),
            ):
                request = {"method": "POST", "url": url, **given}
                answer = await http.request(**({"json": ping} if "content" not in request else {}), **request)
                assert (given, answer.status_code) == (given, status)
            await client.start()
            assert (await http.put(url, headers=client.headers)).status_code == 405


async def test_an_idle_client_gives_way_and_a_busy_one_does_not() -> None:
    with gateway(asking("red"), max_sessions=1) as url:
        async with httpx.AsyncClient() as http:
            idle, busy, late = (Client(url, http) for _ in range(3))
            await idle.start()
            await busy.start()
            assert (await idle.post("ping", 1)).status_code == 404
            async with http.stream("GET", url, headers=busy.headers, timeout=PATIENCE):
                assert (await late.post("initialize", 0, **CLIENT)).status_code == 503
                assert (await busy.post("ping", 1)).status_code == 200


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
async def test_a_client_of_the_sdk_falls_back_to_the_protocol_with_sessions() -> None:
    mcp = pytest.importorskip("mcp", minversion=None)
    if not hasattr(mcp, "Client"):
        pytest.skip("the SDK 1.x has no Client")
    with gateway(asking("red"), conformance("sdk")) as url:
        async with mcp.Client(url, mode="auto") as client:
            # A call waits for its server: both are up when the list is asked for.
            await client.call_tool("red__pid", {})
            result = await client.call_tool("sdk__test_simple_text", {})
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"red__pid", "sdk__orders"} <= names
            assert result.content[0].text == "This is a simple text response for testing."
            read = await client.read_resource("accp://server/sdk/test://static-text")
            assert "static text resource" in read.contents[0].text


async def test_an_error_while_a_response_is_written_is_raised() -> None:
    app = GatewayApp([asking("red")], encoding)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http:
        client = Client(f"http://localhost{PATH}", http)
        await client.start()

    async def send(event: Any) -> None:
        raise OSError("the socket is broken")

    session = client.headers["mcp-session-id"].encode()
    fields = [(b"host", b"localhost"), (b"mcp-session-id", session)]
    scope = {"type": "http", "method": "GET", "path": PATH, "headers": fields}
    with pytest.raises(OSError, match="the socket is broken"):
        await app(scope, anyio.sleep_forever, send)
    await app.close()


FLOODING = """if True:
    import json, sys
    note = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x" * 1_000_000}}
    shown = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}}, "serverInfo": {}}
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": shown}), flush=True)
        if asked["method"] == "logging/setLevel":
            for _ in range(40):
                print(json.dumps(note), flush=True)
            open(sys.argv[1], "w").close()"""


async def test_what_a_server_says_while_nobody_listens_is_bounded_in_bytes(tmp_path: Path) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE) as http:
        with gateway(ServerSettings("loud", [sys.executable, "-c", FLOODING, str(said := tmp_path / "said")])) as url:
            client = Client(url, http)
            await client.start()
            await client.post("logging/setLevel", 1, level="info")
            await async_wait_until(said.exists)
            async with http.stream("GET", url, headers=client.headers) as listening:
                await http.delete(url, headers=client.headers)
                received = len(await listening.aread())
    assert 15_000_000 < received < 25_000_000


ROWS = """if True:
    import json, sys
    rows = json.dumps([{"id": number, "note": f"n {number * 7919}"} for number in range(400)])
    shown = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {}}
    for line in sys.stdin:
        asked = json.loads(line)
        told = {"content": [{"type": "text", "text": rows}]} if asked["method"] == "tools/call" else shown
        if "id" in asked:
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)"""


@pytest.mark.parametrize(
    ("stored_bytes", "kept"), [(10**9, (True, True)), (40_000, (False, True)), (100, (False, False))]
)
async def test_the_texts_of_all_sessions_have_a_bound(stored_bytes: int, kept: tuple[bool, ...]) -> None:
    server = ServerSettings("rows", [sys.executable, "-c", ROWS])
    limits = ProxyLimits(stored_bytes=stored_bytes)

    def fetching() -> Relay:
        return encoder_relay(Encoder(policy="always", fetch=True, inline_limit=500))

    with gateway(server, relay=fetching, limits=limits, is_bare=True) as url:
        async with httpx.AsyncClient() as http:
            clients = [Client(url, http), Client(url, http)]
            for each in clients:
                await each.start()
                shown = str(await each.call("rows"))
            reference = shown[shown.index("$cold.") :][:18]
            opened = [str(await each.call("accp_fetch", ref=reference)) for each in clients]
            assert [("E5002" not in answer) for answer in opened] == list(kept)
            assert "n 7919" in str(await clients[0].call("rows"))
