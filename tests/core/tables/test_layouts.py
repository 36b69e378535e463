"""JSON whose tables are no arrays of maps: by shape, whatever the keys are."""

import json
from pathlib import Path
from typing import Any

import pytest

from accp_core.tables import open_text
from accp_core.tables.layouts import arrange

ROWS = [{"id": n, "name": f"n{n}", "city": ("Oslo", "Rome")[n % 2]} for n in range(1, 6)]
NAMES = list(ROWS[0])
CELLS = [list(row.values()) for row in ROWS]
LAYOUTS: dict[str, Any] = {
    "columns": {
        "frames": [
            {"schema": {"fields": [{"name": n} for n in NAMES]}, "data": [list(c) for c in zip(*CELLS, strict=True)]}
        ]
    },
    "pairs": {"results": [[{"field": key, "value": cell} for key, cell in row.items()] for row in ROWS]},
    "maps of columns": {name: {str(n): row[name] for n, row in enumerate(ROWS)} for name in NAMES},
}


ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_bytes())
"""In shapes that documentation of public interfaces shows, with the table that a person expects, and one cell of it."""
MISSED = {"kusto v2", "json:api"}
"""Tables, or kinds of rows, of unlike columns in one array."""


@pytest.mark.parametrize("answer", ANSWERS, ids=[answer["answer"] for answer in ANSWERS])
def test_answers_of_public_interfaces_have_the_expected_table(answer: dict[str, Any]) -> None:
    number, cell_column, cell = answer["cell"]
    found = []
    for table in open_text(json.dumps(answer["value"])).tables():
        ends = {
            name: next((c for c in table.columns if f".{c}".endswith(f".{name}")), "") for name in answer["columns"]
        }
        is_one = len(table.rows) == answer["rows"] and all(ends.values())
        found.append(is_one and str(table.rows[number].get(ends[cell_column])) == str(cell))
    assert any(found) == (answer["answer"] not in MISSED)


@pytest.mark.parametrize("name", LAYOUTS)
def test_rows_are_found_whatever_the_layout(name: str) -> None:
    tables = open_text(json.dumps(LAYOUTS[name])).tables()
    assert any([{key: row.get(key) for key in NAMES} for row in table.rows] == ROWS for table in tables)


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"x": 1}, "b": {"y": 2}},
        {"users": {"u1": {"age": 1}, "u2": {"age": 2}}},
        [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "tags": ["c", "d"]}],
        [{"tags": ["a", "b"]}, {"tags": ["c", "d"]}],
        [{"id": []}, {"id": []}],
        {"points": [[1, 2], [3, 4]], "tags": ["a", "a"]},
        [{"name": "a", "value": 1}, {"name": "a", "value": 2}],
        {"orders": ROWS, "total": 5},
    ],
)
def test_other_values_stay_the_same_object(value: Any) -> None:
    assert arrange(value, {}) is value
