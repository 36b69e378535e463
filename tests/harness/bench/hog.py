"""One principal that asks for as much as it can, beside an honest one, at each door; section `hog`.

The honest one asks for something small, one request after the other, by turns beside a process that only computes, and
beside one that has several requests open all the time: large ones, or such in pieces of a byte, or with many fields.
Their bytes are prepared, so that their client takes little of the processor. The doors are the commands, in processes
of their own.
"""

import json
import multiprocessing
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from itertools import cycle, product
from typing import Any, Final, TypeAlias

from rich.console import Console

from accp_adapters.a2a import EXTENSION
from accp_adapters.cli.tables import plain_table
from tests.attacks.commands import ACCP, running
from tests.attacks.frames import frame_of
from tests.attacks.sockets import request_of
from tests.limits import PATIENCE

__all__ = ["main"]

REQUESTS: Final = 120
"""Requests of the honest one, alone and beside the other; ACP lets at most 256 answers wait that nobody reads."""
ROUNDS: Final = 4
"""In so many parts, between which the load of the machine may change."""
MANY: Final = 1_000
"""The same at A2A, where the other one has long pauses."""
AT_ONCE: Final = 8
"""Requests that the other one has open all the time."""
KINDS: Final = ("large", "pieces", "fields")
"""What the other one asks for. Beside "none", one that only computes, the honest one has as much of two cores."""
ALLOWED: Final = 3.0
"""How many times as long a request may take beside the other one."""
_SERVE: Final = (*ACCP, "serve", "--http", "127.0.0.1:0", "--token-env", "TOKENS")
_TOKENS: Final = "hog:hog-token ann:ann-token"

Sent: TypeAlias = tuple[str, bytes, dict[str, Any]]
"""A request: path, body and fields."""
Door: TypeAlias = tuple[int, list[Sent], list[Sent]]
"""Its port, what the honest one sends, and what the other one sends, again and again."""
_JSON: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


def of(name: str, **fields: str) -> dict[str, str]:
    """Return the fields of a principal's requests."""
    return {"authorization": f"Bearer {name}-token", **_JSON, **fields}


def post(path: str, body: Any, fields: dict[str, str]) -> Sent:
    """Return a request with a body."""
    return (path, body if isinstance(body, bytes) else json.dumps(body).encode(), fields)


@contextmanager
def accp() -> Iterator[Door]:
    """`accp serve` of a handler."""

    def frames(name: str, size: int, many: int) -> list[Sent]:
        fields = of(name, **{"content-type": "application/accp"})
        return [post("/accp/v1/frames", frame_of(name, f"s{number}", "x" * size), fields) for number in range(many)]

    with running(*_SERVE, "tests.attacks.served:answer", TOKENS=_TOKENS) as command:
        yield command.ports[0], frames("ann", 100, 2 * REQUESTS + 1), frames("hog", 500_000, 100)


@contextmanager
def acp() -> Iterator[Door]:
    """`accp serve` of an agent."""

    def message(name: str, size: int) -> Sent:
        told = {"role": "user", "parts": [{"type": "text", "content": "x" * size}], "sync": True}
        return post("/message:send", told, of(name))

    with running(*_SERVE, "tests.attacks.served:agent", TOKENS=_TOKENS) as command:
        yield command.ports[0], [message("ann", 100)], [message("hog", 500_000)]


@contextmanager
def a2a() -> Iterator[Door]:
    """A server of A2A, whose answers are frames; it does not know who asks."""

    def message(name: str, size: int) -> Sent:
        part = {"data": {"rows": [{"id": number, "note": f"n {number * 7919}"} for number in range(size)]}}
        params = {"message": {"messageId": f"echo-{name}", "role": "ROLE_USER", "parts": [part]}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
        return post("/", asked, of(name, **{"a2a-version": "1.0", "a2a-extensions": EXTENSION}))

    with running(sys.executable, "-m", "tests.adapters.a2a.serve", "--port", "0", "--grpc-port", "0") as command:
        yield command.ports[0], [message("ann", 3)], [message("hog", 6_500)]


DOORS: Final[Mapping[str, tuple[Callable[[], Any], int]]] = {
    "ACCP": (accp, REQUESTS),
    "ACP": (acp, REQUESTS),
    "A2A": (a2a, MANY),
}


def bytes_of(sent: Sent, kind: str, number: int) -> bytes:
    """Return the bytes of a request, with fields of its own number where they are the attack."""
    path, body, fields = sent
    if kind == "pieces":
        data = request_of("POST", path, **fields, transfer_encoding="chunked").replace(b"content-length: 0\r\n", b"")
        return data + b"".join(b"1\r\n%c\r\n" % each for each in body) + b"0\r\n\r\n"
    new = {f"x-{number}-{each}": "1" for each in range(200)} if kind == "fields" else {}
    return request_of("POST", path, b"{}" if new else body, **fields, **new)


def ask(client: socket.socket, request: bytes) -> HTTPResponse:
    """Send a request and read the response."""
    client.sendall(request)
    answer = HTTPResponse(client)
    answer.begin()
    answer.read()
    return answer


def keep_asking(place: tuple[str, int], prepared: Iterator[bytes]) -> None:
    """Have one of the prepared requests open all the time, from an address of its own."""
    while True:
        with suppress(OSError, HTTPException), socket.create_connection(place, None, ("127.0.0.2", 0)) as client:
            while not ask(client, next(prepared)).will_close:
                pass


def be_a_hog(port: int, requests: list[Sent], kind: str) -> None:
    """Ask without an end, in a process of its own."""
    while kind == "none":
        pass
    many = 500 if kind == "fields" else len(requests)
    place = ("127.0.0.1", port)
    prepared = [bytes_of(sent, kind, number) for sent, number in zip(cycle(requests), range(many), strict=False)]
    for first in range(AT_ONCE):
        threading.Thread(target=keep_asking, args=(place, cycle(prepared[first:] + prepared[:first]))).start()


def time_of(client: socket.socket, request: bytes) -> float:
    """Return how long a request takes, in milliseconds."""
    begun = time.perf_counter()
    status = ask(client, request).status
    assert status == HTTPStatus.OK, status
    return (time.perf_counter() - begun) * 1000


def measured(door: Callable[[], Any], many: int, kind: str) -> list[float]:
    """Return the p99 of the honest one beside one that only computes, and beside the other one, by turns."""
    times: dict[str, list[float]] = {"none": [], kind: []}
    with door() as (port, honest, hog):
        requests = cycle([bytes_of(sent, "", 0) for sent in honest])
        for each in [*times] * ROUNDS:
            asking = multiprocessing.get_context("spawn").Process(target=be_a_hog, args=(port, hog, each), daemon=True)
            asking.start()
            time.sleep(3)
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
                times[each] += [time_of(client, next(requests)) for _ in range(many // ROUNDS)]
            asking.kill()
            asking.join()
    return [sorted(each)[int(0.99 * len(each)) - 1] for each in times.values()]


def main(data: object, console: Console) -> None:
    """Print the table; it needs no data."""
    rows = []
    for (name, (door, many)), kind in product(DOORS.items(), KINDS):
        alone, beside = measured(door, many, kind)
        rows.append((name, kind, f"{alone:.1f}", f"{beside:.1f}", f"{beside / alone:.1f}"))
        print(*rows[-1], flush=True)
    columns = ("door", "requests", "beside one that computes", "beside a hog", "times")
    title = f"p99 of {REQUESTS} small requests ({MANY:,} at A2A) in ms; a hog has {AT_ONCE} other ones open"
    console.print(plain_table(title, columns, rows, caption=f"allowed: {ALLOWED:.0f} times"))
