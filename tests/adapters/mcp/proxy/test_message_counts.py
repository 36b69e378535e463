"""Each message is parsed once and written at most once, whichever way it takes through `accp mcp`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.http_front import PATH, GatewayApp
from accp_adapters.mcp.gateway.session import GatewaySession
from accp_adapters.mcp.links.url_link import UrlLink
from accp_adapters.mcp.proxy import message
from accp_adapters.mcp.proxy.lines import serve_lines
from accp_adapters.mcp.proxy.pipes import run_stdio
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from tests.adapters.mcp.proxy.tenants import Client
from tests.adapters.mcp.proxy.upstream import Saying, Upstream
from tests.adapters.mcp.serving import proxying, serving
from tests.limits import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")

Counts = Counter[tuple[str, str]]
COMMAND: Final = (sys.executable, str(Path(__file__).with_name("rows_server.py")))
EACH: Final = {("read", "request"): 1, ("read", "response"): 1}


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    """Count the messages that are read and written."""
    counted: Counts = Counter()

    def kind(value: Any) -> str:
        return "request" if isinstance(value, dict) and "method" in value else "response"

    def counting(action: str, function: Callable[[Any], Any], of: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
        def counted_function(given: Any) -> Any:
            made = function(given)
            counted[action, kind(of(given, made))] += 1
            return made

        return counted_function

    for name in ("read_message", "read_json"):
        monkeypatch.setattr(message, name, counting("read", getattr(message, name), lambda given, made: made))
    write = counting("write", message.write_message, lambda given, made: given)
    monkeypatch.setattr(message, "write_message", write)
    return counted


def new_relay() -> Relay:
    return encoder_relay(Encoder(policy="always"))


@contextmanager
def remote() -> Iterator[str]:
    """Yield the URL of a server that answers as the command does."""
    from tests.adapters.mcp.proxy.rows_server import answer  # noqa: PLC0415  a program, too

    async def answering(scope: Any, body: bytes, say: Saying) -> None:
        said = answer(json.loads(body)) if body else None
        await say(json.dumps(said).encode() if said else b"", 200 if said else 202, content_type="application/json")

    upstream = Upstream()
    upstream.answering = answering
    with serving(upstream) as origin:
        yield f"{origin}/mcp"


class Lines:
    """A client on pipes."""

    def __init__(self, run: Callable[[int, int], None]) -> None:
        (source, self._writing), (reading, target) = os.pipe(), os.pipe()
        self._thread = threading.Thread(target=run, args=(source, target))
        self._thread.start()
        self._heard = open(reading, "rb")  # noqa: SIM115  closed below

    def ask(self, method: str, **params: Any) -> Any:
        asked = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        os.write(self._writing, json.dumps(asked).encode() + b"\n")
        return next(said for line in self._heard if (said := json.loads(line)).get("id") == method)

    def close(self) -> None:
        os.close(self._writing)
        self._thread.join(PATIENCE)
        self._heard.close()


def over_lines(stack: ExitStack, run: Callable[[int, int], None]) -> Callable[..., Any]:
    client = Lines(run)
    stack.callback(client.close)
    return client.ask


def command_on_pipes(stack: ExitStack) -> Callable[..., Any]:
    # The thread of the test stands for the process: signals are not its business.
    return over_lines(stack, lambda source, target: piped(source, target))


def piped(source: int, target: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("signal.signal", lambda number, handler: None)
        run_stdio(COMMAND, new_relay(), source=source, target=target)


def url_on_pipes(stack: ExitStack) -> Callable[..., Any]:
    url = stack.enter_context(remote())
    return over_lines(stack, lambda source, target: asyncio.run(served(UrlLink(url), source, target)))


def many_on_pipes(settings: Callable[[ExitStack], ServerSettings]) -> Callable[[ExitStack], Callable[..., Any]]:
    def opened(stack: ExitStack) -> Callable[..., Any]:
        servers = [settings(stack)]
        return over_lines(stack, lambda source, target: asyncio.run(served(GatewaySession(servers), source, target)))

    return opened


async def served(link: Any, source: int, target: int) -> None:
    await serve_lines(link, new_relay(), source=source, target=target)


def url_over_http(stack: ExitStack) -> Callable[..., Any]:
    url = stack.enter_context(remote())
    return Client(stack.enter_context(proxying(url, new_relay))).ask


def many_over_http(settings: Callable[[ExitStack], ServerSettings]) -> Callable[[ExitStack], Callable[..., Any]]:
    def opened(stack: ExitStack) -> Callable[..., Any]:
        app = GatewayApp([settings(stack)], new_relay)

        async def serve(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                await app(scope, receive, send)
                return
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await app.close()
            await send({"type": "lifespan.shutdown.complete"})

        return Client(stack.enter_context(serving(serve, lifespan="on")) + PATH).start().ask

    return opened


def command(stack: ExitStack) -> ServerSettings:
    return ServerSettings("shop", COMMAND)


def url(stack: ExitStack) -> ServerSettings:
    return ServerSettings("shop", url=stack.enter_context(remote()))


WAYS: Final[dict[str, Callable[[ExitStack], Callable[..., Any]]]] = {
    "a command on pipes": command_on_pipes,
    "a URL on pipes": url_on_pipes,
    "a URL over HTTP": url_over_http,
    "commands on pipes": many_on_pipes(command),
    "commands over HTTP": many_over_http(command),
    "URLs on pipes": many_on_pipes(url),
    "URLs over HTTP": many_over_http(url),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_call_and_its_result_are_read_once_and_written_at_most_once(way: str, counts: Counts) -> None:
    with ExitStack() as stack:
        ask = WAYS[way](stack)
        if "pipes" in way:
            ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        counts.clear()
        name = "shop__rows" if way.startswith(("commands", "URLs")) else "rows"
        result = ask("tools/call", name=name, arguments={})["result"]
        assert result["content"][0]["text"].startswith("[30] id name")
        counted = dict(counts)
    assert {key: number for key, number in counted.items() if key[0] == "read"} == EACH
    assert all(number == 1 for number in counted.values()), counted
    assert counted["write", "response"] == 1
