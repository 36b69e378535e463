"""Long JSON texts are described by the first rows of their tables, with the number of all."""

import json
from typing import Any

import pytest

from accp_core.tables import open_text, sample_tables

ROWS = [{"id": n, "state": "late" if n % 10 == 7 else "open"} for n in range(3_000)]
ORDERS = [{"no": n, "lines": [{"sku": "s"}] * 2} for n in range(1_200)]
TEXTS: dict[str, tuple[str, dict[str, int]]] = {
    "rows": (json.dumps(ROWS), {"rows": 3_000}),
    "a map": (json.dumps({"n": 1, "data": {"orders": ROWS}, "few": [{"a": 1}]}), {"data.orders": 3_000}),
    "a map of maps": (json.dumps({f"u{n}": row for n, row in enumerate(ROWS)}), {"rows": 3_000}),
    "lines": ("\n".join(map(json.dumps, ROWS)), {"rows": 3_000}),
    "a string": (json.dumps("\ufeff" + json.dumps(ROWS)), {"rows": 3_000}),
    "an MCP answer": (json.dumps([{"type": "text", "text": json.dumps(ROWS)}]), {"rows": 3_000}),
    "children": (json.dumps(ORDERS), {"rows": 1_200, "lines": 2_400}),
    "no long array": (json.dumps({"rows": ROWS[:9]}), {}),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_first_rows_are_those_of_the_whole(name: str) -> None:
    text, totals = TEXTS[name]
    found = sample_tables(text)
    assert found is not None
    assert found.totals == totals
    whole = {table.name: table for table in open_text(text).tables()}
    for table in found.tables:
        first: list[Any] = list(table.rows)
        assert first == list(whole[table.name].rows)[: len(first)]
        assert len(first) <= 1_000


@pytest.mark.parametrize("text", ["", "a text", "[1, ", "{" * 9_999, json.dumps("a text")])
def test_what_is_no_json_has_no_sample(text: str) -> None:
    assert sample_tables(text) is None
