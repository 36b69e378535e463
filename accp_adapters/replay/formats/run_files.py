"""Recorded runs read from files, folders, patterns and databases, one after another and in bounded memory."""

from __future__ import annotations

import glob
import io
import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, Final

from accp_adapters.replay.errors import UnreadableRun
from accp_adapters.replay.formats.assembly import Assembler
from accp_adapters.replay.formats.checkpoints.postgres_url import is_postgres, read_postgres
from accp_adapters.replay.formats.checkpoints.threads import SQLITE, StoredCheckpoint, read_threads
from accp_adapters.replay.formats.conversation import Item, written
from accp_adapters.replay.formats.documents import Limits, open_bounded, read_document, read_documents
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.streams.joining import joined_exchange, stream_kind
from accp_adapters.replay.formats.table import FORMATS, Format, detect, format_named
from accp_adapters.replay.recorded_run import Run

__all__ = ["find_files", "parse_runs", "read_runs", "runs_of", "runs_of_files"]

_STDIN: Final = "-"
"""The path that stands for standard input."""
_SUFFIXES: Final = (
    *(f"{suffix}{packed}" for suffix in (".json", ".jsonl", ".ndjson") for packed in ("", ".gz")),
    ".sqlite",
    ".sqlite3",
    ".db",
)
"""How the names of the files end that are read from a folder."""
_TOOLS: Final = ".tools.json"
"""How the name of a file ends that holds the tool definitions of the file beside it."""


def read_runs(
    path: str | os.PathLike[str],
    *,
    run_format: str | None = None,
    agent_names: Collection[str] = (),
    findings: Findings | None = None,
    limits: Limits | None = None,
    on_read: Callable[[int], object] | None = None,
) -> Iterator[Run]:
    """Yield the runs at `path`, each as soon as it is complete.

    Args:
        path: A file (JSON, JSON lines or a SQLite file of LangGraph's checkpoints, perhaps gzip), a folder, a pattern
            such as "logs/*.jsonl", `-` for standard input, or the URL of a PostgreSQL database of checkpoints.
        run_format: The name of a format of `FORMATS`; None: found from the content of each record.
        agent_names: Messages of these names are an agent's, whatever their role.
        findings: Collects what is not counted; None: anything that is not understood is refused.
        limits: What one file may take.
        on_read: Called with the number of bytes that were read of a file, again and again.

    Raises:
        UnreadableRun: a text is not JSON, in no known format, or not understood; with its file, line and column.
        OSError: a file cannot be read.
        ValueError: there is no such format.
    """
    chosen = format_named(run_format) if run_format else None
    collected = findings if findings is not None else _Strict()

    def read(name: str) -> Iterator[Run]:
        return _Reader(name, chosen, collected, agent_names, limits or Limits(), on_read).runs()

    yield from runs_of_files(find_files(path), read, collected)


def runs_of_files(names: Iterable[str], read: Callable[[str], Iterator[Run]], findings: Findings) -> Iterator[Run]:
    """Yield the runs of files; one that cannot be read, or not further, is named, and the others are read.

    Args:
        names: The files.
        read: Yields the runs of one.
        findings: Collects what cannot be read.

    Raises:
        UnreadableRun: the first file that cannot be read, where none has a run.
    """
    refused: list[UnreadableRun] = []
    found = False
    for name in names:
        try:
            for run in read(name):
                found = True
                _name(refused, findings)
                yield run
        except UnreadableRun as error:
            refused.append(error)
            if found:
                _name(refused, findings)
    if refused:
        raise refused[0]


def _name(refused: list[UnreadableRun], findings: Findings) -> None:
    """Name the files that cannot be read, once there is a run beside them."""
    path, line = findings.path, findings.line
    while refused:
        findings.broken(refused.pop(0))
    findings.move_to(path, line)


def parse_runs(
    text: str,
    *,
    path: str,
    run_format: str | None = None,
    agent_names: Collection[str] = (),
    findings: Findings | None = None,
) -> list[Run]:
    """Return the runs in `text`, the content of a file; see `read_runs`.

    Args:
        text: JSON or JSON lines.
        path: The path of the file, which names the runs; it needs not exist.
        run_format: The name of a format; None: found from the content of each record.
        agent_names: Messages of these names are an agent's, whatever their role.
        findings: Collects what is not counted; None: anything that is not understood is refused.

    Raises:
        UnreadableRun: the text is not JSON, in no known format, or not understood.
        ValueError: there is no such format.
    """
    chosen = format_named(run_format) if run_format else None
    reader = _Reader(path, chosen, findings or _Strict(), agent_names, Limits())
    return list(reader.runs_in(io.BytesIO(text.encode("utf-8", "surrogatepass"))))


def runs_of(
    documents: Iterable[tuple[int, object]], *, path: str, agent_names: Collection[str] = (), findings: Findings
) -> Iterator[Run]:
    """Yield the runs in JSON values that something else than a file of JSON held, such as the rows of a table.

    Args:
        documents: Each with its number from 1, which names it as the line of a file would.
        path: Where they are from; it names the runs.
        agent_names: Messages of these names are an agent's, whatever their role.
        findings: Collects what is not counted.
    """
    yield from _Reader(path, None, findings, agent_names, Limits()).runs_of(documents)


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the files at `path`: itself, those of a folder and its folders, or those that a pattern matches.

    Raises:
        UnreadableRun: a folder has no file of a known kind, or nothing matches the pattern.
    """
    name = os.fspath(path)
    if name == _STDIN or is_postgres(name) or Path(name).is_file():
        return [name]
    if Path(name).is_dir():
        found = sorted(str(each) for each in Path(name).rglob("*") if _is_log(each))
        if not found:
            raise UnreadableRun(f"expected a folder with files of {', '.join(_SUFFIXES)}, found none", path=name)
        return found
    if glob.has_magic(name):
        found = sorted(each for each in glob.glob(name, recursive=True) if Path(each).is_file())
        if not found:
            raise UnreadableRun("expected a pattern that matches files, found none", path=name)
        return found
    return [name]


def _is_log(path: Path) -> bool:
    return path.name.endswith(_SUFFIXES) and not path.name.endswith(_TOOLS) and path.is_file()


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


class _Watched(io.RawIOBase):
    """The bytes of a file, of which each read is told."""

    def __init__(self, stream: io.FileIO, on_read: Callable[[int], object]) -> None:
        self._stream = stream
        self._on_read = on_read

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        count = self._stream.readinto(buffer) or 0
        self._on_read(count)
        return count


class _Reader:
    """Reads the runs of one file."""

    def __init__(
        self,
        path: str,
        chosen: Format | None,
        findings: Findings,
        agents: Collection[str],
        limits: Limits,
        on_read: Callable[[int], object] | None = None,
    ) -> None:
        self._path = path
        self._format = chosen
        self._findings = findings
        self._agents = agents
        self._limits = limits
        self._on_read = on_read
        self._tools = ""

    def runs(self) -> Iterator[Run]:
        """Yield the runs of the file."""
        if is_postgres(self._path):
            yield from self._assembled(self._threads(read_postgres(self._path, self._limits.record)))
        elif self._path == _STDIN:
            yield from self.runs_in(sys.stdin.buffer)
        elif self._is_database():
            # Few runs come from a database.
            from accp_adapters.replay.formats.checkpoints.sqlite_file import read_sqlite

            yield from self._assembled(self._threads(read_sqlite(self._path, self._limits.record)))
        else:
            with Path(self._path).open("rb", buffering=0) as stream, io.BufferedReader(self._watched(stream)) as buffer:
                yield from self.runs_in(buffer)

    def runs_in(self, stream: BinaryIO) -> Iterator[Run]:
        """Yield the runs in the content of the file."""
        self._tools = _tools_beside(self._path)
        yield from self.runs_of(read_documents(open_bounded(stream), self._path, self._limits, self._findings.broken))

    def runs_of(self, documents: Iterable[tuple[int, object]]) -> Iterator[Run]:
        """Yield the runs in the documents of the file, each with its line."""
        yield from self._assembled(self._items(documents))

    def _watched(self, stream: io.FileIO) -> io.RawIOBase:
        return _Watched(stream, self._on_read) if self._on_read else stream

    def _is_database(self) -> bool:
        with Path(self._path).open("rb") as stream:
            return stream.read(len(SQLITE)) == SQLITE

    def _assembled(self, items: Iterable[Item]) -> Iterator[Run]:
        self._findings.move_to(self._path, 1)
        assembler = Assembler(self._path, self._findings, self._agents)
        for item in items:
            yield from map(self._with_tools, assembler.add(item))
        yield from map(self._with_tools, assembler.close())

    def _with_tools(self, run: Run) -> Run:
        if not self._tools or any(call.tools for call in run.calls):
            return run
        return replace(run, calls=tuple(replace(call, tools=self._tools) for call in run.calls))

    def _items(self, documents: Iterable[tuple[int, object]]) -> Iterator[Item]:
        for line, document in documents:
            self._findings.move_to(self._path, line)
            yield from self._read(document, line)

    def _threads(self, checkpoints: Iterator[StoredCheckpoint]) -> Iterator[Item]:
        yield from read_threads(checkpoints, self._findings)

    def _read(self, document: object, line: int) -> Iterator[Item]:
        with self._named(document, line, "recorded stream"):
            document = joined_exchange(document, self._findings)
        found = self._format or detect(document)
        if found is not None:
            yield from self._converted(found, document, line)
        elif kind := stream_kind(document):
            self._findings.add("response", f"of {kind}, or a part of one, without its request")
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


def _reason(error: Exception, document: object) -> str:
    if isinstance(error, KeyError):
        return f"missing field {error}"
    if str(error).startswith("expected"):
        return str(error)
    # The words of Python say nothing about the record.
    return f"expected fields of the types that the format has, found another type in {document!r:.60}"


def _unknown(document: object) -> str:
    known = ", ".join(each.title for each in FORMATS)
    shown = repr(document)
    return f"expected one of {known}; found {shown if len(shown) <= 60 else shown[:60] + '…'}"


def _tools_beside(path: str) -> str:
    beside = Path(path).with_suffix(_TOOLS) if path != _STDIN else None
    if beside is None or not beside.is_file():
        return ""
    return written(read_document(beside.read_text(encoding="utf-8"), str(beside)))
