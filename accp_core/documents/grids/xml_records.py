"""A form: an XML document with repeated elements, which are rows for queries; the text itself stays as it is.

An element is a map of its attributes and of the elements in it, those of one name as an array; one with neither is its
text, and text beside them is `text`. Names have no namespaces. Numbers and booleans are those that JSON writes so.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn
from xml.etree.ElementTree import ParseError, XMLParser

from accp_core.documents.grids.cells import is_number
from accp_core.packing.expansion import Expansion
from accp_core.packing.number import read_float, read_int

__all__ = ["CODE", "IS_SEVERAL", "describe", "read", "recognise", "write"]

CODE: Final = "X"
IS_SEVERAL: Final = False

_MAX_DEPTH: Final = 60
"""Levels of nested elements."""
_START: Final = re.compile(r"<\?xml[\s?]|<([A-Za-z_][\w.-]*+)[^<]*+<[A-Za-z_]")
_NIL: Final = "{http://www.w3.org/2001/XMLSchema-instance}nil"
"""The attribute of an element that stands for null; an empty element is an empty text."""
_WORDS: Final = {"true": True, "false": False}
_PAGE: Final = frozenset(
    ("html", "head", "body", "table", "div", "ul", "ol", "dl", "p", "section", "main", "span", "svg")
)
"""The names of elements with which a web page, or a part of one, begins."""


def recognise(text: str) -> bool:
    """Return whether `text` begins with an element in another one, and ends with one; a web page does not."""
    found = _START.match(text) if text.startswith("<") and text.endswith(">") else None
    return found is not None and found[1] not in _PAGE


def read(text: str) -> dict[str, Any]:
    """Return the map of the outermost element; ValueError: it is no such XML."""
    # Entities, which a document type declares, could stand for gigabytes.
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("expected XML without a document type")
    builder = _Builder()
    parser = XMLParser(target=builder)
    try:
        parser.feed(text)
        parser.close()
    except ParseError as error:
        raise ValueError("expected XML") from error
    if not builder.has_records or not isinstance(builder.value, dict):
        raise ValueError("expected elements with members that are repeated")
    return builder.value


class _Builder:
    """Makes values of elements when they end."""

    def __init__(self) -> None:
        self.value: Any = None
        self.has_records = False
        self._open: list[tuple[str, dict[str, Any], list[str], bool]] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element."""
        if len(self._open) >= _MAX_DEPTH:
            raise ValueError(f"expected at most {_MAX_DEPTH} levels of elements")
        is_nil = attributes.get(_NIL) == "true"
        self._open.append(
            (
                _local(tag),
                {} if is_nil else {_local(name): _value(text) for name, text in attributes.items()},
                [],
                is_nil,
            )
        )

    def data(self, text: str) -> None:
        """Add text to the element."""
        self._open[-1][2].append(text)

    def end(self, tag: str) -> None:
        """End the element, which is a member of the one around it."""
        name, members, parts, is_nil = self._open.pop()
        text = "".join(parts).strip()
        if members and text:
            _add(members, "text", _value(text))
        self.value = members or (None if is_nil else _value(text))
        if self._open:
            added = _add(self._open[-1][1], name, self.value)
            self.has_records |= added and bool(members)


def _add(members: dict[str, Any], name: str, value: Any) -> bool:
    """Add a member; return whether there was one of that name, so that all of them are an array."""
    if name not in members:
        members[name] = value
        return False
    if type(members[name]) is not list:
        members[name] = [members[name]]
    members[name].append(value)
    return True


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _value(text: str) -> Any:
    if not is_number(text):
        return _WORDS.get(text, text)
    return read_float(text) if "." in text or "e" in text.lower() else read_int(text)


def describe(text: str, value: object) -> str | None:
    """Return None: XML has tables, and no view."""
    return None


def write(value: object, how: str, expansion: Expansion) -> NoReturn:
    """Refuse to write XML, which has no view."""
    raise ValueError(f"expected no layout of XML, found {how!r}")
