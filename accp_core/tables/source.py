"""The value in a stored text: JSON however it was written, or the text itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final, Protocol

from accp_core.packing.number import read_float, spelling_decoder
from accp_core.tables.build import tables_of
from accp_core.tables.table import LINES, Table
from accp_core.tables.text_lines import table_of_lines

__all__ = [
    "BYTE_ORDER_MARK",
    "OpenedText",
    "ends_within_json",
    "omits_text",
    "open_text",
    "read_document",
    "read_lines",
    "records_of",
    "tables_of_text",
    "unwrap",
]

BYTE_ORDER_MARK: Final = "\ufeff"
"""Programs of Windows write it before a text; it is no part of a JSON document behind it."""
# Files that were joined have a mark in front of the first line of each.
_LINE_MARK: Final = re.compile(f"^{BYTE_ORDER_MARK}", re.MULTILINE)
_OMISSION_TEXT: Final = (
    r"[^\w\n]{0,12}+[0-9][0-9,._]*+k?\s(?:more\s)?(?:char(?:acter)?|byte|line|token|row|item|record|result)s?"
    r"\s(?:were\s)?(?:omitted|truncated|elided|skipped|clipped|removed|cut(?: off)?)[^\w\n]{0,12}(?:\n|\Z)"
)
_FIRST_OMISSION: Final = re.compile(_OMISSION_TEXT, re.IGNORECASE)
_OMISSION: Final = re.compile(f"\n{_OMISSION_TEXT}", re.IGNORECASE)
_OBJECT_START: Final = re.compile(r'\ufeff?\s*+(?:\[\s*+)?\{\s*+"')
_MAX_SPACE: Final = 1_000
"""Characters at the end of a text that may be blank."""
# A JSON document in a string in a text block, as MCP servers answer, is two deep.
_MAX_NESTED: Final = 3


class _Document(Protocol):
    """A JSON document within a text, such as those of `accp_core.view.layout.find_documents`."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def value(self) -> Any: ...

    @property
    def form(self) -> str: ...

    @property
    def is_cut(self) -> bool: ...


FindDocuments = Callable[[str], Sequence[_Document]]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedText:
    """The value of a stored text."""

    value: Any
    """The JSON value; the text itself where it holds none; a list of the values where it holds several documents."""
    prose: str | None = None
    """The text around the value, or that is the value; None: all of the text is JSON."""
    is_several: bool = False
    """Whether the value is the list of the values of several documents; each line of JSON Lines is one."""
    is_cut: bool = False
    """Whether the tool that returned the text cut it off, so that there may be more rows and lines than these."""

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of the value, then `lines` where there is other text around it."""
        if isinstance(self.value, str):
            return tables_of(self.value)
        value = records_of(self.value) if self.is_several else self.value
        if self.prose is None:
            return tables_of(value)
        return (*tables_of(value, taken=(LINES,)), table_of_lines(self.prose))


def open_text(text: str, find_documents: FindDocuments) -> OpenedText:
    """Return the value in `text`.

    It opens a JSON document, lines of JSON, a Python literal, JSON inside a JSON string, the text block of an MCP
    answer, and the documents within other text. Numbers keep the spelling of the source (SpelledFloat); one that no
    float holds, NaN among them, becomes text. A byte order mark hides nothing; it stays in the text around a value.

    Args:
        text: The stored text.
        find_documents: Finds the documents within a text: `accp_core.view.layout.find_documents`.
    """
    for _ in range(_MAX_NESTED):
        opened = _parse(text)
        if opened is None:
            return _search(text, find_documents)
        if not isinstance(opened.value, str):
            return opened
        text = opened.value
    return OpenedText(value=text, prose=text)


def tables_of_text(text: str, find_documents: FindDocuments) -> tuple[Table, ...]:
    """Return the tables of a stored text: those of the value in it, and its lines where it is not all JSON."""
    return open_text(text, find_documents).tables()


def _search(text: str, find_documents: FindDocuments) -> OpenedText:
    body = _LINE_MARK.sub("", text) if BYTE_ORDER_MARK in text else text
    found = find_documents(body)
    is_cut = any(document.is_cut for document in found) or omits_text(body)
    documents = [document for document in found if isinstance(document.value, (dict, list))]
    if not documents:
        return OpenedText(value=text, prose=text, is_cut=is_cut)
    parts = [document.value if document.form.startswith("l") else [document.value] for document in documents]
    values = list(chain.from_iterable(parts))
    value = values[0] if len(values) == 1 else values
    is_whole = len(documents) == 1 and not (body[: documents[0].start] + body[documents[0].end :]).strip()
    return OpenedText(value=value, prose=None if is_whole else text, is_several=len(values) > 1, is_cut=is_cut)


def omits_text(text: str) -> bool:
    """Return whether a line of `text` says that a tool left out a number of lines, characters or rows there."""
    return (_FIRST_OMISSION.match(text) or _OMISSION.search(text)) is not None


def ends_within_json(text: str) -> bool:
    """Return whether a text that begins like a JSON object, or an array of them, ends like neither; found out fast."""
    return _OBJECT_START.match(text) is not None and text[-_MAX_SPACE:].rstrip()[-1:] not in ("]", "}")


def _parse(text: str) -> OpenedText | None:
    """Return the JSON value of `text`, or the list of its lines' values; None: it is neither."""
    for read, is_several in ((read_document, False), (read_lines, True)):
        try:
            return OpenedText(value=unwrap(read(text)), is_several=is_several)
        except ValueError:
            continue
    return None


def records_of(documents: list[Any]) -> list[Any]:
    """Return the rows of several documents: the records in arrays of records, and what is no such array."""
    kinds = [set(map(type, document)) if type(document) is list else None for document in documents]
    if {dict} not in kinds:
        return documents
    # An empty array beside them is one of no records.
    parts = (each if kind in ({dict}, set()) else [each] for each, kind in zip(documents, kinds, strict=True))
    return list(chain.from_iterable(parts))


def read_lines(text: str) -> Any:
    """Return the list of the values in lines of JSON objects or arrays; ValueError: they are none, or only one."""
    body = text.removeprefix(BYTE_ORDER_MARK)
    if not body.lstrip().startswith(("{", "[")):
        raise ValueError("expected lines of JSON objects or arrays")
    rows = [read_document(line) for line in body.splitlines() if line.strip()]
    if len(rows) < 2 or not all(isinstance(row, (dict, list)) for row in rows):
        raise ValueError("expected several lines of JSON objects or arrays")
    return rows


def unwrap(value: Any) -> Any:
    """Return the text of a single MCP text block, alone or in its list, else `value`."""
    match value:
        case [{"type": "text", "text": str(text)}] | {"type": "text", "text": str(text)}:
            return text
        case {"content": [{"type": "text", "text": str(text)}]}:
            return text
    return value


def _number_or_digits(digits: str) -> float | str:
    try:
        return read_float(digits)
    except ValueError:
        return digits


_decode: Final = spelling_decoder(read_float=_number_or_digits, read_constant=str)


def read_document(text: str) -> Any:
    """Return the value of one JSON document, whose numbers keep their spelling; ValueError: it is none."""
    return _decode(text.removeprefix(BYTE_ORDER_MARK))
