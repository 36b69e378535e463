"""The tables of a JSON text of megabytes, described by the first members of its long arrays and maps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from accp_core.documents import BYTE_ORDER_MARK, json_lines
from accp_core.tables.build import tables_of
from accp_core.tables.source import decode_document, records_of, unwrap
from accp_core.tables.table import Table

__all__ = ["MAX_WHOLE", "SampledTables", "sample_tables"]

MAX_WHOLE: Final = 2_000_000
"""Characters of a text all of whose rows are described."""
_FIRST: Final = 1_000
"""Members of an array or a map that are kept."""
_MAX_NESTED: Final = 3
"""A document in a string in a text block, as MCP servers answer, is two deep."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledTables:
    """The tables of a text of which most rows were left out."""

    tables: tuple[Table, ...]
    """Those of the first members."""
    totals: Mapping[str, int | None]
    """The names of the tables whose rows are a sample, with all their rows in the text; None: they were not counted."""


def sample_tables(text: str) -> SampledTables | None:
    """Return the tables of the first rows of a long text: of JSON, of lines of it, or of JSON in a string.

    None: the text is no JSON.
    """
    try:
        value: Any = text
        for _ in range(_MAX_NESTED):
            value = unwrap(_decoded(value))
            if not isinstance(value, str):
                return _sampled(value)
    except (ValueError, RecursionError):
        pass
    return None


def _decoded(text: str) -> Any:
    """Return the value of a document, or the rows of the lines of JSON."""
    try:
        return decode_document(text)
    except ValueError:
        return records_of(json_lines.read(text.removeprefix(BYTE_ORDER_MARK)))


def _sampled(value: Any) -> SampledTables:
    sizes: dict[tuple[str, ...], int] = {}
    tables = tables_of(_shortened(value, (), sizes))
    totals: dict[str, int | None] = {}
    for table in tables:
        if table.parent is None and table.path in sizes:
            totals[table.name] = sizes[table.path] if len(table.rows) == _FIRST else None
        elif table.parent is not None and table.parent.table in totals:
            totals[table.name] = None
    return SampledTables(tables=tables, totals=totals)


def _shortened(value: Any, path: tuple[str, ...], sizes: dict[tuple[str, ...], int]) -> Any:
    """Return a value with the first members of its long arrays and maps, and note how many those have.

    Arrays in the rows of an array stay as they are.
    """
    if not isinstance(value, (dict, list)):
        return value
    if len(value) > _FIRST:
        sizes[path] = len(value)
        return value[:_FIRST] if isinstance(value, list) else dict(islice(value.items(), _FIRST))
    if isinstance(value, list):
        return value
    return {name: _shortened(member, (*path, name), sizes) for name, member in value.items()}
