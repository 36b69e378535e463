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
from typing import BinaryIO, Final

from accp_adapters.replay.formats.assembly import Assembler
from accp_adapters.replay.formats.conversation import Item, written
from accp_adapters.replay.formats.documents import Limits, open_bounded, read_documents, read_file
from accp_adapters.replay.formats.findings import Findings, UnreadableRun
from accp_adapters.replay.formats.langchain import SQLITE, read_sqlite, read_threads
from accp_adapters.replay.formats.table import FORMATS, Format, detect
from accp_adapters.replay.recorded_run import Run

__all__ = ["find_files", "parse_runs", "read_runs"]

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
    *paths: str | os.PathLike[str],
    agent_names: Collection[str] = (),
    findings: Findings | None = None,
    limits: Limits | None = None,
) -> Iterator[Run]:
    """Yield the runs at `paths`, each as soon as it is complete.

    Args:
        paths: Files (JSON, JSON lines or a SQLite file of LangGraph's checkpoints, perhaps gzip), folders, patterns
            such as "logs/*.jsonl", or `-` for standard input.
        agent_names: Messages of these names are an agent's, whatever their role.
        findings: Collects what is not counted; None: anything that is not understood is refused.
        limits: What one file may take.

    Raises:
        UnreadableRun: a text is not JSON, in no known format, or not understood; with its file, line and column.
        OSError: a file cannot be read.
    """
    collected = findings if findings is not None else _Strict()

    def read(name: str) -> Iterator[Run]:
        return _Reader(name, collected, agent_names, limits or Limits()).runs()

    yield from _runs_of_files([name for path in paths for name in find_files(path)], read, collected)


def _runs_of_files(names: Iterable[str], read: Callable[[str], Iterator[Run]], findings: Findings) -> Iterator[Run]:
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
    agent_names: Collection[str] = (),
    findings: Findings | None = None,
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
    reader = _Reader(path, findings or _Strict(), agent_names, Limits())
    return list(reader.runs_in(io.BytesIO(text.encode("utf-8", "surrogatepass"))))


def find_files(path: str | os.PathLike[str]) -> list[str]:
    """Return the files at `path`: itself, those of a folder and its folders, or those that a pattern matches.

    Raises:
        UnreadableRun: a folder has no file of a known kind, or nothing matches the pattern.
    """
    name = os.fspath(path)
    if name == _STDIN or Path(name).is_file():
        return [name]
    if Path(name).is_dir():
        found = sorted(str(each) for each in Path(name).rglob("*") if _is_log(each))
        if not found:
            raise UnreadableRun(
                f"expected a folder with files of {', '.join(_SUFFIXES)}, found none", path=name, line=0
            )
        return found
    if glob.has_magic(name):
        found = sorted(each for each in glob.glob(name, recursive=True) if Path(each).is_file())
        if not found:
            raise UnreadableRun("expected a pattern that matches files, found none", path=name, line=0)
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


class _Reader:
    """Reads the runs of one file."""

    def __init__(
        self,
        path: str,
        findings: Findings,
        agents: Collection[str],
        limits: Limits,
    ) -> None:
        self._path = path
        self._findings = findings
        self._agents = agents
        self._limits = limits
        self._tools = ""

    def runs(self) -> Iterator[Run]:
        """Yield the runs of the file."""
        if self._path == _STDIN:
            yield from self.runs_in(sys.stdin.buffer)
        elif self._is_database():
            yield from self._assembled(read_threads(read_sqlite(self._path, self._limits.record), self._findings))
        else:
            with Path(self._path).open("rb") as stream:
                yield from self.runs_in(stream)

    def runs_in(self, stream: BinaryIO) -> Iterator[Run]:
        """Yield the runs in the content of the file."""
        self._tools = _tools_beside(self._path, self._limits)
        documents = read_documents(open_bounded(stream), self._path, self._limits, self._findings.broken)
        yield from self._assembled(self._items(documents))

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


def _tools_beside(path: str, limits: Limits) -> str:
    beside = Path(path).with_suffix(_TOOLS) if path != _STDIN else None
    if beside is None or not beside.is_file():
        return ""
    return written(read_file(str(beside), limits))
