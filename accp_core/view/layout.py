"""How a source text is made up of verbatim text and JSON documents, so that it can be rebuilt byte for byte.

A layout is written as a short text, for example `t:8 j2u:340 t:1`: 8 characters as they are, then 340 characters
which are the view of a JSON document of style `2u` (see `packing.opened.STYLES`), then one more as it is. A `q`
before a part says that it stood there as a Python string literal.
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
"""The layout of a text that is its own view."""

_SHORTEST: Final = 16
"""Characters of a document within other text; a shorter one has nothing to gain."""
# A document inside a text has lines of its own, or follows a colon; code and quotations are left as they are.
_START: Final = re.compile(r'(?:^[ \t]*|(?<=: ))([\[{])(?=\s*["\[{])', re.MULTILINE)
_END: Final = re.compile(r"[ \t]*\r?$", re.MULTILINE)
_DECODER: Final = json.JSONDecoder()
# What `repr` makes of an object that is no list or dict: `meta=None content=[TextContent(type='text', text='…')]`.
_REPR: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*[=(<]")
# The strings and the other words that `repr` writes; Python warns of others on standard error when it reads them.
_ESCAPE: Final = r"\\(?:[\\'nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
_STRING: Final = rf"""'(?:[^'\\\n]|{_ESCAPE})*+'|"(?:[^"\\\n]|{_ESCAPE})*+\""""
_PYTHON: Final = re.compile(rf"(?:[\[\]{{}}]|[,:] |True|False|None|-?[0-9][0-9.]*+(?:e[+-][0-9]+)?|{_STRING})*+")
_LITERAL: Final = re.compile(rf"(?<==)(?:{_STRING})")
_FENCE: Final = f"{TEXT_BLOCK}\n"
_SEGMENT: Final = re.compile(r"(q?)([tjlp])([0-9t]?u?):([0-9]{1,18})")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON document, or an escaped text, in a source: where it stands, its value and how it is written there."""

    start: int
    end: int
    value: object
    form: str
    """`j` JSON, `l` JSON Lines, each with the code of its style, `p` a Python literal; `q` before: in a string literal,
    where `t` is any text."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a view: `form` is that of `Document`, or `t` for text that stood in the source as it is."""

    form: str
    text: str


def find_documents(source: str) -> list[Document]:
    """Return the documents that together with the text between them are `source`, from left to right."""
    start = len(source) - len(source.lstrip())
    end = len(source.rstrip())
    body = source[start:end]
    if not body or all(sign not in body for sign in "{[\\"):
        return []
    for form in (_as_json, _as_lines, _as_python):
        found = form(body)
        if found is not None:
            return [Document(start, end, *found)]
    if "\n" not in body and _REPR.match(body):
        return list(_literals(source))
    return list(_embedded(source))


def _as_json(body: str) -> tuple[object, str] | None:
    opened = read_styled_json(body) if body[0] in "[{" else None
    return (opened[0], f"j{opened[1]}") if opened and opened[0] else None


def _as_lines(body: str) -> tuple[object, str] | None:
    lines = body.split("\n")
    if len(lines) < 2 or not all(line[:1] in ("{", "[") for line in lines):
        return None
    values: list[object] = []
    styles: set[str] = set()
    for line in lines:
        opened = read_styled_json(line)
        if opened is None:
            return None
        values.append(opened[0])
        styles.add(opened[1])
    return _in_one_style(values, styles, lines)


def _in_one_style(values: list[object], styles: set[str], lines: list[str]) -> tuple[object, str] | None:
    # A line without a non-ASCII character fits both styles of its kind.
    style = max(styles, key=len)
    is_same_json = all(write_styled_json(value, style) == line for value, line in zip(values, lines, strict=True))
    return (values, f"l{style}") if is_same_json else None


def _as_python(body: str) -> tuple[object, str] | None:
    """Open what `str()` makes of a list or dict: many tools print that instead of JSON."""
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
    """Find the documents inside other text, reading no character more than a few times."""
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
        document = _standing_alone(source, at, end)
        if document is not None:
            yield document
        at = end


def _standing_alone(source: str, start: int, end: int) -> Document | None:
    written = source[start:end]
    if len(written) < _SHORTEST or "{" not in written or _END.match(source, end) is None:
        return None
    opened = read_styled_json(written)
    return Document(start, end, opened[0], f"j{opened[1]}") if opened else None


def _literals(source: str) -> Iterator[Document]:
    """Find the string literals of a repr in which escapes hide line breaks, quotes or a JSON document."""
    for literal in _LITERAL.finditer(source):
        written = literal[0]
        if len(written) < _SHORTEST or "\\" not in written:
            continue
        try:
            text = ast.literal_eval(written)
        except (ValueError, SyntaxError):
            continue
        if type(text) is str and repr(text) == written and is_utf8(text):
            value, form = _as_json(text) or (text, "t") if text else (text, "t")
            yield Document(literal.start(), literal.end(), value, f"q{form}")


def fence(text: str) -> str:
    """Return the text of a string literal as it stands in a view: on lines of its own between triple quotes."""
    return f"{_FENCE}{text}{_FENCE[::-1]}"


def write_layout(segments: list[Segment]) -> str:
    """Return the layout of a text made of `segments`."""
    return " ".join(f"{segment.form}:{len(segment.text)}" for segment in segments)


def restore(text: str, layout: str) -> str:
    """Return the source whose view is `text` in that layout, byte for byte.

    Raises:
        DecodeError: E1001, `layout` is none, does not fit `text`, or a part of `text` is no view.
    """
    if layout == AS_IS:
        return text
    parts, at = [], 0
    for word in layout.split(" "):
        segment = _SEGMENT.fullmatch(word)
        if segment is None or segment[3] not in STYLES:
            raise DecodeError(
                f"expected a part of a layout, got {word!r}", code=ErrorCode.PARSE_ERROR, text=text, position=at
            )
        literal, form, style, length = segment.groups()
        part = text[at : at + int(length)]
        if len(part) < int(length):
            raise DecodeError(
                f"expected {length} characters for {word!r}", code=ErrorCode.PARSE_ERROR, text=text, position=at
            )
        inner = part[len(_FENCE) : -len(_FENCE)] if literal else part
        if literal and fence(inner) != part:
            raise DecodeError(
                f"expected triple quotes around {word!r}", code=ErrorCode.PARSE_ERROR, text=text, position=at
            )
        source = inner if form == "t" else _written(inner, form, style)
        parts.append(repr(source) if literal else source)
        at += len(part)
    if at != len(text):
        raise DecodeError(
            f"expected a text of {at} characters for the layout", code=ErrorCode.PARSE_ERROR, text=text, position=at
        )
    return "".join(parts)


def _written(view: str, form: str, style: str) -> str:
    try:
        return _WRITERS[form](read(view), style)
    except DecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise DecodeError(str(error), code=ErrorCode.PARSE_ERROR, text=view, position=0) from error


def _write_lines(value: object, style: str) -> str:
    if type(value) is not list:
        raise ValueError(f"expected an array for JSON Lines, got {type(value).__name__!r}")
    return "\n".join([write_styled_json(member, style) for member in value])


_WRITERS: Final[dict[str, Callable[[object, str], str]]] = {
    "j": write_styled_json,
    "l": _write_lines,
    "p": lambda value, _style: repr(value),
}
