"""The JSON documents of a file, each with its line, read without holding a whole log: one document, or one a line."""

from __future__ import annotations

import gzip
import io
import itertools
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from accp_adapters.replay.formats.findings import UnreadableRun
from accp_core.strict_json import unique_members

__all__ = ["MAX_RECORD", "Limits", "open_bounded", "read_document", "read_documents", "read_file"]

MAX_RECORD: Final = 256 << 20
"""Bytes of one record: a line of JSON lines, or a whole document."""
_CSV: Final = "expected JSON, found a table of comma-separated values; export the same records as JSON"
_CSV_START: Final = re.compile(r'"?[A-Za-z_][\w .-]*"?(?:,"?[A-Za-z_][\w .-]*"?)+\r?$', re.MULTILINE)
_MAX_SHOWN: Final = 60
_PIECE: Final = 1 << 20
"""Bytes that are read, and looked at, at once."""
_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may take."""

    record: int = MAX_RECORD
    """Bytes of one record."""
    values: int = 8_000_000
    """Commas and brackets of one record: its values take far more memory than its text."""
    unpacked: int = 64 << 30
    """Bytes that a compressed file may unpack to."""


def open_bounded(raw: BinaryIO) -> BinaryIO:
    """Return a stream of the bytes of a file, unpacked where it is gzip."""
    buffered = io.BufferedReader(raw) if isinstance(raw, io.RawIOBase) else raw
    peek = getattr(buffered, "peek", None)
    if peek is not None and peek(2)[:2] == _GZIP:
        return gzip.GzipFile(fileobj=buffered)  # type: ignore[return-value]  # reads like one
    return buffered


def _refuse(error: UnreadableRun) -> None:
    raise error


def read_documents(
    stream: BinaryIO,
    path: str,
    limits: Limits | None = None,
    on_broken: Callable[[UnreadableRun], object] = _refuse,
) -> Iterator[tuple[int, object]]:
    """Yield line and value of each document.

    Args:
        stream: One JSON document, or JSON lines, in UTF-8.
        path: The file, for errors.
        limits: What the file may take.
        on_broken: Called with the error of each line of JSON lines that cannot be read, such as the last one of a log
            that is still written; raises it where not given.

    Raises:
        UnreadableRun: the text is not JSON, not UTF-8 or too large; with its line and column.
    """
    lines = _Lines(stream, path, limits or Limits())
    filled = lines.filled()
    number, content = next(filled, (0, b""))
    if not number:
        raise UnreadableRun("expected a recorded run, found nothing", path=path)
    first = None
    try:
        first = lines.decoded(content)
        value = read_document(first, path, number)
    except UnreadableRun as error:
        yield from _after_broken(lines, filled, number, first, error, path, on_broken)
    else:
        yield number, value
        yield from _following(lines, filled, path, on_broken)


def _after_broken(
    lines: _Lines,
    filled: Iterator[tuple[int, bytes]],
    number: int,
    first: str | None,
    error: UnreadableRun,
    path: str,
    on_broken: Callable[[UnreadableRun], object],
) -> Iterator[tuple[int, object]]:
    """Yield what follows line `number`, which is none by itself: the one document that it begins, or JSON lines."""
    following, second = next(filled, (0, b""))
    if _is_object(second.decode("utf-8", "replace")):
        on_broken(error)
        yield from _following(lines, itertools.chain([(following, second)], filled), path, on_broken)
        return
    if first is None:
        raise error
    blank = "\n" * (following - number - 1)
    whole = f"{first}{blank}{lines.decoded(second)}{lines.rest()}" if following else first
    try:
        yield number, _load(whole)
    except ValueError as wrong:
        raise _refusal(_in_words(first) or wrong, path, first_line=number) from wrong


def _in_words(first: str) -> ValueError | None:
    """Return the refusal of a text that is no JSON from its first character on, by its first line."""
    if first.lstrip().startswith(("{", "[")):
        return None
    words = first.strip()
    shown = words if len(words) <= _MAX_SHOWN else f"{words[:_MAX_SHOWN]}…"
    return ValueError(
        _CSV
        if _CSV_START.match(first)
        else f"expected recorded runs, such as requests of OpenAI chat, as JSON or JSON lines; found text: {shown!r}"
    )


def _following(
    lines: _Lines, filled: Iterator[tuple[int, bytes]], path: str, on_broken: Callable[[UnreadableRun], object]
) -> Iterator[tuple[int, object]]:
    """Yield the document of each line that can be read; a file that breaks off ends `filled`."""
    while True:
        try:
            number, content = next(filled, (0, b""))
            value = read_document(lines.decoded(content), path, number) if number else None
        except UnreadableRun as error:
            on_broken(error)
            continue
        if not number:
            return
        yield number, value


def read_file(path: str, limits: Limits) -> object:
    """Return the one JSON document of a file.

    Raises:
        UnreadableRun: it is not JSON, not UTF-8 or too large.
    """
    with open(path, "rb") as raw:
        return read_document(_Lines(raw, path, limits).rest(), path)


def read_document(text: str, path: str, first_line: int = 1) -> object:
    """Return the value of one JSON document.

    Args:
        text: The document.
        path: The file, for errors.
        first_line: The line of the file in which the document begins.

    Raises:
        UnreadableRun: the text is not JSON; with its line and column.
    """
    try:
        return _load(text)
    except ValueError as error:
        raise _refusal(error, path, first_line=first_line) from error


class _Lines:
    """The lines of a file; none is larger than a record may be."""

    def __init__(self, stream: BinaryIO, path: str, limits: Limits) -> None:
        self._stream = stream
        self._path = path
        self._limits = limits
        self._number = 0
        self._read = 0

    def filled(self) -> Iterator[tuple[int, bytes]]:
        """Yield number and bytes of each line that is not blank."""
        while True:
            self._number += 1
            line = self._bytes(self._stream.readline, is_line=True)
            if not line:
                return
            if line.strip():
                yield self._number, line.removeprefix(_BOM) if self._number == 1 else line

    def rest(self) -> str:
        """Return everything after the last line, which is no line but a part of one document."""
        self._number += 1
        return self.decoded(self._bytes(self._stream.read, is_line=False))

    def _bytes(self, read: Callable[[int], bytes], *, is_line: bool) -> bytes:
        """Return what `read` has until the end of a line, or of the file; refused as soon as it is too much."""
        content, values = bytearray(), 0
        try:
            while piece := read(_PIECE):
                content += piece
                values += sum(map(piece.count, (b",", b"[", b"{")))
                self._check(len(content), values)
                if is_line and piece.endswith(b"\n"):
                    break
        except (EOFError, OSError, zlib.error) as error:
            raise self._refused(f"expected gzip, found {error}") from error
        self._read += len(content)
        return bytes(content)

    def _check(self, size: int, values: int) -> None:
        limits = self._limits
        if size > limits.record:
            raise self._refused(f"expected records of at most {limits.record:,} bytes, found a larger one")
        if values > limits.values:
            raise self._refused(f"expected records of at most {limits.values:,} values, found more")
        if self._read + size > limits.unpacked:
            raise self._refused(f"expected a file of at most {limits.unpacked:,} bytes, found a larger one")

    def decoded(self, content: bytes) -> str:
        """Return the text of the line that was read last."""
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            before = content[: error.start].decode("utf-8")
            line, column = self._number + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1
            raise UnreadableRun(f"expected UTF-8: {error.reason}", path=self._path, line=line, column=column) from error

    def _refused(self, reason: str) -> UnreadableRun:
        return UnreadableRun(reason, path=self._path, line=self._number)


def _is_object(line: str) -> bool:
    try:
        return isinstance(_load(line), dict)
    except ValueError:
        return False


def _load(text: str) -> object:
    # Not strictly: recordings may hold what Python's own writer lets through, such as NaN.
    try:
        value: object = json.loads(text, object_pairs_hook=unique_members)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _refusal(error: ValueError, path: str, *, first_line: int) -> UnreadableRun:
    match error:
        case json.JSONDecodeError(msg=reason, lineno=line, colno=column):
            return UnreadableRun(reason, path=path, line=first_line + line - 1, column=column)
    return UnreadableRun(str(error), path=path, line=first_line)
