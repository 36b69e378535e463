"""One table of data in each form that programs write: the same answers, the same bytes, hardly larger a view."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.tokens import count_o200k, o200k_base
from accp_core import render, render_text
from tests.written_forms import BLOCKS, OTHER_VALUES, TABLES_ONLY, WRITERS

NAMES: Final = ("Ana, the first", "Ben", "Cho Lee")
ROWS: Final[list[dict[str, Any]]] = [
    {
        "id": 7 + number,
        "name": NAMES[number % 3],
        "status": ("paid", "late", "open", "late")[number % 4],
        "total": (12.5, 100, 3.25)[number % 3],
        "paid": number % 2 == 0,
        "note": None if number % 5 else f"see {number}",
    }
    for number in range(12)
]
QUERIES: Final = (
    "select status, count(*) as n, sum(total) as sum from rows group by status order by status",
    "total > 5 and not paid",
    "select name as who, total * 2 as twice from rows where id = 9 or note is not null order by total desc, id",
)
BLOCK: Final = 24
"""Tokens of a view for what stands around the table."""


def answered(text: str, query: str) -> str:
    return answer({"": text}, FetchRequest(query=query), limit=600, counter=count_o200k)


@pytest.mark.parametrize("form", WRITERS)
def test_a_query_has_the_same_answer_over_each_form(form: str) -> None:
    text = WRITERS[form](ROWS)
    for query in QUERIES:
        # A header in capitals names its columns so.
        assert answered(text, query).lower() == answered(json.dumps(ROWS), query).lower()


@pytest.mark.parametrize("form", WRITERS)
def test_a_table_comes_back_from_a_view_like_that_of_its_value(form: str) -> None:
    text, counter = WRITERS[form](ROWS), o200k_base()
    view = render_text(text, counter=counter)
    assert view.restore() == text
    limit = 1.2 if form in OTHER_VALUES else 1.1
    if form not in TABLES_ONLY:
        assert view.tokens_after <= limit * counter(render(ROWS, counter=counter)) + BLOCK * (form in BLOCKS)


@pytest.mark.parametrize("form", ["CSV", "Markdown", "psql", "MySQL", "logfmt", "columns in capitals"])
def test_a_grid_between_lines_is_queried_too(form: str) -> None:
    text = f"Some lines\n\nbefore it:\n{WRITERS[form](ROWS)}\n\n12 rows\n"
    found, _, outside = answered(text, QUERIES[0]).rpartition("\n… lines 1-3, ")
    assert found.lower() == answered(json.dumps(ROWS), QUERIES[0]).lower()
    assert outside.endswith(" are in no table; search for words there")


def test_the_lines_of_a_grid_keep_their_numbers() -> None:
    source = f"Before.\n\n{WRITERS['CSV'](ROWS)}Behind.\n"
    assert answered(source, "select n, text from lines where text like '8,Ben%'").startswith("5: 8,Ben")
    assert answered(source, "select n from lines where text = 'Behind.'") == "n 16"


DOCUMENTS: Final = """\
# the first order
id: 7
name: "Ana, the first"
status: &paid paid
total: 12.5
---
id: 8
name: >-
  Ben
  & Co
status: late
total: 100
"""


def test_documents_of_yaml_are_rows() -> None:
    rows = [
        {"id": 7, "name": "Ana, the first", "status": "paid", "total": 12.5},
        {"id": 8, "name": "Ben & Co", "status": "late", "total": 100},
    ]
    for query in ("total > 5", "select status, sum(total) as sum from rows group by status"):
        assert answered(DOCUMENTS, query) == answered(json.dumps(rows), query)
