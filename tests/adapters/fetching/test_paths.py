"""What a path leads to, and which rows there are."""

from __future__ import annotations

import pytest

from accp_adapters.fetching.answers import NO_VALUE, find_rows, follow

PEOPLE = [{"id": 1, "name": "Ann", "city": {"name": "Oslo"}}, {"id": 2, "name": "Bo"}]
VALUE = {"data": {"people": PEOPLE}, "a.b": {"c": 5}, "x[0]": 6}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data.people.0.city.name", "Oslo"),
        ("data.people", PEOPLE),
        ("data.people.1", PEOPLE[1]),
        ("data.people[1]", PEOPLE[1]),
        ("$.data.people[0].name", "Ann"),
        (".data.people[1]['name']", "Bo"),
        ('data["people"][1]', PEOPLE[1]),
        ("a.b.c", 5),
        ("x[0]", 6),
        ("", VALUE),
    ],
)
def test_a_path_leads_through_objects_and_lists(path: str, expected: object) -> None:
    assert follow(VALUE, path) == expected


def test_a_path_leads_to_keys_that_look_like_one() -> None:
    lock = {"packages": {"": {"name": "x"}, "node_modules/a": {"version": 1}}, "$ref": {"-1": [7]}, ".": {"b": 3}}
    assert follow(lock, 'packages[""].name') == follow(lock, "packages..name") == "x"
    assert follow(lock, "packages.") == follow(lock, 'packages.""') == {"name": "x"}
    assert follow(lock, 'packages."node_modules/a".version') == 1
    assert follow(lock, "$ref.-1[0]") == follow(lock, "$.$ref.-1.0") == 7
    assert follow(lock, '["."].b') == 3
    assert follow([{"": 1}], "0") == follow([{"": 1}], "$[0]") == {"": 1}
    assert follow([{"a": 1}], "0.") == follow([{"a": 1}], "$.0.") == {"a": 1}


def test_of_several_keys_that_begin_a_path_the_first_that_leads_on_counts() -> None:
    value = {"a": {"b": {"x": 1}}, "a.b": {"c": 2, "x": 3}}
    assert [follow(value, path) for path in ("a.b.x", "a.b.c", "a.b")] == [1, 2, value["a.b"]]
    assert follow(value, "a.b.d") is NO_VALUE


def test_a_pointer_is_read_as_rfc_6901_says() -> None:
    # Section 6, "URI Fragment Identifier Representation", the whole table.
    keys = ["", "a/b", "c%d", "e^f", "g|h", "i\\j", 'k"l', " ", "m~n"]
    value = {"foo": ["bar", "baz"], **{key: number for number, key in enumerate(keys)}}
    pointers = ["#/", "#/a~1b", "#/c%25d", "#/e%5Ef", "#/g%7Ch", "#/i%5Cj", "#/k%22l", "#/%20", "#/m~0n"]
    assert [follow(value, each) for each in pointers] == list(range(9))
    assert (follow(value, "#/foo"), follow(value, "#/foo/0")) == (["bar", "baz"], "bar")
    assert [follow(value, each) for each in ("#/foo/00", "#/foo/-", "#/foo/2", "#/x")] == [NO_VALUE] * 4
    assert follow({"#/foo": 1, "foo": 2}, "#/foo") == 1


@pytest.mark.slow
def test_a_path_may_have_as_many_keys_as_a_value_is_deep() -> None:
    value: object = "deep"
    for _ in range(50_000):
        value = {"a": [value]}
    path = ".".join(["a", "0"] * 50_000)
    assert follow(value, path) == "deep"
    assert follow(value, f"{path}.x") is NO_VALUE


@pytest.mark.parametrize("path", ["data.people.2", "data.people.-1", "data.people.name", "data.x", "x[1]", "0" * 5000])
def test_a_path_that_leads_nowhere_is_absent(path: str) -> None:
    assert follow(VALUE, path) is NO_VALUE
    assert follow([1], "9" * 5000) is NO_VALUE


def test_the_rows_of_an_object_are_those_of_its_only_list() -> None:
    value = {"total": 3, "people": PEOPLE}
    found = find_rows(value, "data")
    assert found is not None
    rows, path, around = found
    assert (path, around(rows[1:])) == ("data.people", {"total": 3, "people": [PEOPLE[1]]})
    assert find_rows({"a": [], "b": []}) is None
    assert find_rows("text") is None
