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

from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.session import GatewaySession
from accp_adapters.mcp.links.link import Link
from accp_adapters.mcp.links.url_link import UrlLink
from accp_adapters.mcp.proxy import message
from accp_adapters.mcp.proxy.lines import serve_lines
from accp_adapters.mcp.proxy.pipes import run_stdio
from tests.adapters.mcp.proxy.rows_server import answer
from tests.adapters.mcp.proxy.tenants import Client
from tests.adapters.mcp.proxy.upstream import Saying, Upstream
from tests.adapters.mcp.serving import encoding, gateway, proxying, serving
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


@contextmanager
def remote() -> Iterator[str]:
    """Yield the URL of a server that answers as the command does."""

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


def piped(source: int, target: int) -> None:
    # This thread is not the main one, which alone receives signals.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("signal.signal", lambda number, handler: None)
        run_stdio(COMMAND, encoding(), source=source, target=target)


def lines_before(link: Link) -> Callable[[int, int], None]:
    return lambda source, target: asyncio.run(serve_lines(link, encoding(), source=source, target=target))


def settings(stack: ExitStack, way: str) -> ServerSettings:
    if "commands" in way:
        return ServerSettings("shop", COMMAND)
    return ServerSettings("shop", url=stack.enter_context(remote()))


def client_by(way: str, stack: ExitStack) -> Callable[..., Any]:
    """Return what asks by one of `WAYS`."""
    if way == "a command on pipes":
        return over_lines(stack, piped)
    if way == "a URL on pipes":
        return over_lines(stack, lines_before(UrlLink(stack.enter_context(remote()))))
    if way == "a URL over HTTP":
        return Client(stack.enter_context(proxying(stack.enter_context(remote()), encoding))).ask
    if "pipes" in way:
        return over_lines(stack, lines_before(GatewaySession([settings(stack, way)])))
    return Client(stack.enter_context(gateway(settings(stack, way)))).start().ask


WAYS: Final = (
    "a command on pipes",
    "a URL on pipes",
    "a URL over HTTP",
    "commands on pipes",
    "commands over HTTP",
    "many URLs on pipes",
    "many URLs over HTTP",
)


@pytest.mark.parametrize("way", WAYS)
def test_a_call_and_its_result_are_read_once_and_written_at_most_once(way: str, counts: Counts) -> None:
    with ExitStack() as stack:
        ask = client_by(way, stack)
        if "pipes" in way:
            ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        counts.clear()
        name = "shop__rows" if way.startswith(("commands", "many")) else "rows"
        result = ask("tools/call", name=name, arguments={})["result"]
        assert result["content"][0]["text"].startswith("[30] id name")
        counted = dict(counts)
    assert {key: number for key, number in counted.items() if key[0] == "read"} == EACH
    assert all(number == 1 for number in counted.values()), counted
    assert counted["write", "response"] == 1
