"""The example of a query in a preview finds what it says."""

import base64
import contextlib
import hashlib
import json
import re
import sqlite3

import pytest

from accp_core import preview, render_text
from accp_core.tables import count_lines, open_text
from tests.core.previews.test_composition import OPENING, counter, log

RECORDS = [{"id": number, "name": f"name {number}", "x": number * 7919} for number in range(300)]


TEXTS_OF_LINES = {
    "short lines": log(300),
    "long lines": "\n".join(f"part {number} " + "word " * 400 for number in range(30)),
    "one long line": "word " * 9_000,
    "blobs": "\n".join(
        f"{number} {base64.b64encode(hashlib.sha512(b'%d' % number).digest() * 9).decode()}" for number in range(200)
    ),
}


@pytest.mark.parametrize("source", TEXTS_OF_LINES.values(), ids=TEXTS_OF_LINES)
def test_the_example_for_a_text_asks_for_the_lines_in_its_middle(source: str) -> None:
    # A reader takes the numbers for those of the lines that the preview is said to be of.
    head = preview(source, limit=400, opening=OPENING, counter=counter, is_queried=True).split("\n")[0]
    assert head.startswith(f"[preview of {count_lines(source):,} line")
    ((first, last),) = [map(int, found) for found in re.findall(r"; e\.g\. query: lines (\d+)-(\d+)]", head)]
    assert first <= source.count("\n", 0, len(source) // 2) + 1 <= last
    assert last - first < 20


AROUND = ["The result:\n{}\nThat is all.", "<result>{}</result>", "Result: {}", '<document id="1">{}</document>\n']


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_text_that_is_nearly_one_document_is_previewed_as_its_tables(around: str, indent: int | None) -> None:
    source = around.format(json.dumps(RECORDS, indent=indent))
    shown = preview(source, limit=400, opening=OPENING, counter=counter, is_queried=True)
    assert "rows: 300 rows" in shown
    (example,) = re.findall(r"; e\.g\. query: (.*)]", shown.split("\n")[0])
    assert run_query(source, example)
    view = render_text(source, counter=counter)
    assert view.restore() == source
    assert view.tokens_after < view.tokens_before * 0.6


def scalar(cell: object) -> object:
    return cell if isinstance(cell, str | int) else str(cell)


def run_query(source: str, query: str) -> list[object]:
    """Return what SQLite answers to a query of the tables of a text."""
    with contextlib.closing(sqlite3.connect(":memory:")) as database:
        for table in open_text(source).tables():
            columns = ", ".join(f'"{name}"' for name in table.columns)
            database.execute(f'create table "{table.name}" ({columns})')
            marks = ", ".join("?" * len(table.columns))
            rows = [[scalar(row.get(name)) for name in table.columns] for row in table.rows]
            database.executemany(f'insert into "{table.name}" values ({marks})', rows)
        return database.execute(query).fetchall()
