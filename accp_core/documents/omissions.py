"""What tools write where they left out a part of a text: `... [12345 characters omitted] ...`, `<omitted 9 lines>`.

A mark has a count, or dots, or says what was left out; it stands in brackets, between dots or alone on its line. Words
about an omission are no mark. A row whose cells are all dots is one.

A mark at an end of a text, or a row of dots, says that the text was cut off. Words in the middle may as well be a line
of a log, or quoted: then only what the source says is told.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from accp_core.lazy_patterns import lazy_pattern

__all__ = ["CUT_OFF", "DOTS", "find_omissions", "looks_cut", "omits_in_value", "tell_cut"]


_VERB: Final = r"(?:omitted|truncated|elided|skipped|clipped|removed|hidden|snipped|cut(?:\soff)?)"
_CELL, _GAP = r"(?:…|\.{2,9})", "[ \\t\\r,;|│┆]"
_STEM: Final = re.compile(
    "mitted|runcated|ipped|lided|emoved|idden| cut|MITTED|RUNCATED|IPPED| more|emaining|howing|ext offset|lines |"
    rf"{_CELL}{_GAP}++{_CELL}"
)
"""What each mark has, in any case that is usual: it is found sooner than the mark."""
_UNIT: Final = r"(?:(?:char(?:acter)?|byte|token|line|row|item|record|result|file|element|page)s?|entry|entries)"
_NUMBER: Final = r"[0-9][0-9,._]{0,15}+k?"
_COUNT: Final = rf"{_NUMBER}\s(?:more\s)?{_UNIT}"
_TOLD: Final = rf"{_COUNT}\s(?:were\s|was\s)?(?:{_VERB}|remaining)|(?:{_VERB}|remaining):?\s{_COUNT}"
_MORE: Final = rf"{_NUMBER}\s(?:more|remaining)"
# Alone on its line, `... 14 more` ends a stack trace of Java, and `and 14 more` a list.
_LINE: Final = rf"(?:{_TOLD}|{_MORE}\s(?:[a-z]{{1,12}}\s)?{_UNIT}|(?<=and\s){_MORE})"
_COUNTED: Final = rf"(?:{_LINE}|{_MORE})"
_PART: Final = r"(?:output|content|response|result|text|message|observation|file)"
_SAID: Final = rf"{_PART}\s(?:was\s|is\s)?{_VERB}(?:\s[a-z]{{1,12}}){{0,5}}"
_PAGE: Final = (
    r"(?:next\soffset:?\s[0-9]|(?:showing|lines?|rows?|items?|results?)\s(?:[a-z]{1,9}\s){0,2}"
    r"(?:[0-9,]+\s?[-\u2013]\s?)?[0-9,]+(?:\s[a-z]{1,12})?\s(?:out\s)?of\s[0-9,]+)"
)
_SHARE: Final = lazy_pattern(r"([0-9,]+)(?:\s[a-z]{1,12})?\s(?:out\s)?of\s([0-9,]+)", re.IGNORECASE)
_DOTS: Final = r"(?:…|\.{3,9})"
_SIGNS: Final = r"[^\w\n]{0,12}+"
_CLOSE: Final = rf"\s?(?:[\])>]|{_DOTS})(?:\s?{_DOTS})?"
_BRACKETED: Final = r"(?:[\[<]|@@)[^\[\]<>\n]{0,120}?"
_MARK: Final = lazy_pattern(
    rf"(?:\A|\n)[ \t]*+(?!\w){_SIGNS}(?:and\s)?(?:{_LINE}|{_SAID}){_SIGNS}(?=\n|\Z)"
    rf"|(?:[\[(<…]|\.{{3}}){_SIGNS}(?:and\s)?{_COUNTED}{_CLOSE}"
    rf"|{_DOTS}\s?[\[(<]{_VERB}{_CLOSE}"
    rf"|(?:\A|\n){_GAP}*+{_CELL}(?:{_GAP}++{_CELL})++{_GAP}*+(?=\n|\Z)"
    r"|(?:\A|\n)[ \t]*+[\[(<](?:truncated|clipped|cut(?:\soff)?)[\])>](?=\s*(?:\n|\Z))"
    rf"|(?:\A|\n)[ \t]*+{_SIGNS}{_PAGE}(?:\s[a-z]{{1,12}}){{0,3}}{_SIGNS}(?=\n|\Z)"
    rf"|{_BRACKETED}(?:\b{_SAID}|\b{_COUNTED}|\b{_PAGE})[^\[\]<>\n]{{0,200}}?(?:[\]>]|@@)",
    re.IGNORECASE,
)
_LINES: Final = lazy_pattern(rf"\blines?\s(?:were\s|was\s)?{_VERB}|{_VERB}:?\s{_NUMBER}\slines?", re.IGNORECASE)
CUT_OFF: Final = "was cut off"
"""What is said of a source that has only a part of what there was."""
_EDGES: Final = re.compile(r"\A\W+|\W+\Z")
_MAX_QUOTED: Final = 60
"""Characters of a mark that are quoted."""
_BEFORE: Final = 64
_BEHIND: Final = 256
"""Characters before a verb that its mark may have, and from it on."""
DOTS: Final = re.compile(rf"[^\S\n]*+{_DOTS}")
"""Dots, which say the same where what is behind them continues a value."""
_OBJECT_START: Final = re.compile(r'\ufeff?\s*+(?:\[\s*+)?\{\s*+"')
_MAX_SPACE: Final = 1_000
"""Characters at an end of a text that may be blank."""
_GLANCE: Final = 500_000


def find_omissions(text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
    """Yield the marks in `text` that say that a tool left out a part there, between two positions."""
    end = len(text) if end is None else min(end, len(text))
    for begin, stop in _windows(text, start, end):
        for found in _MARK.finditer(text, begin, stop):
            # A line that is longer is none.
            if (found.end() < stop or stop == end) and not (_shows_all(found[0]) or _is_quoted(text, found)):
                yield found


def _windows(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a text that may have marks; what is near several verbs is looked at once."""
    begin = stop = start
    for verb in (found.start() for found in _STEM.finditer(text, start, end)):
        if verb - _BEFORE > stop:
            yield begin, stop
            begin = verb - _BEFORE
        stop = min(verb + _BEHIND, end)
    yield begin, stop


def _shows_all(mark: str) -> bool:
    """Return whether a mark such as "showing 20 of 20" names no more than there is."""
    shares = [(shown.replace(",", ""), all_.replace(",", "")) for shown, all_ in _SHARE.findall(mark)]
    return bool(shares) and all(shown == all_ for shown, all_ in shares)


def _is_quoted(text: str, mark: re.Match[str]) -> bool:
    """Return whether a text speaks of omitted lines: in a line, or in an indented part, such as a message."""
    stop, written = mark.end(), mark[0].strip()
    begin = stop - len(text[max(stop - 2 * _BEHIND, 0) : stop].rpartition("\n")[2])
    line = text[begin : stop + _BEHIND].partition("\n")[0].rstrip()
    indent = line[: len(line) - len(line.lstrip(" \t>"))]
    if line.removeprefix(indent) != written.lstrip(" \t>"):
        return _LINES.search(written) is not None
    above = text[max(begin - _BEHIND, 0) : begin].rstrip().rpartition("\n")[2]
    below = text[begin + len(line) : begin + len(line) + _BEHIND].lstrip("\r\n")
    return indent != "" and any(map(str.isalpha, written)) and above.startswith(indent) and below.startswith(indent)


def tell_cut(text: str, start: int = 0, end: int | None = None) -> str:
    """Return what is said of a source whose text has marks between two positions; empty: it has none.

    That is `CUT_OFF`, or, of a mark of words that is not at an end of the text, `says "120 lines omitted"`. Of several,
    the surest is the greatest text.
    """
    told = ""
    for found in find_omissions(text, start, end):
        words = _EDGES.sub("", found[0].partition(";")[0])[:_MAX_QUOTED]
        around = text[max(found.start() - _MAX_SPACE, 0) : found.start()], text[found.end() : found.end() + _MAX_SPACE]
        if not words or not all(map(str.strip, around)):
            return CUT_OFF
        told = told or f"says {json.dumps(words)}"
    return told


def omits_in_value(value: object, written: str) -> str:
    """Return what is said, as by `tell_cut`, of a string in a map that holds no rows, or of the last item of a list.

    Args:
        value: The value.
        written: How it is written.
    """
    if not isinstance(value, (dict, list)) or not _STEM.search(written):
        return ""
    has_rows, omits, ends = False, "", ""
    left: list[object] = [value]
    while left:
        node = left.pop()
        if isinstance(node, str):
            omits = max(omits, tell_cut(node))
        elif isinstance(node, dict):
            left += node.values()
        elif isinstance(node, list) and node:
            ends = max(ends, tell_cut(node[-1]) if isinstance(node[-1], str) else "")
            has_rows = has_rows or any(isinstance(item, (dict, list)) for item in node)
    return max(ends, "" if has_rows or isinstance(value, list) else omits)


def looks_cut(text: str) -> str:
    """Return at a glance what is said, as by `tell_cut`, of a text that is not read, and may end within a JSON object.

    The object is the text, or in the array that the text is. Of a long text, both ends are looked at for marks.
    """
    ends_within = _OBJECT_START.match(text) is not None and text[-_MAX_SPACE:].rstrip()[-1:] not in ("]", "}")
    ends = tell_cut(text, end=_GLANCE), tell_cut(text, max(_GLANCE, len(text) - _GLANCE))
    return CUT_OFF if ends_within else max(ends)
