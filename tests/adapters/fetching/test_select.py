"""What a fetch can ask for."""

from __future__ import annotations

from typing import Any

import pytest

from accp_adapters.fetching.select import Query, Table, narrow, table_of
from accp_adapters.fetching.sources import lines_of
from accp_core.errors import ProtocolError

PEOPLE = [
    {"id": 1, "name": "Ann", "city": {"name": "Oslo"}, "late": True},
    {"id": 2, "name": "Bo", "city": {"name": "Rome"}, "late": None},
    {"id": 3, "name": "Cy", "note": "new"},
]


def rows(select: str, value: Any = PEOPLE) -> list[Any]:
    table = narrow(value, select)
    assert isinstance(table, Table)
    return [row for _, row in table.rows]


def test_a_path_leads_through_objects_and_lists() -> None:
    value = {"data": {"people": PEOPLE}, "a.b": {"c": 5}}
    assert narrow(value, "data.people.1.city.name") == "Rome"
    assert narrow(value, "data.people") == PEOPLE
    assert narrow(value, "data.people.1") == PEOPLE[1]
    assert narrow(value, "a.b.c") == 5
    assert narrow(value, "") is value


def test_columns_may_be_paths_and_absent_cells_stay_absent() -> None:
    assert rows("id, city.name") == [
        {"id": 1, "city.name": "Oslo"},
        {"id": 2, "city.name": "Rome"},
        {"id": 3},
    ]


@pytest.mark.parametrize(
    ("select", "ids"),
    [
        ("name=Bo", [2]),
        ('name="Bo"', [2]),
        ("id=3", [3]),
        ("late=true", [1]),
        ("late=null", [2]),
        ("city.name=Oslo,late=true", [1]),
        ("name=Nobody", []),
    ],
)
def test_rows_are_found_by_value(select: str, ids: list[int]) -> None:
    assert [row["id"] for row in rows(select)] == ids


def test_values_and_columns_go_together() -> None:
    assert rows("name=Bo,id") == [{"id": 2}]


def test_the_rows_of_an_object_are_those_of_its_only_list() -> None:
    value = {"total": 3, "people": PEOPLE}
    table = table_of(value, "data")
    assert table is not None
    assert (table.place, table.part(1, 1)) == ("data.people", {"total": 3, "people": [PEOPLE[1]]})
    assert rows("name=Cy", value) == [PEOPLE[2]]
    assert rows("id", value) == [{"id": 1}, {"id": 2}, {"id": 3}]
    assert table_of({"a": [], "b": []}) is None
    assert table_of("text") is None


@pytest.mark.parametrize(
    ("value", "select", "message"),
    [
        (PEOPLE, "nam", "one of: id, name, city, late, note; found 'nam'"),
        (PEOPLE, "id,nam=Bo", "found 'nam'"),
        (PEOPLE, "=Bo", "found ''"),
        (PEOPLE, "9", "found '9'"),
        ({"a": [], "b": []}, "c", "one of: a, b; found 'c'"),
        ([1, 2], "c", "one of: a list index or nothing; found 'c'"),
        ("some text", "absent", "words that stand in the text, found 'absent'"),
    ],
)
def test_a_selection_that_fits_nothing_is_refused_and_told_what_there_is(value: Any, select: str, message: str) -> None:
    with pytest.raises(ProtocolError, match=message) as refusal:
        narrow(value, select)
    assert refusal.value.code == "E1004"


def test_lines_of_a_text_are_found_by_words_and_numbered_by_offset() -> None:
    text = "start\nError: disk\n" + "x" * 900 + "\nerror: net\n"
    assert narrow(text, "ERROR") == "1: Error: disk\n5: error: net\n"
    assert lines_of(text)[5] == "error: net\n"
    assert "".join(lines_of(text)) == text


def test_a_query_takes_what_models_write() -> None:
    assert Query.of(None, None, None) == Query()
    assert Query.of(" id ", "5", 0) == Query(select="id", offset=5, limit=None)


@pytest.mark.parametrize(("offset", "limit"), [(-1, None), ("many", None), (0, -1), (0, 1.5)])
def test_a_query_refuses_other_numbers_by_name(offset: object, limit: object) -> None:
    with pytest.raises(ProtocolError, match=r"E1004: expected (offset|limit) to be a whole number"):
        Query.of("", offset, limit)
