"""The JSON documents inside other text, whole or cut off, and the Python literals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from accp_core.documents import json_document, json_lines, printed, python_literal
from accp_core.documents.cut.cut_json import MIN_CUT_CHARS, CutJson, end_of_json, read_cut_json
from accp_core.documents.cut.omissions import find_dots, find_omissions, omits_text
from accp_core.documents.document import Value

__all__ = ["values_inside"]

_MIN_CHARS: Final = 16
"""Characters of a document inside other text; a shorter one saves nothing."""
_MAX_READS: Final = 16
"""How many times the characters of a text are read on average."""
_CUT_READS: Final = 4
"""How many times the characters of a document are read to find out where it was cut off."""
# A document inside other text begins a line or follows a colon; code and quotations are left as they are.
_START: Final = re.compile(r'(?:^\ufeff?[ \t]*|(?<=: ))([\[{])(?=\s*["\[{\'(])', re.MULTILINE)
_END: Final = re.compile(r"[ \t]*\r?$", re.MULTILINE)
_CUT_LINE: Final = re.compile(r'\r?\n\s*+([\[{])\s*+(?:["\[{]|\Z)')
_BRACKET: Final = re.compile(r"[\[\](){}]")
_MAX_REST: Final = 300
"""Characters behind a cut in which a tool's mark stands."""
_LINE_END: Final = re.compile(r"[ \t\r]*\n\s*+")


def values_inside(source: str) -> list[Value]:
    """Return the documents inside other text, those that follow each other line by line as one of JSON Lines."""
    return list(_with_lines(source, _documents(source)))


def _documents(source: str) -> Iterator[Value]:
    """Yield the documents; no character is read more than a few times."""
    at, budget = 0, _MAX_READS * len(source)
    while budget > 0 and (start := _START.search(source, at)):
        at = start.start(1)
        try:
            end, is_whole = end_of_json(source, at)
        except RecursionError:
            return
        budget -= end - at
        if is_whole:
            found = _whole_at(source, at, end)
        else:
            found, chars = _other_at(source, at, end)
            budget -= chars
        if found is not None:
            yield found
        at = found.end if found else end if is_whole else start.end()


def _other_at(source: str, start: int, end: int) -> tuple[Value | None, int]:
    """Return what is at a position where JSON can be read up to `end` only, and the cost of looking."""
    closed, is_closed = python_literal.end_of(source, start)
    found, printed_end = _python_at(source, start, closed) if is_closed else None, start
    if found is None:
        found, printed_end = _printed_at(source, start)
    if found is None and (cut := read_cut_json(source, start, end)) is not None:
        found = _cut_at(source, start, cut)
    return found, _CUT_READS * (end - start) + closed + printed_end - 2 * start


def _printed_at(source: str, start: int) -> tuple[Value | None, int]:
    value, end = printed.look_at(source, start)
    written = source[start:end]
    is_long = value and len(written) >= _MIN_CHARS and ("{" in written or "(" in written)
    if not is_long or omits_text(written) or _END.match(source, end) is None:
        return None, end
    return Value(start, end, value, printed, written), end


def _whole_at(source: str, start: int, end: int) -> Value | None:
    written = source[start:end]
    if len(written) < _MIN_CHARS or "{" not in written or _END.match(source, end) is None:
        return None
    try:
        found = Value(start, end, json_document.read(written), json_document, written)
    except ValueError:
        return None
    return None if found.how is None else found


def _python_at(source: str, start: int, end: int) -> Value | None:
    written = source[start:end]
    is_long = len(written) >= _MIN_CHARS and ("{" in written or "(" in written)
    if not is_long or not python_literal.recognise(written) or _END.match(source, end) is None:
        return None
    try:
        return Value(start, end, python_literal.read(written), python_literal, written)
    except ValueError:
        return None


def _cut_at(source: str, start: int, found: CutJson) -> Value:
    """Return what was read of a value that does not end well: it was cut off, or has a fault and goes on as text."""
    end = start + found.chars
    if _goes_on(source, end):
        return Value(start, end, found.value, printed, source[start:end])
    return Value(start, end, found.value, json_document, found.written, found.chars)


def _goes_on(source: str, end: int) -> bool:
    """Return whether the brackets that are open at a position close behind it, so that nothing was cut off there."""
    if next(find_omissions(source, end, end + _MAX_REST), None) or next(find_dots(source, end, end + _MAX_REST), None):
        return False
    depth = 0
    for sign in _BRACKET.finditer(source, end):
        depth += 1 if sign[0] in "[{(" else -1
        if depth < 0:
            return True
    return False


def _with_lines(source: str, documents: Iterator[Value]) -> Iterator[Value]:
    lines: list[Value] = []
    for document in documents:
        if lines and not _is_next_line(source, lines[-1], document):
            yield from _merged(source, lines)
            lines = []
        lines.append(document)
    yield from _merged(source, lines)


def _is_next_line(source: str, before: Value, document: Value) -> bool:
    """Return whether a document follows another one like it, each on lines of its own."""
    behind = _LINE_END.match(source, before.end, document.start)
    is_like = source[before.start] == source[document.start] or "\n" not in before.written + document.written
    begins = before.start == 0 or source[before.start - 1] in "\n\ufeff"
    forms = {before.form, document.form} == {json_document} and not before.is_cut and not document.is_cut
    return forms and begins and is_like and behind is not None and behind.end() == document.start


def _merged(source: str, documents: list[Value]) -> list[Value]:
    if len(documents) < 2:
        return documents
    start, end = documents[0].start, documents[-1].end
    # A document that follows and was cut off is not read.
    cut = end - start if _is_cut_behind(source, end) else None
    merged = Value(start, end, [document.value for document in documents], json_lines, source[start:end], cut)
    return documents if merged.how is None else [merged]


def _is_cut_behind(source: str, end: int) -> bool:
    """Return whether the text ends in the document that begins behind a position."""
    start = _CUT_LINE.match(source, end)
    if start is None:
        return False
    at, is_whole = end_of_json(source, start.start(1))
    return not is_whole and len(source) - at < MIN_CUT_CHARS and "\n\n" not in source[at:]
