"""What the operands of a query are, and what may stand beside what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from accp_adapters.fetching.request import refuse
from accp_adapters.fetching.sql.functions import CHECKED
from accp_adapters.fetching.sql.tables import (
    SPELLING,
    NamedTable,
    StoredColumn,
    quoted_name,
    reach_into,
    sql_text,
)
from accp_adapters.fetching.sql.tokens import Token, Tokens
from accp_core.tables.values import Kind

__all__ = [
    "CONDITION", "EQUALS", "ComparedColumn", "Expr", "Operands", "ResolvedQuery", "name_of_kind", "spelling_of",
    "union",
]  # fmt: skip

EQUALS: Final = ("=", "!=", "IS", "IS NOT", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
_ISO: Final = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?: \d\d:\d\d(?::\d\d)?)?)?)?|\d\d:\d\d(?::\d\d)?")
_NUMERIC: Final = frozenset((Kind.NUMBER, Kind.DURATION, Kind.BOOLEAN))


@dataclass(frozen=True, slots=True)
class ComparedColumn:
    """A column that a query compares with something."""

    table: NamedTable
    column: str
    text: str | None = None
    """The text with which `=` compares it; None: another value or operator."""

    @property
    def stored(self) -> StoredColumn:
        """How it is kept."""
        return self.table.stored.columns[self.column]


@dataclass(slots=True)
class ResolvedQuery:
    """A query as SQLite is given it."""

    sql: str = ""
    tables: list[NamedTable] = field(default_factory=list)
    """The tables in its FROM clauses."""
    words: Sequence[str] = ("SELECT",)
    """Its words and signs, in upper case."""
    names: set[str] = field(default_factory=set)
    """The columns that it names."""
    comparisons: list[ComparedColumn] = field(default_factory=list)
    """The columns that its conditions compare."""
    used: list[ComparedColumn] = field(default_factory=list)
    """The columns that it compares, sorts or adds by their order."""
    shows_rows: bool = False
    """Whether it shows whole rows: `*`."""

    @property
    def is_scan(self) -> bool:
        """Whether it looks at each row of one table once."""
        looks = sum(word in ("SELECT", "JSON_EACH", "JSON_TREE") for word in self.words)
        return len(self.tables) == 1 and looks <= 1

    def has(self, *words: str) -> bool:
        """Return whether the query contains one of these words."""
        return any(word in words for word in self.words)


@dataclass(frozen=True, slots=True)
class Expr:
    """An expression: its words, and what its values are."""

    first: int = 0
    behind: int = 0
    """The place of its first word, and that behind its last."""
    kind: Kind | None = None
    """None: only the values tell it."""
    columns: tuple[ComparedColumn, ...] = ()
    """The columns whose cells its values may be; a text beside it is read as these are."""
    name: str = ""
    """The name that it is; empty: it is more than a name."""
    literal: Token | None = None
    """The text or the number that it is."""
    text: str | None = None
    """That text."""
    form: str = ""
    """How its moments are written, where no column tells it."""

    @property
    def is_test(self) -> bool:
        """Whether it is a condition."""
        return self.kind is Kind.BOOLEAN and not self.columns and self.literal is None

    @property
    def forms(self) -> set[str]:
        """In which forms the moments are written that it may be."""
        return {self.form} if self.form or self.text is not None else {_form(each.stored) for each in self.columns}


CONDITION: Final = Expr(kind=Kind.BOOLEAN)


class Operands(Tokens):
    """Checks the operands of a query, and changes the words of those that SQLite would compare as something else."""

    def __init__(self, source: str, *, is_checked: bool) -> None:
        """Begin before the first word; a walk that only finds names is not checked."""
        super().__init__(source)
        self._is_checked = is_checked
        self.query = ResolvedQuery(words=[token.upper for token in self._tokens])

    def _compared(self, expr: Expr, text: str | None = None) -> None:
        if expr.name:
            self.query.comparisons += [replace(column, text=text) for column in expr.columns]

    def _use(self, *exprs: Expr) -> None:
        """Remember columns whose order or numbers count."""
        self.query.used += [column for expr in exprs for column in expr.columns]

    def _shown(self, expr: Expr) -> str:
        """Return how a refusal names an expression."""
        return quoted_name(expr.name) if expr.name else self._written(expr.first, expr.behind)

    def _check_number(self, expr: Expr, where: str) -> None:
        """Refuse texts and times where numbers are needed. Where only values show a type, check each at run time."""
        self._use(expr)
        name = self._shown(expr)
        if not self._is_checked:
            return
        if expr.kind is None:
            self._check_when_run(expr, "number", "+")
        elif expr.kind is Kind.MOMENT:
            raise refuse(f"expected a number for {where!r}, found the times {name}; write julianday({name})")
        elif expr.kind is Kind.TEXT and expr.text is None:
            raise refuse(f"expected numbers for {where!r}, found {name}, {_told(expr)}; write {_cast(expr, name)}")

    def _check_when_run(self, expr: Expr, wanted: str, sign: str) -> None:
        """Have each value of an expression checked: beside a number no text has an order, nor a number beside texts."""
        shown = sql_text(self._written(expr.first, expr.behind))
        if not self._tokens[expr.first].sql.startswith(f"{CHECKED}("):
            self._enclose(expr.first, expr.behind, f"{CHECKED}(", f", '{wanted}', '{sign}', {shown})")

    def _check_pair(self, left: Expr, right: Expr, sign: str) -> None:
        """Check the two sides of a comparison, and have a text of one read as the cells of the other are."""
        if not self._is_checked:
            return
        self._refuse_tests(sign, left, right)
        one, other = self._fit(left, right), self._fit(right, left)
        kinds = {one.kind, other.kind}
        for each, beside in ((one, other), (other, one)):
            if each.kind is None and beside.kind not in (None, Kind.NOTHING):
                self._check_when_run(each, "number" if beside.kind in _NUMERIC else "text", sign)
        if kinds & {None, Kind.NOTHING} or kinds <= _NUMERIC:
            units = {column.stored.typed.unit for each in (one, other) for column in each.columns} - {""}
            if len(units) > 1 and one.columns and other.columns:
                found = " and ".join(map(repr, sorted(units)))
                raise refuse(f"expected columns of one unit, found {found}; write their factor, as a * 60")
        elif kinds == {Kind.MOMENT}:
            if len((one.forms | other.forms) - {""}) > 1:
                raise refuse("expected times of one form, found others; compare datetime(…) of both")
        elif len(kinds) > 1:
            has_numbers = any(column.stored.has_numbers for each in (one, other) for column in each.columns)
            if not (has_numbers and sign in EQUALS):
                raise self._unlike(one, other, sign)

    def _refuse_tests(self, sign: str, *exprs: Expr) -> None:
        for test in (each for each in exprs if each.is_test):
            shown = self._written(test.first, test.behind)
            raise refuse(f"expected AND or OR beside the condition {shown!r}, found {sign!r}")

    def _fit(self, value: Expr, beside: Expr) -> Expr:
        """Return a text as the cells of the columns beside it are read, and give SQLite that; any other value."""
        if value.text is None or value.literal is None or beside.kind in (Kind.TEXT, Kind.NOTHING):
            return value
        if not beside.columns:
            is_time = beside.kind is Kind.MOMENT and _ISO.fullmatch(value.text)
            return replace(value, kind=Kind.MOMENT) if is_time else value
        found = {repr(read): read for read in (each.stored.typed.read(value.text) for each in beside.columns)}
        if beside.kind is None:
            found[repr(value.text)] = value.text
        if len(found) > 1:
            raise refuse(f"expected {' or '.join(sorted(found))} beside {self._shown(beside)}, found {value.text!r}")
        (read,) = found.values()
        if read is None or beside.kind is None:
            return value
        value.literal.sql = sql_text(read) if isinstance(read, str) else repr(read + 0)
        return replace(value, kind=beside.kind)

    def _unlike(self, one: Expr, other: Expr, sign: str) -> Exception:
        numbers = [each.literal is not None and each.text is None for each in (one, other)]
        is_first = other.literal is not None or (other.kind is Kind.TEXT and not numbers[0])
        known, value = (one, other) if is_first else (other, one)
        name, column = self._shown(known), known.columns[0] if known.columns else None
        found = repr(value.text) if value.text is not None else self._written(value.first, value.behind)
        if known.kind is Kind.TEXT:
            text = f"{name} {sign} '{found}', or " if any(numbers) and column and not column.stored.has_numbers else ""
            cast = _cast(known, name, f" {sign} {found}" * any(numbers))
            return refuse(f"expected a text beside {name}, {_told(known)}, found {found}; write {text}{cast}")
        spelling = f", or {spelling_of(column)} for its spelling" if column and column.stored.is_spelled else ""
        if known.kind is Kind.MOMENT:
            return refuse(f"expected a time as {_example(known)} beside {name}, found {found}{spelling}")
        told = f"which is of {name_of_kind(column.stored)}" if column else f"which is a {known.kind}"
        return refuse(f"expected a number beside {name}, {told}, found {found}{spelling}")


def _cast(expr: Expr, name: str, beside: str = "") -> str:
    """Return how to read texts as numbers; of texts that no SQL reads, what has to be replaced before."""
    misread = next((column.stored.misread for column in expr.columns if column.stored.misread), "")
    if not misread:
        return f"CAST({name} AS REAL){beside}"
    return f"CAST(replace({name}, …) AS REAL){beside}, as CAST reads only the beginning of {misread!r:.60}"


def union(parts: Iterable[Expr]) -> Expr:
    """Return what the values of some expressions in one place are."""
    known = [part for part in parts if part.kind is not Kind.NOTHING]
    kinds, forms = {part.kind for part in known}, {part.form for part in known}
    columns = tuple(column for part in known for column in part.columns)
    kind = Kind.NUMBER if len(kinds) > 1 and kinds <= _NUMERIC else None
    if len(kinds) <= 1:
        kind = next(iter(kinds), Kind.NOTHING)
    return Expr(kind=kind, columns=columns, form=forms.pop() if len(forms) == 1 else "")


def name_of_kind(stored: StoredColumn) -> str:
    """Return in a word what the cells of a typed column are."""
    return {Kind.MOMENT: "times", Kind.BOOLEAN: "true and false"}.get(stored.kind, "numbers")


def _told(expr: Expr) -> str:
    if not expr.columns:
        return "which is a text"
    stored = expr.columns[0].stored
    if stored.holds_json:
        return f"which is of arrays or objects; see {reach_into(expr.columns[0].column, stored)}"
    return "which is of texts"


def spelling_of(column: ComparedColumn) -> str:
    """Return the quoted name of the column that holds the spellings of a typed one."""
    return f'"{column.column}{SPELLING}"'


def _example(expr: Expr) -> str:
    forms = expr.forms
    return "'2026-01-31'" if "date" in forms else "'14:05'" if "clock" in forms else "'2026-01-31T14:05'"


def _form(stored: StoredColumn) -> str:
    """Return in which form the moments of a column are written: those of unlike forms have no order as texts."""
    sample = stored.typed.read("2026-01-31T14:05:00")
    if stored.kind is not Kind.MOMENT:
        return ""
    if sample is None:
        return "clock"
    date = stored.typed.read("2026-01-31")
    return "date" if date == "2026-01-31" else str(date)
