"""Reads what a text holds, once for all that use it."""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from accp_core.documents import printed, yaml
from accp_core.documents.document import BYTE_ORDER_MARK, MAX_REST, Document, Form, Value, WholeForm
from accp_core.documents.grids import GRIDS, grids_in, markup
from accp_core.documents.json_forms import JSON, JSON_LINES, read_json_text
from accp_core.documents.omissions import DOTS, find_omissions

__all__ = ["FORMS", "MIN_CUT_CHARS", "end_of_json", "read", "read_cut_json", "read_verbatim", "wrapped_text"]


# JSON documents that a tool cut off, read up to the cut.

MIN_CUT_CHARS: Final = 200
"""Characters of a document up to its cut; a shorter one saves less than the line that tells about the cut."""
_MIN_STRING_CHARS: Final = 40
"""Characters of a string that was cut off; a shorter one is left to the text behind the cut."""
_WINDOW: Final = 256
"""Characters that are read first; an error costs as much as all characters before it."""
_MAX_TOKEN: Final = 16
"""Characters at the end of a window in which an error may come from the end of the window."""

_DECODER: Final = json.JSONDecoder()
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+("?)|[\[\]{},:]|[^\s"\[\]{},:]++', re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_CLOSING: Final = {"[": "]", "{": "}"}


def end_of_json(text: str, start: int) -> tuple[int, bool]:
    """Return the position up to which the JSON document at `start` can be read, and whether it ends there.

    Raises:
        RecursionError: it is nested too deep.
    """
    size = _WINDOW
    while True:
        window = text[start : start + size]
        try:
            return start + _DECODER.raw_decode(window)[1], True
        except json.JSONDecodeError as error:
            is_cut = error.pos > size - _MAX_TOKEN or error.msg.startswith("Unterminated")
            if not is_cut or start + size >= len(text):
                return start + error.pos, False
        except ValueError:  # a number of too many digits
            return start, False
        size *= 4


def read_cut_json(text: str, start: int, end: int) -> Value | None:
    """Return the document at `start` up to its cut; None if hardly anything could be read.

    Args:
        text: A text.
        start: The position of the first bracket.
        end: The position up to which the document can be read (`end_of_json`).
    """
    if end - start < MIN_CUT_CHARS and not text.startswith('"', end):
        return None
    for cut, closing in _cuts(text, start, end):
        written = text[start:cut] + closing
        if cut - start >= MIN_CUT_CHARS:
            with suppress(ValueError):
                return Value(start, cut, read_json_text(written), JSON, written, cut - start)
    return None


def _cuts(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """Yield the positions at which the document may be closed, each with what closes it, the last one first."""
    closing, before, string = "", "", end
    whole: tuple[int, str] | None = None
    last = start + len(text[start:end].rstrip())
    for token in _TOKEN.finditer(text, start, end):
        sign = token[0]
        if token[1] == "":
            string = token.start()
            break
        is_name = closing[:1] == "}" and before in ("{", ",")
        if sign in _CLOSING:
            closing = _CLOSING[sign] + closing
        elif sign in ("]", "}"):
            closing = closing[1:]
            whole = token.end(), closing
        # A number at the end may go on behind the cut, whose mark may have a line of its own.
        elif sign not in (",", ":") and not is_name and not (token.end() == last and sign[-1].isdigit()):
            whole = token.end(), closing
        before = sign
    part = _STRING.match(text, string)
    is_value = before == ":" or (closing[:1] == "]" and before in ("[", ","))
    if part is not None and is_value and len(part[0]) > _MIN_STRING_CHARS:
        yield part.end(), '"' + closing
    if whole is not None:
        yield whole


# The JSON documents inside other text, whole or cut off, and the Python literals.

_MIN_CHARS: Final = 16
"""Characters of a document inside other text; a shorter one saves nothing."""
_MAX_READS: Final = 16
"""How many times the characters of a text are read on average."""
_CUT_READS: Final = 4
"""How many times the characters of a document are read to find out where it was cut off, or is none."""
# A document inside other text begins a line, follows a colon, or has a tag around it, as the results of interpreters
# have; code and quotations are left as they are.
_START: Final = re.compile(r'(?:^\ufeff?[ \t]*(?:<[^<>\n]*>)?|(?<=: ))([\[{])(?=\s*["\[{\'(])', re.MULTILINE)
_END: Final = re.compile(r"(?:</[^<>\n]*>)?[ \t]*\r?$", re.MULTILINE)
_CUT_LINE: Final = re.compile(r'\r?\n\s*+([\[{])\s*+(?:["\[{]|\Z)')
_NEXT: Final = re.compile(r'\n(?:\n|[\[{]\s*+["\[{])')
"""What stands behind a document that a text does not end in: a blank line, or the next document."""
_OBJECT_LINE: Final = re.compile(r'^\{"[^\n]*\}(?=[ \t\r]*$)', re.MULTILINE)
_BRACKET: Final = re.compile(r"[\[\](){}]")
_LINE_END: Final = re.compile(r"[ \t\r]*\n\s*+")


def _documents(source: str, looked: Mapping[int, tuple[Any, int]]) -> Iterator[Value]:
    """Yield the documents; no character is read more than a few times.

    `looked` has what `printed.look_at` found at the positions where it was asked before.
    """
    at, budget, last, others = 0, _MAX_READS * len(source), -1, 0
    while budget > 0 and (start := _START.search(source, at)):
        at = start.start(1)
        try:
            end, is_whole = end_of_json(source, at)
            last = last if last >= 0 or (is_whole and end - at >= _MIN_CHARS) else _last_line(source)
        except RecursionError:
            return
        budget -= end - at
        if is_whole:
            found = _whole_at(source, at, end) if end - at >= _MIN_CHARS or last else None
        else:
            others += 1
            # However many there are, all together look through the text a few times.
            reach = _CUT_READS * len(source) // others**2
            found, chars = _other_at(source, at, end, reach, *(looked.get(at) or printed.look_at(source, at)))
            budget -= chars
            # Among lines of JSON, what is none holds no row, and does not go on in the next line.
            if last and found and (found.how is None if found.form is printed else at < last):
                found = None
            end = source.find("\n", at) if at < last else start.end()
        if found is not None:
            yield found
        at = found.end if found else end


def _other_at(source: str, start: int, end: int, reach: int, value: Any, looked_at: int) -> tuple[Value | None, int]:
    """Return what is at a position where JSON can be read up to `end` only, and the cost of looking.

    `printed.look_at` found `value` there, and looked up to `looked_at`. Behind what was read, `reach` characters are
    looked at for its end.
    """
    written = source[start:looked_at]
    is_worth = value and len(written) >= _MIN_CHARS and ("{" in written or "(" in written)
    if is_worth and _END.match(source, looked_at):
        return Value(start, looked_at, value, printed, written), looked_at - start
    found = read_cut_json(source, start, end)
    if found and _goes_on(source, found.end, reach):
        found = replace(found, form=printed, written=source[start : found.end], cut=None)
    return found, _CUT_READS * (end - start + looked_at - start)


def _last_line(source: str) -> int:
    """Return the position of the last line that is a JSON object, where most of a text is such lines; 0: it is not.

    Of a line, as many characters count as a document that was cut off has at least.
    """
    lines = [line for line in _OBJECT_LINE.finditer(source) if _read_whole(line[0], 0, (JSON,)) is not None]
    size = sum(min(len(line), MIN_CUT_CHARS) for line in source.split("\n"))
    is_most = len(lines) > 1 and 2 * sum(min(len(line[0]), MIN_CUT_CHARS) for line in lines) > size
    return lines[-1].start() if is_most else 0


def _whole_at(source: str, start: int, end: int) -> Value | None:
    written = source[start:end]
    is_worth = "{" in written and _END.match(source, end)
    return _read_whole(written, start, (JSON,)) if is_worth else None


def _goes_on(source: str, end: int, reach: int) -> bool:
    """Return whether the brackets that are open at a position close behind it, so that nothing was cut off there."""
    if next(find_omissions(source, end, end + MAX_REST), None) or DOTS.search(source, end, end + MAX_REST):
        return False
    depth = 0
    for sign in _BRACKET.finditer(source, end, end + reach):
        depth += 1 if sign[0] in "[{(" else -1
        if depth < 0:
            return True
    return False


def _with_lines(source: str, documents: Iterator[Value]) -> Iterator[Value]:
    """Yield the documents inside other text, those that follow each other line by line as one of JSON Lines."""
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
    forms = {before.form, document.form} == {JSON} and not before.is_cut and not document.is_cut
    return forms and begins and is_like and behind is not None and behind.end() == document.start


def _merged(source: str, documents: list[Value]) -> list[Value]:
    if len(documents) < 2:
        return documents
    start, end = documents[0].start, documents[-1].end
    # A document that follows and was cut off is not read.
    cut = end - start if _is_cut_behind(source, end) else None
    merged = Value(start, end, [document.value for document in documents], JSON_LINES, source[start:end], cut)
    return documents if merged.how is None else [merged]


def _is_cut_behind(source: str, end: int) -> bool:
    """Return whether the text ends in the document that begins behind a position."""
    start = _CUT_LINE.match(source, end)
    if start is None:
        return False
    at, is_whole = end_of_json(source, start.start(1))
    return not is_whole and len(source) - at < MIN_CUT_CHARS and _NEXT.search(source, start.end()) is None


# The forms in which a whole text, or a grid in one, may write a value.

WHOLE_FORMS: Final[tuple[WholeForm, ...]] = (JSON, JSON_LINES, yaml.DOCUMENT, yaml.DOCUMENTS, markup)
"""The forms of a whole text in the order in which they are tried, before grids; behind these is `printed`."""
_ALL: Final[tuple[Form, ...]] = (*WHOLE_FORMS, *GRIDS, printed)
FORMS: Final = {form.CODE: form for form in _ALL}
"""All forms by their letters in a layout."""


_TEXT_KEYS: Final = frozenset({"content", "contents", "data", "file_content", "file_text", "output", "result", "text"})
"""Under which tools wrap the text of a file in a JSON object."""
_MAX_KEYS: Final = 12
"""Keys of such an object, such as those for the path, the size and the encoding of the file."""


def read(source: str) -> Document:
    """Return what `source` holds: one value, or the values inside other text; a text that is none is prose."""
    return Document(source, _values(source))


def _values(source: str) -> list[Value]:
    start = len(source) - len(source.lstrip())
    end = len(source.rstrip())
    body = source[start:end]
    if not body:
        return []
    for mark in ("", BYTE_ORDER_MARK):
        at = start + len(mark)
        if body.startswith(mark) and (whole := _read_whole(body[len(mark) :], at)) is not None:
            return [whole]
    grids = grids_in(source)
    if all(sign not in body for sign in "{[(\\"):
        return grids
    if not grids and (texts := [*printed.texts_of_repr(source, start, end)]):
        return [
            Value(at, at + len(written), text, printed, closed, None if closed == written else len(written))
            for at, written, closed, text in texts
        ]
    looked = {start: printed.look_at(source, start)} if not grids and body[0] in "[{" else {}
    value, stop = looked.get(start, (body, start))
    if value is not None and stop == end:
        return [Value(start, end, value, printed, body)]
    # The lines of a log or of aligned columns are like the reprs of objects.
    if not grids and value is not None and (whole := _read_whole(body, start, (printed,))) is not None:
        return [whole]
    return _beside(grids, list(_with_lines(source, _documents(source, looked))))


def _read_whole(body: str, start: int, forms: Sequence[WholeForm] = WHOLE_FORMS) -> Value | None:
    for form in forms:
        if form.recognise(body):
            try:
                return Value(start, start + len(body), form.read(body), form, body)
            except ValueError:
                continue
    return None


def _beside(grids: list[Value], values: list[Value]) -> list[Value]:
    """Return the values of a text from left to right; one that is in a grid is a cell of it."""
    starts, ends = [grid.start for grid in grids], [grid.end for grid in grids]
    outside = [value for value in values if bisect_right(ends, value.start) == bisect_left(starts, value.end)]
    return sorted([*grids, *outside], key=lambda value: value.start)


def read_verbatim(source: str) -> Document:
    """Return `source` as prose; a JSON object that wraps a text of several lines as its value."""
    body = source.strip()
    is_map = body.startswith("{") and body.endswith("}")
    whole = _read_whole(body, source.index(body), (JSON,)) if is_map else None
    is_wrapper = whole is not None and wrapped_text(whole.value, len(body)) is not None
    return Document(source, [whole] if whole and is_wrapper else [])


def wrapped_text(value: object, chars: int) -> str | None:
    """Return the text of several lines that a map of `chars` characters is written for; None: it is not such a map.

    Its other values are no maps or arrays, and the text takes at least half of it.
    """
    if not isinstance(value, dict) or len(value) > _MAX_KEYS or {dict, list} & set(map(type, value.values())):
        return None
    texts = [text for key, text in value.items() if key in _TEXT_KEYS and isinstance(text, str) and "\n" in text]
    return texts[0] if len(texts) == 1 and 2 * len(texts[0]) >= chars else None
