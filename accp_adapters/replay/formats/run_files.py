"""Recorded runs read from files, folders, patterns and databases, in bounded memory, whatever their format."""

from __future__ import annotations

import fnmatch
import glob
import gzip
import io
import itertools
import json
import math
import os
import re
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from accp_adapters.replay.formats import anthropic, bedrock, conversation, gemini, langchain, logged, openai, spans
from accp_adapters.replay.formats.assembly import Assembler
from accp_adapters.replay.formats.conversation import Item, Snapshot, Step
from accp_adapters.replay.formats.langchain import SQLITE, read_sqlite, read_threads
from accp_adapters.replay.recorded_run import Findings, Role, Run, UnreadableRun, shown
from accp_adapters.serving.limits import weight_of
from accp_core.strict_json import unique_members

__all__ = [
    "FORMATS", "MAX_RECORD", "Format", "detect", "find_files", "open_bounded", "parse_runs",
    "read_documents", "read_runs",
]  # fmt: skip


# The JSON documents of a file, each with its line, read without holding a whole log: one document, or one a line.

MAX_RECORD: Final = 64 << 20
"""Bytes of one record: a line of JSON lines, or a whole document."""
_KEY_BYTES, _ESCAPE_BYTES, _NOT_ASCII, _WIDEST = 250, 60, 6, 14
"""Bytes of memory of a key, an escape, and of each byte of a record with other characters, or with the widest."""
_WIDE: Final = re.compile(rb"[\xf0-\xf4]")
_MAX_BARREN: Final = 20_000
"""Lines without a model's turn after which a file is not read further."""
_MAX_RUNS: Final = 20_000
_FEW_RUNS, _BYTES_OF_RUN = 1_000, 50
"""Runs of one file at most, if it is large; of any file, 1,000 and one more for each 50 bytes. Short runs that repeat
are packed into a byte or two each, and take as long to replay as others."""
_MAX_UNPACKED: Final = 200
"""Bytes for each one of gzip, once they are more than a piece: only short texts that repeat pack better."""
_PIECE: Final = 1 << 20
"""Bytes that are read, and looked at, at once."""
_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_DECODER: Final = json.JSONDecoder(object_pairs_hook=unique_members)
_MAX_RESTARTS: Final = 200
"""Broken places of one text behind which the next document is looked for: each takes a pass over the text."""
_FILLED: Final = re.compile(r"\S|\Z")


def open_bounded(raw: BinaryIO) -> BinaryIO:
    """Return a stream of the bytes of a file, unpacked where it is gzip."""
    peek = getattr(raw, "peek", None)
    if peek is not None and peek(2)[:2] == _GZIP:
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]  # reads like one
    return raw


def _refuse(error: UnreadableRun) -> None:
    raise error


def read_documents(
    stream: BinaryIO, path: str, on_broken: Callable[[UnreadableRun], object] = _refuse
) -> Iterator[tuple[int, object]]:
    """Yield line and value of each document.

    Args:
        stream: JSON documents one after another, such as JSON lines, in UTF-8.
        path: The file, for errors.
        on_broken: Called with the error of each document that cannot be read, or not whole, such as the last one of a
            log that is still written, unless there is no other one; raises it where not given.

    Raises:
        UnreadableRun: the text is not JSON, not UTF-8 or too large; with its line and column.
    """
    lines = _Lines(stream, path)
    number, first = 0, None
    try:
        number, content = next(lines, (0, b""))
        first = lines.decoded(content)
        value = _load(first) if number else None
    except ValueError as error:
        yield from _after_broken(lines, number, first, _refusal(error, path, first_line=number), path, on_broken)
        return
    if not number:
        raise UnreadableRun("expected a recorded run, found nothing", path=path)
    yield number, value
    yield from _following(lines, path, on_broken)


def _after_broken(
    lines: _Lines,
    number: int,
    first: str | None,
    error: UnreadableRun,
    path: str,
    on_broken: Callable[[UnreadableRun], object],
) -> Iterator[tuple[int, object]]:
    """Yield what follows line `number`, which is none by itself: the documents that it begins, or JSON lines."""
    following, second = next(lines, (0, b""))
    document = None
    with suppress(ValueError):
        document = _load(second.decode("utf-8"))
    if isinstance(document, dict):
        on_broken(error)
        yield following, document
        yield from _following(lines, path, on_broken)
        return
    if first is None:
        raise error
    blank = "\n" * (following - number - 1)
    whole = f"{first}{blank}{lines.decoded(second)}{lines.rest()}" if following else first
    try:
        yield from _sequence(whole, path, number, on_broken)
    except UnreadableRun as refused:
        words = _in_words(first)
        raise _refusal(words, path, first_line=number) if words else refused from error


def _sequence(
    text: str, path: str, first_line: int, on_broken: Callable[[UnreadableRun], object]
) -> Iterator[tuple[int, object]]:
    """Yield the documents in a text, one after another; of an array that breaks off, what is complete."""
    line, start, at, found, restarts = first_line, 0, _filled(text, 0), False, 0
    while at < len(text):
        line, start = line + text.count("\n", start, at), at
        try:
            value, at = _decoded(text, at)
        except ValueError as error:
            value = _elements(text, at) or None
            restarts += 1
            # Behind the position of the error, so that no part of a text is looked at over and over.
            goes_on = value is None and restarts < _MAX_RESTARTS
            at = text.find("\n{", getattr(error, "pos", len(text))) + 1 or len(text) if goes_on else len(text)
            wrong = _refusal(error, path, first_line=first_line)
            if not (found or value is not None or at < len(text)):
                raise wrong from error
            on_broken(wrong)
        if value is not None:
            found = True
            yield line, value


def _decoded(text: str, at: int) -> tuple[object, int]:
    """Return the object or array that begins at a position, and where the next one begins."""
    if not text.startswith(("{", "["), at):
        raise json.JSONDecodeError("expected a JSON object or array", text, at)
    try:
        value, end = _DECODER.raw_decode(text, at)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value, _filled(text, end)


def _filled(text: str, at: int) -> int:
    """Return the position of the first character from `at` on that is not blank, or that of the end."""
    return next(_FILLED.finditer(text, at)).start()


def _elements(text: str, at: int) -> list[object]:
    """Return the objects and arrays at the beginning of an array that breaks off; none for anything else."""
    found: list[object] = []
    with suppress(ValueError):
        while text.startswith("," if found else "[", at):
            value, at = _decoded(text, _filled(text, at + 1))
            found.append(value)
    return found


def _in_words(first: str) -> ValueError | None:
    """Return the refusal of a text that is no JSON from its first character on, by its first line."""
    if first.lstrip().startswith(("{", "[")):
        return None
    expected = "expected recorded runs, such as requests of OpenAI chat, as JSON or JSON lines"
    return ValueError(f"{expected}; found text: {shown(first.strip())}")


def _following(lines: _Lines, path: str, on_broken: Callable[[UnreadableRun], object]) -> Iterator[tuple[int, object]]:
    """Yield the documents of each line that can be read."""
    while True:
        try:
            number, content = next(lines, (0, b""))
            if not number:
                return
            yield from _sequence(lines.decoded(content), path, number, on_broken)
        except UnreadableRun as error:
            on_broken(error)


class _Lines:
    """The lines of a file that are not blank, each with its number; what follows a refused one can be read, too."""

    def __init__(self, stream: BinaryIO, path: str) -> None:
        self._stream = stream
        self._path = path
        self._number = self._filled = self._size = 0
        raw = getattr(stream, "fileobj", stream)
        self._read: Callable[[], float] = raw.tell if raw.seekable() else lambda: math.inf

    def __next__(self) -> tuple[int, bytes]:
        """Return number and bytes of the next line."""
        while True:
            self._number += 1
            line = self._bytes(self._stream.readline, is_line=True)
            if not line:
                raise StopIteration
            if self._number - self._filled > _MAX_BARREN:
                raise self._ended(_barren(self._path, self._number))
            if line.strip():
                self._filled = self._number
                return self._number, line.removeprefix(_BOM) if self._number == 1 else line

    def rest(self) -> str:
        """Return everything after the last line, which is no line but a part of one document."""
        self._number += 1
        return self.decoded(self._bytes(self._stream.read, is_line=False))

    def _bytes(self, read: Callable[[int], bytes], *, is_line: bool) -> bytes:
        """Return what `read` has until the end of a line, or of the file; of what is too much nothing is kept."""
        content, weight, width, reason = bytearray(), 0, 0, ""
        try:
            while piece := read(_PIECE):
                content += piece
                self._size += len(piece)
                if self._size > _PIECE + _MAX_UNPACKED * self._read():
                    excess = f"expected gzip of at most {_MAX_UNPACKED} times its bytes; unpack it first"
                    raise self._ended(self._refused(reason or excess))
                # The keys of JSON in a string are none of the record; a key may end with a backslash itself.
                keys = piece.count(b'":') - piece.count(b'\\":') + piece.count(b'\\\\":')
                weight += weight_of(piece.decode("latin-1")) + _KEY_BYTES * keys
                weight += _ESCAPE_BYTES * piece.count(b"\\u")
                width = max(width, 0 if piece.isascii() else _WIDEST if _WIDE.search(piece) else _NOT_ASCII)
                if len(content) > MAX_RECORD:
                    reason = f"expected records of at most {MAX_RECORD:,} bytes, found a larger one"
                elif weight + width * len(content) > conversation.MAX_MEMORY:
                    most = f"{conversation.MAX_MEMORY:,} bytes of memory"
                    reason = reason or f"expected records of at most {most}, found more"
                if reason:
                    content.clear()
                if (is_line and piece.endswith(b"\n")) or (reason and not is_line):
                    break
        except (EOFError, OSError, zlib.error) as error:
            raise self._ended(self._refused(f"expected gzip, found {error}")) from error
        if reason:
            raise self._refused(reason)
        return bytes(content)

    def _ended(self, error: UnreadableRun) -> UnreadableRun:
        """Return the error behind which nothing is read."""
        self._stream = io.BytesIO()
        return error

    def decoded(self, content: bytes) -> str:
        """Return the text of the line that was read last."""
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            before = content[: error.start].decode("utf-8")
            line, column = self._number + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1
            # A file that is packed, or in another encoding, is so from its first line on.
            way = "" if line > 1 or before.startswith(("{", "[")) else "; unpack the file, or convert it"
            raise UnreadableRun(
                f"expected UTF-8: {error.reason}{way}", path=self._path, line=line, column=column
            ) from error

    def _refused(self, reason: str) -> UnreadableRun:
        return UnreadableRun(reason, path=self._path, line=self._number)


def _load(text: str) -> object:
    try:
        # Not strictly: recordings may hold what Python's own writer lets through, such as NaN.
        value: object = json.loads(text, object_pairs_hook=unique_members)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _barren(path: str, line: int) -> UnreadableRun:
    """Return the refusal to read on behind lines without a run: packed, they are small, and take minutes to read."""
    return UnreadableRun(f"expected a run in {_MAX_BARREN:,} lines, found none", path=path, line=line)


def _refusal(error: ValueError, path: str, *, first_line: int) -> UnreadableRun:
    match error:
        case UnreadableRun():
            return error
        case json.JSONDecodeError(msg=reason, lineno=line, colno=column):
            return UnreadableRun(reason, path=path, line=first_line + line - 1, column=column)
    return UnreadableRun(str(error), path=path, line=first_line)


# The formats of recorded runs in the order in which they are tried, and the one that a document is in.


@dataclass(frozen=True, slots=True)
class Format:
    """One way in which runs are written."""

    name: str
    """Its name in code."""
    title: str
    """What messages call it."""
    holds: Callable[[Any], bool]
    """Whether a JSON document is in this format."""
    read: Callable[[Any, Findings], Iterable[Item]]
    """Returns what the document says; KeyError, TypeError, ValueError and AttributeError: it is not as it should be."""


# A record that wraps another one's messages comes before the format of these messages; what has marks of its own
# comes before what is known by less.
FORMATS: Final = (
    Format("otlp", "OpenTelemetry GenAI and OpenInference spans", spans.is_spans, spans.read_spans),
    Format("langsmith", "LangSmith runs", logged.is_run, logged.read_run),
    Format("langfuse", "Langfuse observations", logged.is_observation, logged.read_observation),
    Format("claude-code", "Claude Code transcripts", anthropic.is_record, anthropic.read_record),
    Format("langchain", "LangChain messages and states", langchain.is_message_dump, langchain.read_langchain),
    Format("bedrock", "Bedrock Converse", bedrock.is_converse, bedrock.read_converse),
    Format("anthropic", "Anthropic Messages", anthropic.is_messages, anthropic.LAYOUT.read),
    Format("gemini", "Gemini contents", gemini.is_contents, gemini.LAYOUT.read),
    Format("openai-responses", "OpenAI Responses", openai.is_responses, openai.read_responses),
    Format("openai", "OpenAI chat", openai.is_chat, openai.LAYOUT.read),
)


def detect(document: object) -> Format | None:
    """Return the format of a document; None: it is in none."""
    return next((each for each in FORMATS if each.holds(document)), None)


_STDIN: Final = "-"
"""The path that stands for standard input."""
_SUFFIXES: Final = (
    *(f"{suffix}{packed}" for suffix in (".json", ".jsonl", ".ndjson") for packed in ("", ".gz")),
    ".sqlite",
    ".sqlite3",
    ".db",
)
"""The endings of file names. Files with these names in a folder are always read."""
_STARTS: Final = (b"{", b"[", b"\xef\xbb\xbf{", b"\x1f\x8b", b"SQLite format 3\0")
"""The first bytes of JSON, gzip and SQLite. Other files in a folder are read if they begin so."""
_BEGINNING: Final = 1 << 16
"""Bytes of a file in a folder by which it is told what it holds."""
_OBJECT: Final = re.compile(rb'\{\s*"[^"]*"\s*:')
"""The beginning of a JSON object."""


def read_runs(
    *paths: str | os.PathLike[str], agent_names: Collection[str] = (), findings: Findings | None = None
) -> Iterator[Run]:
    """Yield the runs at `paths`, each as soon as it is complete.

    Args:
        paths: Files (JSON, JSON lines or a SQLite file of LangGraph's checkpoints, perhaps gzip), folders, patterns
            such as "logs/*.jsonl", or `-` for standard input.
        agent_names: Messages of these names are an agent's, whatever their role.
        findings: Collects what is not counted; None: anything that is not understood is refused.

    Raises:
        UnreadableRun: a text is not JSON, in no known format, or not understood; with its file, line and column.
        OSError: a file cannot be read.
    """
    collected = findings if findings is not None else _Strict()
    names = list({_same_file(name): name for path in paths for name in find_files(path, collected)}.values())
    assembler, found = Assembler(collected, agent_names), 0
    for name in names:
        most = _MAX_RUNS if name == _STDIN else min(_MAX_RUNS, _FEW_RUNS + os.stat(name).st_size // _BYTES_OF_RUN)
        limit = found + most
        try:
            for item in _Reader(name, collected).items():
                for run in assembler.add(item):
                    found += 1
                    yield run
                if found >= limit:
                    reason = f"expected at most {most:,} runs in a file; the next ones are not read: split it"
                    raise UnreadableRun(reason, path=name, line=collected.line)
        except UnreadableRun as error:
            if len(names) == 1 and not assembler.begun:
                raise
            collected.broken(error)
    yield from assembler.close()


def _same_file(name: str) -> object:
    """Return what the names of one file have in common: a file that is named twice counts once."""
    try:
        status = os.stat(name)
    except OSError:
        return name
    return status.st_dev, status.st_ino


def parse_runs(
    text: str, *, path: str, agent_names: Collection[str] = (), findings: Findings | None = None
) -> list[Run]:
    """Return the runs in `text`, the content of a file; see `read_runs`.

    Args:
        text: JSON or JSON lines.
        path: The path of the file, which names the runs; it needs not exist.
        agent_names: Messages of these names are an agent's, whatever their role.
        findings: Collects what is not counted; None: anything that is not understood is refused.

    Raises:
        UnreadableRun: the text is not JSON, in no known format, or not understood.
    """
    collected = findings or _Strict()
    assembler, stream = Assembler(collected, agent_names), io.BytesIO(text.encode("utf-8", "surrogatepass"))
    items = _Reader(path, collected).items_in(stream)
    return [*(run for item in items for run in assembler.add(item)), *assembler.close()]


def find_files(path: str | os.PathLike[str], findings: Findings | None = None) -> list[str]:
    """Return the files at `path`: itself, those of a folder and its folders, or those that a pattern matches.

    Below a folder or a pattern links are not followed, and hidden files have to be named.

    Args:
        path: A file, a folder, a pattern, or `-`.
        findings: Collects what is there and is not read, such as files that may hold records in another form.

    Raises:
        UnreadableRun: a folder has no file of a known kind, or nothing matches the pattern.
    """
    name = os.fspath(path)
    collected = Findings() if findings is None else findings
    before, folder = collected.total, Path(name)
    if name == _STDIN or folder.is_file():
        return [name]
    if folder.is_dir():
        reason = f"expected a folder with files of {', '.join(_SUFFIXES)}, found none"
        files = list(_matching(folder, ("**",), collected))
        logs = [each for each in files if _is_log(each)]
        for other in files:
            if not _is_log(other) and _may_hold_records(other):
                collected.move_to(str(other), 1)
                collected.add("file", f"in another format: {other.name!r}")
    elif folder.exists():
        raise UnreadableRun("expected a file or a folder, found a pipe or a device; use - for it", path=name, line=0)
    elif glob.has_magic(name):
        reason = "expected a pattern that matches files, found none"
        fixed = list(itertools.takewhile(lambda part: not glob.has_magic(part), folder.parts))
        logs = list(_matching(Path(*fixed), folder.parts[len(fixed) :], collected))
    else:
        return [name]
    if not logs and (findings is None or collected.total == before):
        raise UnreadableRun(reason, path=name, line=0)
    return sorted(map(str, logs))


def _matching(root: Path, pattern: Sequence[str], findings: Findings) -> Iterator[Path]:
    """Yield the files below a folder whose names match the parts of a pattern, in which `**` is any folders."""
    for path in dict.fromkeys(_matching_paths(root, pattern, findings)):
        findings.move_to(str(path), 1)
        if path.is_symlink():
            # It may lead out of the folder, or to what is read anyway.
            is_read = path.resolve().is_relative_to(root.resolve())
            findings.add("link", f"which is not followed: {path.name!r}", left_out=is_read)
        elif path.is_file():
            yield path
        else:
            findings.add("pipe or device", f"which is not read: {path.name!r}", left_out=True)


def _matching_paths(root: Path, pattern: Sequence[str], findings: Findings) -> Iterator[Path]:
    """Yield the paths that match and are no folders, and the links in the place of a folder."""
    waiting, seen = [(root, (*pattern, "*") if pattern[-1] == "**" else tuple(pattern))], set[object]()
    while waiting:
        folder, (part, *rest) = place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        inner = (part, *rest) if part == "**" else tuple(rest)
        waiting += [(folder, tuple(rest))] if part == "**" else []
        for each in _entries(folder, part, findings):
            is_folder, is_link = each.is_dir(), each.is_symlink()
            if inner and is_folder and not is_link:
                waiting.append((each, inner))
            elif (is_folder and is_link) or not (inner or is_folder):
                yield each


def _entries(folder: Path, part: str, findings: Findings) -> list[Path]:
    """Return what is in a folder and has a name that matches; hidden files have to be asked for."""
    try:
        names = [each for each in os.listdir(folder) if part.startswith(".") or not each.startswith(".")]
    except OSError as error:
        findings.move_to(str(folder), 1)
        findings.add("folder", f"that cannot be opened: {error.strerror}")
        return []
    return [folder / each for each in sorted(fnmatch.filter(names, part))]


def _is_log(path: Path) -> bool:
    return path.name.endswith(_SUFFIXES) or _beginning(path).lstrip().startswith(_STARTS)


def _may_hold_records(path: Path) -> bool:
    """Return whether a file is no text, or one of which a third of the lines hold JSON objects behind other words."""
    beginning = _beginning(path)
    lines = [line for line in beginning.splitlines() if line.strip()]
    held = sum(_OBJECT.search(line) is not None for line in lines)
    return b"\0" in beginning or held * 3 > len(lines)


def _beginning(path: Path) -> bytes:
    with suppress(OSError), path.open("rb") as file:
        return file.read(_BEGINNING)
    return b""


class _Strict(Findings):
    """Refuses what is not understood."""

    def add(self, noun: str, detail: str, *, left_out: bool = False) -> None:
        super().add(noun, detail, left_out=left_out)
        if not left_out:
            reason = f"not understood: {noun} {detail}"
            raise UnreadableRun(reason, path=self.path, line=self.line)

    def unknown(self, reason: str) -> None:
        raise UnreadableRun(reason, path=self.path, line=self.line)

    def broken(self, error: UnreadableRun) -> None:
        raise error


class _Reader:
    """Reads the records of one file."""

    def __init__(self, path: str, findings: Findings) -> None:
        self._path = path
        self._findings = findings

    def items(self) -> Iterator[Item]:
        """Yield what the records of the file say."""
        if self._path == _STDIN:
            yield from self.items_in(sys.stdin.buffer)
            return
        with Path(self._path).open("rb") as stream:
            if not stream.peek().startswith(SQLITE):
                yield from self.items_in(stream)
                return
        self._findings.move_to(self._path, 1)
        yield from read_threads(read_sqlite(self._path, MAX_RECORD), self._findings)

    def items_in(self, stream: BinaryIO) -> Iterator[Item]:
        """Yield what the records in the content of the file say."""
        yield from self._items(read_documents(open_bounded(stream), self._path, self._findings.broken))

    def _items(self, documents: Iterable[tuple[int, object]]) -> Iterator[Item]:
        last = 0
        for line, document in documents:
            self._findings.move_to(self._path, line)
            for item in self._read(document, line):
                last = line if _is_of_model(item) else last
                yield item
            if line - last > _MAX_BARREN:
                self._findings.broken(_barren(self._path, line))
                return

    def _read(self, document: object, line: int) -> Iterator[Item]:
        found = detect(document)
        if found is not None:
            yield from self._converted(found, document, line)
        elif isinstance(document, list) and document:
            for each in document:
                yield from self._read(each, line)
        else:
            self._findings.unknown(_unknown(document))

    def _converted(self, found: Format, document: object, line: int) -> Iterator[Item]:
        """Yield what a document says; one that is not as it should be is named."""
        before, items = self._findings.total, 0
        try:
            for item in found.read(document, self._findings):
                items += 1
                yield item
            if not items and self._findings.total == before:
                self._findings.add("record", f"of {found.title} that holds nothing")
        except UnreadableRun:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
            reason = f"{found.title}: {_reason(error, document)}"
            self._findings.broken(UnreadableRun(reason, path=self._path, line=line))


def _is_of_model(item: Item) -> bool:
    """Return whether a record says that a model was called."""
    turns = item.turns if isinstance(item, Snapshot) else [item.turn] if isinstance(item, Step) else ()
    return not turns or getattr(item, "awaits_answer", False) or any(t and t.role is Role.AGENT for t in turns)


def _reason(error: Exception, document: object) -> str:
    if isinstance(error, KeyError):
        return f"missing field {error}"
    if str(error).startswith("expected"):
        return str(error)
    # The words of Python say nothing about the record.
    return f"expected fields of the types that the format has, found another type in {document!r:.60}"


def _unknown(document: object) -> str:
    known = ", ".join(each.title for each in FORMATS)
    return f"expected one of {known}; found {shown(document)}"
