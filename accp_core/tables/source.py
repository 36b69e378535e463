"""The value in a stored text: JSON however it was written, or the text itself."""

from __future__ import annotations

import logging
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from http import HTTPMethod, HTTPStatus
from itertools import chain, count
from typing import Any, Final

from accp_core.documents import Document, Value, read
from accp_core.documents.grids import DRAWN, GRIDS
from accp_core.documents.grids.cells import STRONG, class_of, distinct_names, note_of_loose, rows_of
from accp_core.documents.inference import Section, heading_above, infer_tables, join_sections
from accp_core.documents.inference.columns import sums_in, top_class
from accp_core.documents.inference.records import SECTION
from accp_core.documents.omissions import find_omissions, tell_cut
from accp_core.tables.build import tables_of
from accp_core.tables.table import FIELDS, LINES, DistinctNames, LineNumbers, Table, table_of_lines
from accp_core.tables.values import Kind, is_left_out, type_column

__all__ = ["MAX_WHOLE", "OpenedText", "SampledTables", "open_document", "open_text", "sample_tables"]


# Names for the columns of lines that name none: what all their cells are, such as a time, an address or a path.

_UNNAMED: Final = re.compile(r"(?:c|head)\d*")
_ALIKE: Final = 0.95
"""The share of the cells of a column that are what its name says."""
_KINDS: Final = (
    ("url", re.compile(r"[a-z][a-z\d+.-]*://\S+")),
    ("email", re.compile(r"[^\s@<>]+@[^\s@<>]+\.\w+")),
    ("path", re.compile(r"(?:~|\.{0,2})/\S*|[A-Z]:\\\S*")),
    ("mode", re.compile(r"[a-z-](?:[-r][-w][-xsStT]){3}[.+@]?")),
    ("method", re.compile("|".join(HTTPMethod))),
    ("level", re.compile("|".join([*logging.getLevelNamesMapping(), "TRACE", "NOTICE"]), re.IGNORECASE)),
    ("hash", re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{7,64}")),
)
"""The names of what cells are that are no numbers, moments or addresses."""
_AROUND: Final = re.compile(r'"[^"]*"|\[[^\[\]]*\]')
_VAGUE: Final = ("", "number", "text")
"""Names that say no more than a place in the line does."""
_MIN_COLUMNS: Final = 3
"""Columns of different cells from which a row is easier to read than its line."""
_MAX_WORDS: Final = 6
_LOOKED_AT: Final = 500
"""Cells of a column that show what it is."""
_MIN_PROSE: Final = 2.5
"""Words of a cell, in the mean, from which a column is prose."""
_PARTS_OF_TIME: Final = re.compile(r"M{1,2}d?(?:T(?:y|Wy)?|y)?|d?M(?:yT?|T)|DTz?")
"""Columns that are parts of one time, by their classes: months and days of a week, days, times, years, zones."""
_YEAR_TIME_ZONE: Final = re.compile(r"(?:19|20)\d\d|\d\d?:\d\d(?::\d\d)?|[+-]\d{4}")

_Cells = Sequence[str | None]


def _name_columns(table: Section) -> tuple[list[str], list[_Cells], bool]:
    """Return a name for each column, the rows, and whether most names say what the cells are.

    Words between the cells make a sentence, which is better read as a line.
    """
    columns: list[_Cells] = [[row.get(name) for row in table.rows] for name in table.columns]
    if table.is_named:
        return table.columns, list(zip(*columns, strict=True)), True
    sources = list(_with_times(["" if _UNNAMED.fullmatch(name) else name for name in table.columns], columns))
    parts = [
        part
        for name, cells in sources
        for part in _parts(name, [cell[1:-1] if cell and _AROUND.fullmatch(cell) else cell for cell in cells])
        if not all(map(is_left_out, part[1]))
    ]
    named = [(name or _name_of(cells), cells) for name, cells in parts]
    varied = [name for name, cells in named if len(set(cells)) > 1]
    told = [name for name in varied if name not in _VAGUE]
    is_sentence = any(name not in ("", "time", SECTION) for name, _ in sources) or any(map(_is_prose, columns))
    is_telling = 2 * len(told) > len(varied) >= _MIN_COLUMNS and not is_sentence
    names = [name or f"column_{number}" for number, (name, _) in enumerate(named, 1)]
    return names, list(zip(*(cells for _, cells in named), strict=True)), is_telling


def _with_times(names: Sequence[str], columns: Sequence[_Cells]) -> Iterator[tuple[str, _Cells]]:
    """Yield the columns with their names; those that are parts of one time, as `Mar 5 10:11`, are one."""
    kinds = "".join(map(_time_class, columns))
    at = 0
    while at < len(names):
        found = _PARTS_OF_TIME.match(kinds, at)
        end = max(found.end(), at + 1) if found else at + 1
        joined = [" ".join(filter(None, cells)) or None for cells in zip(*columns[at:end], strict=True)]
        yield ("time", joined) if end > at + 1 else (names[at], columns[at])
        at = end


def _time_class(cells: _Cells) -> str:
    """Return the class of cells, "d" for days of a month, "y" for years, "z" for zones, "T" for times or years."""
    there = [cell for cell in cells if cell]
    kind = top_class(there[:200]) or "?"
    if kind == "N" and all(cell.isdigit() and 0 < int(cell) < 32 for cell in there):
        return "d"
    if kind in "NT?" and there and all(map(_YEAR_TIME_ZONE.fullmatch, there)):
        return "T" if any(":" in cell for cell in there) else "z" if there[0][0] in "+-" else "y"
    return kind


def _parts(name: str, cells: _Cells) -> list[tuple[str, _Cells]]:
    """Return the columns that the words of cells are, where all have as many and some are paths; else the one.

    The first word of a text that names its kind, such as a level, is a column of its own.
    """
    sample = _sample(cells)
    if name == "text" and sample and _name_of([_first_word(cell)[0] for cell in sample]) not in _VAGUE:
        first, rest = zip(*(_first_word(cell or "") for cell in cells), strict=True)
        return [("", first), *_parts(name, rest)]
    words = [cell.split() for cell in sample]
    size = len(words[0]) if words else 0
    fitting = [each for each in words if len(each) == size]
    if name or not 1 < size <= _MAX_WORDS or len(fitting) < _ALIKE * len(words) or type_column(sample).is_ordered:
        return [(name, cells)]
    if not any(_name_of(column) in ("path", "url") for column in zip(*fitting, strict=True)):
        return [(name, cells)]
    rows = [cell.split() if cell and len(cell.split()) == size else [cell, *[None] * (size - 1)] for cell in cells]
    return [("", column) for column in zip(*rows, strict=True)]


def _first_word(cell: str) -> tuple[str | None, str | None]:
    word, _, rest = cell.partition(" ")
    return word.strip("[]<>():|") or None, rest.strip() or None


def _name_of(cells: _Cells) -> str:
    """Return the name of what nearly all cells are; empty: it is not known."""
    there = _sample(cells)
    typed = type_column(there)
    if typed.kind is Kind.MOMENT:
        return "time" if any(":" in value for value in typed.values) else "date"
    if typed.kind is Kind.DURATION:
        return "duration"
    if typed.kind is Kind.NUMBER:
        return "status" if set(typed.values) <= set(HTTPStatus) else "percent" if typed.unit == "%" else "number"
    if _share(class_of(cell) == "I" for cell in there):
        return "address"
    named = next((name for name, kind in _KINDS if _share(kind.fullmatch(cell) is not None for cell in there)), "")
    return named or "text" * (2 * sum(" " in cell for cell in there) > len(there))


def _sample(cells: _Cells) -> list[str]:
    """Return cells from all over a column that are there."""
    return [cell for cell in cells[:: len(cells) // _LOOKED_AT + 1] if cell and not is_left_out(cell)]


def _share(found: Iterable[bool]) -> bool:
    told = list(found)
    return bool(told) and sum(told) >= _ALIKE * len(told)


def _is_prose(cells: _Cells) -> bool:
    """Return whether cells have several words each that stand in no quotes and are no time."""
    texts = _sample(cells)
    words = (len(text.split()) for text in texts if class_of(text) not in STRONG and not _AROUND.fullmatch(text))
    return sum(words) > _MIN_PROSE * len(texts)


_MAX_NESTED: Final = 4
"""Documents within one: one in a string in a text block, as MCP servers answer, is two deep."""
_EXPLAINED: Final = 0.4
"""The share of the lines of a text outside its grids up to which nothing more is inferred."""
_PARTS: Final = re.compile(r"(?i)char|byte|token|\A\D*[a-z]\D*\Z")
"""What a mark has that counts no whole lines."""
_MAX_RUNS: Final = 6
"""Runs of lines that are named."""


@dataclass(frozen=True, kw_only=True)
class OpenedText:
    """The value of a stored text."""

    value: Any
    """The JSON value; the text itself where it holds none; a list of the values where it holds several documents."""
    prose: str | None = None
    """The text around the value, or that is the value; None: all of the text is JSON."""
    is_several: bool = False
    """Whether the value is the list of the values of several documents; each line of JSON Lines is one."""
    cut: str = ""
    """What is said of the tool that returned the text, which left out rows or lines; see `tell_cut`. Empty: nothing."""
    grids: tuple[Any, ...] = ()
    """Where a text has grids: each of them, and all other values as one, since they are tables of their own."""

    beside: tuple[Any, ...] = ()
    """The rows of the tables that were inferred of lines without names of columns, which stay lines of text, too."""
    outside: tuple[tuple[int, int], ...] = ()
    """The first and the last number of each run of lines that are in no table beside `lines`."""
    how: str = ""
    """How tables were inferred, such as "columns by alignment", and what is in doubt; empty: the text has a grammar."""

    @property
    def outside_note(self) -> str:
        """What an answer about rows says of other lines: "lines 13-61 are in no table; search for words there"."""
        how = f"rows read as {self.how}" if self.how else ""
        if not self.outside:
            return how
        named = ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in self.outside[:_MAX_RUNS])
        more = f" and {len(self.outside) - _MAX_RUNS} other places" if len(self.outside) > _MAX_RUNS else ""
        subject, verb = ("line", "is") if self.outside[0][0] == self.outside[-1][1] else ("lines", "are")
        note = f"{subject} {named}{more} {verb} in no {'row' if how else 'table'}; search for words there"
        return f"{how}; {note}" if how else note

    def tables(self, *, with_objects: bool = False) -> tuple[Table, ...]:
        """Return the tables of the value, as `tables_of` does, then `lines` where there is other text around it."""
        if isinstance(self.value, str):
            return (table_of_lines(self.value),)
        names = DistinctNames()
        lines = [] if self.prose is None else [table_of_lines(self.prose)]
        if lines:
            names.claim(LINES)
        values = self.grids or [self.records]
        return (*chain.from_iterable(tables_of(each, names, with_objects=with_objects) for each in values), *lines)

    @cached_property
    def own_tables(self) -> tuple[Table, ...]:
        """The tables without the cells that hold objects, made once for all that look at them."""
        return self.tables()

    def tables_beside(self) -> tuple[Table, ...]:
        """Return the tables `fields`, `fields_2` … of lines whose columns have no names, for queries that name them."""
        names = (FIELDS if number == 1 else f"{FIELDS}_{number}" for number in count(1))
        return tuple(replace(tables_of(rows)[0], name=name) for rows, name in zip(self.beside, names, strict=False))

    @property
    def records(self) -> Any:
        """The value; of several documents the list of the rows in them."""
        return _records_of(self.value) if self.is_several else self.value


def open_text(text: str) -> OpenedText:
    """Return the value in `text`; see `open_document`."""
    return open_document(read(text))


def open_document(document: Document) -> OpenedText:
    """Return the value in a text that was read.

    It opens a value in any form, JSON inside a JSON string, the text block of an MCP answer, and the values within
    other text. Numbers keep the spelling of the source (SpelledFloat); one that no float
    holds, NaN among them, is text.
    """
    cut = ""
    for _ in range(_MAX_NESTED):
        cut = max(cut, document.cut)
        only = document.whole or document.beginning
        if only is None or only.form in GRIDS:
            opened = _opened(document)
            grids = (tell_cut(each.written) for each in filter(_is_grid, document.values()))
            return replace(opened, cut=max([cut, opened.cut, *grids]))
        value = _unwrap(only.value)
        if not isinstance(value, str):
            return OpenedText(value=value, is_several=only.is_several, cut=cut)
        document = read(value)
    return OpenedText(value=document.source, prose=document.source, cut=cut)


def _opened(document: Document) -> OpenedText:
    """Return the values in a text with lines, of which those that say that others were left out are none."""
    text = document.source
    marks = _marks(text) if all(map(_is_grid, document.values())) else []
    if not marks:
        return _inferred(document) or _of_values(document)
    lines = text.split("\n")
    numbers = sorted({*range(1, len(lines) + 1)}.difference(marks))
    rest = read("\n".join(lines[number - 1] for number in numbers))
    opened = _inferred(rest) or _of_values(rest)
    outside = [numbers[number - 1] for first, last in opened.outside for number in range(first, last + 1)]
    value = text if isinstance(opened.value, str) else opened.value
    return replace(opened, value=value, prose=text, outside=_runs([*outside, *marks]))


def _marks(text: str) -> list[int]:
    """Return the numbers of the lines that say that lines were left out there, and of those that this may cut."""
    lines, numbers, marks = text.split("\n"), LineNumbers(text), list[int]()
    told = [number for number, line in enumerate(lines, 1) if line.strip()]
    for found in find_omissions(text):
        mark = found[0].strip()
        number = numbers.number_at(text.index(mark, found.start()))
        if lines[number - 1].strip() == mark:
            at = bisect_left(told, number)
            marks += told[max(at - 1, 0) : at + 2] if _PARTS.search(mark) else [number]
    return marks


def _runs(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return the first and the last number of each run of numbers."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        is_next = runs and runs[-1][1] == number - 1
        runs[-1:] = [(runs[-1][0], number)] if is_next else [*runs[-1:], (number, number)]
    return tuple(runs)


def _is_grid(part: Value) -> bool:
    return part.form in GRIDS


def _of_values(document: Document) -> OpenedText:
    text, outside = document.source, list(document.lines_outside)
    cut = ""
    found, rest, sections = list[Any](), list[Any](), list[Section]()
    numbers, ends = LineNumbers(text), [0, *(part.end for part in document.values())]
    for before, part in zip(ends, document.values(), strict=False):
        value: Any = part.value
        if isinstance(value, str):
            inner = read(value)
            cut = max(cut, inner.cut)
            value, *others = [each.value for each in inner.values()] or [value]
            value = part.value if others else value
        if not isinstance(value, (dict, list)):
            continue
        values: list[Any] = list(value) if part.is_several else [value]
        found += values
        if not _is_grid(part):
            rest += values
            continue
        (rows,) = values
        sums = sums_in([[None if cell is None else str(cell) for cell in row.values()] for row in rows])
        end = numbers.number_at(part.end) + 1 - len(rows)
        outside += [(end + number, end + number) for number in sums]
        kept = [row for number, row in enumerate(rows) if number not in sums]
        lines = text[before : text.find("\n", part.start)].split("\n")
        sections.append(Section(heading_above(lines, len(lines) - 1, 0), kept))
    if not found:
        return OpenedText(value=text, prose=text, cut=cut)
    grids = [section.rows for section in join_sections(sections)]
    return OpenedText(
        value=found[0] if len(found) == 1 else found,
        prose=text,
        is_several=len(found) > 1,
        cut=cut,
        how=", ".join(filter(None, map(note_of_loose, grids * any(part.form in DRAWN for part in document.values())))),
        grids=(*grids, _records_of(rest)) if grids and rest else tuple(grids),
        outside=tuple(sorted(outside)),
    )


def _inferred(document: Document) -> OpenedText | None:
    """Return the tables that rules find in a text most of whose lines no value explains; None: they find none."""
    text, values = document.source, list(document.values())
    outside = sum(last - first + 1 for first, last in document.lines_outside)
    is_explained = outside <= _EXPLAINED * (text.count("\n") + 1)
    if is_explained or text.lstrip().startswith("<") or not all(map(_is_grid, values)):
        return None
    found = infer_tables(text)
    # A grid names its columns, so what has no names does not take its place.
    if not found.tables or (values and not all(table.is_named for table in found.tables)):
        return None
    named = [_name_columns(table) for table in found.tables]
    hows = [(table.how, note_of_loose(table.rows) if table.is_named else "") for table in found.tables]
    how = ", ".join(filter(None, dict.fromkeys(chain.from_iterable(hows))))
    grids = tuple(rows_of(distinct_names(names, len(names)), rows) for names, rows, _ in named)
    opened = OpenedText(value=text, prose=text, outside=_runs(found.outside), how=how)
    if not all(is_telling for *_, is_telling in named):
        return replace(opened, beside=grids)
    is_several = len(grids) > 1
    return replace(opened, value=list(grids) if is_several else grids[0], is_several=is_several, grids=grids)


def _records_of(documents: list[Any]) -> list[Any]:
    """Return the rows of several documents: the records in arrays of records, and what is no such array."""
    kinds = [set(map(type, document)) if type(document) is list else None for document in documents]
    if {dict} not in kinds:
        return documents
    # An empty array beside them is one of no records.
    parts = (each if kind in ({dict}, set()) else [each] for each, kind in zip(documents, kinds, strict=True))
    return list(chain.from_iterable(parts))


def _unwrap(value: Any) -> Any:
    """Return the text of a single MCP text block, alone or in its list, else `value`."""
    match value:
        case [{"type": "text", "text": str(text)}] | {"type": "text", "text": str(text)}:
            return text
        case {"content": [{"type": "text", "text": str(text)}]}:
            return text
    return value


# The tables of a JSON text of megabytes, described by their first rows.

MAX_WHOLE: Final = 2_000_000
"""Characters of a text all of whose rows are described."""
_FIRST: Final = 1_000
"""Rows of a table that are kept."""


@dataclass(frozen=True, slots=True)
class SampledTables:
    """The tables of a text, of long ones the first rows."""

    tables: tuple[Table, ...]
    totals: Mapping[str, int]
    """The names of the tables that have more rows, with the number of all."""


def sample_tables(text: str) -> SampledTables | None:
    """Return the tables of the first rows of a long text: of JSON, of lines of it, or of JSON in a string.

    None: the text is no JSON.
    """
    # What does not end like JSON is not read in vain.
    opened = open_text(text) if text[-_FIRST:].rstrip()[-1:] in ("]", "}", '"') else None
    if opened is None or opened.prose is not None:
        return None
    tables = opened.tables()
    totals = {table.name: len(table.rows) for table in tables if len(table.rows) > _FIRST}
    return SampledTables(tuple(replace(each, rows=each.rows[:_FIRST]) for each in tables), totals)
