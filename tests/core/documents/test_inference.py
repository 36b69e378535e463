"""Tables in texts that no grammar reads: by rules, with the lines that are in no row named."""

import argparse
import inspect
import textwrap
from collections.abc import Callable

import pytest

from accp_core.documents.grids.cells import text_width
from accp_core.documents.inference import infer_tables
from accp_core.tables import open_text
from accp_core.view import render_text

R = range(1, 13)
REPORT = "  No    Name        Amount\n  ----- ----------- --------\n"
TEXTS = {
    "pages, a title and sums": (
        "LIST OF ENTRIES\n\n"
        + REPORT
        + "".join(f"  {n:<5} {'n' + str(n * 7):<11} {n * 13.5:>8.2f}\n" for n in R)
        + "        TOTAL        1053.00\n",
        ("No", "Name", "Amount"),
        [1, 17],
    ),
    "a list between ; with a sum": (
        "Sales;;;\n"
        + "id;name;city;amount\n"
        + "".join(f"{n};n{n * 7};Oslo;{n},50\n" for n in R)
        + ";;Sum;84,00\n* provisional\n",
        ("id", "name", "city", "amount"),
        [1, 15, 16],
    ),
    "sums beside a share": (
        "disk        size    used  use%\n"
        + "".join(f"{'/dev/d' + str(n):<10}{n * 90001:>8}{n * 7013:>8}{n + 40:>5}%\n" for n in R)
        + f"{'total':<10}{78 * 90001:>8}{78 * 7013:>8}{46:>5}%\n",
        ("disk", "size", "used", "use%"),
        [14],
    ),
    "sums of parts": (
        "region;shop;sales\n"
        + "".join(f"{r};{r}1;1.5{k}\n{r};{r}2;2.00\n{r} total;;3.5{k}\n" for k, r in enumerate("ABCDEF"))
        + "all;;21.15\n",
        ("region", "shop", "sales"),
        [4, 7, 10, 13, 16, 19, 20],
    ),
    "\\G of MySQL": (
        "".join(f"**** {n}. row ****\n   id: {n}\nState: {'init' * (n % 2)}\n Info: NULL\n" for n in R) + "12 rows\n",
        ("head", "id", "State", "Info"),
        [49],
    ),
    "a ruled table within lines": (
        "Name:  node1\nPods:  (12 in all)\n  Name       CPU   Age\n  ----       ---   ---\n"
        + "".join(f"  {'n' + str(n):<11}{n}m    {n}d\n" for n in R)
        + "Limits:  none\nEvents:  none\n",
        ("Name", "CPU", "Age"),
        [1, 2, 17, 18],
    ),
    "a calendar": (
        "BEGIN:VCALENDAR\r\n"
        + "".join(f"BEGIN:VEVENT\r\nUID:{n}@x\r\nSUMMARY:n{n}\r\nEND:VEVENT\r\n" for n in R)
        + "END:VCALENDAR\r\n",
        ("BEGIN", "UID", "SUMMARY", "END"),
        [1],
    ),
    "sections of settings": (
        "".join(f"[order.{n}]\nid = {n}\nname = n{n * 7}\nday = 2026-03-{n:02}\n\n" for n in R),
        ("head", "id", "name", "day"),
        [],
    ),
    "headings with a name above pairs": (
        "".join(
            f"### {'Ann' * (n % 2)}Bo C{n} (ID: p-{n})\nDOB: 1945-04-{n:02} | Email: a{n}@x.org | Phone: 00{n}\n\n"
            for n in R
        ),
        ("head", "head1", "ID", "DOB", "Email", "Phone"),
        [],
    ),
    "labels with braces": (
        "".join(f'x_total{{name="n{n}",city="Oslo"}} {n}\n' for n in R),
        ("c0", "c1", "name", "city"),
        [],
    ),
    "a header that stands again": (
        "".join(
            f"Disk {disk}\n  Device Boot  Blocks\n"
            + "".join(f"/dev/s{disk}{n} {'*' * n:<5}{n * 77:>7}\n" for n in range(6))
            + "\n"
            for disk in range(2)
        ),
        ("Device", "Boot", "Blocks", "section"),
        [1, 10],
    ),
    "colours": (
        "NAME      STATE     AGE\n" + "".join(f"pod-{n:<6}\x1b[32mRunning\x1b[0m   {n}d\n" for n in R),
        ("NAME", "STATE", "AGE"),
        [],
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_table_is_found_and_other_lines_are_named(name: str) -> None:
    text, columns, outside = TEXTS[name]
    found = infer_tables(text)
    assert [len(table.rows) for table in found.tables] == [12]
    assert tuple(found.tables[0].columns[: len(columns)]) == columns
    assert [number for number in found.outside if number not in outside] == []
    opened = open_text(text)
    tables = [*opened.tables(), *opened.tables_beside()]
    assert 12 in [len(table.rows) for table in tables if not table.holds_lines]
    assert all(str(number) in opened.outside_note for number in outside[:1])
    assert render_text(text, counter=len).restore() == text


@pytest.mark.parametrize(
    "text",
    [
        "Dear Ann,\nthank you for the letter, the book,\nand the flowers.\nYours,\nBo\n",
        "def f(a, b):\n    x = g(a, b)\n    return x\n\n\ndef g(a, b):\n    return a + b\n" * 9,
        "- apples: red\n- pears: green\n  and soft\n- plums\n",
        inspect.getsource(argparse) + inspect.getsource(textwrap),
        "".join(f"- id: {n}\n  name: n{n}\n" for n in R) + "- done\n",
        (argparse.__doc__ or "") * 2,
        "",
    ],
)
def test_prose_and_code_have_no_tables(text: str) -> None:
    assert infer_tables(text).tables == ()


@pytest.mark.parametrize("measure", [len, text_width])
def test_columns_are_measured_in_characters_or_in_places_of_a_screen(measure: Callable[[str], int]) -> None:
    rows = [("NAME", "TEAM"), ("田中太郎", "営業 部"), ("佐藤", "開発 二課"), ("Ann Lee", "Sales"), ("李", "x")]
    lines = (name + " " * (9 - measure(name)) + team + " " * (10 - measure(team)) + "7" for name, team in rows)
    rows_of_text = open_text("\n".join(lines).replace("7", "AGE", 1)).tables()[0].rows
    assert [(row["NAME"], row["TEAM"], row["AGE"]) for row in rows_of_text] == [(*row, 7) for row in rows[1:]]


def test_each_of_many_records_is_a_row_and_keys_that_one_has_are_text() -> None:
    rare = "".join(f"{key}: some words\n" for key in ("Zulu", "Alpha", "Mike", "Bravo", "Kilo", "Lima"))
    (table,) = infer_tables("".join(f"Name: n{n}\nSize: {n}\n{rare * (n == 3)}\n" for n in range(99))).tables
    assert [row["Name"] for row in table.rows] == [f"n{n}" for n in range(99)]
    assert table.rows[3]["text"] == rare.rstrip()


def test_what_was_inferred_says_how_and_keeps_the_lines() -> None:
    text, _, _ = TEXTS["pages, a title and sums"]
    opened = open_text(text)
    assert opened.outside_note == "rows read as columns by alignment; lines 1, 17 are in no row; search for words there"
    assert [table.name for table in opened.tables()] == ["rows", "lines"]


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("id,name,city\n", "{n},n{n},Oslo\n"),
        ("| id | name |\n|---|---|\n", "| {n} | n{n} |\n"),
        ("NAME      STATE     AGE\n", "pod-{n:<6}Running   {n}d\n"),
        ("", "id: {n}\nname: n{n}\nday: 2026-03-{n:02}\n\n"),
    ],
)
def test_rows_on_both_sides_of_an_omission_are_of_one_table(head: str, row: str) -> None:
    rows = [row.format(n=n) for n in R]
    text = "".join([head, *rows[:6], "... [40 lines omitted] ...\n", *rows[6:]])
    opened = open_text(text)
    assert [len(table.rows) for table in opened.tables()] == [12, text.count("\n")]
    number = text[: text.index("...")].count("\n") + 1
    assert opened.cut
    assert opened.outside == ((number, number),)
