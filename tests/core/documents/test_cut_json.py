"""JSON that a tool cut off is read up to the cut."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.documents import Value
from accp_core.documents import read as read_document
from accp_core.documents.json_styles import STYLES, write_styled_json
from accp_core.documents.reading import MIN_CUT_CHARS, end_of_json, read_cut_json
from accp_core.tables import open_text
from accp_core.view import render_text
from tests.properties.json_values import values

FILL = "x" * MIN_CUT_CHARS
LONG = "a text that goes on and on, and is longer than a few words"


def read(text: str) -> Value | None:
    """Return the document at the start of `text`, which must be cut off somewhere."""
    end, is_whole = end_of_json(text, 0)
    assert not is_whole
    return read_cut_json(text, 0, end)


@pytest.mark.parametrize(
    ("behind", "value", "rest"),
    [
        (', "b": 1, "c": 2', {"b": 1}, ', "c": 2'),
        (', "b": 1, "c": 2 ', {"b": 1}, ', "c": 2 '),
        (', "b": 1, "c": 2\n... [truncated]', {"b": 1}, ', "c": 2\n... [truncated]'),
        (', "b": true', {"b": True}, ""),
        (', "b": tru', {}, ', "b": tru'),
        (', "b": "c d"', {"b": "c d"}, ""),
        (', "b": "c d', {}, ', "b": "c d'),
        (', "b', {}, ', "b'),
        (', "b"', {}, ', "b"'),
        (', "b":', {}, ', "b":'),
        (",", {}, ","),
        ("", {}, ""),
        (', "b": [', {}, ', "b": ['),
        (', "b": [1, [2, {"c": 3, "d": [', {"b": [1, [2, {"c": 3}]]}, ', "d": ['),
        (', "b": {"c": {"d": [', {}, ', "b": {"c": {"d": ['),
        (', "b": [1], "c": [{', {"b": [1]}, ', "c": [{'),
        (f', "b": "{LONG}', {"b": LONG}, ""),
        (f', "b": ["{LONG}', {"b": [LONG]}, ""),
        (f', "b": "{LONG}\\', {"b": LONG}, "\\"),
        (f', "b": "{LONG}\\u00', {"b": LONG}, "\\u00"),
        (f', "b": "{LONG}\n[truncated]', {"b": LONG}, "\n[truncated]"),
        (f', "b": "{LONG}\\x more"', {"b": LONG}, '\\x more"'),
        (f', "{LONG}', {}, f', "{LONG}'),
        (f', "b": 1, "{LONG}', {"b": 1}, f', "{LONG}'),
        (', "b": [1, 2]} more', None, None),
    ],
)
def test_it_is_closed_behind_its_last_whole_value(behind: str, value: Any, rest: str) -> None:
    text = f'{{"a": "{FILL}"{behind}'
    if value is None:
        assert end_of_json(text, 0) == (len(text) - len(" more"), True)
        return
    found = read(text)
    assert found is not None
    assert (found.value, text[found.cut :]) == ({"a": FILL, **value}, rest)
    assert found.written[: found.cut] == text[: found.cut]


def test_a_document_may_be_one_long_string_that_was_cut_off() -> None:
    found = read(f'{{"a": ["{FILL}')
    assert found is not None
    assert (found.value, found.cut) == ({"a": [FILL]}, 8 + len(FILL))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": [2',
        '{"a" "b',
        '{"a": "b',
        f'["{FILL}',
        f'{{"{FILL}',
        f'{{"{FILL}": [',
        f'{{"a": "{FILL}", "a": 1, "b',
        f'["a", {{"{FILL}": [',
        "[" * 300,
    ],
)
def test_where_hardly_anything_was_read_there_is_none(text: str) -> None:
    found = read(text)
    assert found is None or found.value == [FILL]


def test_a_number_keeps_its_spelling() -> None:
    found = read(f'[1.50, "{FILL}", 2')
    assert found is not None
    assert write_styled_json(found.value, "").startswith('[1.50, "xx')


def test_a_document_is_found_in_its_text_however_long_it_is() -> None:
    for size in (1, 100, 300, 5000):
        document = json.dumps(["y" * size, {"a": size}])
        assert end_of_json(f"x {document} z", 2) == (2 + len(document), True)
        assert end_of_json(f"x {document[:-1]}", 2) == (1 + len(document), False)
    assert end_of_json(f"[{'9' * 5000}]", 0) == (0, False)
    assert end_of_json(f"[{'1, ' * 1000}x", 0) == (3001, False)


ROWS = [{"id": number, "name": f"it's n {number}", "tags": ("a", None), "note": LONG} for number in range(20)]


@pytest.mark.parametrize(
    "text", ["[{'a': foo(1), 'b': 2}, " + "{'a': bar(2)}, " * 30, "[('a'), " * 90, "{'a': " + "'b'" * 99]
)
def test_code_that_is_not_closed_is_no_literal(text: str) -> None:
    assert not list(read_document(text).values())


@pytest.mark.parametrize("blank", ["\n", "\n\n", "\r\n"])
def test_documents_over_several_lines_are_rows_of_one_table(blank: str) -> None:
    documents = [json.dumps(row, indent=2) for row in ROWS]
    source = blank.join(documents)
    opened = open_text(source)
    assert ([len(table.rows) for table in opened.tables()][:1], opened.cut) == ([20], "")
    view = render_text(source, counter=len)
    assert view.restore() == source
    assert view.text.startswith("[20] ")
    for end in range(len(source) - 150, len(source) - 10, 7):
        assert open_text(source[:end]).cut
        assert render_text(source[:end], counter=len).restore() == source[:end]
    assert not open_text(f"{source}\n{{not JSON}}\n\nmore").cut


@pytest.mark.slow
@given(
    value=values, style=st.sampled_from(sorted(STYLES)), data=st.data(), mark=st.sampled_from(["", "...", "\n[cut]"])
)
def test_whatever_is_cut_off_starts_with_what_was_read(value: Any, style: str, data: st.DataObject, mark: str) -> None:
    whole = write_styled_json([FILL, value, value], style)
    text = whole[: data.draw(st.integers(1, len(whole) - 1))] + mark
    end, is_whole = end_of_json(text, 0)
    found = None if is_whole else read_cut_json(text, 0, end)
    if found is not None:
        assert found.written[: found.cut] == text[: found.cut]
        assert json.loads(found.written) == found.value
