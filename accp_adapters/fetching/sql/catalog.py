"""The tables that a query may name, and what is meant by the names that models write."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from accp_adapters.fetching.sql.database import Database, StoredTable
from accp_adapters.fetching.sql.tokens import refuse
from accp_core.errors import ProtocolError
from accp_core.references import reference_to
from accp_core.strict_json import compact_json
from accp_core.tables import MAX_COLUMNS

__all__ = ["Catalog", "NamedTable", "UnbuiltColumn", "find_name", "quoted_name"]

_ANY_TABLE: Final = frozenset(("rows", "data", "table", "result", "results", "records", "items", "ref", "t", "json"))
"""Names by which a model means the only table there is."""
_WORD: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")
"""A word of a name such as `listOrders`."""
_OTHER: Final = re.compile(r"[\W_]+")
_NEEDS_NO_QUOTES: Final = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_MAX_NAMES: Final = 12
"""Tables that a refusal names, and columns of a table that the query does not name."""
_MAX_COLUMNS: Final = 40
"""Columns of a table that the query names; of more, those that are most like what was asked for."""
_MAX_NAME_CHARS: Final = 60


class UnbuiltColumn(ProtocolError):
    """The refusal of the name of an object or array; a database that is built `with_objects` has its column."""


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

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return tuple(self.stored.columns)


def find_name(written: str, names: Sequence[str]) -> list[str]:
    """Return the names that `written` may mean: the name itself, else without regard to case and signs, else its end.

    `customer_name` means `customer.name`, and so does `name` where no column is called so; `orders_items` means
    `data.orders.items`.
    """
    folded = written.casefold()
    plain = _plain(folded)
    return (
        [name for name in names if name.casefold() == folded]
        # All names of signs alone are "_".
        or [name for name in names if _plain(name.casefold()) == plain != "_"]
        or [name for name in names if name.casefold().endswith(f".{folded}")]
        or [name for name in names if plain != "_" and plain in map(_plain, _ends(name.casefold()))]
    )


def _plain(name: str) -> str:
    return _OTHER.sub("_", name)


def _of_one(name: str) -> str:
    """Return a name as it may be written for one thing or for several: `orders` as `order`."""
    return _plain(name.casefold()).removesuffix("s")


def _ends(name: str) -> list[str]:
    """Return what stands behind each dot of a name."""
    parts = name.split(".")
    return [".".join(parts[at:]) for at in range(1, len(parts))]


def quoted_name(name: str) -> str:
    """Return the name of a table or column of a source as a refusal or a note shows it: in quotes unless it is plain.

    The caller escapes what looks like a marker of ours.
    """
    shown = name if len(name) <= _MAX_NAME_CHARS else f"{name[:_MAX_NAME_CHARS]}…"
    return shown if _NEEDS_NO_QUOTES.fullmatch(shown) else compact_json(shown)


class Catalog:
    """The tables of the texts that a query names."""

    def __init__(self, databases: Sequence[Database], keys: Sequence[str], named: int = 0, tool: str = "") -> None:
        """Begin with texts and their keys; the first `named` of them are meant where several have a name.

        What a tool is called (`list_orders`) calls the main table of its result, too (`orders`).
        """
        self.databases: Final = databases
        self._named: Final = named
        self._tool: Final = _of_one(_WORD.sub(r"_\1", tool))
        self._keys = keys
        self.tables: Final = [
            NamedTable(number, table) for number, database in enumerate(databases) for table in database.tables
        ]

    def main(self, key: str | None = None) -> NamedTable | None:
        """Return the table that is meant where none is named; None where there are several texts or no table."""
        numbers = [number for number in range(len(self.databases)) if key is None or self._keys[number] == key]
        if key is None and self._named == 1:
            numbers = numbers[:1]
        if len(numbers) != 1:
            return None
        table = self.databases[numbers[0]].main
        return None if table is None else NamedTable(numbers[0], table)

    def find(self, written: str, key: str | None = None) -> NamedTable:
        """Return the table that `written` means.

        Args:
            written: The name of a table as the model wrote it; empty: the main table.
            key: The key of its text; None: any.

        Raises:
            ProtocolError: E1004, there is no such table, or several, or it is too large for a query.
        """
        tables = [table for table in self.tables if key is None or self._keys[table.number] == key]
        meant = set(find_name(written, [table.name for table in tables])) if written else set()
        found = [table for table in tables if table.name in meant]
        if not found and self._means_main(written) and (main := self.main(key)):
            found = [main]
        if key is None and len(found) > 1:
            found = [table for table in found if table.number < self._named] or found
        if len(found) != 1:
            raise self._unknown(written or "no table", tables, found)
        return self._checked(found[0])

    def _means_main(self, written: str) -> bool:
        """Return whether a name that no table has is one for the only table there is."""
        is_tool = written and f"_{self._tool}".endswith(f"_{_of_one(written)}")
        return bool(is_tool) or written.casefold() in _ANY_TABLE | {""}

    def _unknown(self, written: str, tables: Sequence[NamedTable], found: Sequence[NamedTable]) -> Exception:
        if len({table.number for table in found}) > 1:
            names = " or ".join(
                f"{reference_to(self._keys[table.number])}.{quoted_name(table.name)}" for table in found
            )
            return refuse(f"expected {names}, found {written!r}, which both have")
        if not tables:
            return refuse(f"expected one of the references, found {written!r}")
        described = self.describe(found or tables, near=written)
        return refuse(f"expected a table of {described}; found {written[:_MAX_NAME_CHARS]!r}")

    def unknown_column(self, written: str, named: Sequence[NamedTable], what: str = "a column") -> Exception:
        """Return the refusal of a column that the tables named by a query do not have; it names the others, too."""
        known = {(table.number, table.name) for table in named}
        others = [table for table in self.tables if (table.number, table.name) not in known]
        called = find_name(written, [table.name for table in others])
        others.sort(key=lambda table: table.name not in called)
        expected = self.describe(named, near=written, most=_MAX_COLUMNS) if named else self.describe(near=written)
        also = f"; other tables: {self.describe(others, near=written)}" if named and others else ""
        refusal = refuse(f"expected {what} of {expected}; found {written[:_MAX_NAME_CHARS]!r}{also}")
        objects = [name for table in named for name in self._objects(table)]
        is_object = any(find_name(name, objects) for name in (written, *_ends(written)))
        return UnbuiltColumn(refusal.reason, code=refusal.code) if is_object else refusal

    def _objects(self, table: NamedTable) -> set[str]:
        """Return the names of objects and arrays in the rows of a table that have columns or a table of their own."""
        names = {name[:at] for name in table.columns for at, sign in enumerate(name) if sign == "."}
        start = len(table.stored.source.path)
        return names | {".".join(child.stored.source.path[start:]) for child in self.children(table)}

    def has_child(self, table: NamedTable, name: str) -> bool:
        """Return whether a child table of `table` is called exactly `name` within its rows."""
        children = (child.stored.source.path for child in self.children(table))
        return any(path and path[-1].casefold() == name.casefold() for path in children)

    def _checked(self, table: NamedTable) -> NamedTable:
        if table.columns:
            return table
        source = table.stored.source
        wanted = f"at most {MAX_COLUMNS:,} columns and 10,000,000 cells for a query"
        found = f"{len(source.columns):,} columns and {table.stored.row_count:,} rows in {source.name!r}"
        path = ".".join((*source.path, "0"))
        raise refuse(f"expected {wanted}, found {found}; use a path such as {path!r}, words, or offset and limit")

    def key_of(self, table: NamedTable) -> str:
        """Return the key of the text that a table belongs to."""
        return self._keys[table.number]

    def describe(self, tables: Sequence[NamedTable] | None = None, *, near: str = "", most: int = _MAX_NAMES) -> str:
        """Return the tables with their columns in one line: `orders(id, status), items(orders_id = orders.id, sku)`.

        Args:
            tables: The tables; None: all.
            near: A name that was asked for; of more than `most` columns those that are most like it are named.
            most: Columns of each table that are named.
        """
        shown = self.tables if tables is None else tables
        return _listed([_described(table, near, most) for table in shown], _MAX_NAMES)

    def children(self, table: NamedTable) -> list[NamedTable]:
        """Return the child tables of a table."""
        of_text = [each for each in self.tables if each.number == table.number]
        return [each for each in of_text if each.stored.source.parent and each.stored.source.parent.table == table.name]


def _described(table: NamedTable, near: str, most: int) -> str:
    source = table.stored.source
    columns = {name: quoted_name(name) for name in _nearest(near, source.columns, most)}
    if source.parent is not None and source.parent.column in columns:
        link = source.parent
        columns[link.column] += f" = {quoted_name(link.table)}.{quoted_name(link.key)}"
    left = len(source.columns) - len(columns)
    return f"{quoted_name(table.name)}({', '.join([*columns.values(), *([f'… {left} more'] if left else [])])})"


def _nearest(near: str, names: Sequence[str], most: int) -> Sequence[str]:
    """Return `most` of the names: the first, which is the key, and those most like `near`; all where they are fewer."""
    if len(names) <= most or not near:
        return names[:most]
    folded = near.casefold()
    alike = difflib.SequenceMatcher(b=folded)

    def rank(name: str) -> tuple[bool, float]:
        alike.set_seq1(name.casefold()[:_MAX_NAME_CHARS])
        return folded not in name.casefold(), -alike.ratio()

    return [names[0], *sorted(names[1:], key=rank)[: most - 1]]


def _listed(names: Sequence[str], most: int) -> str:
    return ", ".join([*names[:most], *(["…"] if len(names) > most else [])])
