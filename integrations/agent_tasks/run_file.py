"""The answers of one run as JSON Lines: kept as they come, so that an interrupted run goes on where it stopped."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeAlias

__all__ = ["Job", "RunFile", "UnreadableRunFile", "do_all", "read_run"]

Job: TypeAlias = tuple[str, Callable[[], Mapping[str, Any]]]
"""The key of a line of a run file, and what makes it."""

VERSION: Final = 1
"""The version of the format; a file without one is of this version."""


class UnreadableRunFile(ValueError):
    """A file is no run file; the message begins with the place, such as "run.jsonl:2: "."""

    def __init__(self, reason: str, *, path: Path, line: int = 1) -> None:
        """Name the place; `line` is from 1."""
        super().__init__(f"{path}:{line}: {reason}")
        self.reason = reason
        self.line = line


class RunFile:
    """A run file that answers are added to; threads may share it."""

    def __init__(self, path: Path | None, header: Mapping[str, Any]) -> None:
        """Open a run, or go on with one.

        Args:
            path: The file; None: the answers are kept in memory only.
            header: What the run was made with, such as the model and the seed.

        Raises:
            ValueError: the file holds a run that was made with something else, or is no run file.
            OSError: the file cannot be read or written.
        """
        self._path: Final = path
        self._lock: Final = threading.Lock()
        self.answers: Final[dict[str, dict[str, Any]]] = {}
        """The key of each prompt to its line."""
        first = {"run": dict(header), "version": VERSION}
        if path is not None and path.exists() and not _is_beginning(path, _line(first)):
            before, answers = read_run(path)
            self.answers.update(answers)
            _drop_cut_line(path)
            if before != dict(header):
                changed = {name: before.get(name) for name in header if before.get(name) != header[name]}
                raise ValueError(f"{path}: expected a run made with {dict(header)!r}, found {changed!r}")
        else:
            if path is not None:
                path.write_text("", encoding="utf-8")
            self._write(first)

    def add(self, key: str, line: Mapping[str, Any]) -> None:
        """Keep the line of one prompt."""
        with self._lock:
            self.answers[key] = dict(line)
            self._write({"prompt": key, **line})

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(_line(line))


def do_all(
    run: RunFile, jobs: Sequence[Job], *, concurrency: int = 1, max_tokens: int | None = None
) -> list[dict[str, Any]]:
    """Do the jobs that a run file has no line of, and return the lines of all, in their order.

    Args:
        run: Keeps each line as it comes.
        jobs: What is to be done.
        concurrency: Jobs at once.
        max_tokens: Tokens of prompts and answers after which no further job is begun, whose line is then missing;
            None: no limit.
    """

    def do(job: Job) -> None:
        key, make = job
        taken = sum(line.get("tokens", 0) + line.get("output", 0) for line in list(run.answers.values()))
        if key not in run.answers and (max_tokens is None or taken < max_tokens):
            run.add(key, make())

    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        for _ in pool.map(do, jobs):
            pass
    return [run.answers[key] for key, _ in jobs if key in run.answers]


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _is_beginning(path: Path, header: str) -> bool:
    """Return whether a file is empty or holds no more than a part of the header, which a killed process has left."""
    with path.open("rb") as file:
        found = file.read(len(header.encode()))
    return found != header.encode() and header.encode().startswith(found)


def _drop_cut_line(path: Path) -> None:
    """Remove a last line without its end, which a process that was killed has left."""
    with path.open("rb+") as file:
        file.truncate(file.read().rfind(b"\n") + 1)


def read_run(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return what a run was made with, and the line of each prompt by its key.

    A last line that was cut off by the end of the process is left out.

    Raises:
        UnreadableRunFile: the file is no run file; with its line.
        OSError: it cannot be read.
    """
    header, *lines = path.read_text(encoding="utf-8").split("\n")
    try:
        first = json.loads(header)
        run, version = first["run"], first.get("version", VERSION)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableRunFile(f"expected the header of a run, found {header[:80]!r}", path=path) from error
    if version != VERSION:
        raise UnreadableRunFile(f"expected version {VERSION} of a run file, found {version!r}", path=path)
    answers = {}
    for number, line in enumerate(lines[:-1], 2):
        try:
            answer = json.loads(line)
            answers[answer.pop("prompt")] = answer
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            reason = f"expected the line of a prompt, found {line[:80]!r}"
            raise UnreadableRunFile(reason, path=path, line=number) from error
    return run, answers
