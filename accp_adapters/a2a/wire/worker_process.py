"""The process that encodes and decodes large objects for `worker`: jobs on its standard input, answers on its output.

A job and an answer are each a header, JSON in one line, and the bytes of the pieces (`pieces`). The process ends with
its input, and when it had no job for a minute.
"""

from __future__ import annotations

import json
import select
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import IO, Any, Final

from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent

from accp_adapters.a2a.wire.envelope_flag import Event
from accp_adapters.a2a.wire.events import decode, encode
from accp_adapters.a2a.wire.pieces import Piece, cut, join, take
from accp_adapters.tokens import o200k_base
from accp_core.errors import ProtocolError

__all__ = ["READY", "main", "read_pieces", "serve", "write_pieces"]

READY: Final = b"ACCP\n"
"""The first line of the process."""
MAX_IDLE: Final = 60.0
"""Seconds without a job after which the process ends."""
_KINDS: Final[Mapping[str, Callable[[], Event]]] = MappingProxyType(
    {kind.__name__: kind for kind in (Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent)}
)


def main() -> None:
    """Serve the process that started this one."""
    # Ctrl-C reaches all processes of a terminal; this one ends when the one that started it does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What a library prints must not come between the answers.
    answers, sys.stdout = sys.stdout, sys.stderr
    serve(sys.stdin.buffer, answers.buffer)


def serve(jobs: IO[bytes], answers: IO[bytes]) -> None:
    """Answer one job after the other."""
    o200k_base()("a text: the vocabulary is loaded")
    answers.write(READY)
    answers.flush()
    # The reader holds nothing back: after an answer, nothing is sent before the next job.
    while select.select([jobs], [], [], MAX_IDLE)[0]:
        job = read_pieces(jobs)
        if job is None:
            return
        write_pieces(answers, *_answer(*job))


def _answer(header: Mapping[str, Any], pieces: Sequence[Piece]) -> tuple[dict[str, Any], Sequence[Piece]]:
    """Return the answer to a job: pieces, the error of a peer's object, or nothing where the object stays as it is."""
    event = _KINDS[header["kind"]]()
    join(pieces, event)
    try:
        if header["decode"]:
            made = decode(event, header["first_index"])
        else:
            made = encode(event, header["first_index"], never_larger=header["never_larger"])
    except ProtocolError as error:
        return {"reason": error.reason, "code": error.code}, ()
    return {}, () if made is event else tuple(cut(take(made)))


def write_pieces(stream: IO[bytes], header: Mapping[str, Any], pieces: Sequence[Piece]) -> None:
    """Write a job or an answer."""
    places = [(number, steps, len(data)) for number, steps, data in pieces]
    stream.write(json.dumps({**header, "pieces": places}).encode() + b"\n")
    for _, _, data in pieces:
        stream.write(data)
    stream.flush()


def read_pieces(stream: IO[bytes]) -> tuple[dict[str, Any], Sequence[Piece]] | None:
    """Return a job or an answer; None at the end of the stream, which may be in the middle of one."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        return None
    header = json.loads(line)
    pieces = []
    for number, steps, size in header.pop("pieces"):
        data = stream.read(size)
        if len(data) < size:
            return None
        pieces.append((number, steps, data))
    return header, pieces
