"""Conditions and aggregates over random tables, against plain Python."""

from __future__ import annotations

import json
import operator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accp_adapters.fetching.sql.catalog import Catalog
from accp_adapters.fetching.sql.database import DatabaseCache
from accp_adapters.fetching.sql.resolve import resolve_condition, resolve_select
from accp_adapters.fetching.sql.run import run_query

OPERATORS: dict[str, Any] = {
    "=": operator.eq, "==": operator.eq, "!=": operator.ne, "<>": operator.ne,
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
WORDS = ["late", "paid", "in progress", "O'Neil", "100%", "x,y"]
KINDS: dict[str, st.SearchStrategy[Any]] = {
    "n": st.integers(-5, 5),
    "big": st.integers(2**63, 2**63 + 4),
    "price": st.floats(-3, 3).map(lambda number: round(number, 1)),
    "status": st.sampled_from(WORDS),
    "code": st.sampled_from(["1", "2.5", "10", "-3"]),
    "paid": st.booleans(),
}
rows = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(0, 10**6)}, optional={name: st.none() | kind for name, kind in KINDS.items()}
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row["id"],
)


@st.composite
def comparisons(draw: st.DrawFn) -> tuple[str, Any]:
    """Return a comparison as a model writes it, and the same as a function of a row: True, False or None (unknown)."""
    name = draw(st.sampled_from(list(KINDS)))
    sign = draw(st.sampled_from(["=", "==", "!=", "<>"] if name in ("paid", "status") else list(OPERATORS)))
    wanted = draw(KINDS[name])
    if name == "status":
        quoted = wanted.replace("'", "''")
        spellings = [f"'{quoted}'", f'"{wanted}"'] + ([wanted] if wanted.isalpha() else [])
    elif name == "paid":
        spellings = [str(wanted), str(wanted).lower(), str(int(wanted)), f"'{str(wanted).lower()}'"]
    else:
        spellings = [str(wanted), f"'{wanted}'"]
    numeric = float if name == "code" else (lambda cell: cell)
    written = f"{name} {sign} {draw(st.sampled_from(spellings))}"

    def test(row: dict[str, Any]) -> bool | None:
        cell = row.get(name)
        if cell is None:
            return None
        found: bool = OPERATORS[sign](numeric(cell), numeric(wanted))
        return found

    return written, test


@st.composite
def conditions(draw: st.DrawFn) -> tuple[str, Any]:
    """Return up to three comparisons joined by AND or by OR, some of them negated."""
    parts = draw(st.lists(comparisons(), min_size=1, max_size=3))
    joiner = draw(st.sampled_from(["AND", "or"]))
    is_negated = draw(st.booleans())
    written = f" {joiner} ".join(part for part, _ in parts)

    def test(row: dict[str, Any]) -> bool:
        found = [each(row) for _, each in parts]
        decides = joiner == "or"
        result = decides if decides in found else None if None in found else not decides
        return result is not None and result != is_negated

    return (f"not ({written})" if is_negated else written), test


def query(text: str, sql_of: Any) -> list[dict[str, Any]]:
    database = DatabaseCache().get(text)
    catalog = Catalog([database], ["k"])
    main = catalog.main()
    assert main is not None
    return run_query(sql_of(main, catalog).sql, [database], max_rows=100).rows


def columns_of(table: list[dict[str, Any]]) -> set[str]:
    return {name for row in table for name in row if row[name] is not None}


@pytest.mark.slow
@given(rows, conditions())
@settings(max_examples=150, deadline=None)
def test_a_condition_selects_the_rows_that_python_selects(
    table: list[dict[str, Any]], condition: tuple[str, Any]
) -> None:
    written, test = condition
    # A column without any value has no kind, and a column of whole prices compares as they do.
    full = [{"id": -1, **dict.fromkeys(KINDS)}, *table, *FILLERS]
    found = query(json.dumps(full), lambda main, catalog: resolve_condition(written, main, catalog, ["id"]))
    assert [row["id"] for row in found] == [row["id"] for row in full if test(row)]


FILLERS: list[dict[str, Any]] = [
    {"id": -2, "n": 0, "big": 2**63, "price": 0.5, "status": "late", "code": "1", "paid": True},
    {"id": -3, "n": 1, "big": 2**63, "price": -0.5, "status": "paid", "code": "2.5", "paid": False},
]


@given(rows, st.sampled_from(["n", "big", "price", "code"]))
@settings(max_examples=100, deadline=None)
def test_least_most_count_and_order_are_those_of_python(table: list[dict[str, Any]], name: str) -> None:
    full = [*table, *FILLERS]
    numeric = float if name == "code" else (lambda cell: cell)
    cells = [row[name] for row in full if row.get(name) is not None]
    sql = f"SELECT min({name}) AS least, max({name}) AS most, count({name}) AS n, count(*) AS every FROM rows"
    (found,) = query(json.dumps(full), lambda _, catalog: resolve_select(sql, catalog))
    assert numeric(found["least"]) == min(map(numeric, cells))
    assert numeric(found["most"]) == max(map(numeric, cells))
    assert (found["n"], found["every"]) == (len(cells), len(full))
    ordered = query(
        json.dumps(full),
        lambda _, catalog: resolve_select(f"SELECT {name} FROM rows WHERE {name} IS NOT NULL ORDER BY {name}", catalog),
    )
    assert [numeric(row[name]) for row in ordered] == sorted(map(numeric, cells))


@given(rows)
@settings(max_examples=50, deadline=None)
def test_groups_are_those_of_python(table: list[dict[str, Any]]) -> None:
    full = [*table, *FILLERS]
    groups: dict[Any, int] = {}
    for row in full:
        groups[row.get("status")] = groups.get(row.get("status"), 0) + 1
    sql = "select status, count(*) n from rows group by status"
    found = query(json.dumps(full), lambda _, catalog: resolve_select(sql, catalog))
    assert {row["status"]: row["n"] for row in found} == groups
