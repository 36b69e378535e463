"""Recorded runs read from files, folders, patterns and databases, in bounded memory, whatever their format."""

from __future__ import annotations

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
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from accp_adapters.replay.formats import anthropic, bedrock, gemini, langchain, logged, openai, spans, trajectories
from accp_adapters.replay.formats.assembly import Assembler
from accp_adapters.replay.formats.conversation import Item, Snapshot, Step
from accp_adapters.replay.formats.langchain import SQLITE, read_sqlite, read_threads
from accp_adapters.replay.recorded_run import Findings, Role, Run, UnreadableRun, shown
from accp_core.strict_json import unique_members

__all__ = [
    "FORMATS", "MAX_RECORD", "Format", "detect", "find_files", "open_bounded", "parse_runs",
    "read_document", "read_documents", "read_runs",
]  # fmt: skip


# The JSON documents of a file, each with its line, read without holding a whole log: one document, or one a line.

MAX_RECORD: Final = 64 << 20
"""Bytes of one record: a line of JSON lines, or a whole document."""
_MAX_VALUES: Final = 8_000_000
"""Commas and brackets of one record: its values take far more memory than its text."""
_MAX_BARREN: Final = 20_000
"""Lines without a model's turn after which a file is not read further."""
_MAX_RUNS: Final = 20_000
_FEW_RUNS, _BYTES_OF_RUN = 1_000, 50
"""Runs of one file at most, and in one that is smaller: packed, short ones that repeat take a byte and no less time."""
_MAX_UNPACKED: Final = 200
"""Bytes for each one of gzip, once they are more than a piece: only short texts that repeat pack better."""
_PIECE: Final = 1 << 20
"""Bytes that are read, and looked at, at once."""
_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"


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
        stream: One JSON document, or JSON lines, in UTF-8.
        path: The file, for errors.
        on_broken: Called with the error of each line of JSON lines that cannot be read, such as the last one of a log
            that is still written; raises it where not given.

    Raises:
        UnreadableRun: the text is not JSON, not UTF-8 or too large; with its line and column.
    """
    lines = _Lines(stream, path)
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
    expected = "expected recorded runs, such as requests of OpenAI chat, as JSON or JSON lines"
    return ValueError(f"{expected}; found text: {shown(first.strip())}")


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

    def __init__(self, stream: BinaryIO, path: str) -> None:
        self._stream = stream
        self._path = path
        self._number = self._size = 0
        raw = getattr(stream, "fileobj", stream)
        self._read: Callable[[], float] = raw.tell if raw.seekable() else lambda: math.inf

    def filled(self) -> Iterator[tuple[int, bytes]]:
        """Yield number and bytes of each line that is not blank, up to too many blank ones."""
        last = 0
        while True:
            self._number += 1
            line = self._bytes(self._stream.readline, is_line=True)
            if not line:
                return
            if self._number - last > _MAX_BARREN:
                raise _barren(self._path, self._number)
            if line.strip():
                last = self._number
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
                self._size += len(piece)
                if self._size > _PIECE + _MAX_UNPACKED * self._read():
                    raise self._refused(f"expected gzip of at most {_MAX_UNPACKED} times its bytes; unpack it first")
                values += sum(map(piece.count, (b",", b"[", b"{")))
                if len(content) > MAX_RECORD:
                    raise self._refused(f"expected records of at most {MAX_RECORD:,} bytes, found a larger one")
                if values > _MAX_VALUES:
                    raise self._refused(f"expected records of at most {_MAX_VALUES:,} values, found more")
                if is_line and piece.endswith(b"\n"):
                    break
        except (EOFError, OSError, zlib.error) as error:
            raise self._refused(f"expected gzip, found {error}") from error
        return bytes(content)

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


def _barren(path: str, line: int) -> UnreadableRun:
    """Return the refusal to read on behind lines without a run: packed, they are small, and take minutes to read."""
    return UnreadableRun(f"expected a run in {_MAX_BARREN:,} lines, found none", path=path, line=line)


def _refusal(error: ValueError, path: str, *, first_line: int) -> UnreadableRun:
    match error:
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
    Format("trajectories", "trajectories", trajectories.is_trajectory, trajectories.read_trajectory),
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

    def read(name: str) -> Iterator[Run]:
        return _Reader(name, collected, agent_names).runs()

    yield from _runs_of_files([name for path in paths for name in find_files(path, collected)], read, collected)


def _runs_of_files(names: Sequence[str], read: Callable[[str], Iterator[Run]], findings: Findings) -> Iterator[Run]:
    """Yield the runs of files; one that cannot be read, or not further, is named, and the others are read.

    Args:
        names: The files.
        read: Yields the runs of one.
        findings: Collects what cannot be read.

    Raises:
        UnreadableRun: the only file cannot be read, and has no run.
    """
    found = False
    for name in names:
        most = _MAX_RUNS if name == _STDIN else min(_MAX_RUNS, _FEW_RUNS + os.stat(name).st_size // _BYTES_OF_RUN)
        try:
            for count, run in enumerate(read(name)):
                if count == most:
                    reason = f"expected at most {most:,} runs in a file, found more, which are not read: split it"
                    raise UnreadableRun(reason, path=name, line=findings.line)
                found = True
                yield run
        except UnreadableRun as error:
            if len(names) == 1 and not found:
                raise
            findings.broken(error)


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
    reader = _Reader(path, findings or _Strict(), agent_names)
    return list(reader.runs_in(io.BytesIO(text.encode("utf-8", "surrogatepass"))))


def find_files(path: str | os.PathLike[str], findings: Findings | None = None) -> list[str]:
    """Return the files at `path`: itself, those of a folder and its folders, or those that a pattern matches.

    Args:
        path: A file, a folder, a pattern, or `-`.
        findings: Collects the files of a folder that may hold records in a form that is not read.

    Raises:
        UnreadableRun: a folder has no file of a known kind, or nothing matches the pattern.
    """
    name = os.fspath(path)
    if name == _STDIN or Path(name).is_file():
        return [name]
    if Path(name).is_dir():
        found = [each for each in sorted(Path(name).rglob("*")) if each.is_file()]
        # A link may lead out of the folder, or to a file that is read anyway.
        files, links = ([each for each in found if each.is_symlink() is is_link] for is_link in (False, True))
        logs = [each for each in files if _is_log(each)]
        others = links + [each for each in files if not _is_log(each) and _may_hold_records(each, Path(name))]
        collected = Findings() if findings is None else findings
        for other in others:
            collected.move_to(str(other), 1)
            what = "that is a link, which is not followed" if other.is_symlink() else "in another format"
            collected.add("file", f"{what}: {other.name!r}")
        if not logs and (findings is None or not others):
            reason = f"expected a folder with files of {', '.join(_SUFFIXES)}, found none"
            raise UnreadableRun(reason, path=name, line=0)
        return list(map(str, logs))
    if Path(name).exists():
        raise UnreadableRun("expected a file or a folder, found a pipe or a device; use - for it", path=name, line=0)
    if glob.has_magic(name):
        matching = sorted(each for each in glob.glob(name, recursive=True) if Path(each).is_file())
        if not matching:
            raise UnreadableRun("expected a pattern that matches files, found none", path=name, line=0)
        return matching
    return [name]


def _is_log(path: Path) -> bool:
    return path.name.endswith(_SUFFIXES) or _beginning(path).lstrip().startswith(_STARTS)


def _may_hold_records(path: Path, folder: Path) -> bool:
    """Return whether a file is no text, or one of which a third of the lines hold JSON objects behind other words."""
    is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
    beginning = _beginning(path)
    lines = [line for line in beginning.splitlines() if line.strip()]
    held = sum(_OBJECT.search(line) is not None for line in lines)
    return not is_hidden and (b"\0" in beginning or held * 3 > len(lines))


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
    """Reads the runs of one file."""

    def __init__(self, path: str, findings: Findings, agents: Collection[str]) -> None:
        self._path = path
        self._findings = findings
        self._agents = agents

    def runs(self) -> Iterator[Run]:
        """Yield the runs of the file."""
        if self._path == _STDIN:
            yield from self.runs_in(sys.stdin.buffer)
        elif self._is_database():
            yield from self._assembled(read_threads(read_sqlite(self._path, MAX_RECORD), self._findings))
        else:
            with Path(self._path).open("rb") as stream:
                yield from self.runs_in(stream)

    def runs_in(self, stream: BinaryIO) -> Iterator[Run]:
        """Yield the runs in the content of the file."""
        documents = read_documents(open_bounded(stream), self._path, self._findings.broken)
        yield from self._assembled(self._items(documents))

    def _is_database(self) -> bool:
        with Path(self._path).open("rb") as stream:
            return stream.read(len(SQLITE)) == SQLITE

    def _assembled(self, items: Iterable[Item]) -> Iterator[Run]:
        self._findings.move_to(self._path, 1)
        assembler = Assembler(self._path, self._findings, self._agents)
        for item in items:
            yield from assembler.add(item)
        yield from assembler.close()

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
        before, items = self._findings.total, 0
        with self._named(document, line, found.title):
            for item in found.read(document, self._findings):
                items += 1
                yield item
            if not items and self._findings.total == before:
                self._findings.add("record", f"of {found.title} that holds nothing")

    @contextmanager
    def _named(self, document: object, line: int, title: str) -> Iterator[None]:
        """Name a record that is not as it should be."""
        try:
            yield
        except UnreadableRun:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
            reason = _reason(error, document)
            self._findings.broken(UnreadableRun(f"{title}: {reason}", path=self._path, line=line))


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
