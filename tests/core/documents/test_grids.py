"""Grids of text: what is one and what is not, the types of the cells, and the same bytes again."""

from functools import partial
from typing import Any

import pytest

from accp_core.documents import Value, read
from accp_core.documents.grids import GRIDS
from accp_core.packing.expansion import Expansion, ExpansionError
from accp_core.packing.values import SpelledFloat
from accp_core.tables import open_text
from accp_core.view import render_text
from tests.core.documents.grid_texts import FORMS, JSON, PEOPLE
from tests.work import count_calls


def grids(source: str) -> list[Value]:
    return [part for part in read(source).values() if isinstance(part, Value) and part.form in GRIDS]


def rows_of(source: str) -> Any:
    (grid,) = grids(source)
    return grid.value


NO_GRIDS = {
    "prose with commas": "Dear Ann, thank you\nfor the letter, the book,\nand the flowers, too.\n",
    "prose without blanks": "One,two and three\nwere there,four was not.\n",
    "sentences": "He came,she left,they stayed.\nWe saw,they heard,nobody spoke.\nI sat,you stood,it rained.\n",
    "a list": "Apples\nPears\nPlums\nFigs\n",
    "a Markdown list": "- apples, pears\n- plums, figs\n- nuts, dates\n",
    "pairs of names": "Smith,John\nDoe,Jane\n",
    "imports": "import os,sys\nimport re,json\nfrom a import b,c\n",
    "Python": "def f(a,b):\n    return g(a,b)\nx,y = f(1,2),3\nprint(x,y)\n",
    "C": "int a;\nint b;\nfor (i = 0; i < 3; i++)\n  a += b;\nreturn a;\n",
    "statements": "select 1;\nselect 2;\nselect 3;\nselect 4;\n",
    "tabs in code": "if x:\n\treturn 1\n\tfor y in z:\n\t\tprint(y)\n",
    "tabs before code": "\tif x:\n\t\treturn 1\n\treturn 2\n",
    "numbered lines": "     1\tdef f():\n     2\t    pass\n     3\t\n",
    "a log": "2026-01-01 10:00:00,123 INFO start\n2026-01-01 10:00:01,456 WARN slow\n"
    "2026-01-01 10:00:02,789 INFO end\n",
    "a log with commas": "10:00:00,1 a,b\n10:00:01,2 c\n10:00:02,3 d,e,f\n10:00:03,4 g\n",
    "a heading and a line": "Title\n-----\nText | more\n",
    "a rule": "one\n---\ntwo\n",
    "a box of one cell": "+------+\n| text |\n+------+\n",
    "a class": "+-------+\n| Order |\n+-------+\n| id    |\n| lines |\n+-------+\n",
    "boxes with an arrow": "+-----+     +-----+\n| foo |---->| bar |\n+-----+     +-----+\n",
    "a box without a rule": "+----+----+\n| a  | b  |\n| c  | d  |\n",
    "a box of other columns": "+----+----+\n| a  | b  |\n+----+\n| c  |\n+----+\n",
    "a rule below prose": "a | b\n-----\nc | d\n",
    "rules of other columns": "| a | b |\n|---|\n| c | d |\n",
    "a Markdown header alone": "| a | b |\n|---|---|\n",
    "a psql header alone": " a | b \n---+---\n(0 rows)\n",
    "a heading in capitals": "USAGE  OPTIONS  FILES\nsee the manual of the program for all of them\n",
    "words in capitals": "SELECT A FROM B\nWHERE C = 1\n",
    "words apart": "The quick  brown  fox\njumps over  the  dog\n",
    "capitals over blanks": "A  B  C\n\nnothing\n",
    "two columns in capitals": "NAME   AGE\nann    3\n",
    "columns that are not below": "NAME   AGE   TOWN\nann b c 3   Rome\n x  y    z   w\n",
    "a line": "a,b,c\n",
    "numbers with commas": "1,2\n3,4\n5,6\n",
    "a long header": ",".join("a" * 70_000) + "\n" + ",".join("b" * 70_000) + "\n",
    "a long line in capitals": "A  B  C" * 1_000 + "\n" + "A  B  C" * 1_000 + "\n",
    "an open quote": 'name,note\nann,"open\nbo,x\n',
    "a quote in a word": 'a,b,c\n"x"y,1,2\n',
    "names of cells": "a,b\na,x\nb,y\nb,x\nc,y\na,y\nb,y\nc,x\n",
    "no names": ",,a\n,,1\n",
    "prose with a year": "Copyright: 2005, Red Hat, Inc.\n  2002, 2003, CodeFactory AB\n",
    "numbers of a page": "2002, 2003, one\n2004, 2005, two\n",
    "a sentence in capitals": "SOFTWARE.  IN NO EVENT SHALL WE BE LIABLE\nDAMAGES IN CONNECTION WITH OR ARISING FROM\n",
    "assembler": "  mov   eax  1\n  push  rbp  2\n",
    "words over words": "one   two   three\nfour  five  six\nseven ate   nine\n",
    "a longer cell above another row": "Host       Port Up\nalpha        80 yes\nbeta        443 no\n"
    "quite-a-long-name 8080 yes\ngamma        22 no\n",
    "more longer cells": "NAME   AGE   TOWN\nabcdefghij   1   Rome\nabcdefghik   2   Oslo\nc      3     Bern\n",
    "a longer cell beside a missing one": "NAME   AGE   TOWN\nabcdefghij   1\nann    1     Rome\nbo     2     Oslo\n"
    "c      3     Bern\n",
}


@pytest.mark.parametrize("source", NO_GRIDS.values(), ids=NO_GRIDS)
def test_what_only_looks_like_a_grid_is_none(source: str) -> None:
    assert grids(source) == []
    assert grids(f"Before.\n\n{source}\nBehind.\n") == []


def lowered(rows: Any) -> Any:
    return [{name.lower(): cell for name, cell in row.items()} for row in rows]


@pytest.mark.parametrize("source", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("around", ["{}", "Rows of today:\n{}"], ids=["whole", "title"])
def test_a_grid_is_read_with_the_types_of_its_columns(source: str, around: str) -> None:
    rows = lowered(rows_of(around.format(source)))
    assert [list(row.items()) for row in rows] == [list(row.items()) for row in PEOPLE]
    assert repr(rows) == repr(PEOPLE)


def written_again(grid: Value) -> str:
    assert grid.how is not None
    assert not set(" :<") & set(grid.how)
    with pytest.raises(ExpansionError):
        grid.form.write(grid.value, grid.how, Expansion(len(grid.written) - 1))
    return grid.form.write(grid.value, grid.how, Expansion(len(grid.written)))


@pytest.mark.parametrize("source", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("around", ["{}", "Before.\n\n{}\nBehind.\n"], ids=["whole", "inside"])
def test_a_grid_is_written_again_byte_for_byte(source: str, around: str) -> None:
    text = around.format(source)
    (grid,) = grids(text)
    if source == FORMS["a quoted table"]:  # it has tables and no view
        assert grid.how is None
        return
    assert written_again(grid) == grid.written == text[grid.start : grid.end]
    assert grid.written.rstrip() == source.rstrip()
    view = render_text(text, counter=len)
    assert view.restore() == text
    assert view.tokens_after <= view.tokens_before


REFUSED = {
    "c": ["", "x/", "n/", "nx2/", "nc/", "nc9/", "ncx/", "nc2/y;0.0", "nc2/p;900.0"],
    "r": ["n/", "nm||;;--;/", "nm||;--|--/", "nx||;;--|--;/", "nm|;;--|--;/", "nm||;;---;/"],
    "w": ["n-/", "n--s--s--/"],
    "h": ["n/"],
    "f": ["n2/", "nx/"],
}  # fmt: skip


@pytest.mark.parametrize(("code", "how"), [(code, how) for code in REFUSED for how in REFUSED[code]])
def test_a_layout_that_fits_no_grid_is_refused(code: str, how: str) -> None:
    (form,) = (each for each in GRIDS if code == each.CODE)
    with pytest.raises(ValueError, match=r"^expected"):
        form.write([{"a": 1, "b": 2}], how, Expansion(1000))


# What a source writes, the rows in it, and whether it can be written again.
SPECIAL: dict[str, tuple[str, Any, bool]] = {
    "a header of code": ("a,b,c\na,1,2\nb,3,4\n", [{"a": "a", "b": 1, "c": 2}, {"a": "b", "b": 3, "c": 4}], True),
    "quoted line breaks": (
        'id;note\n1;"one\ntwo;three"\n2;"say ""yes"""\n3;\n',
        [{"id": 1, "note": "one\ntwo;three"}, {"id": 2, "note": 'say "yes"'}, {"id": 3, "note": None}],
        True,
    ),
    "no header": (
        "1,Ann,2026-01-02\n2,Bo,2026-01-03\n",
        [{"c0": 1, "c1": "Ann", "c2": "2026-01-02"}, {"c0": 2, "c1": "Bo", "c2": "2026-01-03"}],
        True,
    ),
    "names that are missing or there again": (
        ",Name,Name,name_2\n1,a,b,c\n2,d,e,f\n",
        [{"c0": 1, "Name": "a", "Name_2": "b", "name_2": "c"}, {"c0": 2, "Name": "d", "Name_2": "e", "name_2": "f"}],
        True,
    ),
    "a name that is taken": ("a\ta\ta_2\n1\t2\t3\n", [{"a": 1, "a_3": 2, "a_2": 3}], True),
    "uneven rows": (
        "a,b,c\n" + "1,2,3\n" * 6 + "1,2\n1,2,3,4\n" + "1,2,3\n" * 10,
        [{"a": 1, "b": 2, "c": 3}] * 6
        + [{"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3, "c3": 4}]
        + [{"a": 1, "b": 2, "c": 3}] * 10,
        True,
    ),
    "a header that is longer than any row": (
        "| a | b | c |\n|---|---|---|\n| 1 | x |\n| 2 | y |\n",
        [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
        False,
    ),
    "numbers in doubt": (
        "a,b,c,d,e\n1e5,01,1.,+1,1\n2e5,02,2.,+2,N/A\n",
        [
            {"a": "1e5", "b": "01", "c": "1.", "d": "+1", "e": "1"},
            {"a": "2e5", "b": "02", "c": "2.", "d": "+2", "e": "N/A"},
        ],
        True,
    ),
    "numbers that no float holds": (
        "a,b,c\n1e+999,-0,1.5e-3\n1e+9,-1,2\n",
        [{"a": "1e+999", "b": SpelledFloat("-0"), "c": SpelledFloat("1.5e-3")}, {"a": "1e+9", "b": -1, "c": 2}],
        True,
    ),
    "an index without a name": (
        "   id     name\n0   1  Ann Lee\n1   2       Bo\n",
        [{"c0": 0, "id": 1, "name": "Ann Lee"}, {"c0": 1, "id": 2, "name": "Bo"}],
        True,
    ),
    "a quote in a cell without quotes": (
        'size,n\n5" disk,1\n8" disk,2\n',
        [{"size": '5" disk', "n": 1}, {"size": '8" disk', "n": 2}],
        False,
    ),
    "booleans of several spellings": (
        "a,b,n\ntrue,True,1\nfalse,False,2\n",
        [{"a": True, "b": True, "n": 1}, {"a": False, "b": False, "n": 2}],
        True,
    ),
    "a cell of several lines in psql": (
        " id |  note  | n \n----+--------+---\n  1 | left  +| 1\n    | with a+| \n    | friend | \n  2 | x      | 2\n",
        [{"id": 1, "note": "left\nwith a\nfriend", "n": 1}, {"id": 2, "note": "x", "n": 2}],
        True,
    ),
    "a last cell of several lines in psql": (
        " id |  note  \n----+--------\n  1 | left  +\n    | with\n  2 | x\n",
        [{"id": 1, "note": "left\nwith"}, {"id": 2, "note": "x"}],
        True,
    ),
    "blanks behind some lines": (
        "NAME   AGE   TOWN\nann    3     Rome \nbo     4     Oslo\n",
        [{"NAME": "ann", "AGE": 3, "TOWN": "Rome"}, {"NAME": "bo", "AGE": 4, "TOWN": "Oslo"}],
        True,
    ),
    "wide signs": (
        "+------+------+\n| name | n    |\n+------+------+\n| 日本 |    1 |\n| ä    | NULL |\n+------+------+\n",
        [{"name": "日本", "n": 1}, {"name": "ä", "n": None}],
        True,
    ),
    "a sign within a cell": (
        " a     | b \n-------+---\n x | y | 1\n z     | 2\n",
        [{"a": "x | y", "b": 1}, {"a": "z", "b": 2}],
        True,
    ),
    "rules between rows": (
        "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n| 3 | 4 |\n+---+---+\n",
        [{"a": 1, "b": 2}, {"a": 3, "b": 4}],
        False,
    ),
    "a box that was cut off": ("+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n| 3 |", [{"a": 1, "b": 2}], True),
    "signs at other places": (" a | b \n---+---\n 1 | 2\nabcd|e|f\n", [{"a": 1, "b": 2}], True),
    "types below the names": (
        "┌───┬─────┐\n│ a │  b  │\n│int│ int │\n├───┼─────┤\n│ 1 │   2 │\n└───┴─────┘\n",
        [{"a": 1, "b": 2}],
        False,
    ),
    "Markdown rows of other lengths": (
        "| a | b | c |\n|---|:-:|--:|\n| 1 | 2 |\n| 3 | 4 | 5 | 6 |\n",
        [{"a": 1, "b": 2}, {"a": 3, "b": 4, "c": 5, "c3": 6}],
        False,
    ),
    "names of two words": (
        "CONTAINER ID   CREATED AT   PORTS   NAMES\n610c9c6399ba   yesterday            web\n",
        [{"CONTAINER ID": "610c9c6399ba", "CREATED AT": "yesterday", "PORTS": None, "NAMES": "web"}],
        True,
    ),
    "df": (
        "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1       100G   40G   60G  40% /\n"
        "tmpfs           7.8G     0  7.8G   0% /dev/shm\n",
        [
            {
                "Filesystem": "/dev/sda1",
                "Size": "100G",
                "Used": "40G",
                "Avail": "60G",
                "Use%": "40%",
                "Mounted on": "/",
            },
            {
                "Filesystem": "tmpfs",
                "Size": "7.8G",
                "Used": "0",
                "Avail": "7.8G",
                "Use%": "0%",
                "Mounted on": "/dev/shm",
            },
        ],
        True,
    ),
    "columns and how many": (
        "NAME   AGE   TOWN\nann    3     Rome\nbo     4     Oslo\n2 rows in all of it\n",
        [{"NAME": "ann", "AGE": 3, "TOWN": "Rome"}, {"NAME": "bo", "AGE": 4, "TOWN": "Oslo"}],
        True,
    ),
}


@pytest.mark.parametrize(("source", "rows", "is_written"), SPECIAL.values(), ids=SPECIAL)
def test_what_is_special_about_a_grid_is_kept(source: str, rows: Any, is_written: bool) -> None:
    (grid,) = grids(source)
    assert repr(grid.value) == repr(rows)
    if is_written:
        assert written_again(grid) == grid.written
    else:
        assert grid.how is None
        assert render_text(source, counter=len).layout == "as-is"


def test_a_cell_that_is_none_is_not_written() -> None:
    (grid,) = grids("a,b\n1,2\n")
    assert grid.how is not None
    for value in ([], [1], {"a": 1}, [{"a": 1, "b": 2}, {"b": 1, "a": 2}], [{"a": [1], "b": 2}]):
        with pytest.raises(ValueError, match=r"^expected"):
            grid.form.write(value, grid.how, Expansion(100))


def test_each_grid_of_a_text_is_a_table_beside_its_lines() -> None:
    source = f"$ psql\n{FORMS['psql']}(3 rows)\n\n## Others\n\n{FORMS['Markdown']}\nAnd JSON:\n{JSON}\n"
    opened = open_text(source)
    assert [(table.name, len(table.rows)) for table in opened.tables()] == [
        ("rows", 6),
        ("rows_2", 3),
        ("lines", source.count("\n")),
    ]
    assert {row["section"] for row in opened.tables()[0].rows} == {"$ psql", "## Others"}
    assert repr(opened.value) == repr([PEOPLE] * 3)
    assert opened.prose == source
    view = render_text(source, counter=len)
    assert view.restore() == source
    assert view.text.startswith("$ psql\n[3] id ")
    assert "\n(3 rows)\n\n## Others\n\n[3] id " in view.text


def test_a_grid_alone_has_its_lines_too() -> None:
    tables = open_text(FORMS["CSV"]).tables()
    assert [(table.name, len(table.rows)) for table in tables] == [("rows", 3), ("lines", 4)]
    assert tables[1].rows[2]["text"] == '2,Bo,12.25,false,123,"a, b"'


def test_a_byte_order_mark_is_no_part_of_a_name() -> None:
    (grid,) = grids(f"\ufeff{FORMS['CSV']}")
    assert (grid.start, next(iter(grid.value[0]))) == (1, "id")  # type: ignore[index]


def test_a_row_that_was_cut_off_stays_text() -> None:
    (grid,) = grids("a,b,c\n1,2,3\n4,5,6\n7,8")
    assert len(grid.value) == 2  # type: ignore[arg-type]


SHAPES = {
    "commas": "a,b\n",
    "commas in paragraphs": "a,b\n\n",
    "open quotes": '"a,b\n\n',
    "quotes": '"a,""\n\n',
    "rules": "| a |\n|---|\n",
    "borders": "+--+--+\n| a | b |\n",
    "psql rules": " a | b\n---+---\n",
    "capitals": "A  B  C\n",
    "capitals in paragraphs": "A  B  C\nx\n\n",
    "rules of dashes": "a b\n--- ---\n",
    "pipes": "|" * 50 + "\n",
    "dashes": "-" * 50 + "\n",
    "signs of rules": "|-" * 25 + "\n",
    "spelled rules": "|:- " * 20 + "\n",
    "blanks": " \n",
    "tabs": "\t\t\n",
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_work_grows_with_the_length_of_the_text(shape: str) -> None:
    calls = [count_calls(partial(grids, "x\n" + shape * (size // len(shape)))) for size in (2_000, 8_000)]
    assert calls[1] < 6 * calls[0] + 1_000


PODS = "NAME    READY   RESTARTS\n" + "".join(f"web-{n}   1/1     {n}\n" for n in range(6))
NODES = "NAME    CPU     AGE\n" + "".join(f"node-{n}  1{n}      {n}d\n" for n in range(6))
TEXTS = "NAME    STATE     OWNER\n" + "".join(f"n{n}      up        ann\n" for n in range(6))
ORDERS = "id,name,total\n" + "".join(f"{n},n{n},{n * 3}\n" for n in range(6))
STOCK = "sku,city,stock\n" + "".join(f"{n},c{n},{n}\n" for n in range(6))
WIDER = "sku,city,stock,hall\n" + "".join(f"{n},c{n},{n},h\n" for n in range(6))
FIRST = "| a | b |\n|---|---|\n" + "".join(f"| {n} | x |\n" for n in range(6))
SECOND = "| c | d |\n|---|---|\n" + "".join(f"| {n} | y |\n" for n in range(6))
PSQL = " a | b \n---+---\n" + "".join(f" {n} | x\n" for n in range(6))


@pytest.mark.parametrize(
    ("source", "outside"),
    [
        (PODS + NODES, ""),
        (TEXTS + TEXTS.replace("OWNER", "PLACE"), ""),
        (f"=== pods ===\n{PODS}=== nodes ===\n{NODES}", "lines 1, 9"),
        (ORDERS + STOCK, ""),
        (ORDERS + WIDER, ""),
        (FIRST + SECOND, ""),
        (PSQL + PSQL.replace("a", "c"), ""),
    ],
)
def test_a_grid_ends_where_another_one_begins(source: str, outside: str) -> None:
    opened = open_text(source)
    assert [len(table.rows) for table in opened.tables()[:-1]] == [6, 6]
    assert opened.outside_note.partition(" are")[0] == outside


@pytest.mark.parametrize("between", ["# a comment\n", "\n", '1,"open\n', "done in 3s, 12 rows, ok\n"])
def test_lines_that_end_a_grid_and_those_behind_are_named(between: str) -> None:
    source = ORDERS + between + "".join(f"n{n},n{n},x\n" for n in range(9))
    opened = open_text(source)
    assert len(opened.tables()[0].rows) == 6
    assert opened.outside_note in (
        "lines 8-17 are in no table; search for words there",
        "lines 9-17 are in no table; search for words there",
    )


def test_one_row_with_other_words_in_it_is_a_row() -> None:
    source = ORDERS + "6,n6,N/A\n7,n7,unknown\n8,,\n"
    assert len(open_text(source).tables()[0].rows) == 9
