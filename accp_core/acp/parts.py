"""The parts of a message: text, files, data (ACP transport 0.3, section 3.4).

Two SDKs of the reference spell the content of a part "text" and "data"; they are read like "content", which is what we
write. A part of a type that we do not know is kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from accp_core.acp.document import Json

__all__ = ["DataPart", "FilePart", "OpaquePart", "Part", "TextPart", "part_from_json", "part_to_json", "parts_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Words."""

    content: str
    extra: Mapping[str, Json] = field(default_factory=dict)
    """Members that we do not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file, by its address."""

    url: str
    media_type: str = ""
    filename: str = ""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DataPart:
    """A JSON value, such as a document of another protocol as text."""

    content: Json
    media_type: str = ""
    """What the content is, such as "application/accp"."""
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpaquePart:
    """A part of a type that we do not know, all of it."""

    raw: Mapping[str, Json]


Part: TypeAlias = "TextPart | FilePart | DataPart | OpaquePart"

MAX_PARTS: Final = 10_000
MISSING: Final = object()


def part_from_json(data: object) -> Part:
    """Return the part that a JSON value says.

    Raises: ValueError with what was expected and found.
    """
    if not isinstance(data, Mapping) or not isinstance(data.get("type"), str):
        raise ValueError(f"a part is an object with a type, found {describe(data)}")
    match data["type"]:
        case "text":
            content = first_member(data, ("content", "text"))
            return TextPart(content=expect_text(content, "content"), extra=other_members(data, "content", "text"))
        case "file":
            names = ("url", "media_type", "filename")
            words = {name: expect_text(data.get(name, ""), name) for name in names}
            if not words["url"]:
                raise ValueError(f"a file part has a url, found {describe(data)}")
            return FilePart(**words, extra=other_members(data, *names))
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
            named = {"media_type": part.media_type, "filename": part.filename}
            return {
                "type": "file",
                "url": part.url,
                **{name: word for name, word in named.items() if word},
                **part.extra,
            }
        case DataPart():
            media_type: dict[str, Json] = {"media_type": part.media_type} if part.media_type else {}
            return {"type": "data", "content": part.content, **media_type, **part.extra}
    return dict(part.raw)


def parts_of(data: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the parts of a message or reply, which may say "text" or "content" for one text part.

    Raises: ValueError when there is none of the three, or what stands there is none.
    """
    if "parts" not in data:
        return (TextPart(content=expect_text(first_member(data, ("text", "content")), "text")),)
    parts = data["parts"]
    if not isinstance(parts, Sequence) or isinstance(parts, str) or not 0 < len(parts) <= MAX_PARTS:
        raise ValueError(f"parts: expected 1 to {MAX_PARTS} parts, found {describe(parts)}")
    return tuple(part_from_json(part) for part in parts)


def first_member(data: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first member of these names."""
    for name in names:
        if name in data:
            return data[name]
    raise ValueError(f"{names[0]} is missing")


def expect_text(value: object, name: str) -> str:
    """Return `value`, if it is text."""
    if not isinstance(value, str):
        raise ValueError(f"{name}: expected text, found {describe(value)}")
    return value


def other_members(data: Mapping[str, Json], *known: str) -> dict[str, Json]:
    """Return the members that have other names."""
    return {name: value for name, value in data.items() if name not in ("type", *known)}


def describe(value: object) -> str:
    """Return how a value is named in a reason: its beginning; of what holds others, which may nest deep, its type."""
    return f"{type(value).__name__} of {len(value)}" if isinstance(value, (dict, list)) else repr(value)[:80]
