"""The files of one folder as they are now, so that both runs of the demonstration see the same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

__all__ = ["Definition", "Snapshot", "SourceFile", "read_folder"]

_FILES: Final = 2_000
"""At most so many files are read."""
_TOTAL_BYTES: Final = 40_000_000
_BYTES: Final = 400_000
"""A larger file is passed over."""
_PASSED_OVER: Final = frozenset(
    {"node_modules", "__pycache__", "venv", "env", "dist", "build", "target", "site-packages"}
)
# What opens something that has a name, in the languages that one is likely to find; a heading in Markdown.
_DEFINITION: Final = re.compile(
    r"^[ \t]*(?:(?:export|public|async|static|pub) +)*"
    r"(?P<kind>class|def|function|func|fn|interface|struct|enum|trait|#{1,3}) +(?P<name>[\w.-]+)",
    re.MULTILINE,
)
_WITH_HEADINGS: Final = frozenset({"md", "markdown", "rst"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A named thing that a file defines."""

    kind: str
    name: str
    line: int
    """From 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One text file."""

    path: str
    """Relative to the folder, with `/`."""
    text: str
    size: int
    """In bytes."""
    modified: str
    """Date and time in UTC."""

    @property
    def lines(self) -> int:
        """Return the number of lines."""
        return len(self.text.splitlines())

    @property
    def suffix(self) -> str:
        """Return the ending of its name without the dot, or the whole name of a file without one."""
        name = self.path.rpartition("/")[2]
        return name.rpartition(".")[2]

    def definitions(self) -> Iterator[Definition]:
        """Yield what the file defines, in its order."""
        line, counted = 1, 0
        for found in _DEFINITION.finditer(self.text):
            line += self.text.count("\n", counted, found.start("name"))
            counted = found.start("name")
            if found["kind"].startswith("#") and self.suffix not in _WITH_HEADINGS:
                continue
            yield Definition(kind=found["kind"], name=found["name"], line=line)


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The text files of a folder, by path."""

    root: Path
    files: tuple[SourceFile, ...]

    def find(self, path: str) -> SourceFile | None:
        """Return the file at `path`, None when the snapshot has none."""
        return next((file for file in self.files if file.path == path), None)


def read_folder(root: Path) -> Snapshot:
    """Return the text files below `root`: no hidden ones, no installed packages, nothing very large."""
    paths = (Path(folder, name) for folder, _, names in _walk(root) for name in sorted(names))
    files: list[SourceFile] = []
    left = _TOTAL_BYTES
    for file in (found for path in paths if (found := _read(path, root)) is not None):
        left -= file.size
        if left < 0 or len(files) == _FILES:
            break
        files.append(file)
    return Snapshot(root=root, files=tuple(files))


def _walk(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PASSED_OVER)
        yield folder, folders, names


def _read(path: Path, root: Path) -> SourceFile | None:
    """Return the file at `path`, None when it is hidden, no regular file, too large or no text."""
    try:
        status = path.stat()
        if path.name.startswith(".") or not path.is_file() or status.st_size > _BYTES:
            return None
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if "\0" in text:
        return None
    modified = datetime.fromtimestamp(status.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    relative = path.relative_to(root).as_posix()
    return SourceFile(path=relative, text=text, size=status.st_size, modified=modified)
