"""One table of data in each layout of JSON: restored byte for byte, the same tables, a view as small as the value's."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core.documents.json_forms import describe_json, write_json
from accp_core.packing.expansion import Expansion, ExpansionError
from accp_core.tables import open_text
from accp_core.view import render, render_text
from tests.properties.json_values import values

ROWS: list[dict[str, Any]] = [
    {
        "id": 7000 + number,
        "name": f"host-{number}/é<{number}>",
        "status": ["ok", "late", "down"][number % 3],
        "tags": ["eu", "prod"][: number % 3],
        "cpu": number * 1.5,
        "owner": {"name": "Ana", "teams": [[1, 2], []], "more": {}},
    }
    for number in range(12)
]
INDENTED = json.dumps(ROWS, indent=2, ensure_ascii=False)
COUNT = o200k_base()


def powershell(value: Any, column: int = 0) -> str:
    """Return JSON as PowerShell 5.1 writes it: two blanks after a colon, members four to the right of their bracket."""
    if not isinstance(value, (dict, list)) or not value:
        return json.dumps(value)
    start = " " * (column + 4)
    if isinstance(value, dict):
        members = [f"{json.dumps(key)}:  {powershell(each, column + len(key) + 9)}" for key, each in value.items()]
    else:
        members = [powershell(each, column + 4) for each in value]
    inner = ",\r\n".join(start + member for member in members)
    first, last = ("{", "}") if isinstance(value, dict) else ("[", "]")
    return f"{first}\r\n{inner}\r\n{' ' * column}{last}"


LAYOUTS = {
    "json.dumps": json.dumps(ROWS),
    "compact": json.dumps(ROWS, separators=(",", ":")),
    "raw Unicode": json.dumps(ROWS, ensure_ascii=False),
    "indented": INDENTED,
    "tabs": json.dumps(ROWS, indent="\t"),
    "CRLF": INDENTED.replace("\n", "\r\n"),
    "a byte order mark": f"\ufeff{INDENTED}",
    "prettier": INDENTED.replace('[\n      "eu",\n      "prod"\n    ]', '["eu", "prod"]').replace(
        '[\n      "eu"\n    ]', '["eu"]'
    ),
    "Jackson": INDENTED.replace('": ', '" : '),
    "Elasticsearch": INDENTED.replace('": ', '" : ').replace("[]", "[ ]").replace("{}", "{ }"),
    "PowerShell 5.1": powershell(ROWS),
    "Allman braces": INDENTED.replace('": {', '":\n    {'),
    "a comma first": INDENTED.replace(",\n", "\n,"),
    "a row in a line": "[" + ",\n".join(json.dumps(row) for row in ROWS) + "]",
    "lines": "\n".join(json.dumps(row) for row in ROWS),
    "lines with blank lines": "\n\n".join(json.dumps(row) for row in ROWS),
    "lines, CRLF": "\r\n".join(json.dumps(row, separators=(",", ":")) for row in ROWS),
    "Go": json.dumps(ROWS).replace("<", "\\u003c").replace(">", "\\u003e"),
    "PHP": json.dumps(ROWS).replace("/", "\\/"),
    "escapes of some": json.dumps(ROWS).replace("\\u00e9", "é", 7),
}


@pytest.mark.parametrize("source", LAYOUTS.values(), ids=LAYOUTS)
def test_each_layout_comes_back_and_has_the_view_and_the_tables_of_its_value(source: str) -> None:
    view = render_text(source, counter=COUNT)
    assert view.restore() == source
    assert view.tokens_after <= 1.02 * COUNT(render(ROWS, counter=COUNT))
    assert open_text(source).value == ROWS
    assert open_text(source).prose is None


def test_a_layout_takes_as_many_characters_however_long_the_text_is() -> None:
    short, long = ([row | {"tags": ["a"]} for row in ROWS] * times for times in (1, 50))
    layouts = [describe_json(json.dumps(rows, indent=2), [rows]) for rows in (short, long)]
    assert layouts[0] == layouts[1]


@pytest.mark.parametrize(
    "source", ['{"a": 1, "a": 2}', r'{"a": "\u00e9 \u00eF", "b": 1}'], ids=["a name twice", "an escape of both cases"]
)
def test_what_no_layout_says_stays_as_it_is(source: str) -> None:
    assert render_text(source, counter=len).text == source


def test_blanks_without_any_rule_leave_the_text_as_it_is() -> None:
    rows = "".join(f'{{"a"{" " * (number % 7)}: {number},{" " * (number % 5)}"b":1}}\n' for number in range(60))
    assert render_text(rows, counter=len).text == rows


BLANKS = st.sampled_from(["", " ", "\n", "\r\n", "  ", "\t", "\n  ", "\n    ", "\n\t"])


@given(st.lists(values, min_size=1, max_size=3), st.data(), st.booleans())
def test_whatever_blanks_and_escapes_there_are_come_back_or_are_left(
    documents: list[Any], data: st.DataObject, is_ascii: bool
) -> None:
    dumped = [json.dumps(each, ensure_ascii=is_ascii, separators=("\0,", ":\0")) for each in documents]
    text = "\n".join(dumped)
    while "\0" in text:
        text = text.replace("\0", data.draw(BLANKS), 1)
    values_read = [json.loads(each.replace("\0", "")) for each in dumped]
    layout = describe_json(text, values_read)
    if layout is not None:
        assert write_json(values_read, layout, Expansion(len(text))) == text
        with pytest.raises(ExpansionError):
            write_json(values_read, layout, Expansion(len(text) - 1))


@given(st.text(alphabet="stnrb0123456789+-;,.*!^fuUc/ a", max_size=30))
def test_any_layout_gives_a_text_or_is_refused(layout: str) -> None:
    with contextlib.suppress(ValueError):
        write_json([ROWS[0]], layout, Expansion(5_000))


@pytest.mark.parametrize("text", ['[ "a b"]', "[ 1]", '["a c", 1]'])
def test_a_text_of_another_value_has_no_layout(text: str) -> None:
    assert describe_json(text, [["a c"]]) is None


def test_compact_json_has_the_empty_layout() -> None:
    compact = json.dumps(ROWS, separators=(",", ":"), ensure_ascii=False)
    assert describe_json(compact, [ROWS]) == ""
    assert write_json([ROWS], "", Expansion(len(compact))) == compact


def test_a_layout_names_only_forms_of_escapes() -> None:
    with pytest.raises(ValueError, match="of a token, found 'x'"):
        write_json([["é"]], "x;2.0", Expansion(100))
