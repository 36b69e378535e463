"""How stored texts are opened."""

import json

import pytest

from accp_core.tables import open_text

BOM = "\ufeff"
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
        json.dumps({"type": "text", "text": json.dumps(PEOPLE)}),
        json.dumps({"content": [{"type": "text", "text": json.dumps(PEOPLE)}], "isError": False}),
    ],
    ids=[
        "compact",
        "indented",
        "lines",
        "Python literal",
        "in a string",
        "in a text block",
        "in a block",
        "MCP result",
    ],
)
def test_json_is_opened_however_it_was_written(source: str) -> None:
    opened = open_text(source)
    assert (opened.value, opened.prose) == (PEOPLE, None)
    assert [table.name for table in opened.tables()] == ["rows"]


@pytest.mark.parametrize(
    "source",
    ["Dear all,\nplease read.", '{"a": 1, "a": 2}', "[" * 100_000, "1\n2\n3", "", '{"a": 1}\n2', '{"a": 1}\n\n'[:-3]],
    ids=["prose", "a name twice", "too deep", "numbers", "empty", "lines of other JSON", "cut off"],
)
def test_what_reading_would_change_stays_text(source: str) -> None:
    opened = open_text(source)
    assert (opened.value, opened.prose) == (source, source)
    assert [table.name for table in opened.tables()] == ["lines"]


def test_a_byte_order_mark_of_a_text_stays_in_its_lines() -> None:
    note = f"{BOM}Dear all,\nplease read."
    assert (open_text(note).value, open_text(note).prose) == (note, note)
    text = f"{BOM}{json.dumps(PEOPLE[0])}\n{BOM}{json.dumps(PEOPLE[1])}\nThat is all."
    opened = open_text(text)
    assert (opened.value, opened.prose) == (PEOPLE, text)
    assert opened.tables()[1].rows[0]["text"] == text.split("\n")[0]


def test_a_text_in_a_json_string_or_a_text_block_is_text() -> None:
    assert open_text('"line 1\\nline 2"').value == "line 1\nline 2"
    assert open_text('[{"type": "text", "text": "line 1"}]').prose == "line 1"


MORE = [{"id": 3, "name": "Cy", "city": "Rome"}, {"id": 4, "name": "Di"}]
LOG = "2026-01-01 12:00 WARN the file was rotated"


@pytest.mark.parametrize(
    "source",
    [
        f"{json.dumps(PEOPLE)}\n{json.dumps(MORE)}",
        f"{json.dumps(PEOPLE)}\n[]\n\n{json.dumps(MORE)}\n",
        f"Old:\n{json.dumps(PEOPLE)}\n{json.dumps(MORE)}\n",
        f"Old:\n{json.dumps(PEOPLE)}\nNew:\n{json.dumps(MORE, indent=2)}\nThat is all.",
        "\n".join((*map(json.dumps, PEOPLE), LOG, *map(json.dumps, MORE))),
        "\n".join((json.dumps(PEOPLE[0]), LOG, *map(json.dumps, (PEOPLE[1], *MORE)))),
        "\n".join((json.dumps(PEOPLE[0]), LOG, json.dumps([PEOPLE[1], *MORE]))),
        "\n".join((json.dumps(PEOPLE[:1]), json.dumps(PEOPLE[1:]), LOG, json.dumps(MORE))),
    ],
    ids=[
        "two arrays in lines",
        "an empty array between",
        "two arrays in lines of a text",
        "two arrays in a text",
        "lines, a log line, lines",
        "a line, a log line, lines",
        "a line, a log line, an array",
        "arrays, a log line, an array",
    ],
)
def test_the_records_of_several_documents_are_the_rows_of_one_table(source: str) -> None:
    rows = open_text(source).tables()[0]
    assert (rows.name, rows.columns) == ("rows", ("id", "name", "late", "city"))
    assert list(rows.rows) == [*PEOPLE, *MORE]


def test_lines_between_other_text_have_the_paths_of_lines() -> None:
    lines = [*map(json.dumps, PEOPLE), LOG, *map(json.dumps, MORE)]
    assert open_text("\n".join(lines)).value == [*PEOPLE, *MORE]


def test_an_array_named_lines_has_another_name_beside_the_lines_of_a_text() -> None:
    document = json.dumps({"lines": [{"a": 1}, {"a": 2}]})
    (alone,) = open_text(document).tables()
    assert (alone.name, alone.path, alone.holds_lines) == ("lines", ("lines",), False)
    array, lines = open_text(f"Result of the day:\n{document}\nEnd.").tables()
    assert (array.name, array.columns, array.holds_lines) == ("lines_2", ("a",), False)
    assert (lines.name, lines.columns, lines.holds_lines) == ("lines", ("n", "text"), True)
