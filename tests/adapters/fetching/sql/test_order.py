"""Rows stand in the order of the tables, whatever SQLite reads first; and nothing depends on when a query runs."""

from __future__ import annotations

import json

import pytest

from accp_adapters.fetching import value_at
from accp_core.errors import ProtocolError

TOTALS = [{"id": n, "c": n % 3, "total": n // 4} for n in range(12)]
ORDERED = json.dumps({"orders": TOTALS, "people": [{"cid": 2, "name": "z"}, {"cid": 0, "name": "a"}]})


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT id FROM people p JOIN orders o ON o.c = p.cid", [2, 5, 8, 11, 0, 3, 6, 9]),
        ("SELECT id FROM people, orders WHERE c = cid LIMIT 3", [2, 5, 8]),
        ("SELECT id FROM orders JOIN people ON c = cid", [0, 2, 3, 5, 6, 8, 9, 11]),
        ("SELECT id FROM people JOIN orders ON c = cid ORDER BY total DESC", [8, 11, 9, 5, 6, 2, 0, 3]),
        ("SELECT id FROM orders LEFT JOIN people ON c = cid", list(range(12))),
        ("SELECT id FROM orders ORDER BY total DESC LIMIT 6", [8, 9, 10, 11, 4, 5]),
    ],
)
def test_rows_are_in_table_order_also_where_order_by_has_ties(query: str, rows: list[int]) -> None:
    found = value_at(ORDERED, query)
    assert [row["id"] if isinstance(row, dict) else row for row in found] == rows


@pytest.mark.parametrize(
    "query",
    [
        "SELECT date('now')",
        "SELECT id FROM orders WHERE id > datetime('now', '-7 days')",
        "SELECT strftime('%Y')",
        "SELECT strftime('%Y', \"NOW\")",
        "SELECT julianday()",
        "SELECT id FROM orders WHERE id < CURRENT_DATE",
        "SELECT CURRENT_TIMESTAMP",
    ],
)
def test_a_query_has_no_clock(query: str) -> None:
    with pytest.raises(ProtocolError, match=r"E1004: expected a date such as '2026-01-05', found .* no clock"):
        value_at(ORDERED, query)
