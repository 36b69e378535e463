"""A text that is one string of JSON or Python: what it holds is read, at any depth, also where it was cut off."""

import json
from typing import Any

import pytest

from accp_core.documents import read
from accp_core.tables import open_text
from accp_core.view import render_text
from accp_core.view.render_value import render
from tests.core.previews.test_composition import counter

ROWS = [{"id": 7_000 + n, "name": f"host-{n}", "état": ["ok", "late"][n % 2], "cpu": n * 1.5} for n in range(40)]
COMPACT = json.dumps(ROWS)
INDENTED = json.dumps(ROWS, indent=2)
LINES = "\n".join(map(json.dumps, ROWS))


def strings(text: str, depth: int, **options: Any) -> str:
    for _ in range(depth):
        text = json.dumps(text, **options)
    return text


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("inner", [COMPACT, INDENTED, LINES, f"The rows:\n{INDENTED}\nThat is all."])
@pytest.mark.parametrize("is_ascii", [True, False])
def test_the_rows_in_a_string_are_a_view_and_a_table(depth: int, inner: str, is_ascii: bool) -> None:
    source = strings(inner, depth, ensure_ascii=is_ascii)
    view = render_text(f" {source}\n", counter=counter)
    assert view.restore() == f" {source}\n"
    assert view.tokens_after < counter(render(ROWS, counter=counter)) + 20 + 5 * depth
    (table, *_) = open_text(source).tables()
    assert list(table.rows) == ROWS
    assert not open_text(source).cut


@pytest.mark.parametrize(
    "inner", [COMPACT, INDENTED, json.dumps({"it's": 1, "rows": ROWS}), "one 'line'\nand \"another\" one\n" * 9]
)
def test_a_string_of_python_is_one_too(inner: str) -> None:
    view = render_text(repr(inner), counter=counter)
    assert view.restore() == repr(inner)
    assert view.tokens_after < view.tokens_before
    (literal,) = read(repr(inner)).values()
    assert literal.value == inner


def test_an_object_has_the_view_and_the_tables_of_the_document_in_it() -> None:
    source = f"meta=None content=[TextContent(type='text', text={INDENTED!r}, annotations=None)] isError=False"
    view = render_text(source, counter=counter)
    assert view.restore() == source and view.tokens_after * 2 < view.tokens_before
    assert list(open_text(source).tables()[0].rows) == ROWS


@pytest.mark.parametrize(
    "source",
    [
        '"a text without escapes"',
        '"Hello," she said. "And so on\\n.',
        '"two\\u0020\\n\\u000Alines of a text"',
        '"a \\ud83d\\n half of a pair"',
        '"' + "words and no JSON \\n" * 20,
        "'two' + 'texts\\n of Python'",
        "'it''s\\n two texts'",
        "'",
        '"',
    ],
)
def test_what_cannot_be_written_again_has_no_view(source: str) -> None:
    assert render_text(source, counter=counter).text == source
