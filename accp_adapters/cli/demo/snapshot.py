"""The text files of a folder, read once, so that both runs of the demonstration see the same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

__all__ = ["Definition", "FolderSnapshot", "SourceFile", "read_folder"]

_MAX_FILES: Final = 2_000
_MAX_TOTAL_BYTES: Final = 40_000_000
_MAX_FILE_BYTES: Final = 400_000
"""A larger file is skipped."""
_SKIPPED_FOLDERS: Final = frozenset(
    {"node_modules", "__pycache__", "venv", "env", "dist", "build", "target", "site-packages"}
)
# The beginning of a named definition in common languages, or of a heading in Markdown.
_DEFINITION: Final = re.compile(
    r"^[ \t]*(?:(?:export|public|async|static|pub) +)*"
    r"(?P<kind>class|def|function|func|fn|interface|struct|enum|trait|#{1,3}) +(?P<name>[\w.-]+)",
    re.MULTILINE,
)
_WITH_HEADINGS: Final = frozenset({"md", "markdown", "rst"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A class, function or heading of a file."""

    kind: str
    """The keyword, such as "class" or "#"."""
    name: str
    """Its name."""
    line: int
    """Its line, from 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One text file."""

    path: str
    """Its path relative to the folder, with `/`."""
    text: str
    """Its content."""
    size: int
    """Its size in bytes."""
    modified: str
    """When it was last modified, such as "2026-01-31T12:00:00Z"."""

    @property
    def lines(self) -> int:
        """The number of lines."""
        return len(self.text.splitlines())

    @property
    def suffix(self) -> str:
        """The ending of its name without the dot; the whole name where there is no dot."""
        name = self.path.rpartition("/")[2]
        return name.rpartition(".")[2]

    def definitions(self) -> Iterator[Definition]:
        """Yield the definitions in the file, in order."""
        line, counted = 1, 0
        for match in _DEFINITION.finditer(self.text):
            line += self.text.count("\n", counted, match.start("name"))
            counted = match.start("name")
            if match["kind"].startswith("#") and self.suffix not in _WITH_HEADINGS:
                continue
            yield Definition(kind=match["kind"], name=match["name"], line=line)


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderSnapshot:
    """The text files of a folder, ordered by path."""

    root: Path
    """The folder."""
    files: tuple[SourceFile, ...]
    """Its files."""

    def find(self, path: str) -> SourceFile | None:
        """Return the file at `path`, None where the snapshot has none."""
        return next((file for file in self.files if file.path == path), None)


def read_folder(root: Path) -> FolderSnapshot:
    """Return the text files below `root`, without hidden and very large ones and without installed packages."""
    paths = (Path(folder, name) for folder, _, names in _walk(root) for name in sorted(names))
    files: list[SourceFile] = []
    left = _MAX_TOTAL_BYTES
    for file in (read for path in paths if (read := _read(path, root)) is not None):
        left -= file.size
        if left < 0 or len(files) == _MAX_FILES:
            break
        files.append(file)
    return FolderSnapshot(root=root, files=tuple(files))


def _walk(root: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        yield folder, folders, names


def _read(path: Path, root: Path) -> SourceFile | None:
    """Return the file at `path`, None where it is hidden, not a regular file, too large or not text."""
    try:
        status = path.stat()
        if path.name.startswith(".") or not path.is_file() or status.st_size > _MAX_FILE_BYTES:
            return None
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    if "\0" in text:
        return None
    modified = datetime.fromtimestamp(status.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    relative = path.relative_to(root).as_posix()
    return SourceFile(path=relative, text=text, size=status.st_size, modified=modified)
