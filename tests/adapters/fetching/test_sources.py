"""How stored texts are opened where only their value counts."""

from __future__ import annotations

import json

import pytest

from accp_adapters.fetching import FetchRequest, answer, value_at
from accp_adapters.tokens import count_o200k

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
