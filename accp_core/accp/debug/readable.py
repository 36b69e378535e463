"""Values of a frame as bounded text for people: they come from a peer, so a log line must not grow without bound and
no character may end the line or control a terminal (ACCP section 9, item 1)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from json import dumps
from typing import Any, Final

from accp_core.accp import grammar
from accp_core.accp.debug.redaction import HIDDEN_VALUE, Redaction
from accp_core.accp.frame import REMOVED, Ref
from accp_core.accp.parser import parse_frame
from accp_core.errors import DecodeError

__all__ = ["MAX_MEMBERS", "escape_hidden", "readable_members", "shorten"]

MAX_MEMBERS: Final = 64
"""Members of a map that are shown."""
_MAX_CHARS: Final = 400
"""Characters of a value that are shown."""
_MAX_LEVELS: Final = 80
"""Levels of nested values that are shown."""


def readable_members(members: Mapping[str, object], redaction: Redaction) -> str:
    """Return the first members of a map as `key=value, …`, and how many are not shown."""
    shown = ", ".join(
        f"{shorten(escape_hidden(key))}={_member_value(key, value, redaction)}"
        for key, value in islice(members.items(), MAX_MEMBERS)
    )
    return shown if len(members) <= MAX_MEMBERS else f"{shown}, … ({len(members) - MAX_MEMBERS:,} more)"


def shorten(text: str) -> str:
    """Return `text`, cut where it is long."""
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}… ({len(text) - _MAX_CHARS:,} characters more)"


def escape_hidden(text: str) -> str:
    """Return `text` with the code point of each character that is not visible; spaces stay."""
    return grammar.HIDDEN.sub(_code_points, str.__str__(text))


def _code_points(match: Any) -> str:
    return "".join(" " if character == " " else f"\\u{{{ord(character):x}}}" for character in match[0])


def _member_value(key: str, value: object, redaction: Redaction) -> str:
    return HIDDEN_VALUE if redaction.hides(key) else shorten(_readable(value, redaction, 1))


def _readable(value: object, redaction: Redaction, level: int) -> str:
    if level > _MAX_LEVELS:
        return "…"
    match value:
        case None | bool():
            return dumps(value)
        case str():
            return _readable_text(value, redaction, level)
        case Ref():
            return f"${escape_hidden(value.key)}"
        case Mapping():
            return f"{{{', '.join(_readable_entries(value, redaction, level))}}}"
        case Sequence():
            return f"[{', '.join(_readable(item, redaction, level + 1) for item in value)}]"
    return "(removed)" if value is REMOVED else escape_hidden(str(value))


def _readable_entries(value: Mapping[Any, Any], redaction: Redaction, level: int) -> Iterator[str]:
    for key, member in value.items():
        shown = HIDDEN_VALUE if redaction.hides(str(key)) else _readable(member, redaction, level + 1)
        yield f"{escape_hidden(str(key))}: {shown}"


def _readable_text(text: str, redaction: Redaction, level: int) -> str:
    """Return a quoted string; JSON or a frame in a string is shown with its members, so that keys are hidden."""
    if text[:1] in ("{", "["):
        try:
            value = grammar.read_json_literal(text, float, grammar.DEFAULT_LIMITS)
        except (ValueError, RecursionError):
            pass
        else:
            return f"JSON {_readable(value, redaction, level + 1)}"
    if text[:1] == "@":
        try:
            frame = parse_frame(text)
        except DecodeError:
            pass
        else:
            head = f"{frame.sender}>{frame.intent}:{frame.operation}"
            return f"frame {head}{_readable(frame.params, redaction, level + 1)}"
    return escape_hidden(dumps(text, ensure_ascii=False))
