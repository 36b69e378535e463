"""How stored texts are opened."""

from __future__ import annotations

import json

import pytest

from accp_adapters.fetching.sources import lines_of, only_document, open_source

PEOPLE = [{"id": 1, "name": "Ann", "late": True}, {"id": 2, "name": "Bo", "late": None}]


@pytest.mark.parametrize(
    "source",
    [
        json.dumps(PEOPLE),
        json.dumps(PEOPLE, indent=2),
        "\n".join(map(json.dumps, PEOPLE)),
        str(PEOPLE),
        json.dumps(json.dumps(PEOPLE)),
        json.dumps([{"type": "text", "text": json.dumps(PEOPLE)}]),
    ],
    ids=["compact", "indented", "lines", "a Python literal", "in a string", "in a text block"],
)
def test_json_is_opened_however_it_was_written(source: str) -> None:
    assert open_source(source) == PEOPLE


@pytest.mark.parametrize(
    "source",
    [
        "Dear all,\nplease read.",
        '{"a": 1, "a": 2}',
        "[" * 100_000,
        "1\n2\n3",
        "",
    ],
    ids=[
        "prose",
        "a name twice",
        "too deep",
        "numbers",
        "empty",
    ],
)
def test_what_reading_would_change_stays_text(source: str) -> None:
    assert open_source(source) == source


def test_a_text_in_a_json_string_or_a_text_block_is_text() -> None:
    assert open_source('"line 1\\nline 2"') == "line 1\nline 2"
    assert open_source('[{"type": "text", "text": "line 1"}]') == "line 1"


def test_numbers_that_a_float_does_not_hold_keep_their_digits() -> None:
    source = '{"a": 0.1234567890123456789, "b": 1e999, "c": NaN, "d": -Infinity, "e": 1.50, "f": 1234567890123456789}'
    assert open_source(source) == {
        "a": "0.1234567890123456789",
        "b": "1e999",
        "c": "NaN",
        "d": "-Infinity",
        "e": 1.5,
        "f": 1234567890123456789,
    }


def test_strings_in_strings_are_opened_three_deep() -> None:
    deep = json.dumps(json.dumps(json.dumps(json.dumps("text"))))
    assert open_source(deep) == '"text"'


def test_lines_keep_their_ends_and_long_ones_count_as_several() -> None:
    text = "one\r\n" + "x" * 900 + "\nlast"
    assert [len(line) for line in lines_of(text)] == [5, 400, 400, 101, 4]
    assert "".join(lines_of(text)) == text
    assert lines_of("") == []


def test_the_only_document_within_a_text_is_found() -> None:
    text = f"Two people:\n{json.dumps(PEOPLE)}\nThat is all."
    assert open_source(text) == text
    assert only_document(text) == PEOPLE
    assert only_document(text + text) is None
    assert only_document("prose") is None
