"""Attacks on the sessions of `accp serve`: what strangers and one principal can take of memory and places."""

import asyncio
import secrets
import struct
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress

import httpx2

from tests.attacks.commands import ACCP, BOUND, Command, needs_proc, running
from tests.attacks.frames import frame_of
from tests.attacks.sockets import UPGRADE, request_of
from tests.limits import PATIENCE

pytestmark = needs_proc

MIB = 1 << 20
NAMES = ("ann", *(f"p{number}" for number in range(8)))
TOKENS = {name: secrets.token_hex(16) for name in NAMES}


@contextmanager
def serving(target: str, *options: str, addresses: int = 1) -> Iterator[Command]:
    tokens = " ".join(f"{name}:{token}" for name, token in TOKENS.items())
    words = (*ACCP, "serve", f"tests.attacks.served:{target}", "--token-env", "TOKENS", *options)
    with running(*words, addresses=addresses, TOKENS=tokens) as command:
        yield command


def client(command: Command, name: str) -> httpx2.AsyncClient:
    fields = {"authorization": f"Bearer {TOKENS[name]}", "content-type": "application/accp"}
    return httpx2.AsyncClient(base_url=command.url, headers=fields, trust_env=False, timeout=PATIENCE)


async def sent(http: httpx2.AsyncClient, frame: bytes) -> int:
    return (await http.post("/accp/v1/frames", content=frame)).status_code


async def asked(http: httpx2.AsyncClient, name: str, session: str, size: int) -> int:
    return await sent(http, frame_of(name, session, "x" * size))


async def begin(http: httpx2.AsyncClient, first: int, last: int) -> list[int]:
    """Begin sessions by frames of almost 1 MB; return what became of them."""
    frame = frame_of("p1", "s-any", secrets.token_hex(450_000))  # which takes half as much in a store
    return [await sent(http, frame.replace(b"s-any", b"s%d" % number)) for number in range(first, last)]


async def test_a_principal_that_begins_many_sessions_of_large_frames() -> None:
    with serving("answer", "--http", "127.0.0.1:0") as command:
        async with client(command, "p1") as hog, client(command, "ann") as honest:
            await asked(honest, "ann", "mine", 10)
            await begin(hog, 0, 40)
            before = command.peak
            done = await begin(hog, 40, 110)
            assert command.peak - before < 30  # more than 60 MB came meanwhile
            assert await asked(honest, "ann", "new", 10) == 200
            assert set(done) <= {200, 429, 503}


@asynccontextmanager
async def half_messages(port: int, requests: Sequence[bytes]) -> AsyncIterator[None]:
    """Open a WebSocket by each request, some at a time, and send a message of 1 MiB there without its end."""
    opened, some = list[asyncio.StreamWriter](), asyncio.Semaphore(40)
    begun = struct.pack("!BBQ", 0x81, 0x80 | 127, MIB - 100) + bytes(4) + b"x" * (MIB - 2_000)

    async def one(request: bytes) -> None:
        async with some:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            opened.append(writer)
            with suppress(OSError, asyncio.IncompleteReadError):
                writer.write(request)
                await reader.readuntil(b"\r\n\r\n")
                writer.write(begun)
                await writer.drain()

    await asyncio.gather(*map(one, requests))
    yield
    for each in opened:
        each.close()


async def test_messages_of_many_websockets_that_are_not_complete() -> None:
    opened = [
        request_of("GET", "/accp/v1/ws", authorization=f"Bearer {TOKENS[name]}", **UPGRADE)
        for name in NAMES[1:]
        for _ in range(80)
    ]
    with serving("answer", "--http", "127.0.0.1:0") as command:
        async with half_messages(command.ports[0], opened), client(command, "ann") as honest:
            assert await asked(honest, "ann", "new", 10) == 200
        assert command.peak < BOUND
