"""What a tools/call result says twice: texts that can be written again from one value.

Servers send `structuredContent` and the same as JSON text in `content`; SDKs put a value that is no object under a
key of its own (`{"result": …}`), and write a list as one text block for each item. A `Copy` says how the texts are
written from the value, so that one of the two is enough.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from accp_adapters.mcp.shim.protocol import Json, text_block
from accp_core.packing.embedded_json import STYLES, read_styled_json, write_styled_json

__all__ = ["Block", "Copy", "find_copy", "is_bare"]

_TRIED: Final = 8
"""Blocks at which a copy may begin: a server may say in words first what follows."""

Block: TypeAlias = Any
"""A content block as it came; a hostile server's may be anything."""


def is_bare(block: Block) -> bool:
    """Tell whether a content block is text and nothing more: no annotations, no `_meta`, nothing unknown."""
    return (
        isinstance(block, dict)
        and len(block) == 2
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A run of text blocks, and the one value that they are written from."""

    at: int
    """The index of the first block in `content`."""
    count: int
    """How many blocks there are."""
    each: bool
    """Whether the value is a list and each block one item of it; else the one block is the value."""
    style: str | None
    """The code of the JSON style; None where the blocks are strings, as they are."""
    key: str | None = None
    """The only key of `structuredContent`, where the value stands under one; None: it is the value."""
    structured: bool = True
    """Whether `structuredContent` is there, and holds the value."""

    def write(self, value: object) -> list[Json]:
        """Return the blocks again; the inverse of what `find_copy` found.

        Raises: KeyError, TypeError, ValueError for a value that is not the one.
        """
        if self.key is not None:
            if not isinstance(value, dict):
                raise TypeError(f"expected a map with the key {self.key!r}, got {type(value).__name__!r}")
            value = value[self.key]
        if self.each and not isinstance(value, list):
            raise TypeError(f"expected a list of {self.count} items, got {type(value).__name__!r}")
        items = value if self.each and isinstance(value, list) else [value]
        return [text_block(_written(item, self.style)) for item in items]

    def read(self, content: list[Block]) -> object:
        """Return the value that the blocks say; `write` is the inverse.

        Raises: LookupError, TypeError, ValueError where the blocks are others.
        """
        texts = [block["text"] for block in content[self.at : self.at + self.count]]
        items = [text if self.style is None else json.loads(text) for text in texts]
        value = items if self.each else items[0]
        return value if self.key is None else {self.key: value}

    def to_json(self) -> Json:
        """Return the note that travels in `_meta`."""
        note: Json = {"at": self.at}
        if self.each:
            note["each"] = self.count
        for name, value in (("style", self.style), ("key", self.key)):
            if value is not None:
                note[name] = value
        return note if self.structured else {**note, "alone": True}

    @classmethod
    def from_json(cls, note: Json) -> Copy:
        """Return the copy that a note says; raises ValueError for a note that is none."""
        at, each, style, key = note.get("at"), note.get("each"), note.get("style"), note.get("key")
        if type(at) is not int or at < 0 or not (each is None or (type(each) is int and each > 0)):
            raise ValueError(f"expected a note of places from 0, got {note!r}")
        if not (style is None or style in STYLES) or not (key is None or isinstance(key, str)):
            raise ValueError(f"expected a style of JSON and a key, got {note!r}")
        return cls(
            at=at, count=each or 1, each=bool(each), style=style, key=key, structured=note.get("alone") is not True
        )


def _written(item: object, style: str | None) -> str:
    if style is not None:
        return write_styled_json(item, style)
    if not isinstance(item, str):
        raise TypeError(f"expected text, got {type(item).__name__!r}")
    return item


def find_copy(result: Json) -> tuple[Copy, object] | None:
    """Return how the texts of a result repeat its `structuredContent`, or one JSON value where it has none.

    The value returned is what must be kept to have both: the whole `structuredContent`, else the value of the texts.
    None: the texts say something else, or are no JSON and stand alone.
    """
    content = result.get("content")
    if not isinstance(content, list):
        return None
    if "structuredContent" not in result:
        return _alone(content)
    structured = result["structuredContent"]
    only = _only_key(structured)
    for key, value in ((None, structured), *([(only, structured[only])] if only is not None else [])):
        copy = _copy_of(value, content, key)
        if copy is not None:
            return copy, structured
    return None


def _only_key(value: object) -> str | None:
    return next(iter(value)) if isinstance(value, dict) and len(value) == 1 else None


def _copy_of(value: object, content: list[Block], key: str | None) -> Copy | None:
    """Return how a run of blocks says `value`; None where none of the first does."""
    starts = [index for index, block in enumerate(content[:_TRIED]) if is_bare(block)]
    runs = [(at, texts, _styles_of(texts[0])) for at in starts if (texts := _run(content, at))]
    forms = [(False, [value]), *([(True, value)] if isinstance(value, list) and value else [])]
    for at, texts, styles in runs:
        for each, items in forms:
            for style in styles if len(items) <= len(texts) else ():
                if _says(items, texts, style):
                    return Copy(at=at, count=len(items), each=each, style=style, key=key)
    return None


def _styles_of(text: str) -> tuple[str | None, ...]:
    """Return the styles that the first text may have, None for a string as it is."""
    opened = read_styled_json(text)
    if opened is None:
        return (None,)
    style = opened[1].removesuffix("u")
    # A first item without a character beyond ASCII fits both styles of its kind.
    return style, f"{style}u", None


def _says(items: list[Any], texts: list[str], style: str | None) -> bool:
    try:
        return all(_written(item, style) == text for item, text in zip(items, texts, strict=False))
    except (TypeError, ValueError, RecursionError):
        return False


def _run(content: list[Block], at: int) -> list[str]:
    """Return the texts of the bare blocks that follow each other from `at` on."""
    texts = []
    for block in content[at:]:
        if not is_bare(block):
            break
        texts.append(block["text"])
    return texts


def _alone(content: list[Block]) -> tuple[Copy, object] | None:
    """Return the value that the first run of text blocks is, one document or one for each block."""
    at = next((index for index, block in enumerate(content) if is_bare(block)), None)
    if at is None:
        return None
    texts = _run(content, at)
    opened = [read_styled_json(text) for text in texts]
    values = [each[0] for each in opened if each is not None]
    if len(values) < len(texts) or not values:
        return None
    styles = {each[1] for each in opened if each is not None}
    style = max(styles, key=len)
    if not _says(values, texts, style):
        return None
    several = len(values) > 1
    copy = Copy(at=at, count=len(values), each=several, style=style, structured=False)
    return copy, values if several else values[0]
