"""What a call takes through the HTTP proxy with many calls in flight: `python -m tests.harness.bench mcp_latency`.

One server answers each call with 20 rows; directly, through the proxy with either policy, through FastMCP's proxy, and
through mcp-proxy where that command is on the PATH. It needs mcp 1.x, and so an environment of its own, such as that of
`uv tool install mcp-proxy`; it speaks the protocol of 2025-06-18, to the same server over standard streams.
Every route is a process of its own; the routes take turns, so that what else the machine does hits all of them.
"""

from __future__ import annotations

import asyncio
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

import httpx
from rich.console import Console

from accp_adapters.cli.tables import plain_table
from tests.adapters.mcp.serving import free_port
from tests.adapters.mcp.transcripts import ACCP, SERVER, ask, modern

__all__ = ["main"]

IN_FLIGHT: Final = (1, 10, 100)
CALLS: Final = 200
"""Calls of each route at each level."""
_ROUNDS: Final = 2
_FASTMCP: Final = """
import sys
from fastmcp.server import create_proxy
create_proxy(sys.argv[1]).run("http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, log_level="critical")
"""


@dataclass(frozen=True, slots=True)
class Route:
    """One way to the server."""

    url: str
    version: str = "2026-07-28"
    """Of the protocol; before 2026-07-28 a request says nothing of its client."""

    def request(self) -> bytes:
        """Return the request over HTTP that calls the tool."""
        make = modern if self.version == "2026-07-28" else ask
        address, body = urlsplit(self.url), make("tools/call", 1, name="orders", arguments={})
        fields = {
            "host": address.netloc,
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "content-length": str(len(body)),
            "mcp-protocol-version": self.version,
            "mcp-method": "tools/call",
            "mcp-name": "orders",
        }
        lines = [f"POST {address.path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
        return "\r\n".join([*lines, "\r\n"]).encode() + body


def main() -> None:
    """Print a table for each number of calls in flight."""
    columns = ("route", "p50 ms", "p99 ms", "p50 of negotiate")
    with ExitStack() as stack:
        routes = _routes(stack)
        for level in IN_FLIGHT:
            title = f"A call with 20 rows, {level} in flight, {CALLS} calls of each route"
            Console(width=100).print(plain_table(title, columns, _measured(routes, level)))


def _routes(stack: ExitStack) -> Mapping[str, Route]:
    def start(*command: str) -> str:
        port = free_port()
        return stack.enter_context(started([word.replace("PORT", str(port)) for word in command], port))

    server = start(*SERVER, "PORT")
    proxy = (*ACCP, "--quiet", "--url", server, "--listen", "127.0.0.1:PORT")
    routes = {
        "direct": Route(server),
        "negotiate": Route(start(*proxy)),
        "always": Route(start(*proxy, "--policy", "always")),
        "FastMCP's proxy": Route(start(sys.executable, "-c", _FASTMCP, server, "PORT")),
    }
    if command := shutil.which("mcp-proxy"):
        url = start(command, "--cwd", ".", "--pass-environment", "--stateless", "--port", "PORT", "--", *SERVER)
        routes["mcp-proxy"] = Route(url, version="2025-06-18")
    return routes


def _measured(routes: Mapping[str, Route], level: int) -> list[tuple[str, str, str, str]]:
    """Return the name of each route, its p50 and p99, and how many times the p50 of `negotiate` it has."""
    times: dict[str, list[float]] = {name: [] for name in routes}
    for round_number in range(_ROUNDS + 1):
        for name, route in routes.items():
            taken = asyncio.run(_calls(route, level, CALLS // _ROUNDS))
            # The first round warms up.
            times[name] += taken if round_number else []
    cuts = {name: statistics.quantiles(each, n=100, method="inclusive") for name, each in times.items()}
    base = cuts["negotiate"][49]
    return [(name, _ms(cut[49]), _ms(cut[98]), f"{cut[49] / base:.2f}") for name, cut in cuts.items()]


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f}"


async def _calls(route: Route, level: int, count: int) -> Sequence[float]:
    waiting = iter(range(count))
    taken: list[float] = []
    await asyncio.gather(*(_connection(route, waiting, taken) for _ in range(level)))
    return taken


async def _connection(route: Route, waiting: Iterator[int], taken: list[float]) -> None:
    """Send calls over one connection until `waiting` is empty; by hand, since a client takes longer than a proxy."""
    address, request = urlsplit(route.url), route.request()
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    for _ in waiting:
        start = time.perf_counter()
        writer.write(request)
        await _read_response(reader)
        taken.append(time.perf_counter() - start)
    writer.close()


async def _read_response(reader: asyncio.StreamReader) -> None:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise RuntimeError(f"expected status 200, found {head[:100]!r}")
    if b"content-length:" in head:
        await reader.readexactly(int(head.partition(b"content-length:")[2].partition(b"\r\n")[0]))
        return
    while size := int(await reader.readline(), 16):
        await reader.readexactly(size + 2)
    await reader.readline()


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
