"""One table of data in each form that programs write: the same answers, the same bytes, hardly larger a view."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from accp_adapters.fetching import FetchRequest, answer, value_at
from accp_adapters.tokens import count_o200k, o200k_base
from accp_core import render, render_text
from accp_core.errors import ProtocolError
from accp_core.references import key_of
from tests.core.previews.test_records import CODE, COMMITS, LOG, MAILS
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
status: paid
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


# The records that a preview sees in a text are a table that a query names.

counter = o200k_base()
TRACES = "\n".join(
    f"2026-02-17T09:{n:02}:00 {'ERROR' if n % 9 == 4 else 'INFO'} job {n}"
    + ("\nTraceback (most recent call last):\n  File job.py, line 9\nValueError: empty" if n % 9 == 4 else "")
    for n in range(50)
)


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        (COMMITS, "select count(*) from records where Author like 'Bob%' and \"Reviewed-by\" is null", 5),
        (COMMITS, "select max(insertion) from records", 190),
        (COMMITS, "select \"commit\" from records where text like '%labels.py%'", f"{5:040x}"),
        (COMMITS, "select l.text from lines l join records r on l.n = r.n + 1 where r.file = 4 limit 1", None),
        (MAILS, "select count(*) from records where \"From\" like 'Bob%'", 6),
        (MAILS, "select text from records order by n desc limit 1", "The fee of crane 12 is 84 euros."),
        (LOG, "select n from records where text like '% ERROR %'", 41),
        (TRACES, "select count(*) from records where text like '%Traceback%ValueError%'", 6),
        (CODE, 'select count(*) from records where "limit" > 120', 3),
    ],
)
def test_a_query_names_the_records_of_a_text(text: str, query: str, found: object) -> None:
    value = value_at(text, query)
    assert value == found if found is not None else str(value).startswith("Author: ")


def test_a_condition_on_a_column_of_the_records_finds_them_and_one_on_lines_finds_lines() -> None:
    def ask(query: str) -> str:
        return answer({key_of(LOG): LOG}, FetchRequest(query=query), limit=400, counter=counter)

    assert "CutOffPassed: too late" in ask("ms is null")
    assert "41: 2026-02-17 09:00:40 ERROR sync failed" in ask("text like '%sync failed%'")
    with pytest.raises(ProtocolError, match=r"E1004: expected a column of lines.* records\(n, time, text"):
        ask("nothing = 3 and time = 'NONE'")


def test_a_text_of_plain_lines_has_no_records() -> None:
    plain = "\n".join("abcdefgh"[n % 8] * (n % 7 + 1) for n in range(60))
    with pytest.raises(ProtocolError, match=r"E1004: expected a table of lines\(n, text\); found 'records'"):
        value_at(plain, "select count(*) from records")
    named = "\n".join(f"Time: {n}\ntime: {n}\nbody {n}\n" for n in range(20))
    assert value_at(named, "select count(*) from records where Time > 10") == 9


# How stored texts are opened where only their value counts.

PEOPLE = [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bo"}]


def test_a_program_gets_the_json_in_a_string_and_in_prose() -> None:
    text = f"Two people:\n{json.dumps(PEOPLE)}\nThat is all."
    assert value_at(json.dumps(json.dumps(PEOPLE)), "") == PEOPLE
    assert value_at(text, "") == PEOPLE


@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_a_query_counts_the_first_record_behind_a_byte_order_mark(bom: str) -> None:
    # PowerShell and other programs of Windows write a byte order mark before JSON Lines; it is no part of a record.
    source = bom + "\n".join(map(json.dumps, PEOPLE))
    asked = FetchRequest(query="select count(*) as n, min(id) as first from rows")
    assert answer({"": source}, asked, limit=200, counter=count_o200k) == "n 2\nfirst 1"


def test_a_query_finds_the_records_on_both_sides_of_a_log_line() -> None:
    # A program that writes JSON Lines, and now and then a warning, writes one stream of records.
    lines = [*map(json.dumps, PEOPLE), "WARN slow", *map(json.dumps, PEOPLE)]
    asked = FetchRequest(query="select name, count(*) as n from rows group by name")
    assert answer({"": "\n".join(lines)}, asked, limit=200, counter=count_o200k) == (
        "[2] name (n=2)\nAnn\nBo\n… line 3 is in no table; search for words there"
    )
