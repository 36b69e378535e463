"""Server-sent events on bytes: split a stream into events, and replace the data of one without touching the rest.

From the HTML standard, 9.2.5: "stream = [ bom ] *event", "event = *( comment / field ) end-of-line",
"end-of-line = ( cr lf / cr / lf )". Several `data` fields of an event are the lines of one text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["EventSplitter", "event_data", "event_field", "with_data"]

# CR LF is one end of line, never two; this spelling searches five times as fast as an atomic group.
_EVENT_END: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n))(?:\r\n|\n|\r)")
_LINE: Final = re.compile(rb"[^\r\n]*(?>\r\n|\r|\n|\Z)")
_MAX_END: Final = 4
"""Bytes of the end of an event."""


class EventSplitter:
    """A stream that is split after each event; the pieces add up to the stream, byte for byte."""

    def __init__(self, limit: int) -> None:
        """Start a stream.

        Args:
            limit: Bytes of an event; a longer one is passed on in pieces.
        """
        self._limit = limit
        self._rest = bytearray()
        self._searched = 0
        self._is_long = False

    @property
    def waiting(self) -> int:
        """The bytes of the event that is not complete yet."""
        return len(self._rest)

    def give_up(self) -> bytes:
        """Return what has come of an event, whose rest is passed on in pieces."""
        self._is_long = True
        return self._take(len(self._rest))

    def feed(self, chunk: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield the events that `chunk` completes, and whether each is complete.

        An event of more bytes than the limit is yielded in pieces as they arrive, none of them complete.
        """
        self._rest += chunk
        while end := _EVENT_END.search(self._rest, max(0, self._searched - _MAX_END)):
            is_complete = not self._is_long and end.end() <= self._limit
            self._is_long = False
            yield self._take(end.end()), is_complete
        self._searched = len(self._rest)
        if len(self._rest) > self._limit:
            yield self.give_up(), False

    def close(self) -> bytes:
        """Return what came after the last event."""
        return self._take(len(self._rest))

    def _take(self, size: int) -> bytes:
        taken = bytes(self._rest[:size])
        del self._rest[:size]
        self._searched = 0
        return taken


def _fields(event: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Yield the name, the value and the whole line of each line of `event`; a comment has an empty name."""
    for match in _LINE.finditer(event):
        line = match.group()
        name, _, value = line.rstrip(b"\r\n").partition(b":")
        yield name, value.removeprefix(b" "), line


def event_field(event: bytes, name: bytes) -> bytes | None:
    """Return the value of the last field `name` of an event, None if it has none."""
    return next((value for field, value, _ in reversed(list(_fields(event))) if field == name), None)


def event_data(event: bytes) -> bytes:
    """Return the data of an event, its lines joined; empty for an event without data."""
    return b"\n".join(value for name, value, _ in _fields(event) if name == b"data")


def with_data(event: bytes, data: bytes) -> bytes:
    """Return `event` with other data, a text without line ends; its other fields, such as `id`, and comments stay."""
    lines = [(name, line) for name, _, line in _fields(event)]
    first = next(index for index, (name, _) in enumerate(lines) if name == b"data")
    before = [line for _, line in lines[:first]]
    after = [line for name, line in lines[first:] if name != b"data"]
    return b"".join([*before, b"data: ", data, b"\n", *after])
