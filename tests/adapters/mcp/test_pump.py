"""`accp mcp` between a client and a server: everything passes as messages, and sessions are kept apart."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

from accp_adapters.mcp import EXTENSION, Encoder, wrap_server, wrap_transport
from accp_core.view import read
from tests.adapters.mcp.sdk import MAJOR, ROWS, connected
from tests.limits import PATIENCE, wait_until

if MAJOR < 2:
    pytest.skip("needs mcp 2.x", allow_module_level=True)

from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.shared.memory import create_client_server_memory_streams
from mcp_types import CreateMessageResult, ElicitResult, TextContent
from pydantic import BaseModel
from sse_starlette import EventSourceResponse

from accp_adapters.mcp.frames import JSON_RPC_CODES
from accp_adapters.mcp.pump import Pump, Shim
from accp_adapters.mcp.upstream import Upstream
from tests.adapters.mcp.serving import proxying, serving
from tests.adapters.mcp.transcripts import ACCP, LEGACY, MODERN, NEGOTIATE, converse, meaning
from tests.adapters.mcp.transcripts import SERVER as SUITE_SERVER

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
SERVER = """
import json
from mcp.server import MCPServer
server = MCPServer("rows")

@server.tool(structured_output=False)
def report(count: int = 900) -> str:
    \"\"\"Return rows.\"\"\"
    return json.dumps([{"id": number, "note": f"note {number * 7919}"} for number in range(count)])

server.run()
"""
WAITING = """
import asyncio, os

@server.tool()
async def wait(path: str) -> str:
    \"\"\"Wait for a file.\"\"\"
    while not os.path.exists(path):
        await asyncio.sleep(0.01)
    return "gone"
"""


LONG_QUERY = f"SELECT count(*) FROM {', '.join(f'rows r{number}' for number in range(9))} WHERE r0.rowid < r1.rowid"


class Name(BaseModel):
    """What a client is asked for."""

    name: str


def build() -> MCPServer:
    server = MCPServer("parts")

    @server.tool()
    def find() -> list[dict[str, Any]]:
        """Find parts."""
        return ROWS

    @server.tool()
    async def work(ctx: Context) -> str:
        """Report, log, and ask the client twice."""
        await ctx.report_progress(1, 2)
        await ctx.session.send_log_message(level="info", data="half", related_request_id=ctx.request_id)
        answer = await ctx.elicit("who?", Name)
        said = await ctx.session.create_message(messages=[], max_tokens=5)
        return f"{answer.data.name} {said.content.text}"  # type: ignore[union-attr]

    @server.tool()
    async def wait() -> str:
        """Wait for ever."""
        await anyio.sleep_forever()
        return ""

    @server.tool()
    def fail(code: int) -> str:
        """Fail with a JSON-RPC error."""
        raise MCPError(code, "no, sorry", {"after": 3})

    return server


@asynccontextmanager
async def pumped(server: Any, shim: Shim) -> AsyncIterator[Any]:
    """Yield the streams of a client that a pump connects with a server, all in memory."""
    async with (
        connected(server) as upstream,
        create_client_server_memory_streams() as (mine, theirs),
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(Pump(shim, theirs, upstream).run)
        yield mine
        await mine[1].aclose()
        tasks.cancel_scope.cancel()


class Told:
    """A client's callbacks, and what they were told."""

    def __init__(self) -> None:
        self.progress: list[float] = []
        self.logged: list[Any] = []

    async def note(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append(progress)

    async def log(self, params: Any) -> None:
        self.logged.append(params.data)

    async def elicit(self, context: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": "Bo"})

    async def sample(self, context: Any, params: Any) -> CreateMessageResult:
        return CreateMessageResult(role="assistant", model="m", content=TextContent(type="text", text="hi"))

    def client(self, transport: Any) -> Client:
        return Client(
            transport,
            mode="legacy",
            logging_callback=self.log,
            elicitation_callback=self.elicit,
            sampling_callback=self.sample,
        )


async def test_everything_passes_over_http_and_each_session_has_a_server_of_its_own() -> None:
    def encoder() -> Encoder:
        return Encoder(policy="always", host="text")

    app, told = build().streamable_http_app(), Told()
    with serving(app, lifespan="on") as origin, proxying(Upstream(url=f"{origin}/mcp"), encoder) as url:
        async with told.client(url) as client:
            worked = await client.call_tool("work", {}, progress_callback=told.note)
            with anyio.move_on_after(0.2):
                await client.call_tool("wait", {})
            found = await client.call_tool("find", {})
            with pytest.raises(MCPError, match="no, sorry"):
                await client.call_tool("fail", {"code": -32001})
            lost = await client.call_tool("lost", {})
    assert (worked.content[0].text, told.progress, told.logged) == ("Bo hi", [1], ["half"])
    assert read(found.content[0].text) == ROWS
    assert lost.is_error


async def test_the_first_request_of_a_client_may_fail() -> None:
    async with Client(pumped(build(), Encoder(policy="always")), mode="2026-07-28") as client:
        with pytest.raises(MCPError, match="no, sorry"):
            await client.call_tool("fail", {"code": -32603})
        assert read((await client.call_tool("find", {})).content[0].text) == ROWS


CODES = {**JSON_RPC_CODES, -32602: "E4003", -32603: "E9999"}


@pytest.mark.parametrize("wrapped", [True, False], ids=["wrap_server", "accp mcp"])
async def test_the_code_of_each_json_rpc_error_travels_as_a_frame(wrapped: bool) -> None:
    server = connected(wrap_server(build())) if wrapped else pumped(build(), Encoder())
    async with Client(wrap_transport(server, view="frame"), mode="legacy") as client:
        for number, code in CODES.items():
            with pytest.raises(MCPError) as raised:
                await client.call_tool("fail", {"code": number})
            assert (raised.value.code, raised.value.data["after"]) == (number, 3)
            assert f"code:{code}|" in raised.value.data[EXTENSION]["frame"]


async def test_a_query_ends_when_its_client_cancels_it(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, answer_own = list[Any](), Encoder.answer_own
    monkeypatch.setattr(Encoder, "answer_own", lambda *given: answers.append(own := answer_own(*given)) or own)
    encoder = Encoder(host="text", fetch=True, inline_limit=50, preview_limit=60)
    async with Client(pumped(build(), encoder)) as client:
        [ref] = set(re.findall(r"\$cold\.[0-9]{12}", (await client.call_tool("find", {})).content[0].text))
        with anyio.move_on_after(0.3):
            await client.call_tool("accp_fetch", {"ref": ref, "query": LONG_QUERY})
        asked = {"ref": ref, "query": "SELECT count(*) FROM rows"}
        assert str(len(ROWS)) in (await client.call_tool("accp_fetch", asked)).content[0].text
    assert "E2003" not in str(answers)


async def test_lines_that_are_no_messages_are_counted(caplog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.mcp.upstream._BAD_LINES", count(1))
    words = [sys.executable, "-c", "for number in range(12): print('starting', number)"]
    async with Upstream(command=words).connect() as (reader, _):
        assert not [item async for item in reader]
    told = [record for record in caplog.records if "no message" in record.getMessage()]
    assert ["(1 so far)" in told[0].getMessage(), "(10 so far)" in told[1].getMessage(), len(told)] == [True, True, 2]


def proxy(tmp_path: Path, *words: str) -> Any:
    """Return the transport of `accp mcp` in a process of its own."""
    environment = {"ACCP_STATE_DIR": str(tmp_path / "state"), "PYTHONPATH": str(Path(__file__).parents[3])}
    command, *arguments = [*ACCP, "--quiet", *words]
    return stdio_client(StdioServerParameters(command=command, args=arguments, env=environment, cwd=tmp_path))


def test_it_ends_behind_its_client_where_the_server_takes_nothing() -> None:
    program = "import accp_adapters.mcp.pump as p; p._LAST_SECONDS = 1; from accp_adapters.cli import main; main()"
    words = [sys.executable, "-c", program, "mcp", "--", sys.executable, "-c", "import time; time.sleep(600)"]
    told = b'{"jsonrpc":"2.0","method":"notifications/x","params":{"t":"%b"}}\n' % (b"y" * 20_000)
    assert subprocess.run(words, input=told * 10, capture_output=True, check=False, timeout=PATIENCE).returncode == 0


async def test_the_next_process_opens_what_the_last_one_cited(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    words = ("--fetch", "--", sys.executable, "server.py")
    async with Client(proxy(tmp_path, *words)) as client:
        shown = (await client.call_tool("report", {})).content[0].text
    [reference] = set(re.findall(r"\$cold\.[0-9]{12}", shown))
    asked = {"ref": reference, "query": "SELECT note FROM rows WHERE id=377"}
    async with Client(proxy(tmp_path, *words)) as client:
        fetched = await client.call_tool("accp_fetch", asked)
    assert f"note {377 * 7919}" in fetched.content[0].text
    files = [path for path in (tmp_path / "state" / "mcp").iterdir() if path.suffix == ".sqlite"]
    assert files and {path.stat().st_mode & 0o777 for path in files} == {0o600}
    async with Client(proxy(tmp_path, "--fetch", "--", sys.executable, str(tmp_path / "server.py"))) as client:
        other = await client.call_tool("accp_fetch", asked)
    assert other.is_error and other.content[0].text.startswith("E5002")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_next_process_of_a_wrapped_server_opens_what_its_store_has(mode: Any, tmp_path: Path) -> None:
    wrap = "wrap_server(server, policy='always', fetch=True, store=SqliteColdStore('texts.sqlite')).run()"
    imports = "from accp_adapters.mcp import wrap_server\nfrom accp_adapters.stores import SqliteColdStore"
    for name in ("server.py", "other.py"):
        (tmp_path / name).write_text(SERVER.replace("server.run()", f"{imports}\n{wrap}"))
    reference = ""
    for name in ("server.py", "server.py", "other.py"):
        environment = {"PYTHONPATH": str(Path(__file__).parents[3])}
        parameters = StdioServerParameters(command=sys.executable, args=[name], env=environment, cwd=tmp_path)
        async with Client(stdio_client(parameters), mode=mode) as client:
            if not reference:
                shown = (await client.call_tool("report", {})).content[0].text
                [reference] = set(re.findall(r"\$cold\.[0-9]{12}", shown))
            asked = {"ref": reference, "query": "SELECT note FROM rows WHERE id = 377"}
            fetched = (await client.call_tool("accp_fetch", asked)).content[0].text
        assert fetched.startswith("E5002") if name == "other.py" else f"note {377 * 7919}" in fetched


@pytest.mark.slow
@pytest.mark.parametrize("lines", [LEGACY, MODERN], ids=["2025-11-25", "2026-07-28"])
def test_a_client_that_asks_for_nothing_notices_nothing(lines: list[bytes]) -> None:
    alone, behind = (converse([*front, *SUITE_SERVER], lines) for front in ([], [*NEGOTIATE, "--"]))
    assert [meaning(line) for line in behind] == [meaning(line) for line in alone]
    assert len(alone) > 10


async def test_several_servers_are_one_behind_fastmcp(tmp_path: Path) -> None:
    pytest.importorskip("fastmcp", reason="needs fastmcp")
    (tmp_path / "server.py").write_text(SERVER)
    server = {"command": sys.executable, "args": [str(tmp_path / "server.py")]}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": {"red": server, "blue": server}}))
    fastmcp = [sys.executable, "-m", "fastmcp.cli", "run", "mcp.json", "--no-banner"]
    with anyio.fail_after(PATIENCE):
        async with Client(proxy(tmp_path, "--fetch", "--", *fastmcp)) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            shown = (await client.call_tool("blue_report", {"count": 20})).content[0].text
    assert names == {"red_report", "blue_report", "accp_fetch"}
    assert read(shown)[7]["note"] == f"note {7 * 7919}"


def test_the_session_that_was_used_first_ends_for_one_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.mcp.pump._MAX_SESSIONS", 2)
    (tmp_path / "rows.py").write_text(SERVER)
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    with (
        proxying(Upstream(command=[sys.executable, str(tmp_path / "rows.py")]), Encoder) as url,
        httpx.Client(timeout=PATIENCE) as client,
    ):

        def ask(message: Any, name: str = "") -> httpx.Response:
            return client.post(url, json=message, headers={"mcp-session-id": name} if name else {})

        first, second = [ask(body).headers["mcp-session-id"] for _ in range(2)]
        assert ask(ping, first).status_code == 200
        third = ask(body).headers["mcp-session-id"]
        assert [ask(ping, name).status_code for name in (first, second, third)] == [200, 404, 200]
        # Each session counts with the last message of its client, which the SDK keeps.
        assert ask({**ping, "params": {"words": "x" * 300_000}}, third).status_code == 200
        assert [ask(ping, name).status_code for name in (first, third)] == [404, 200]


def test_a_client_over_http_is_refused_what_no_session_allows() -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    fields = {"accept": "application/json, text/event-stream"}
    with proxying(Upstream(command=[sys.executable, "-c", "input()"]), Encoder) as url:
        assert httpx.post(url, json=body, headers=fields).status_code == 400
        modern = {**fields, "mcp-protocol-version": "2026-07-28"}
        assert httpx.post(url, json=body, headers=modern).status_code == 400
        assert httpx.post(url, json=body, headers={**fields, "mcp-session-id": "x"}).status_code == 404
        assert httpx.post(url, json=body, headers={**fields, "host": "evil.example"}).status_code == 421
        assert httpx.post(url, content=b"x" * (5 << 20), headers=fields).status_code == 413
        assert httpx.post(url, content=b"[%b]" % (b"[]," * 60_000), headers=fields).status_code == 413
    with proxying(Upstream(command=["no-such-command"]), Encoder) as url:
        assert httpx.post(url, json=body, headers=fields).status_code == 502
        assert httpx.get(url, headers=fields).status_code == 400  # and no server was started for it


# "the client MAY attempt to resume the connection ... Last-Event-ID" (Streamable HTTP of 2025-11-25, Resumability)
def begun(client: httpx.Client, url: str) -> Callable[..., AbstractContextManager[httpx.Response]]:
    """Begin a session; return what posts a message of it."""

    def post(method: str, **message: Any) -> AbstractContextManager[httpx.Response]:
        return client.stream("POST", url, json={"jsonrpc": "2.0", "method": method, **message})

    client.headers["accept"] = "application/json, text/event-stream"
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    with post("initialize", id=1, params=info) as answer:
        answer.read()
    client.headers.update({"mcp-session-id": answer.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"})
    with post("notifications/initialized"):
        return post


def commands() -> Iterator[bytes]:
    """Yield the commands of all processes, where the system tells them."""
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield each.read_bytes()


def test_a_session_whose_client_reads_no_answer_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EventSourceResponse, "DEFAULT_PING_INTERVAL", 0.05)  # a ping waits behind each answer
    (rows := tmp_path / "rows.py").write_text(SERVER.replace("return json", "return 'word ' * count or json"))
    with (
        proxying(Upstream(command=[sys.executable, str(rows)]), Encoder) as url,
        httpx.Client(timeout=PATIENCE) as client,
        ExitStack() as unread,
    ):
        post = begun(client, url)
        with post("tools/call", id=7, params={"name": "report", "arguments": {"count": 4_000_000}}) as answer:
            assert "ask for less" in answer.read().decode()
        for number in range(2, 6):
            params = {"name": "report", "arguments": {"count": 2_000_000}}
            unread.enter_context(post("tools/call", id=number, params=params))

        def has_ended() -> bool:
            with post("ping", id=9) as answer:
                return answer.status_code == 404

        wait_until(has_ended)
        wait_until(lambda: not any(str(rows).encode() in each for each in commands()))


def test_a_client_whose_stream_has_broken_off_gets_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = StreamableHTTPServerTransport._mint_priming_event

    async def slowly(*arguments: Any) -> Any:
        await anyio.sleep(0.2)
        return await begin(*arguments)

    # What the SDK does between our replay and its first look at the stream.
    monkeypatch.setattr(StreamableHTTPServerTransport, "_mint_priming_event", slowly)
    rows, go = tmp_path / "rows.py", tmp_path / "go"
    rows.write_text(SERVER.replace("server.run()", f"{WAITING}\nserver.run()"))
    with (
        proxying(Upstream(command=[sys.executable, str(rows)]), Encoder) as url,
        httpx.Client(timeout=PATIENCE) as client,
    ):
        post = begun(client, url)

        def broken_off(number: int, tool: str, **arguments: Any) -> AbstractContextManager[httpx.Response]:
            """Call a tool, leave its stream, and come back to it."""
            with post("tools/call", id=number, params={"name": tool, "arguments": arguments}) as answer:
                first = next(line for line in answer.iter_lines() if line.startswith("id: "))
            return client.stream("GET", url, headers={"last-event-id": first[4:]})

        def result(answer: httpx.Response) -> Any:
            return next(json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: {"))

        with broken_off(2, "report") as again:
            assert "note" in result(again)["result"]["content"][0]["text"]
        with broken_off(3, "wait", path=str(go)) as again:
            go.touch()
            assert result(again)["id"] == 3
        with client.stream("GET", url, headers={"last-event-id": "unknown"}) as nothing:
            assert not nothing.read()
        monkeypatch.setattr("accp_adapters.mcp.pump._KEPT_EACH", 9 << 10)
        with broken_off(5, "report") as again:
            assert "ask for less" in result(again)["error"]["message"]
        go.unlink()
        with broken_off(4, "wait", path=str(go)) as again:
            client.delete(url)
            again.read()
