"""The parts of a message: text, files, data (ACP transport 0.3, section 3.4).

Two SDKs of the reference call the content of a part "text" or "data"; we read these like "content" and write "content".
A part of an unknown type is kept unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from accp_core.acp.document import Json

__all__ = ["DataPart", "FilePart", "OpaquePart", "Part", "TextPart", "part_from_json", "part_to_json", "parts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """A text."""

    content: str
    """The text."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown members, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """The address of a file."""

    url: str
    """Where the file is."""
    media_type: str = ""
    """Its media type, such as "application/pdf"."""
    filename: str = ""
    """Its name."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown members, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """A JSON value, such as the text of another protocol."""

    content: Json
    """The value."""
    media_type: str = ""
    """Its media type, such as "application/accp"."""
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Unknown members, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaquePart:
    """A part of an unknown type."""

    raw: Mapping[str, Json]
    """The whole JSON object."""


Part: TypeAlias = "TextPart | FilePart | DataPart | OpaquePart"

MAX_PARTS: Final = 10_000
"""Parts of a message."""


def part_from_json(data: object) -> Part:
    """Return the part of a JSON value.

    Raises:
        ValueError: It is no part; says what was expected and found.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        raise ValueError(f"expected a part with a type, found {describe(data)}")
    match data["type"]:
        case "text":
            content = first_member(data, ("content", "text"))
            return TextPart(content=expect_text(content, "content"), extra=other_members(data, "content", "text"))
        case "file":
            names = ("url", "media_type", "filename")
            texts = {name: expect_text(data.get(name, ""), name) for name in names}
            if not texts["url"]:
                raise ValueError(f"expected a file part with a url, found {describe(data)}")
            return FilePart(**texts, extra=other_members(data, *names))
        case "data":
            media_type = expect_text(data.get("media_type", ""), "media_type")
            content = first_member(data, ("content", "data"))
            extra = other_members(data, "content", "data", "media_type")
            return DataPart(content=content, media_type=media_type, extra=extra)
    return OpaquePart(raw=data)


def part_to_json(part: Part) -> dict[str, Json]:
    """Return the JSON of a part; `part_from_json` gives the part back."""
    match part:
        case TextPart():
            return {"type": "text", "content": part.content, **part.extra}
        case FilePart():
            optional = {"media_type": part.media_type, "filename": part.filename}
            return {
                "type": "file",
                "url": part.url,
                **{name: text for name, text in optional.items() if text},
                **part.extra,
            }
        case DataPart():
            media_type: dict[str, Json] = {"media_type": part.media_type} if part.media_type else {}
            return {"type": "data", "content": part.content, **media_type, **part.extra}
    return dict(part.raw)


def parts_of(data: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of a message or reply, which may have "text" or "content" instead of a single text part.

    Raises:
        ValueError: It has none of the three, or a value that is no part.
    """
    if "parts" not in data:
        return (TextPart(content=expect_text(first_member(data, ("text", "content")), "text")),)
    parts = data["parts"]
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not 0 < len(parts) <= MAX_PARTS:
        raise ValueError(f"parts: expected 1 to {MAX_PARTS} parts, found {describe(parts)}")
    return tuple(part_from_json(part) for part in parts)


def first_member(data: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the value of the first of these members that is there; ValueError where none is."""
    for name in names:
        if name in data:
            return data[name]
    raise ValueError(f"{names[0]}: expected a value, found none")


def expect_text(value: object, name: str) -> str:
    """Return `value`, which must be text; ValueError otherwise."""
    if not isinstance(value, str):
        raise ValueError(f"{name}: expected text, found {describe(value)}")
    return value


def other_members(data: Mapping[str, Json], *known: str) -> dict[str, Json]:
    """Return the members except type and `known`."""
    return {name: value for name, value in data.items() if name not in ("type", *known)}


def describe(value: object) -> str:
    """Return how an error shows a value: its beginning, or type and size of a container, which may be deeply nested."""
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, (dict, list)) else repr(value)[:80]
