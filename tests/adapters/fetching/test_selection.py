"""What a fetch can ask for."""

from __future__ import annotations

from typing import Any

import pytest

from accp_adapters.fetching.selection import RowSelection, find_rows, select_part
from accp_adapters.fetching.sources import lines_of
from accp_core.errors import ProtocolError

PEOPLE = [
    {"id": 1, "name": "Ann", "city": {"name": "Oslo"}, "late": True},
    {"id": 2, "name": "Bo", "city": {"name": "Rome"}, "late": None},
    {"id": 3, "name": "Cy", "note": "new"},
]


def rows(query: str, value: Any = PEOPLE) -> list[Any]:
    part = select_part(value, query)
    assert isinstance(part, RowSelection)
    return [row for _, row in part.rows]


def test_a_path_leads_through_objects_and_lists() -> None:
    value = {"data": {"people": PEOPLE}, "a.b": {"c": 5}}
    assert select_part(value, "data.people.1.city.name") == "Rome"
    assert select_part(value, "data.people") == PEOPLE
    assert select_part(value, "data.people.1") == PEOPLE[1]
    assert select_part(value, "a.b.c") == 5
    assert select_part(value, "") is value


def test_columns_may_be_paths_and_absent_cells_stay_absent() -> None:
    assert rows("id, city.name") == [
        {"id": 1, "city.name": "Oslo"},
        {"id": 2, "city.name": "Rome"},
        {"id": 3},
    ]


@pytest.mark.parametrize(
    ("query", "ids"),
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
def test_rows_are_found_by_value(query: str, ids: list[int]) -> None:
    assert [row["id"] for row in rows(query)] == ids


def test_values_and_columns_go_together() -> None:
    assert rows("name=Bo,id") == [{"id": 2}]


def test_the_rows_of_an_object_are_those_of_its_only_list() -> None:
    value = {"total": 3, "people": PEOPLE}
    selection = find_rows(value, "data")
    assert selection is not None
    assert (selection.path, selection.page(1, 1)) == ("data.people", {"total": 3, "people": [PEOPLE[1]]})
    assert rows("name=Cy", value) == [PEOPLE[2]]
    assert rows("id", value) == [{"id": 1}, {"id": 2}, {"id": 3}]
    assert find_rows({"a": [], "b": []}) is None
    assert find_rows("text") is None


@pytest.mark.parametrize(
    ("value", "query", "message"),
    [
        (PEOPLE, "nam", "one of: id, name, city, late, note; found 'nam'"),
        (PEOPLE, "id,nam=Bo", "found 'nam'"),
        (PEOPLE, "=Bo", "found ''"),
        (PEOPLE, "9", "found '9'"),
        ({"a": [], "b": []}, "c", "one of: a, b; found 'c'"),
        ([1, 2], "c", "one of: a list index or nothing; found 'c'"),
        ("some text", "absent", "words of the stored text, found 'absent'"),
    ],
)
def test_a_selection_that_fits_nothing_is_refused_and_told_what_there_is(value: Any, query: str, message: str) -> None:
    with pytest.raises(ProtocolError, match=message) as refusal:
        select_part(value, query)
    assert refusal.value.code == "E1004"


def test_lines_of_a_text_are_found_by_words_and_numbered_by_offset() -> None:
    text = "start\nError: disk\n" + "x" * 900 + "\nerror: net\n"
    assert select_part(text, "ERROR") == "1: Error: disk\n5: error: net\n"
    assert lines_of(text)[5] == "error: net\n"
    assert "".join(lines_of(text)) == text
