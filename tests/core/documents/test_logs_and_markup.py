"""Logs and markup: logfmt is rows that are written again, tables of pages and XML records are rows."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.documents import Value, read
from accp_core.documents.grids import GRIDS, markup
from accp_core.documents.grids.cells import Lines
from accp_core.documents.grids.lines import LOGFMT as LOGFMT_FORM
from accp_core.documents.grids.markup import read_tables
from accp_core.packing.expansion import Expansion, ExpansionError
from accp_core.tables import open_text
from tests.work import grows_in_proportion

LOGFMT = """\
ts=2026-02-17T14:20:06Z level=info msg="request done" took=150 ok=true trace=12 user="ana"
ts=2026-02-17T14:20:07Z level=warn msg="a \\"slow\\" one" took=12.50 ok=false trace=a3 user="ben"
ts=2026-02-17T14:20:08Z level=info msg="" took=3 ok=true trace= order=SO-7 user="cho"
"""
LOGFMT_ROWS = [
    {"ts": "2026-02-17T14:20:06Z", "level": "info", "msg": "request done", "took": 150, "ok": True, "trace": "12",
     "user": "ana"},
    {"ts": "2026-02-17T14:20:07Z", "level": "warn", "msg": 'a "slow" one', "took": 12.5, "ok": False, "trace": "a3",
     "user": "ben"},
    {"ts": "2026-02-17T14:20:08Z", "level": "info", "msg": "", "took": 3, "ok": True, "trace": "", "order": "SO-7",
     "user": "cho"},
]  # fmt: skip
PAGE = """\
<!DOCTYPE html>
<html><head><script>if (a < b) "<table>"</script><style>td > b {}</style></head><body>
<!-- <table> --><p>Prices are in euros.</p>
<table class="x"><caption>Hotels</caption>
<thead><tr><th rowspan=2>Name<th colspan="2">2024</tr><tr><th>Q1</th><TH>Q2</TH></tr></thead>
<tbody><tr><td rowspan="2">A &amp; <b>B</b><br>C</td><td>1</td><td>2.50<script>5</script></td></tr>
<tr><td>3<!-- <b>4</b> --><td> 4
</tr></tbody><tfoot><tr><td>Sum<td>4<td></table>
<p>Not a table: <table><tr><td>one</td></tr></table>
<table><tr><td><table><tr><td>a</td><td>x</td></tr><tr><td>b</td><td>y</td></tr></table></td><td>side</td></tr>
<tr><td>foot</td><td>side</td></tr></table>
</body></html>
"""
XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<rss xmlns:dc="http://purl.example/dc"><channel><title>Orders</title>
<item id="7"><dc:name>Ana &amp; Ben</dc:name><total>12.50</total><tag>a</tag><tag>b</tag><tag>c</tag></item>
<item id="8"><dc:name/><total>100</total><note lang="en">late</note></item>
</channel></rss>"""


def value_in(text: str) -> Value:
    (value,) = read(text).values()
    assert isinstance(value, Value)
    return value


def test_lines_of_a_log_are_rows_and_written_again() -> None:
    for source in (LOGFMT, LOGFMT.replace("\n", "\r\n"), f"$ tail log\n\n{LOGFMT}\nthe end"):
        found = value_in(source)
        assert found.form is LOGFMT_FORM
        assert found.value == LOGFMT_ROWS
        assert found.how is not None
        assert LOGFMT_FORM.write(found.value, found.how, Expansion(len(source))) == found.written
        assert source[found.start : found.end] == found.written
    with pytest.raises(ExpansionError):
        LOGFMT_FORM.write(LOGFMT_ROWS, "n/", Expansion(20))


NAMED = {
    "an access log": (
        '10.0.0.{n} - ana [17/Feb/2026:13:05:{n:02}] "GET /orders/{n}7 HTTP/1.1" 20{m} {n}59 "-" "curl/8.{m} (x)"',
        ["address", "column_2", "time", "method", "path", "column_6", "status", "number", "text"],
        ["10.0.0.7", "ana", "17/Feb/2026:13:05:07", "GET", "/orders/77", "HTTP/1.1", 201, 759, "curl/8.1 (x)"],
    ),
    "a listing": (
        "-rw-r--r--  1 root  staff  {n:>3}000 Feb {n:>2} 10:{n:02} part-{n}.gz",
        ["mode", "number", "column_3", "column_4", "number_2", "time", "column_7"],
        ["-rw-r--r--", 1, "root", "staff", 7000, "Feb 7 10:07", "part-7.gz"],
    ),
    "words beside what varies": (
        "2026-03-01T10:{n:02}:00Z moved user ann{m}@example.com to https://host.example/{n} in {n}5 ms",
        ["time", "column_2", "column_3", "email", "column_5", "url", "column_7", "number", "column_9"],
        ["2026-03-01T10:07:00Z", "moved", "user", "ann1@example.com", "to", "https://host.example/7", "in", 75, "ms"],
    ),
    "names above that are not above the cells": (
        "ann     {n} {n}.5 10:{n:02}:00 srv{o} -x{m}",
        ["USER", "PID", "CPU", "AT", "COMMAND"],
        ["ann", 7, 7.5, "10:07:00", "srv -v -x1"],
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_columns_are_named_by_a_line_above_by_labels_or_by_what_cells_are(name: str) -> None:
    line, columns, row = NAMED[name]
    head = " ".join(columns) + "\n" if columns[0].isupper() else ""
    opened = open_text(head + "".join(line.format(n=n, m=n % 3, o=" -v" * (n % 3)) + "\n" for n in range(1, 29)))
    # Columns most of whose names say nothing stand beside the lines.
    (table,) = opened.tables_beside() or opened.tables()[:1]
    assert list(table.columns) == columns
    assert list(table.rows[6].values()) == row
    assert opened.tables()[-1].holds_lines


def test_a_log_is_a_table_beside_its_lines() -> None:
    assert [table.name for table in open_text(LOGFMT).tables()] == ["rows", "lines"]


@pytest.mark.parametrize(
    "text",
    [
        "a=1 b=2\na=1 b=2",
        "PATH=/bin\nHOME=/root\nUSER=ana",
        "x = 1 y = 2\nx = 1 y = 2\nx = 1 y = 2",
        "a=1 a=2\na=1 a=2\na=1 a=2",
        'a="\\x" b=2\na="\\x" b=2\na="\\x" b=2',
        "see a=1 b=2\nsee a=1 b=2\nsee a=1 b=2",
        'host - - [17/Feb/2026:13:05:32 +0000] "GET / HTTP/1.1" 200 5',
        'host - - [today] "GET / HTTP/1.1" 200 5\nhost - - [today] "GET / HTTP/1.1" 200 5',
    ],
)
def test_other_lines_are_no_log(text: str) -> None:
    assert not list(read(text).values())


def test_a_log_may_mix_texts_with_quotes_and_without() -> None:
    found = value_in('a="x" b=1\na=x b=1\na="x y" b="2"')
    assert found.value == [{"a": "x", "b": "1"}, {"a": "x", "b": "1"}, {"a": "x y", "b": "2"}]
    assert found.how is not None


@pytest.mark.parametrize(
    ("form", "value", "how"),
    [
        (LOGFMT_FORM, {"a": 1}, "n/"),
        (LOGFMT_FORM, [{}], "n/"),
        (LOGFMT_FORM, [{"a": 1}], "n1/"),
        (LOGFMT_FORM, [{"a": [1]}], "n/"),
        (markup, [{"a": 1}], ""),
    ],
)
def test_what_does_not_fit_a_form_is_not_written(form: Any, value: object, how: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        form.write(value, how, Expansion(1_000))


def test_tables_of_a_page_are_rows_beside_the_page() -> None:
    found = [part for part in read(PAGE).values() if isinstance(part, Value)]
    assert [part.value for part in found] == [
        [
            {"Name": "A & B C", "2024 Q1": 1, "2024 Q2": 2.5},
            {"Name": "A & B C", "2024 Q1": 3, "2024 Q2": 4},
            {"Name": "Sum", "2024 Q1": 4, "2024 Q2": None},
        ],
        [{"c0": "a", "c1": "x"}, {"c0": "b", "c1": "y"}],
    ]
    assert all(part.form in GRIDS and part.how is None for part in found)
    assert PAGE[found[0].start : found[0].end].startswith('<table class="x">')
    assert [table.name for table in open_text(PAGE).tables()] == ["rows", "rows_2", "lines"]


def test_a_table_begins_at_its_tag() -> None:
    text = "<td>x</td> <table><tr><td>a<td>b</td></tr><tr><td>c</td><td>d</tr></table>"
    (found,) = read_tables(text)
    assert text[found.start :] == found.written == text[11:]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<p>text</p>",
        "<table><tr><td>a</td><td>b</td></tr></table>",
        "<table><td>a<td>b<tr><td>a<td>b",
        "<table><tr><td>a</td></tr><tr><td>b</td></tr><br></table></table>",
        "<table><!-- <tr>",
        "</table><tr></tr><td>",
        "<table><script><tr>",
        "Prose about <table> and <tr><td>a<td>b<tr><td>c<td>d</table>",
        "<table>" + "<tr><td colspan=1000>a<td>" * 9 + "</table>",
        "<table>" + "<tr><td rowspan=1000 colspan=900>a" + "<tr>x<td>" * 9 + "</table>",
    ],
)
def test_other_markup_has_no_tables(text: str) -> None:
    assert read_tables(text) == []


def test_repeated_elements_are_rows() -> None:
    found = value_in(XML)
    assert found.form is markup
    assert found.how is None
    assert found.value == {
        "channel": {
            "title": "Orders",
            "item": [
                {"id": 7, "name": "Ana & Ben", "total": 12.5, "tag": ["a", "b", "c"]},
                {"id": 8, "name": "", "total": 100, "note": {"lang": "en", "text": "late"}},
            ],
        }
    }
    assert "channel.item" in [table.name for table in open_text(XML).tables()]


@pytest.mark.parametrize(
    "text",
    [
        "<a><b>1</b><b>2</b></a>",
        "<a><b c='1'/></a>",
        "<a><b c='1'/><b c='2'/>",
        "<ul><li class='x'>1</li><li class='y'>2</li></ul>",
        "<!DOCTYPE a [<!ENTITY e 'x'>]><a><b c='1'/><b c='2'/></a>",
        "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY e 'x'>]><a><b c='1'/><b c='2'/></a>",
        "<thinking> a < b, <b>so</b>",
        "<a>" * 70 + "<b c='1'/><b c='2'/>" + "</a>" * 70,
        "<a>x</a>",
        "<",
    ],
)
def test_other_markup_has_no_records(text: str) -> None:
    assert not list(read(text).values())


@pytest.mark.parametrize(
    "again",
    ["a=1 b=2\n", "a=1 a=2\n", 'a="\n', '- - - [17/Feb/2026:13:05:32 +0000] "', "<table>", "<table><!--", "<t a",
     "<table><tr><td rowspan=1000>a<td rowspan=1000>", "<table><script>", "<a><b c='1'/>"],
)  # fmt: skip
def test_reading_takes_time_in_proportion(again: str) -> None:
    assert grows_in_proportion(lambda size: read(again * size), 300)


CELLS = st.text(st.sampled_from('ab1 ="\\\n\té🎉.-'), max_size=6) | st.sampled_from(["true", "12", "-"])


def written(cell: str) -> str:
    return json.dumps(cell) if set(cell) & set(' ="\\\n\t') else cell


@given(st.lists(st.dictionaries(st.sampled_from(["a", "b.c", "_d"]), CELLS, min_size=1), min_size=3, max_size=6))
def test_whatever_logfmt_holds_is_written_again(rows: list[dict[str, str]]) -> None:
    lines = [" ".join([f"{key}={written(cell)}" for key, cell in row.items()]) for row in rows]
    text = "\n".join(["a=1 b.c=2", *lines])
    found = LOGFMT_FORM.parse(Lines(text.split("\n")), 0)
    assert found is not None
    how = LOGFMT_FORM.describe(text, found.rows())
    if how is not None:
        assert LOGFMT_FORM.write(found.rows(), how, Expansion(len(text))) == text


def test_an_element_that_occurs_once_is_a_row_where_others_occur_often() -> None:
    parts = ["<part sku='a'/>" * (1 + n % 3) + "<line/>" * (n == 2) for n in range(6)]
    orders = "".join(f'<order id="{n}">{inner}</order>' for n, inner in enumerate(parts))
    order, part = open_text(f"<orders>{orders}</orders>").tables()
    assert (len(order.rows), len(part.rows)) == (6, 12)
    assert [row.get("line") for row in order.rows] == [None, None, "", None, None, None]
