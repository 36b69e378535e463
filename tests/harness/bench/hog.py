"""One principal that asks for as much as it can, beside an honest one, at each door; section `hog`.

The honest one asks for something small, one request after the other: alone, and while the other one has several
requests open all the time: large ones, or such in pieces of a byte, or with many fields that no request had before. The
doors are the commands, in processes of their own.
"""

import asyncio
import json
import multiprocessing
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count, cycle, product
from typing import Any, Final, TypeAlias

import httpx2
from rich.console import Console

from accp_adapters.a2a import EXTENSION
from accp_adapters.cli.tables import plain_table
from tests.attacks.commands import ACCP, running
from tests.attacks.frames import frame_of
from tests.limits import PATIENCE

__all__ = ["main"]

REQUESTS: Final = 100
"""Requests of the honest one, alone and beside the other; ACP lets at most 256 answers wait that nobody reads."""
MANY: Final = 1_000
"""The same at A2A, where the other one has long pauses."""
AT_ONCE: Final = 8
"""Requests that the other one has open all the time."""
KINDS: Final = ("none", "large", "pieces", "fields")
"""What the other one asks for; "none": it only computes, which on two cores takes from the honest one, too."""
ALLOWED: Final = 3.0
"""How many times as long a request may take beside the other one."""
_TOKENS: Final = "hog:hog-token ann:ann-token"

Sent: TypeAlias = tuple[str, str, bytes, dict[str, str]]
"""A request: method, path, body and fields."""
Door: TypeAlias = tuple[str, list[Sent], list[Sent]]
"""Where it is, what the honest one sends, and what the other one sends, again and again."""
_JSON: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def of(name: str, **fields: str) -> dict[str, str]:
    """Return the fields of a principal's requests."""
    return {"authorization": f"Bearer {name}-token", **_JSON, **fields}


def post(path: str, body: Any, fields: dict[str, str]) -> Sent:
    """Return a request with a body."""
    return ("POST", path, body if isinstance(body, bytes) else json.dumps(body).encode(), fields)


async def send(client: httpx2.AsyncClient, sent: Sent) -> httpx2.Response:
    """Send a request."""
    method, path, body, fields = sent
    return await client.request(method, path, content=body, headers=fields)


def client_of(url: str) -> httpx2.AsyncClient:
    """Return a client."""
    return httpx2.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE)


@asynccontextmanager
async def accp() -> AsyncIterator[Door]:
    """`accp serve` of a handler."""
    words = ("serve", "tests.attacks.served:answer", "--http", "127.0.0.1:0", "--token-env", "TOKENS")

    def frames(name: str, size: int, many: int) -> list[Sent]:
        fields = of(name, **{"content-type": "application/accp"})
        return [post("/accp/v1/frames", frame_of(name, f"s{number}", "x" * size), fields) for number in range(many)]

    with running(*ACCP, *words, TOKENS=_TOKENS) as command:
        yield command.url, frames("ann", 100, 2 * REQUESTS + 1), frames("hog", 500_000, 100)


@asynccontextmanager
async def acp() -> AsyncIterator[Door]:
    """`accp serve` of an agent."""

    def message(name: str, size: int) -> Sent:
        told = {"role": "user", "parts": [{"type": "text", "content": "x" * size}], "sync": True}
        return post("/message:send", told, of(name))

    words = ("serve", "tests.attacks.served:agent", "--http", "127.0.0.1:0", "--token-env", "TOKENS")
    with running(*ACCP, *words, TOKENS=_TOKENS) as command:
        yield command.url, [message("ann", 100)], [message("hog", 500_000)]


@asynccontextmanager
async def a2a() -> AsyncIterator[Door]:
    """A server of A2A, whose answers are frames; it does not know who asks."""

    def message(name: str, size: int) -> Sent:
        part = {"data": {"rows": [{"id": number, "note": f"n {number * 7919}"} for number in range(size)]}}
        params = {"message": {"messageId": f"echo-{name}", "role": "ROLE_USER", "parts": [part]}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
        return post("/", asked, of(name, **{"a2a-version": "1.0", "a2a-extensions": EXTENSION}))

    words = (sys.executable, "-m", "tests.adapters.a2a.serve", "--port", "0", "--grpc-port", "0")
    with running(*words) as command:
        yield command.url, [message("ann", 3)], [message("hog", 15_000)]


DOORS: Final[Mapping[str, tuple[Callable[[], Any], int]]] = {
    "ACCP": (accp, REQUESTS),
    "ACP": (acp, REQUESTS),
    "A2A": (a2a, MANY),
}


async def p99(client: httpx2.AsyncClient, requests: Iterator[Sent], many: int) -> float:
    """Return the 99th percentile of the time of requests, in milliseconds."""
    times = list[float]()
    for _ in range(many):
        begun = time.perf_counter()
        answer = await send(client, next(requests))
        times.append(time.perf_counter() - begun)
        assert answer.is_success, answer.text[:200]
    return sorted(times)[int(0.99 * len(times)) - 1] * 1000


async def keep_asking(url: str, requests: list[Sent], kind: str) -> None:
    """Have several of `requests` open all the time."""
    endless, numbers = cycle(requests), count()

    async def ask() -> None:
        async with client_of(url) as client:
            while True:
                method, path, body, fields = next(endless)
                content: Any = bytes_of(body) if kind == "pieces" else b"{}" if kind == "fields" else body
                new = {f"x-{next(numbers)}": "1" for _ in range(200)} if kind == "fields" else {}
                with suppress(httpx2.HTTPError):
                    await client.request(method, path, content=content, headers={**fields, **new})

    await asyncio.gather(*(ask() for _ in range(AT_ONCE)))


async def bytes_of(body: bytes) -> AsyncIterator[bytes]:
    """Yield the bytes of a body, each alone."""
    for at in range(len(body)):
        yield body[at : at + 1]


def be_a_hog(url: str, requests: list[Sent], kind: str) -> None:
    """Ask without an end, in a process of its own."""
    while kind == "none":
        pass
    asyncio.run(keep_asking(url, requests, kind))


async def measured(door: Callable[[], Any], many: int, kind: str) -> tuple[float, float]:
    """Return the p99 of the honest one, alone and beside the other one."""
    async with door() as (url, honest, hog), client_of(url) as client:
        requests = cycle(honest)
        await send(client, next(requests))
        alone = await p99(client, requests, many)
        asking = multiprocessing.get_context("spawn").Process(target=be_a_hog, args=(url, hog, kind), daemon=True)
        asking.start()
        await asyncio.sleep(3)
        beside = await p99(client, requests, many)
        asking.kill()
        asking.join()
    return alone, beside


def main(data: object, console: Console) -> None:
    """Print the table; it needs no data."""
    rows = []
    for (name, (door, many)), kind in product(DOORS.items(), KINDS):
        alone, beside = asyncio.run(measured(door, many, kind))
        rows.append((name, kind, f"{alone:.1f}", f"{beside:.1f}", f"{beside / alone:.1f}"))
        print(*rows[-1], flush=True)
    columns = ("door", "requests", "alone", "beside a hog", "times")
    title = f"p99 of {REQUESTS} small requests ({MANY:,} at A2A) in ms; a hog has {AT_ONCE} other ones open"
    console.print(plain_table(title, columns, rows, caption=f"allowed: {ALLOWED:.0f} times"))
