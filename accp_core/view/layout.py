"""The layout of a text: which parts of its view are JSON documents in which style, to restore the text byte for byte.

A layout is a short text such as `t:8 j2u:340 t:1`: 8 characters of plain text, then 340 characters that are the view of
a JSON document in the style `2u` (see `packing.embedded_json.STYLES`), then one character of plain text. A `q` before a
part means that the source has it as a Python string literal.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.packing.embedded_json import STYLES, read_styled_json, write_styled_json
from accp_core.strict_json import is_utf8
from accp_core.view.notation import TEXT_BLOCK
from accp_core.view.read import read

__all__ = ["AS_IS", "Document", "Segment", "fence", "find_documents", "restore", "write_layout"]

AS_IS: Final = "as-is"
"""The layout of a text that was left as it is."""

_MAX_SHOWN: Final = 40
"""Characters of a text that an error message shows."""
_MIN_DOCUMENT_CHARS: Final = 16
"""Characters of a document inside other text; a shorter one saves nothing."""
# A document inside other text begins a line or follows a colon; code and quotations are left as they are.
_START: Final = re.compile(r'(?:^[ \t]*|(?<=: ))([\[{])(?=\s*["\[{])', re.MULTILINE)
_END: Final = re.compile(r"[ \t]*\r?$", re.MULTILINE)
_DECODER: Final = json.JSONDecoder()
# The `repr` of an object that is not a list or dict: `meta=None content=[TextContent(type='text', text='…')]`.
_REPR: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[=(<]")
# What `repr` writes; Python prints a warning when it reads escapes that `repr` does not write.
_ESCAPE: Final = r"\\(?:[\\'nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING: Final = rf"""'(?:[^'\\\n]|{_ESCAPE})*+'|"(?:[^"\\\n]|{_ESCAPE})*+\""""
_PYTHON: Final = re.compile(rf"(?:[\[\]{{}}]|[,:] |True|False|None|-?[0-9][0-9.]*+(?:e[+-][0-9]+)?|{_STRING})*+")
_LITERAL: Final = re.compile(rf"(?<==)(?:{_STRING})")
_FENCE: Final = f"{TEXT_BLOCK}\n"
_SEGMENT: Final = re.compile(r"(q?)([tjlp])([0-9t]?u?):([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document, or a string literal, in a source."""

    start: int
    """The position of its first character in the source."""
    end: int
    """The position behind its last character."""
    value: object
    """Its value; for a string literal of any text, that text."""
    form: str
    """`j` JSON or `l` JSON Lines, with the code of the style; `p` a Python literal; `q` before: in a string literal,
    where `t` is any text."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a view; `form` is as in `Document`, or `t` for text that the source has too."""

    form: str
    text: str


def find_documents(source: str) -> list[Document]:
    """Return the documents in `source`, from left to right."""
    start = len(source) - len(source.lstrip())
    end = len(source.rstrip())
    body = source[start:end]
    if not body or all(sign not in body for sign in "{[\\"):
        return []
    for read_as in (_as_json, _as_lines, _as_python):
        document = read_as(body)
        if document is not None:
            return [Document(start, end, *document)]
    if "\n" not in body and _REPR.match(body):
        return list(_literals(source))
    return list(_embedded(source))


def _as_json(body: str) -> tuple[object, str] | None:
    document = read_styled_json(body) if body[0] in "[{" else None
    return (document[0], f"j{document[1]}") if document and document[0] else None


def _as_lines(body: str) -> tuple[object, str] | None:
    lines = body.split("\n")
    if len(lines) < 2 or not all(line[:1] in ("{", "[") for line in lines):
        return None
    values: list[object] = []
    styles: set[str] = set()
    for line in lines:
        document = read_styled_json(line)
        if document is None:
            return None
        values.append(document[0])
        styles.add(document[1])
    return _in_one_style(values, styles, lines)


def _in_one_style(values: list[object], styles: set[str], lines: list[str]) -> tuple[object, str] | None:
    # An ASCII line is the same in both styles of its kind.
    style = max(styles, key=len)
    is_rebuilt = all(write_styled_json(value, style) == line for value, line in zip(values, lines, strict=True))
    return (values, f"l{style}") if is_rebuilt else None


def _as_python(body: str) -> tuple[object, str] | None:
    """Read the `str` of a list or dict, which many tools print instead of JSON."""
    if body[0] not in "[{" or "'" not in body or _PYTHON.fullmatch(body) is None:
        return None
    try:
        value = ast.literal_eval(body)
        return (value, "p") if value and repr(value) == body and _is_json(value) else None
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None


def _is_json(value: object) -> bool:
    if type(value) is dict:
        return all(type(key) is str and is_utf8(key) for key in value) and all(map(_is_json, value.values()))
    if type(value) is list:
        return all(map(_is_json, value))
    if type(value) is str:
        return is_utf8(value)
    return type(value) in (int, bool, type(None)) or (type(value) is float and value - value == 0)


def _embedded(source: str) -> Iterator[Document]:
    """Yield the documents inside other text; no character is read more than a few times."""
    at, budget = 0, 4 * len(source)
    while budget > 0 and (start := _START.search(source, at)):
        at = start.start(1)
        try:
            _, end = _DECODER.raw_decode(source, at)
        except ValueError as error:
            budget -= getattr(error, "pos", len(source)) - at
            at += 1
            continue
        except RecursionError:
            return
        budget -= end - at
        document = _document_at(source, at, end)
        if document is not None:
            yield document
        at = end


def _document_at(source: str, start: int, end: int) -> Document | None:
    written = source[start:end]
    if len(written) < _MIN_DOCUMENT_CHARS or "{" not in written or _END.match(source, end) is None:
        return None
    document = read_styled_json(written)
    return Document(start, end, document[0], f"j{document[1]}") if document else None


def _literals(source: str) -> Iterator[Document]:
    """Yield the string literals of a repr whose escapes stand for line breaks, quotes or a JSON document."""
    for literal in _LITERAL.finditer(source):
        written = literal[0]
        if len(written) < _MIN_DOCUMENT_CHARS or "\\" not in written:
            continue
        try:
            text = ast.literal_eval(written)
        except (ValueError, SyntaxError):
            continue
        if type(text) is str and repr(text) == written and is_utf8(text):
            value, form = _as_json(text) or (text, "t") if text else (text, "t")
            yield Document(literal.start(), literal.end(), value, f"q{form}")


def fence(text: str) -> str:
    """Return the text of a string literal as it is in a view: on lines of its own, between triple quotes."""
    return f"{_FENCE}{text}{_FENCE[::-1]}"


def write_layout(segments: list[Segment]) -> str:
    """Return the layout of the text that the segments make up."""
    return " ".join(f"{segment.form}:{len(segment.text)}" for segment in segments)


def restore(text: str, layout: str) -> str:
    """Return the source of a view, byte for byte.

    Args:
        text: The text of the view.
        layout: The layout of the view.

    Raises:
        DecodeError: E1001, `layout` is malformed or does not fit `text`, or a part of `text` is not a view.
    """
    if layout == AS_IS:
        return text
    parts, at = [], 0
    for word in layout.split(" "):
        part, source = _restore_part(text, at, word)
        parts.append(source)
        at += len(part)
    if at != len(text):
        raise _refusal(f"expected a text of {at} characters for the layout, found {len(text)}", text, at)
    return "".join(parts)


def _restore_part(text: str, at: int, word: str) -> tuple[str, str]:
    """Return the part of `text` at `at` that a word of a layout describes, and its source."""
    segment = _SEGMENT.fullmatch(word)
    if segment is None or segment[3] not in STYLES:
        raise _refusal(f"expected a part of a layout, found {word!r}", text, at)
    literal, form, style, length = segment.groups()
    part = text[at : at + int(length)]
    if len(part) < int(length):
        raise _refusal(f"expected {length} characters for {word!r}, found {len(part)}", text, at)
    inner = part[len(_FENCE) : -len(_FENCE)] if literal else part
    if literal and fence(inner) != part:
        raise _refusal(f"expected triple quotes around {word!r}, found {part[:_MAX_SHOWN]!r}", text, at)
    source = inner if form == "t" else _written(inner, form, style)
    return part, repr(source) if literal else source


def _refusal(reason: str, text: str, position: int) -> DecodeError:
    return DecodeError(reason, code=ErrorCode.PARSE_ERROR, text=text, position=position)


def _written(view: str, form: str, style: str) -> str:
    try:
        return _WRITERS[form](read(view), style)
    except DecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise _refusal(str(error), view, 0) from error


def _write_lines(value: object, style: str) -> str:
    if type(value) is not list:
        raise ValueError(f"expected an array for JSON Lines, found {type(value).__name__!r}")
    return "\n".join([write_styled_json(member, style) for member in value])


_WRITERS: Final[dict[str, Callable[[object, str], str]]] = {
    "j": write_styled_json,
    "l": _write_lines,
    "p": lambda value, _style: repr(value),
}
