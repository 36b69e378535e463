"""What the proxy saves and costs in front of other people's MCP servers: `python -m tests.bench mcp_servers`.

Definitions are what a host shows a model of tools/list, in full and at the levels of --tools; results are what a host
shows that reads texts, structuredContent, or both, as the server sends them and with --host of that kind. Latency is in
milliseconds per call, one call at a time, against a server that responds at once.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args

import httpx
from rich.console import Console

from accp_adapters.inspector.tables import percent, plain_table
from accp_adapters.mcp.shim.hosts import ShownForm, shown_text
from accp_adapters.mcp.shim.tools.levels import model_definitions
from accp_adapters.replay.formats.json_values import json_value
from accp_adapters.tokens import count_o200k
from accp_core.strict_json import compact_json
from tests.adapters.mcp.real_servers.registries import Missing
from tests.adapters.mcp.real_servers.servers import SERVERS, RealServer, World, conversation
from tests.adapters.mcp.serving import free_port, serving
from tests.adapters.mcp.transcripts import ACCP, NEGOTIATE, SERVER, converse, modern

__all__ = ["main", "started"]

CALLS: Final = 200
_Route: TypeAlias = Callable[[bytes, Sequence[str] | None], AbstractContextManager[Callable[[], object]]]
"""A line to send and the proxy's options, None for no proxy; yields what sends it once and reads the answer."""
_LEVELS: Final = ("signatures", "names")
_KINDS: Final[tuple[ShownForm, ...]] = get_args(ShownForm)
_WARM: Final = 20


def main() -> None:
    """Print the tables, and which servers are skipped."""
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as folder, serving(_page) as origin:
        world = World(Path(folder, "world"), f"{origin}/")
        rows = [row for server in SERVERS if (row := _measured(server, world, console))]
    if rows:
        rows.append(("total", *(sum(column) for column in zip(*(row[1:] for row in rows), strict=True))))
        _print_tokens(rows, console)
    _print_latency(console)


async def _page(scope: Any, receive: Any, send: Any) -> None:
    rows = "".join(f"<tr><td>product {n}</td><td>{n * 17.25}</td></tr>" for n in range(20))
    body = f"<html><body><h1>Sales</h1><table>{rows}</table></body></html>".encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    await send({"type": "http.response.body", "body": body})


def _measured(server: RealServer, world: World, console: Console) -> tuple[Any, ...] | None:
    """Return name, tools, tokens of definitions by level, results, and tokens by kind of host, as served and sent."""
    try:
        command = server.command(world)
    except Missing as missing:
        console.print(f"{server.name}: skipped, {missing}", highlight=False)
        return None
    os.environ["MEMORY_FILE_PATH"] = str(world.folder / "memory.jsonl")
    lines = conversation(server.calls(world))
    alone = _talk(world, command, lines)
    listed = [_talk(world, [*NEGOTIATE, "--tools", level, "--", *command], lines[:3]) for level in _LEVELS]
    tools, *indexes = (next(each["tools"] for each in said if "tools" in each) for said in (alone, *listed))
    definitions = (count_o200k(compact_json(model_definitions(each))) for each in (tools, *indexes))
    served = [each for each in alone if "content" in each]
    tokens = (_tokens(served, kind, _talk(world, [*ACCP, "--host", kind, "--", *command], lines)) for kind in _KINDS)
    return server.name, len(tools), *definitions, len(served), *chain.from_iterable(tokens)


def _tokens(served: list[Any], kind: ShownForm, said: list[Any]) -> tuple[int, int]:
    """Return the tokens that a host of this kind shows of the results, as served and as the proxy sends them."""
    sent = [each for each in said if "content" in each]
    before, after = (sum(count_o200k(shown_text(each, kind)) for each in results) for results in (served, sent))
    return before, after


def _talk(world: World, command: Sequence[str], lines: Sequence[bytes]) -> list[Any]:
    world.make()
    said = (json_value(line.decode()) for line in converse(command, lines))
    return [message["result"] for message in said if isinstance(message, dict) and "result" in message]


def _print_tokens(rows: Sequence[tuple[Any, ...]], console: Console) -> None:
    heads = (head for kind in _KINDS for head in (kind, "ours", "%"))
    columns = ("", "tools", "full", *_LEVELS, "results", *heads)
    console.print(plain_table("Servers behind the proxy: o200k_base tokens", columns, [_line(*row) for row in rows]))


def _line(name: str, *counts: int) -> tuple[str, ...]:
    at = 3 + len(_LEVELS)
    pairs = zip(counts[at::2], counts[at + 1 :: 2], strict=True)
    shown = (cell for before, after in pairs for cell in (f"{before:,}", f"{after:,}", percent(after, before)))
    return name, *(f"{count:,}" for count in counts[:at]), *shown


def _print_latency(console: Console) -> None:
    lines = {"one line": modern("tools/call", 1, name="test_simple_text", arguments={})}
    lines["20 rows"] = modern("tools/call", 1, name="orders", arguments={})
    rows = [
        (transport, name, " ".join(options), *_compared(route, line, options))
        for transport, route in (("standard streams", _over_streams), ("HTTP", _over_http))
        for name, line in lines.items()
        for options in (["--policy", "negotiate"], ["--policy", "always"])
    ]
    columns = ("", "result", "options", "p50 alone", "proxied", "p99 alone", "proxied", "p50 ratio", "p99 ratio")
    console.print(plain_table(f"Milliseconds a call, {CALLS} calls one after the other", columns, rows))


def _compared(route: _Route, line: bytes, options: Sequence[str]) -> tuple[str, ...]:
    """Return p50 and p99, alone and proxied, and the ratios; calls alternate, so that others' load hits both."""
    with route(line, None) as alone, route(line, options) as proxied:
        times = [(_timed(alone), _timed(proxied)) for _ in range(_WARM + CALLS)][_WARM:]
    quantiles = [statistics.quantiles(each, n=100, method="inclusive") for each in zip(*times, strict=True)]
    pairs = [(quantiles[0][cut] * 1000, quantiles[1][cut] * 1000) for cut in (49, 98)]
    return *(f"{value:.2f}" for pair in pairs for value in pair), *(f"{after / before:.2f}" for before, after in pairs)


def _timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@contextmanager
def _over_streams(line: bytes, options: Sequence[str] | None) -> Iterator[Callable[[], object]]:
    command = SERVER if options is None else [*ACCP, *options, "--", *SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        with server.stdin as sending, open(server.stdout.fileno(), "rb", closefd=False) as answers:
            yield lambda: (sending.write(line), answers.readline())
        server.wait(20)


@contextmanager
def _over_http(line: bytes, options: Sequence[str] | None) -> Iterator[Callable[[], object]]:
    message = json.loads(line)
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": message["method"],
        "mcp-name": message["params"]["name"],
    }
    with ExitStack() as stack:
        port = free_port()
        url = stack.enter_context(started([*SERVER, str(port)], port))
        if options is not None:
            port = free_port()
            words = [*ACCP, "--url", url, "--listen", f"127.0.0.1:{port}", *options]
            url = stack.enter_context(started(words, port))
        client = stack.enter_context(httpx.Client())
        yield lambda: client.post(url, content=line, headers=headers).raise_for_status()


@contextmanager
def started(command: Sequence[str], port: int) -> Iterator[str]:
    """Start a server of its own process; yield its URL once it listens."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            with httpx.Client() as client:
                _wait_for(client, f"http://127.0.0.1:{port}/mcp")
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.terminate()


def _wait_for(client: httpx.Client, url: str, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while True:
        try:
            client.delete(url)
        except httpx.HTTPError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


if __name__ == "__main__":
    main()
