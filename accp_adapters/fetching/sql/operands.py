"""The words of a query, what its operands are, and what may stand beside what.

Each word has what SQLite is given in its place. Operands that SQLite would compare as something else are refused, or
have their words changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from accp_adapters.fetching.request import refuse, too_much
from accp_adapters.fetching.sql.tables import NamedColumn, NamedTable, StoredColumn, quote, quoted_name, sql_text
from accp_core.errors import ProtocolError
from accp_core.tables.values import Kind

__all__ = ["CHECKED", "CONDITION", "EQUALS", "FORMS", "Expr", "Operands", "ResolvedQuery", "Token", "union"]

CHECKED: Final = "accp_checked"
"""The function that checks a value which only its row tells, such as one of `json_extract`."""
EQUALS: Final = ("=", "!=", "IS", "IS NOT", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
_ISO: Final = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?: \d\d:\d\d(?::\d\d)?)?)?)?|\d\d:\d\d(?::\d\d)?")
_NUMERIC: Final = frozenset((Kind.NUMBER, Kind.DURATION, Kind.BOOLEAN))
_DAY, _CLOCK = "2026-01-31", "14:05"
FORMS: Final = {"date": _DAY, "time": f"{_CLOCK}:00", "datetime": f"{_DAY} {_CLOCK}"}
"""How the moments are written that functions give; those of other forms have no order beside them."""
_MAX_CHARS: Final = 10_000
"""Characters of a query."""
_MAX_DEPTH: Final = 60
"""Parentheses, calls and signs within each other."""
_MAX_SHOWN: Final = 60
# A reference may be followed by the name of one of its tables: `$cold.….orders`.
_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+)
      | (?P<comment>--|/\*)
      | (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[(?!\s*-?[0-9]+\s*\])[^\[\]]*\])
      | (?P<reference>\$[a-z]+\.[A-Za-z0-9_]+(?:\.[^\W\d][\w.]*)?|[a-z]+\.[0-9]{12,29}(?![\w])(?:\.[^\W\d][\w.]*)?)
      | (?P<number>(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.:@]|-[0-9][0-9]-))
      | (?P<bare>[0-9][^\s,()'"`;<>=!|&]*)
      | (?P<phrase>(?<!\.)(?i:is\s+(?:not\s+)?distinct\s+from|is\s+not|not\s+(?:in|i?like|glob|between|null)
            |(?:group|order|partition)\s+by|union\s+all|current\s+row|nulls\s+(?:first|last)|unbounded\s+[fp]\w+ing
            |(?:(?:natural|left|right|full|inner|cross|outer)\s+)*join)\b)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign>===|<=>|->>|->|==|!=|<>|<=|>=|<<|>>|\|\||&&|[-+*/%<>=~,.()|&!:@#])
    """,
    re.VERBOSE,
)
_SAME: Final = {"&&": "AND", "==": "=", "===": "=", "<>": "!=", "<=>": "IS", "!": "NOT", "ilike": "LIKE"}
"""What other languages write, and what it is in SQL."""


@dataclass(slots=True)
class Token:
    """A word of a query."""

    kind: str
    """`string`, `quoted` (a quoted name), `reference`, `number`, `bare` (a text that begins with a digit), `phrase`
    (keywords that belong together), `word`, `sign` or `end`."""
    text: str
    start: int
    end: int
    sql: str
    """What SQLite is given in its place."""
    upper: str
    """The text of words in upper case, to compare it with keywords ("" beside a dot); of any other token, its text."""

    @property
    def is_name(self) -> bool:
        """Whether it can be a name."""
        return self.kind in ("word", "quoted")

    @property
    def name(self) -> str:
        """The name or the string without its quotes."""
        if self.kind not in ("quoted", "string"):
            return self.text
        mark, inner = self.text[-1], self.text[1:-1]
        return inner if mark == "]" else inner.replace(mark * 2, mark)


def _tokenize(query: str) -> list[Token]:
    """Return the tokens of one statement, and one that is its end; a semicolon at its end is left out."""
    if len(query) > _MAX_CHARS:
        raise too_much(f"expected a query of at most {_MAX_CHARS:,} characters, found {len(query):,}")
    text = query.rstrip().rstrip(";").rstrip()
    tokens, at = list[Token](), 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "comment":
            expected = "one query without comments, parameters and regular expressions (LIKE '%a%', GLOB '*[0-9]*')"
            raise refuse(f"expected {expected}, found {text[at : at + _MAX_SHOWN]!r}")
        kind, end = str(found.lastgroup), found.end()
        if kind != "blank":
            written = _SAME.get(found[0].lower(), found[0])
            upper = " ".join(written.upper().split()) if kind in ("word", "phrase") else written
            # A word beside a dot is a name, even that of a column `from`.
            upper = "" if kind == "word" and "." in (text[at - 1 : at], text[end : end + 1]) else upper
            token = Token(kind, written, at, end, written, upper)
            if kind in ("string", "quoted"):
                token.sql = (sql_text if kind == "string" else quote)(token.name)
            tokens.append(token)
        at = end
    return [*tokens, Token("end", "", len(text), len(text), "", "")]


@dataclass(slots=True)
class ResolvedQuery:
    """A query as SQLite is given it."""

    sql: str = ""
    tables: list[NamedTable] = field(default_factory=list)
    """The tables in its FROM clauses, each once."""
    sources: int = 0
    """How many times a table stands there, or a function in place of one."""
    words: Sequence[str] = ("SELECT",)
    """Its words and signs, in upper case."""
    names: set[str] = field(default_factory=set)
    """The columns that it names."""
    comparisons: list[NamedColumn] = field(default_factory=list)
    """The columns that its conditions compare."""
    used: list[NamedColumn] = field(default_factory=list)
    """The columns that it compares, sorts or adds by their order."""
    denied: list[NamedColumn] = field(default_factory=list)
    """Those that it compares by `!=` or behind NOT, which is true of no null."""
    shows_rows: bool = False
    """Whether it shows whole rows: `*`."""

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
    columns: tuple[NamedColumn, ...] = ()
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
    def forms(self) -> set[str]:
        """In which forms the moments are written that it may be."""
        moments = () if self.form else (each.stored.typed for each in self.columns if each.stored.kind is Kind.MOMENT)
        read = (each.read(_DAY) or each.read("Jan 31") or each.read(_CLOCK) for each in moments)
        return {self.form, *read} - {""}


CONDITION: Final = Expr(kind=Kind.BOOLEAN)


def union(parts: Iterable[Expr]) -> Expr:
    """Return what the values of some expressions in one place are."""
    known = [part for part in parts if part.kind is not Kind.NOTHING]
    kinds, forms = {part.kind for part in known}, {part.form for part in known}
    columns = tuple(column for part in known for column in part.columns)
    kind = next(iter(kinds), Kind.NOTHING) if len(kinds) <= 1 else Kind.NUMBER if kinds <= _NUMERIC else None
    return Expr(kind=kind, columns=columns, form=forms.pop() if len(forms) == 1 else "")


class Operands:
    """A walk over the words of a query, which changes those of operands that SQLite would compare as something else."""

    def __init__(self, source: str) -> None:
        """Begin before the first word."""
        self._source = source
        self._tokens = _tokenize(source)
        self._at = 0
        self._depth = 0
        self._is_checked = True
        """Whether words are changed and refused, not only looked through for names."""
        self.query = ResolvedQuery(words=[token.upper for token in self._tokens])

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    @property
    def _last(self) -> Token:
        """The word that was taken last."""
        return self._tokens[self._at - 1]

    def _ahead(self, steps: int = 1) -> str:
        return self._tokens[min(self._at + steps, len(self._tokens) - 1)].upper

    def _sql(self, first: int, behind: int) -> str:
        """Return what SQLite is given for some words."""
        return " ".join(token.sql for token in self._tokens[first:behind] if token.sql)

    def _written(self, first: int, behind: int) -> str:
        """Return some words as they are written."""
        return self._source[self._tokens[first].start : self._tokens[behind - 1].end]

    def _enclose(self, first: int, behind: int, before: str, after: str) -> None:
        if self._is_checked:
            self._tokens[first].sql = before + self._tokens[first].sql
            self._tokens[behind - 1].sql += after

    def _replace(self, first: int, sql: str) -> None:
        """Give SQLite something else for the words from `first` on that were taken."""
        for token in self._tokens[first : self._at] if self._is_checked else ():
            token.sql = ""
        self._tokens[first].sql = sql if self._is_checked else self._tokens[first].sql

    def _take(self, *words: str) -> str:
        """Return the next word if it is one of these, and go behind it; else ""."""
        if self._token.kind in ("word", "phrase", "sign") and self._token.upper in words:
            self._at += 1
            return self._last.upper
        return ""

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._unexpected(word)

    def _unexpected(self, expected: str) -> ProtocolError:
        found = self._source[self._token.start : self._token.start + _MAX_SHOWN]
        return refuse(f"expected {expected}, found {found!r}" if found else f"expected {expected}, found the end")

    def _within(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise refuse(f"expected a query of at most {_MAX_DEPTH} levels, found more")

    def _name(self) -> str:
        token = self._token
        if not token.is_name and token.kind != "string":
            raise self._unexpected("a name")
        self._at += 1
        token.sql = quote(token.name)
        return token.name

    def _chain(self) -> str:
        """Take names that dots join."""
        name = self._token.name
        self._at += 1
        while self._token.text == "." and self._tokens[self._at + 1].is_name:
            name += f".{self._tokens[self._at + 1].name}"
            self._at += 2
        return name

    # What may stand beside what.

    def _compared(self, expr: Expr, text: str | None = None) -> None:
        if expr.name and self._is_checked:
            self.query.comparisons += [replace(column, text=text) for column in expr.columns]

    def _use(self, *exprs: Expr) -> None:
        """Remember columns whose order or numbers count."""
        self.query.used += [column for expr in exprs for column in expr.columns if self._is_checked]

    def _use_order(self, *exprs: Expr) -> None:
        """Remember columns whose order counts; refuse moments whose order nothing tells."""
        self._use(*exprs)
        for column in (each for expr in exprs for each in expr.columns if each.stored.times and self._is_checked):
            found = " beside ".join(map(repr, column.stored.times))
            raise refuse(f"expected times whose order their form tells, found {found} in {_with_parts(column)}")

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
            kept = next((column.spelling for column in expr.columns if column.stored.is_spelled), name)
            parts = f"their parts, as CAST(substr({kept}, 1, instr({kept}, ':') - 1) AS REAL) for the first"
            told = parts if any(form.startswith(_CLOCK) for form in expr.forms) else f"julianday({name})"
            raise refuse(f"expected a number for {where!r}, found the times {name}; write {told}")
        elif expr.kind is Kind.TEXT and expr.text is None:
            told = _told(expr)
            raise refuse(f"expected numbers for {where!r}, found {name}, {told}{_or_cast('; write', expr, name)}")

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
        self._check_day(left, right, sign)
        self._check_day(right, left, sign)
        one, other = self._fit(left, right, sign), self._fit(right, left, sign)
        kinds = {one.kind, other.kind}
        for each, beside in ((one, other), (other, one)):
            if each.kind is None and beside.kind not in (None, Kind.NOTHING):
                self._check_when_run(each, "number" if beside.kind in _NUMERIC else "text", sign)
        self._check_units(one, other)
        if kinds == {Kind.MOMENT} and len(one.forms | other.forms) > 1:
            raise refuse("expected times of one form, found others; compare datetime(…) of both")
        if len(kinds) > 1 and not (kinds & {None, Kind.NOTHING} or kinds <= _NUMERIC):
            has_numbers = any(column.stored.has_numbers for each in (one, other) for column in each.columns)
            if not (has_numbers and sign in EQUALS):
                raise self._unlike(one, other, sign)

    def _check_units(self, *exprs: Expr) -> None:
        """Refuse to compare, to add, or to have in one column, the numbers of columns of several units."""
        known = [expr for expr in exprs if expr.columns]
        units = {column.stored.typed.unit.casefold() for expr in known for column in expr.columns} - {""}
        if len(units) > 1 and len(known) > 1 and self._is_checked:
            found = " and ".join(map(repr, sorted(units)))
            raise refuse(f"expected columns of one unit, found {found}; write their factor, as a * 60")

    def _check_day(self, day: Expr, beside: Expr, sign: str) -> None:
        """Refuse an ISO day beside texts of days in another form, and its order beside texts that are no ISO days."""
        is_day = beside.kind is Kind.TEXT and re.match(r"\d{4}-\d\d-\d\d", day.text or "")
        for column in beside.columns if is_day else ():
            if found := (*column.stored.times[:1], column.stored.undated * (sign not in EQUALS), "")[0]:
                raise refuse(f"expected a text such as {found!r:.60}, found {day.text!r}, beside {_with_parts(column)}")

    def _check_pattern(self, left: Expr, right: Expr, sign: str) -> None:
        """Refuse a pattern of a column whose texts are kept as something else, unless it is one of ISO texts."""
        is_of_day = left.kind is Kind.MOMENT and re.match(r"[%*]?\d{4}(-|[%*]$)", right.text or "")
        self._check_spelling(() if is_of_day else left.columns[:1] if left.name else (), f" {sign} …")

    def _check_parts(self, expr: Expr, name: str) -> None:
        """Refuse to read texts that are kept as something else, unless these are times that begin alike."""
        end = len("2026") if expr.kind is Kind.MOMENT else None
        pairs = ((column, kept, str(cell)) for column in expr.columns for kept, cell in column.stored.spellings.items())
        self._check_spelling((each for each, kept, cell in pairs if str(kept)[:end] != cell[:end]), f" in {name}")

    def _check_spelling(self, columns: Iterable[NamedColumn], where: str) -> None:
        for column in (each for each in columns if each.stored.is_spelled and self._is_checked):
            told = f"{quoted_name(column.column)}, which is of {_name_of_kind(column.stored)}"
            raise refuse(f"expected {column.spelling}{where}, found {told}")

    def _refuse_tests(self, sign: str, *exprs: Expr) -> None:
        tests = (each for each in exprs if each.kind is Kind.BOOLEAN and not each.columns and each.literal is None)
        for test in tests:
            raise refuse(f"expected AND or OR beside the condition {self._shown(test)!r}, found {sign!r}")

    def _fit(self, value: Expr, beside: Expr, sign: str = "=") -> Expr:
        """Return a text as the cells of the columns beside it are read, and give SQLite that; any other value."""
        if value.kind is Kind.BOOLEAN and value.literal and beside.kind is Kind.TEXT and sign in EQUALS:
            # Beside texts a boolean is kept as a text of its own.
            cells = (each for column in beside.columns for each in column.stored.spellings.items())
            kept = next((text for text, cell in cells if cell is (value.literal.sql == "1")), None)
            value.literal.sql = value.literal.sql if kept is None else sql_text(kept)
            return value if kept is None else replace(value, kind=Kind.TEXT)
        if value.text and (numbers := [each for each in beside.columns if value.text in each.stored.numbers]):
            name = quoted_name(numbers[0].column)
            raise refuse(f"expected {value.text} beside {name}, where it is a number, found {value.text!r}")
        if value.text is None or value.literal is None or beside.kind in (Kind.TEXT, Kind.NOTHING):
            self._check_notation(value, beside)
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

    def _check_notation(self, value: Expr, beside: Expr) -> None:
        """Refuse a number that the columns beside it write as another one: 9.800 where they have 2.280,51."""
        shown = value.literal.text if value.literal and value.kind is beside.kind is Kind.NUMBER else ""
        for each in (beside.columns or self.query.used) if "." in shown else ():
            if each.stored.kind is Kind.NUMBER and (read := each.stored.typed.read(shown)) not in (None, float(shown)):
                raise refuse(f"expected {float(shown)} or {read} beside {quoted_name(each.column)}, found {shown}")

    def _unlike(self, one: Expr, other: Expr, sign: str) -> Exception:
        numbers = [each.literal is not None and each.text is None for each in (one, other)]
        known, value = sorted((one, other), key=lambda each: (each.literal is not None, each.kind is Kind.TEXT))
        name, column = self._shown(known), known.columns[0] if known.columns else None
        found = repr(value.text) if value.text is not None else self._written(value.first, value.behind)
        if known.kind is Kind.TEXT:
            text = f"; write {name} {sign} '{found}'" * bool(any(numbers) and column and not column.stored.has_numbers)
            cast = _or_cast(", or" if text else "; write", known, name, f" {sign} {found}" * any(numbers))
            return refuse(f"expected a text beside {name}, {_told(known)}, found {found}{text}{cast}")
        spelling = f", or {column.spelling} for its spelling" if column and column.stored.is_spelled else ""
        if known.kind is Kind.MOMENT:
            example = next(iter(known.forms), _DAY)
            return refuse(f"expected a time as {example!r} beside {name}, found {found}{spelling}")
        told = f"which is of {_name_of_kind(column.stored)}" if column else f"which is a {known.kind}"
        return refuse(f"expected a number beside {name}, {told}, found {found}{spelling}")


def _with_parts(column: NamedColumn) -> str:
    """Return a column of texts, and how a query has a part of them that it can compare."""
    name, text = quoted_name(column.column), "".join(column.stored.times[:1])
    year = re.search(r"(?:19|20)\d\d", text)
    part = f"its parts, as substr({name}, {year.start() - len(text) if year and year.start() else 1}, 4)"
    return f"{name}; write " + (part if text else f"{name} LIKE '20%' AND substr({name}, 1, 10)")


def _or_cast(before: str, expr: Expr, name: str, beside: str = "") -> str:
    """Return how to read texts as numbers; of texts that CAST does not read, what has to be replaced before."""
    if expr.columns and all(column.stored.empty == column.table.stored.row_count for column in expr.columns):
        return ""
    misread = next((column.stored.misread for column in expr.columns if column.stored.misread), "")
    if not misread:
        return f"{before} CAST({name} AS REAL){beside}"
    return f"{before} CAST(replace({name}, …) AS REAL){beside}, as CAST does not read {misread!r:.60} whole"


def _name_of_kind(stored: StoredColumn) -> str:
    """Return in a word what the cells of a typed column are."""
    return {Kind.MOMENT: "times", Kind.BOOLEAN: "true and false", Kind.DURATION: "seconds"}.get(stored.kind, "numbers")


def _told(expr: Expr) -> str:
    if expr.columns and expr.columns[0].stored.holds_json:
        return f"which is of arrays or objects; see {expr.columns[0].inside}"
    return "which is of texts" if expr.columns else "which is a text"
