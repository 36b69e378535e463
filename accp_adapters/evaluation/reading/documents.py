"""Documents that questions are asked about: a user's files, or those that `shipped_documents` makes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from accp_core.strict_json import compact_json, read_json

__all__ = ["Document", "read_documents"]

_MAX_CHARS: Final = 1_000_000
"""Characters of a document; a longer one would be no prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One JSON document."""

    name: str
    """Its name in questions' ids and reports: that of the file, or kind and number."""
    kind: str
    """What it is an example of, such as "wide table"; "file" for a user's."""
    value: Any
    """The JSON value. Of a document that was cut off, the part before the cut."""
    source: str
    """Its text: JSON, compact or cut off, or the lines of a file."""
    earlier: str = ""
    """A text above it in the prompt, whose lines it repeats; "": none."""

    @classmethod
    def of(cls, name: str, kind: str, value: Any) -> Document:
        """Return a document whose text is the compact JSON of `value`."""
        return cls(name=name, kind=kind, value=value, source=compact_json(value))


def read_documents(paths: Iterable[Path]) -> Iterator[Document]:
    """Yield the JSON documents in files and, in order of their names, in folders.

    Raises:
        ValueError: a file is not JSON or longer than 1,000,000 characters; it names the file.
        OSError: a file cannot be read.
    """
    for path in paths:
        for file in sorted(path.rglob("*.json")) if path.is_dir() else [path]:
            yield _read(file)


def _read(path: Path) -> Document:
    text = path.read_text(encoding="utf-8")
    if len(text) > _MAX_CHARS:
        raise ValueError(f"{path}: expected at most {_MAX_CHARS:,} characters, found {len(text):,}")
    try:
        return Document.of(path.name, "file", read_json(text))
    except ValueError as error:
        raise ValueError(f"{path}: expected JSON, found {error}") from error
