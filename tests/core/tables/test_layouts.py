"""JSON whose tables are no arrays of maps: by shape, whatever the keys are."""

import json
from typing import Any

import pytest

from accp_core.tables import open_text
from accp_core.tables.layouts import arrange

ROWS = [{"id": n, "name": f"n{n}", "city": ("Oslo", "Rome")[n % 2]} for n in range(1, 6)]
NAMES = list(ROWS[0])
CELLS = [list(row.values()) for row in ROWS]
LAYOUTS: dict[str, Any] = {
    "names far away, cells wrapped": {
        "schema": {"fields": [{"name": name, "type": "x"} for name in NAMES]},
        "rows": [{"f": [{"v": cell} for cell in row]} for row in CELLS],
    },
    "names above": {"meta": {"columns": [{"id": n, "name": name} for n, name in enumerate(NAMES)]}, "data": CELLS},
    "columns": {
        "frames": [
            {"schema": {"fields": [{"name": n} for n in NAMES]}, "data": [list(c) for c in zip(*CELLS, strict=True)]}
        ]
    },
    "a row of names": {"range": "A1:C6", "values": [NAMES, *CELLS]},
    "pairs": {"results": [[{"field": key, "value": cell} for key, cell in row.items()] for row in ROWS]},
    "typed cells": {"Items": [{key: {"S": cell} for key, cell in row.items()} for row in ROWS]},
    "maps of columns": {name: {str(n): row[name] for n, row in enumerate(ROWS)} for name in NAMES},
    "labels and series": {
        "id": [row["id"] for row in ROWS],
        "sets": [{"label": name, "data": [row[name] for row in ROWS]} for name in NAMES[1:]],
    },
    "two kinds of columns": {
        "keys": [{"name": "id"}],
        "texts": [{"name": "name"}, {"name": "city"}],
        "rows": [{"k": [{"value": r["id"]}], "t": [{"value": r["name"]}, {"value": r["city"]}]} for r in ROWS],
    },
}


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
    assert arrange(value) is value
