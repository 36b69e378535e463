"""Numbers that a source spells unusually keep their spelling: `12.50`, `1E5`, `1e+06`."""

from __future__ import annotations

import json

import pytest

from accp_core.documents.json_styles import read_styled_json, write_styled_json
from accp_core.view import read, render, render_text


def count(text: str) -> int:
    return len(text)


ROWS = (
    '[{"sku": "A-1", "price": 12.50, "qty": 1E5}, {"sku": "A-2", "price": 7.00, "qty": 2.5}, {"sku": "B", "price": 1}]'
)


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        json.dumps({"text": ROWS, "n": 1}),
        ROWS + "\n",
        "\n".join(['{"price": 10.00, "name": "one"}', '{"price": 9.90, "name": "two"}']),
        '{"a": [1.50, 1.5, 1.500], "b": {"c": 1.50, "d": 1.50, "e": "a text that is long enough"}}',
        '{"long key number one": 1.10, "nested": {"long key number two": -0.00, "x": 1.0e-07}}',
        '[{"name": "first", "offset": -0}, {"name": "second", "offset": 0}, {"name": "third", "offset": -0.0}]',
        '{"long key number one": -0, "nested": {"long key number two": [-0, 1, -0]}}',
    ],
)
def test_a_source_with_unusual_numbers_is_rendered_and_comes_back_byte_for_byte(source: str) -> None:
    view = render_text(source, counter=count)
    assert view.layout != "as-is"
    assert view.restore() == source


def test_the_spelling_stands_in_the_view_and_reads_as_its_number() -> None:
    view = render_text(ROWS, counter=count)
    assert "A-1 12.50 1E5" in view.text
    value = read(view.text)
    assert value == json.loads(ROWS)
    assert [type(row["price"]) for row in json.loads(json.dumps(value))] == [float, float, int]  # type: ignore[attr-defined, index]  # rows of maps


def test_equal_numbers_of_different_spelling_make_no_constant() -> None:
    source = '[{"name": "first", "price": 1.50}, {"name": "second", "price": 1.500}]'
    view = render_text(source, counter=count)
    assert "price=" not in view.text
    assert view.restore() == source


def test_a_string_that_looks_like_the_placeholder_of_a_number_is_a_string() -> None:
    source = '{"name": "\\u00001.50\\u0000", "price": 1.50, "more": "a text that is long enough"}'
    view = render_text(source, counter=count)
    assert view.restore() == source


@pytest.mark.parametrize("text", ['{"a": 1e999}', '{"a": NaN}', '{"a": 1.50, "a": 2}'])
def test_what_no_spelling_rebuilds_is_not_read(text: str) -> None:
    assert read_styled_json(text) is None


def test_the_three_zeros_of_a_source_are_shown_and_read_as_three() -> None:
    source = '[{"name": "first", "offset": -0}, {"name": "second", "offset": 0}, {"name": "third", "offset": -0.0}]'
    view = render_text(source, counter=count)
    assert view.text == "[3] name offset\nfirst -0\nsecond 0\nthird -0.0"
    value = read(view.text)
    assert [repr(row["offset"]) for row in value] == ["-0", "0", "-0.0"]  # type: ignore[attr-defined]  # a list of maps
    assert repr(read("[-0, 0]")) == repr(read("[-0,0]")) == "[-0, 0]"
    assert render(value, counter=len) == view.text


def test_a_number_is_written_as_it_was_spelled() -> None:
    document = read_styled_json('{"a":1.50}')
    assert document is not None
    assert write_styled_json(document[0], "0") == '{"a":1.50}'


def test_a_number_by_itself_is_the_same_number_in_no_longer_a_spelling() -> None:
    value = read("5.00")
    assert repr(value) == "5.00"
    assert read(render(value, counter=len)) == value
    assert len(render(value, counter=len)) <= len("5.00")
