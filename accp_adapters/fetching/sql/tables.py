"""A stored text as tables in SQLite: how each column is kept, and the names by which a query calls tables and columns.

A column is what `accp_core.tables.values` reads in it: numbers are numbers, moments ISO texts, in UTC where they have a
zone, and `"total.text"` is the spelling of a cell of `total`. What comes straight from a column comes back as it was
written. A database is built once, kept as bytes, and copied into the connection of each query.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Final

from accp_adapters.fetching.request import LongText, open_bounded, refuse, too_long
from accp_core.bounded import WATCH, SizedCache
from accp_core.documents.json_styles import write_styled_json
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.packing.values import spelling_decoder
from accp_core.previews.records import tables_of_text
from accp_core.references import key_of, reference_to
from accp_core.strict_json import compact_json, escape_halves
from accp_core.tables import FIELDS, LINES, MAX_COLUMNS, TEXT_RECORDS, OpenedText, Table
from accp_core.tables.table import table_of_lines, work_of
from accp_core.tables.values import ABSENT, INTEGERS, Kind, TypedColumn, are_unordered_days, type_column

__all__ = [
    "MAX_CELLS", "NUMERAL", "Catalog", "Database", "DatabaseCache", "NamedColumn", "NamedTable", "StoredColumn",
    "UnbuiltColumn", "find_name", "quote", "quoted_name", "read_json_text", "sql_text",
]  # fmt: skip

MAX_CELLS: Final = 2_000_000
"""Rows times columns of a table, and of all tables of a text; an absent cell takes as long as any other."""
_MAX_BUILT: Final = 300
"""Tables of a text that can be queried, beside its lines: a condition looks for its rows in each, one after another."""
SPELLING: Final = ".text"
"""The end of the name of a column with the spellings of another."""
_BESIDE_ARRAYS: Final = frozenset(("root", FIELDS, LINES, TEXT_RECORDS))
_NO_SCALARS: Final = frozenset(("null", "absent", "arrays", "objects"))
_KINDS: Final = {
    type(ABSENT): "absent", type(None): "null", bool: "boolean", str: "text", list: "arrays", dict: "objects",
}  # fmt: skip
_MAX_EXACT: Final = 2**53
_ISO_DAY: Final = re.compile(r"\d{4}-[01]\d-[0-3]\d")
"""How an ISO day begins."""
NUMERAL: Final = re.compile(r"\s*[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?\s*")
"""A text that SQLite adds as a number."""
_CACHED_BYTES: Final = 64_000_000
_ENTRY_BYTES: Final = 250
"""Memory of a cell whose spelling is kept."""
_COLUMN_BYTES: Final = 500
"""Memory of a column, a table or a database beside its content."""
_ANY_TABLE: Final = frozenset(("rows", "data", "table", "result", "results", "records", "items", "ref", "t", "json"))
"""Names by which a model means the only table there is."""
_OTHER: Final = re.compile(r"[\W_]+")
_NEEDS_NO_QUOTES: Final = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_MAX_NAMES: Final = 12
"""Tables that a refusal names, and columns of a table that the query does not name."""
_MAX_COLUMNS: Final = 40
"""Columns of a table that the query names."""
_MAX_NAME_CHARS: Final = 60

_read_json: Final = spelling_decoder()
has_digit: Final = re.compile(r"\d").search
"""Finds that a text may hold a number; of one that does not, `CAST` reads nothing."""


class UnbuiltColumn(ProtocolError):
    """The refusal of the name of an object, an array, a spelling or the lines of JSON, which a whole database has."""


def quote(name: str) -> str:
    """Return a name in backticks: unlike one in double quotes, SQLite never takes it for a text."""
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def sql_text(value: str) -> str:
    """Return a text as a literal of SQL, without NUL."""
    doubled = value.replace("'", "''").replace("\0", "")
    return f"'{doubled}'"


def quoted_name(name: str) -> str:
    """Return the name of a table or column of a source as a refusal or a note shows it: in quotes unless it is plain.

    The caller escapes what looks like a marker of ours.
    """
    shown = name if len(name) <= _MAX_NAME_CHARS else f"{name[:_MAX_NAME_CHARS]}…"
    return shown if _NEEDS_NO_QUOTES.fullmatch(shown) else compact_json(shown)


@dataclass(slots=True)
class StoredColumn:
    """A column of a table: what it is, and how its cells come back."""

    typed: TypedColumn = field(default_factory=lambda: type_column(()))
    """What its cells are, without the cells."""
    spellings: dict[Any, Any] = field(default_factory=dict)
    """The cell of the source for each stored value that stands for one spelling, which is not the value itself."""
    is_spelled: bool = False
    """Whether texts of the source are kept as something else, so that there is a column of their spellings."""
    holds_json: bool = False
    """Whether texts that begin like JSON are arrays and maps, but for those in `spellings`."""
    kinds: Mapping[str, int] = field(default_factory=dict)
    """How many cells are `null`, `absent`, `arrays`, `objects`, `text`, `number` and `boolean`."""
    empty: int = 0
    """How many rows hold nothing of its kind; of texts, no digit."""
    looks_numeric: bool = False
    """Whether it is of texts of which most have digits, so that their order need not be that of numbers or times."""
    misread: str = ""
    """A text with digits that `CAST` would not read whole as a number, such as `1.335,61`; empty: there is none."""
    times: Sequence[str] = ()
    """The first two texts of days or times that are not ordered as texts: `5. März 2026`, or some without a year."""
    undated: str = ""
    """A text of a column of texts that does not begin as an ISO day; empty: there is none."""
    shared: Sequence[str] = ()
    """Two spellings of one value, such as `5` and `5 (2d ago)`."""
    has_numbers: bool = False
    """Whether it has numbers beside texts, each kept as a number, which are equal to numbers and have no order."""
    numbers: Container[str] = ()
    """Their spellings, unless a text is spelled alike."""
    name: str = ""
    is_extra: bool = False
    """Whether `*` leaves it out: other columns or child tables say what it says."""
    again: str = ""
    """The name of the column before it that has its name in the source; empty: there is none."""
    longest: int = 0
    """Characters of its longest text."""

    @property
    def kind(self) -> Kind:
        """What its cells are."""
        return self.typed.kind

    @property
    def note(self) -> str:
        """What an answer says that shows it by its values, where some are written in several ways."""
        both = " and ".join(f"{text[:_MAX_NAME_CHARS]!r}" for text in self.shared)
        return f"{quoted_name(self.name)}: {both} are one value; the spelling is {compact_json(self.name + SPELLING)}"

    def restore(self, cells: Sequence[Any]) -> Sequence[Any]:
        """Return the source's values for values that were stored, and for others that a query made JSON values."""
        read = read_json_text if self.holds_json else _READS.get(self.kind)
        if read is None:
            return [self.spellings.get(cell, cell) for cell in cells] if self.spellings else cells
        return [self.spellings[cell] if cell in self.spellings else read(cell) for cell in cells]


def read_json_text(cell: Any) -> Any:
    """Return the array or the object that a text holds as JSON; any other value as it is."""
    with suppress(ValueError):
        return _read_json(cell) if isinstance(cell, str) and cell[:1] in ("[", "{") else cell
    return cell


def _computed(number: float) -> float | str:
    """Return a number without the digits that binary fractions add in sums: 99.9 for 99.89999999999999."""
    tries = ((float(f"{number:.{digits}g}"), 19 - digits) for digits in (15, 13))
    short = (each for each, fewer in tries if len(repr(each)) + fewer <= len(repr(number)))
    return next(short, number) if isfinite(number) else str(number)


_READS: Final[Mapping[Kind, Callable[[Any], Any]]] = {
    Kind.BOOLEAN: lambda cell: bool(cell) if cell in (0, 1) else cell,
    Kind.NOTHING: lambda cell: _computed(cell) if isinstance(cell, float) else cell,
}


def store_column(cells: Sequence[Any], typed: TypedColumn) -> tuple[StoredColumn, list[Any]]:
    """Return how a column is kept, and its cells as they are stored; null, absent and left out are all None."""
    WATCH.get()()
    column = StoredColumn(replace(typed, values=()), kinds=Counter(_KINDS.get(type(cell), "number") for cell in cells))
    if typed.kind is Kind.TEXT:
        return column, _store_texts(cells, column)
    values = list(typed.values)
    if float in map(type, values) and all(abs(value) <= _MAX_EXACT for value in values if type(value) is int):
        # A half of 7 is 3.5 in a column where another number has a fraction.
        values = [None if value is None else float(value) for value in values]
    column.empty = values.count(None)
    column.is_spelled = any(type(cell) is str and cell != value for cell, value in zip(cells, values, strict=True))
    _remember(column, cells, values)
    return column, values


def _remember(column: StoredColumn, cells: Sequence[Any], values: Sequence[Any]) -> None:
    """Keep the spellings of values that have one each."""
    if {*map(type, cells), *map(type, values)} <= {int, type(None), type(ABSENT)}:
        return
    cell_of: dict[Any, Any] = {}
    several: set[Any] = set()
    for cell, value in zip(cells, values, strict=True):
        first = None if value is None else cell_of.setdefault(value, cell)
        if value is not None and first is not cell and repr(first) != repr(cell):
            several.add(value)
            column.shared = column.shared or (str(first), str(cell))
    column.spellings = {
        value: cell
        for value, cell in cell_of.items()
        # SQLite has one zero.
        if value not in several and (repr(value) != repr(cell) or repr(value) == "-0.0")
    }


def _store_texts(cells: Sequence[Any], column: StoredColumn) -> list[Any]:
    texts = dict.fromkeys(cell for cell in cells if type(cell) is str)
    column.holds_json = bool(column.kinds.get("arrays") or column.kinds.get("objects"))
    numbers = [cell for cell in cells if isinstance(cell, int | float) and type(cell) is not bool]
    column.has_numbers = bool(numbers) and all(type(cell) is not int or cell in INTEGERS for cell in numbers)
    column.numbers = {*map(str, numbers)} - texts.keys() if column.has_numbers else ()
    column.misread = next((text for text in texts if has_digit(text) and not NUMERAL.fullmatch(text)), "")
    told = [text for text in texts if has_digit(text)]
    column.looks_numeric = len(told) * 2 > len(texts) or bool(numbers)
    column.undated = next((text for text in texts if not _ISO_DAY.match(text)), "")
    column.times = told[:2] if column.undated and len(told) * 2 > len(texts) and are_unordered_days(told) else ()
    stored = [_stored_text(cell, column, texts) for cell in cells]
    column.empty = sum(cell is None or not has_digit(str(cell)) for cell in stored)
    return stored


def _stored_text(cell: Any, column: StoredColumn, texts: Container[str]) -> Any:
    if cell is None or cell is ABSENT:
        return None
    if type(cell) is str:
        stored: Any = escape_halves(cell)
        is_other = stored is not cell or (column.holds_json and cell[:1] in ("[", "{"))
    elif type(cell) in (bool, list, dict):
        written = escape_halves(write_styled_json(cell, "0u"))
        stored = written + "\v" * (written in texts)  # a sign that keeps it apart from the text
        is_other = type(cell) is bool or written in texts
    else:
        stored = cell if type(cell) is not int or cell in INTEGERS else repr(cell)
        stored = float(stored) if isinstance(stored, float) else stored
        is_other = repr(stored) != repr(cell)
    if is_other:
        column.spellings.setdefault(stored, cell)
    return stored


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTable:
    """A table of a database."""

    source: Table
    """The table without its rows."""
    place: str
    """What it is called in SQLite, which reserves some of the names that a source may have."""
    row_count: int
    columns: dict[str, StoredColumn]
    """How each column is kept; empty: the table is too large to be built."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """The tables of one text in SQLite."""

    content: bytes
    """The database file; empty: there is no table that can be queried."""
    tables: tuple[StoredTable, ...]
    types: Mapping[str, StoredColumn]
    """The columns by their declared types, which no other column of any text has."""
    longest: int
    """Characters of the longest cell."""
    size: int
    """Bytes of memory that it takes, about."""
    work: int = 0
    """How long it took to read the text, in characters."""
    cut: str = ""
    """As in `OpenedText`."""
    outside: str = ""
    """Which lines of the text are in no table, in words; empty: none."""

    @property
    def main(self) -> StoredTable | None:
        """The table that is meant where none is named: the longest that no row holds, root and those of a text last."""
        tops = [table for table in self.tables if table.source.parent is None]
        arrays = [table for table in tops if table.source.path or table.source.name not in _BESIDE_ARRAYS] or tops
        return max(arrays, key=lambda table: table.row_count, default=None)


class DatabaseCache:
    """The databases of the texts that were queried last. Losing one costs only the time to build it again."""

    def __init__(self, max_bytes: int = _CACHED_BYTES) -> None:
        self._databases: Final[SizedCache[str, Database]] = SizedCache(max_bytes)

    def get(self, text: str, opened: Callable[[], OpenedText] | None = None, *, whole: bool = False) -> Database:
        """Return the database of a text; the caller has checked who may read the text.

        Args:
            text: The text.
            opened: Returns what it holds; None: it is opened.
            whole: Whether there are columns of spellings, too, and of the JSON of objects and arrays that have columns
                or tables, and the lines of a JSON document; few queries name one, and they take several times the
                memory.

        Raises:
            ProtocolError: E2003, the text is too long.
        """
        # The key is a hash of the text, so what one session built shows another one nothing but its own text.
        key = key_of(text)
        database = self._databases.use(f"{key} {whole}")
        if database is None:
            database = _build(text, opened() if opened else open_bounded(text), key, whole=whole)
            self._databases.put(f"{key} {whole}", database, database.size)
        return database


def _build(text: str, opened: OpenedText, key: str, *, whole: bool) -> Database:
    if isinstance(opened, LongText):
        raise too_long(text)
    left, tables, types = MAX_CELLS, list[StoredTable](), dict[str, StoredColumn]()
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in _tables_of(text, opened, whole=whole):
            cells = len(table.rows) * len(table.columns)
            place, columns = f"t{len(tables)}", dict[str, StoredColumn]()
            is_among = len(tables) < _MAX_BUILT or table.holds_lines
            if is_among and len(table.columns) <= MAX_COLUMNS and cells <= left:
                left -= cells
                columns = _add_table(connection, place, table, key, types, whole=whole)
            for name, column in columns.items():
                is_again = re.fullmatch("_[2-9]", name[-2:]) and name not in text and name[:-2] in text
                column.again = name[:-2] * bool(is_again)
            source = replace(table, rows=())
            tables.append(StoredTable(source=source, place=place, row_count=len(table.rows), columns=columns))
        connection.commit()
        # SQLite cannot write a database without tables.
        content = connection.serialize() if types else b""
    longest = max((column.longest for column in types.values()), default=0)
    size = len(content) + sum(_COLUMN_BYTES + _ENTRY_BYTES * len(column.spellings) for column in types.values())
    return Database(
        content=content, tables=tuple(tables), types=types, longest=longest, size=size,
        work=work_of(text), cut=opened.cut, outside=opened.outside_note,
    )  # fmt: skip


def _tables_of(text: str, opened: OpenedText, *, whole: bool) -> Iterator[Table]:
    """Yield the tables of a text, and that of its records if it holds no values: commits, mails, entries of a log."""
    found = opened.tables(with_objects=True) if whole else opened.own_tables
    yield from found
    yield from tables_of_text(opened.value, opened) if isinstance(opened.value, str) else opened.tables_beside()
    if whole and all(table.name != LINES for table in found):
        yield table_of_lines(text)


def _add_table(
    connection: sqlite3.Connection, place: str, table: Table, key: str, types: dict[str, StoredColumn], *, whole: bool
) -> dict[str, StoredColumn]:
    """Create and fill a table; return its columns, and add them to `types`."""
    columns: dict[str, StoredColumn] = {}
    stored: list[list[Any]] = []
    declared: list[str] = []

    def add(name: str, column: StoredColumn, values: list[Any]) -> None:
        column.name = name
        column.longest = max((len(value) for value in values if type(value) is str), default=0)
        # Of this type SQLite stores each cell as it is.
        declared.append(f"{quote(name)} BLOB_{key.rpartition('.')[2]}_{len(types)}")
        types[declared[-1].rpartition(" ")[2]] = columns[name] = column
        stored.append(values)

    taken = set(map(str.casefold, table.columns))
    for at, name in enumerate(table.columns or ("value",)):
        cells = [row.get(name, ABSENT) for row in table.rows]
        column, values = store_column(cells, type_column(cells, table))
        column.is_extra = name in table.repeated and set(column.kinds) <= _NO_SCALARS
        add(name, column, values)
        has_room = len(columns) - at <= MAX_COLUMNS - len(table.columns)
        if whole and has_room and column.is_spelled and f"{name}{SPELLING}".casefold() not in taken:
            texts = [None if cell in (ABSENT, None) else str(cell) for cell in cells]
            spelled, texts = store_column(texts, TypedColumn(Kind.TEXT, (), str))
            add(f"{name}{SPELLING}", replace(spelled, is_extra=True), texts)
    connection.execute(f"CREATE TABLE {place} ({', '.join(declared)})")
    connection.executemany(f"INSERT INTO {place} VALUES ({', '.join('?' * len(columns))})", zip(*stored, strict=True))
    return columns


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table of one of the texts that a query names."""

    number: int
    """The number of its text, in the order of the references."""
    stored: StoredTable

    @property
    def name(self) -> str:
        """Its name within its text."""
        return self.stored.source.name


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column that a query compares with something."""

    table: NamedTable
    column: str
    text: str | None = None
    """The text with which `=` compares it; None: another value or operator."""

    @property
    def stored(self) -> StoredColumn:
        """How it is kept."""
        return self.table.stored.columns[self.column]

    @property
    def spelling(self) -> str:
        """The quoted name of the column that holds its spellings."""
        return f'"{self.column}{SPELLING}"'

    @property
    def inside(self) -> str:
        """What a query writes to reach into its arrays or objects."""
        item, shown = "[0]" if self.stored.kinds.get("arrays") else ".name", quoted_name(self.column)
        return f"json_extract({shown}, '${item}') or json_each({shown})"


def find_name(written: str, names: Sequence[str]) -> list[str]:
    """Return the names that `written` may mean: the name itself, else without regard to case and signs, else its end.

    `customer_name` means `customer.name`, and so does `name` where no column is called so; `id` means `id_1`, `ID_2`.
    """
    folded, plain = written.casefold(), _plain(written)
    numbered = [name for name in names if _plain(name).rstrip("0123456789") == f"{plain}_"]
    return (
        [name for name in names if name.casefold() == folded]
        # All names of signs alone are "_"; `price` means `price (EUR)`.
        or [name for name in names if plain != "_" and plain in (_plain(name), _plain(name.partition(" (")[0]))]
        or (numbered if len(numbered) > 1 else [])
        or [name for name in names if name.casefold().endswith(f".{folded}")]
    )


def _plain(name: str) -> str:
    return _OTHER.sub("_", name.casefold())


class Catalog:
    """The tables of the texts that a query names."""

    def __init__(self, databases: Sequence[Database], keys: Sequence[str], named: int = 0) -> None:
        """Begin with texts and their keys; the first `named` of them are meant where several have a name."""
        self.databases: Final = databases
        self.cut: Final = max((database.cut for database in databases), default="")
        self._named: Final = named
        self.keys: Final = keys
        self.tables: Final = [
            NamedTable(number, table) for number, database in enumerate(databases) for table in database.tables
        ]
        self._children: Final = defaultdict[tuple[int, str], list[NamedTable]](list)
        for table in self.tables:
            if link := table.stored.source.parent:
                self._children[table.number, link.table].append(table)

    def main(self, key: str | None = None) -> NamedTable | None:
        """Return the table that is meant where none is named; None where there are several texts or no table."""
        numbers = [number for number, each in enumerate(self.keys) if key in (None, each)]
        numbers = numbers[:1] if key is None and self._named == 1 else numbers
        table = self.databases[numbers[0]].main if len(numbers) == 1 else None
        return NamedTable(numbers[0], table) if table else None

    def find(self, written: str, key: str | None = None) -> NamedTable:
        """Return the table that `written` means.

        Args:
            written: The name of a table as the model wrote it; empty: the main table.
            key: The key of its text; None: any.

        Raises:
            ProtocolError: E1004, there is no such table, or several, or it is too large for a query.
        """
        tables = [table for table in self.tables if key is None or self.keys[table.number] == key]
        meant = set(find_name(written, [table.name for table in tables])) if written else set()
        # Of `A` and `a`, the second is called `a_2`.
        exact = [table for table in tables if ".".join(table.stored.source.path) == written != ""]
        is_one = len({table.number for table in exact}) == len(exact)
        found = exact * is_one or [table for table in tables if table.name in meant]
        main = None if found else self.main(key)
        if main and (not written or self._is_alias(written.casefold(), main.stored.source, main.number)):
            found = [main]
        if key is None and len(found) > 1:
            found = [table for table in found if table.number < self._named] or found
        if len(found) != 1:
            raise self._unknown(written or "no table", tables, found)
        if not found[0].stored.columns:
            limit = f"{MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells, of the first {_MAX_BUILT:,}"
            raise refuse(f"expected a table of at most {limit}, found {found[0].name!r}; use a path, words, or offset")
        return found[0]

    def _is_alias(self, name: str, source: Table, number: int) -> bool:
        """Return whether a name means the only table of a text; one that is a key of it means that."""
        tables = [each.source for each in self.databases[number].tables]
        others = {each.name for each in tables if each is not source and each.parent is None} - _BESIDE_ARRAYS
        is_key = any(f"{each}.".casefold().startswith(f"{name}.") for table in tables for each in table.columns)
        # Lines are not the records of a text.
        is_meant = name in _ANY_TABLE and not (name == TEXT_RECORDS and source.holds_lines)
        return is_meant and not others and (not is_key or source.path[:1] == (name,))

    def _unknown(self, written: str, tables: Sequence[NamedTable], found: Sequence[NamedTable]) -> Exception:
        if len({table.number for table in found}) > 1:
            names = f"expected {' or '.join(map(self.name_of, found))}"
            return refuse(f"{names}, found {written!r}, which both have{self.union_of(found)}")
        if not tables:
            return refuse(f"expected one of the references, found {written!r}")
        reason = f"expected a table of {self.describe(found or tables)}; found {written[:_MAX_NAME_CHARS]!r}"
        return (UnbuiltColumn if written.casefold() == LINES else ProtocolError)(reason, code=ErrorCode.INVALID_TYPE)

    def name_of(self, table: NamedTable) -> str:
        """Return the name of a table behind the reference to its text."""
        return f"{reference_to(self.keys[table.number])}.{quoted_name(table.name)}"

    def union_of(self, tables: Sequence[NamedTable]) -> str:
        """Return how a query has all rows of tables of one shape, such as pages of a list; "": they have several."""
        is_same = len({tuple(table.stored.source.columns) for table in tables}) == 1
        selects = " UNION ALL ".join(f"SELECT * FROM {self.name_of(table)}" for table in tables)
        return f" (all their rows: {selects})" * is_same

    def unknown_column(self, written: str, named: Sequence[NamedTable], what: str = "a column") -> Exception:
        """Return the refusal of a column that the tables named by a query do not have; it names the others, too."""
        others = [table for table in self.tables[: len(named) + _MAX_NAMES + 1] if table not in named]
        expected = self.describe(named, most=_MAX_COLUMNS) if named else self.describe()
        also = f"; other tables: {self.describe(others)}" if named and others else ""
        reason = f"expected {what} of {expected}; found {written[:_MAX_NAME_CHARS]!r}{also}"
        unbuilt = [name for table in named for name in self._unbuilt(table)]
        is_unbuilt = any(find_name(name, unbuilt) for name in (written, written.partition(".")[2]))
        return (UnbuiltColumn if is_unbuilt else ProtocolError)(reason, code=ErrorCode.INVALID_TYPE)

    def is_spelling(self, written: str, named: Sequence[NamedTable]) -> bool:
        """Return whether a name is that of spellings which the tables have only where they are built whole."""
        return written.endswith(SPELLING) and any(find_name(written, [*self._unbuilt(table)]) for table in named)

    def _unbuilt(self, table: NamedTable) -> set[str]:
        """Return the columns that a table has only where it is built whole: objects, arrays, spellings."""
        names = {name[:at] for name in table.stored.columns for at, sign in enumerate(name) if sign == "."}
        start = len(table.stored.source.path)
        spelled = {f"{name}{SPELLING}" for name, each in table.stored.columns.items() if each.is_spelled}
        return names | spelled | {".".join(child.stored.source.path[start:]) for child in self.children(table)}

    def has_child(self, table: NamedTable, name: str) -> bool:
        """Return whether a child table of `table` is called exactly `name` within its rows."""
        children = (child.stored.source.path for child in self.children(table))
        return any(path and path[-1].casefold() == name.casefold() for path in children)

    def describe(self, tables: Sequence[NamedTable] | None = None, *, most: int = _MAX_NAMES) -> str:
        """Return the tables with their columns in one line: `orders(id, status), items(orders_id = orders.id, sku)`.

        Args:
            tables: The tables; None: all.
            most: Columns of each table that are named.
        """
        shown = self.tables if tables is None else tables
        names = [_described_table(table, most) for table in shown[:_MAX_NAMES]]
        return ", ".join([*names, *["…"] * (len(shown) > _MAX_NAMES)])

    def children(self, table: NamedTable) -> list[NamedTable]:
        """Return the child tables of a table."""
        return self._children[table.number, table.name]


def _described_table(table: NamedTable, most: int) -> str:
    """Return a table with its first columns, the first of which is its key."""
    source = table.stored.source
    columns = {name: quoted_name(name) for name in source.columns[:most]}
    if (link := source.parent) is not None:
        columns[link.column] += f" = {quoted_name(link.table)}.{quoted_name(link.key)}"
    left = len(source.columns) - len(columns)
    return f"{quoted_name(table.name)}({', '.join([*columns.values(), *[f'… {left} more'] * bool(left)])})"
