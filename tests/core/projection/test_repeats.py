"""Lines that the reader has read are named, not said again (DESIGN 5.14)."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import DecodeError, render
from accp_core.projection import Repeats, Shortened
from accp_core.projection.repeats import Unit
from tests.work import grows_in_proportion

counter = o200k_base()

PAGE = """\
Martial Arts Schools, Studios & Dojos in New York
Home | Dojo Search | New Listings | Dojo Names

There are 120 schools listed in New York, New York.
Kwon Jae-Hwa Tae Kwon-Do, 38 W 13th St, 1.46 miles
East Side Tae Kwon Do, 325 East 65 Street, 1.48 miles"""
SIX = '[as above: 6 lines from "Martial …"]'
ROWS = "\n".join(f"{number} is the number of a row" for number in range(40))


def read(*texts: str) -> Repeats:
    """Return the reader of `texts`."""
    repeats = Repeats()
    for text in texts:
        repeats.add(Shortened(text=text))
    return repeats


def shorten(text: str, *before: str, unit: Unit = "lines") -> str:
    """Return `text` shortened for a reader of `before`; it must come back, and never be larger."""
    short = read(*before).shorten(text, counter=counter, unit=unit)
    assert read(*before).restore(short) == text
    assert counter(short.text) <= counter(text)
    return short.text


INDENTED = "\n".join(f"    print({number}, 'some more words to print')" for number in range(9))
ALIKE = "The beginning of it all, said in other words"
OURS = f"The beginning of it all is this line here\n{ROWS}"


@pytest.mark.parametrize(
    ("text", "before", "shown"),
    [
        (f"Again.\n{PAGE}\n<Image>", [f"Here:\n{PAGE}"], f"Again.\n{SIX}\n<Image>"),
        (f"{PAGE}\nonce more\n{PAGE}", [], f"{PAGE}\nonce more\n{SIX}"),
        (INDENTED, [INDENTED], '[as above: 9 lines from "    print(0,…"]'),
        (PAGE, [PAGE, "Martial law"], '[as above: 6 lines from "Martial Arts Sch…"]'),
        (OURS, [OURS, ALIKE], '[as above: 41 lines from "The beginning of it all is this …"]'),
        (PAGE, [PAGE, PAGE], '[as above: 6 lines from the last "Martial …"]'),
        (PAGE, [PAGE, PAGE.split("\n")[0]], f'{PAGE.split(chr(10))[0]}\n[as above: 5 lines from "Home | D…"]'),
        ("short", ["short"], "short"),
        ("A single line of some words", [PAGE, "A single line of some words"], "A single line of some words"),
        (f"{PAGE}\n{ROWS}", [PAGE, ROWS], f'{SIX}\n[as above: 40 lines from "0 is the…"]'),
    ],
    ids=[
        "new lines",
        "same text",
        "indented",
        "longer quote",
        "longest quote",
        "the last",
        "nearest",
        "short",
        "no gain",
        "two texts",
    ],
)
def test_a_marker_quotes_what_is_unique_above(text: str, before: list[str], shown: str) -> None:
    assert shorten(text, *before) == shown


def preview_of(key: str) -> str:
    first, *lines = PAGE.split("\n")
    head = f"[preview of 900 lines; the whole is intact: accp_fetch $cold.{key}]"
    return "\n".join([head, "[…lines 1-15]", first, *lines, "[…19-410]", *lines])


def test_in_a_preview_and_in_json_nothing_but_the_whole_is_a_marker() -> None:
    first, other, fresh = preview_of("1111"), preview_of("2222"), '{\n "pages": 5,\n "text": "Martial Arts Schools"\n}'
    assert shorten(first, first, unit="whole").startswith("[as above: ")
    assert shorten(other, first, unit="whole") == other
    assert "[…lines 1-15]\n[as above: 6 lines from" in shorten(other, first), "equal gaps may hide other lines"
    assert shorten(f"{fresh}\n", fresh, unit="whole") == f"{fresh}\n"


def test_in_a_view_markers_stand_for_whole_rows_or_lines_within_one_cell() -> None:
    cell = f'"""\n{PAGE}\n"""'
    table = f"[2] id note\nCRM-0001 {cell}\nCRM-0002 {cell}"
    marked = '[as above: 8 lines from "CRM-0001…"]\nCRM-0002 """\n[as above: 6 lines from "Martial …"]\n"""'
    shown = shorten(table, f"CRM-0001 {cell}\nCRM-0003 x", unit="rows")
    assert shown == f"[2] id note\n{marked}"


def test_a_marker_is_never_named_nor_what_a_call_says() -> None:
    repeats = read(PAGE)
    first = repeats.shorten(f"one more line of text\n{PAGE}", counter=counter)
    repeats.add(first)
    assert repeats.shorten(f"one more line of text\n{PAGE}", counter=counter) == first
    repeats.hide(PAGE)
    assert repeats.shorten(PAGE, counter=counter) == Shortened(text=PAGE)


def test_a_text_that_looks_like_a_marker_is_text() -> None:
    forged = '[as above: 2 lines from "Martial Arts Sch…"]'
    short = read(PAGE).shorten(f"{forged}\n{PAGE}", counter=counter)
    assert (short.text, short.markers) == (f"{forged}\n{SIX}", frozenset({1}))


@pytest.mark.parametrize(
    "marker",
    [
        "no marker",
        '[as above: 1 line from "never read this…"]',
        '[as above: 99 lines from "Martial Arts Sch…"]',
        '[as above: 0 lines from "no words…"]',
    ],
)
def test_a_marker_for_what_was_not_read_is_refused(marker: str) -> None:
    with pytest.raises(DecodeError, match="expected a repeat marker for something that was read") as refusal:
        read(PAGE).restore(Shortened(text=marker, markers=frozenset({0})))
    assert refusal.value.code == "E1001" and repr(marker) in str(refusal.value)


def test_the_share_of_known_lines_is_that_of_whole_lines() -> None:
    repeats = read("the first line that was read\nthe second line that was read")
    assert repeats.known_share("the first line that was read\nthe second line, another one") == pytest.approx(
        0.5, abs=0.03
    )
    assert repeats.known_share("\n") == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        lambda size: "the same line of some length\n" * size,
        lambda size: ("a line that is long enough\n" + "\n" * 300) * (size // 64),
        lambda size: "\n".join(f"line number {n % 97} of a text" for n in range(size)),
        lambda size: " " * 20 * size,
        lambda size: "a," * 4 * size,
        lambda size: ('x """\n' + "a line in a cell\n" * 30) * (size // 16),
    ],
    ids=["one line", "empty lines", "97 lines", "blanks", "commas", "fences"],
)
def test_hostile_repetition_takes_linear_time(build: Callable[[int], str]) -> None:
    def run(size: int) -> None:
        text = build(size)
        for unit in ("lines", "rows", "whole"):
            read(text, text[:1000], text).shorten(text + "x" + text, counter=len, unit=unit)  # type: ignore[arg-type]

    assert grows_in_proportion(run, 4_000)


def change(kind: str, turn: int, rows: list[dict[str, Any]]) -> None:
    """Do what happens to a table between two reads of it."""
    row = rows[turn * 7 % len(rows)]
    row["total"] += 1.5
    if kind == "new":
        rows.insert(turn % 2 * len(rows), {**row, "id": 2000 + turn})
    if kind == "gone":
        rows.remove(row)
    if kind == "sorted":
        rows.sort(key=lambda each: -float(each["total"]))


IN: Final[dict[str, Callable[[list[dict[str, Any]], int], Any]]] = {
    "key last": lambda rows, _: [{"total": row["total"], "status": row["status"], "id": row["id"]} for row in rows],
    "between other values": lambda rows, turn: {"next": None, "at": f"10:{turn}", "orders": rows, "page": {"n": turn}},
    "two tables": lambda rows, turn: {"orders": rows[:25], "archived": rows[25:], "at": turn},
    "map": lambda rows, _: {str(row["id"]): {**row, "id": 0} for row in rows},
    "lists in rows": lambda rows, _: [
        {**row, "items": [{"sku": f"a, {row['id']}", "n": row["total"]}]} for row in rows
    ],
    "texts of lines": lambda rows, _: [{**row, "note": f"the {row['id']}\nis\n{row['total']}"} for row in rows],
    "pages": lambda rows, turn: rows[turn % 2 * 25 :][:25],
}


@pytest.mark.parametrize(
    ("kind", "tokens"),
    [("plain", 2_500), ("new", 3_900), ("gone", 3_000), ("sorted", 3_700), *((kind, 4_800) for kind in IN)],
)
def test_thirty_reads_of_a_table_are_it_and_its_changes_which_restore_exactly(kind: str, tokens: int) -> None:
    rows = [
        {"id": 1013 + n, "customer": f"Customer {n * 3 % 40}", "status": "open", "total": n + 20.5} for n in range(50)
    ]
    for row in rows[::3]:
        row["status"] = "paid"
    repeats, reader, sums = Repeats(), Repeats(), [0, 0, 0]
    for turn in range(30):
        if turn:
            change(kind, turn, rows)
        polled = IN.get(kind, lambda rows, _: rows)(rows, turn)
        view = render(polled, counter=counter)
        shown = repeats.shorten(view, counter=counter, unit="rows")
        repeats.add(shown)
        assert reader.restore(shown) == view
        sums = [a + counter(b) for a, b in zip(sums, (json.dumps(polled), view, shown.text), strict=True)]
    assert sums[2] <= tokens < sums[1] < sums[0]


def test_changes_say_which_rows_changed_by_the_key_and_quote_what_is_unique() -> None:
    one, other = ("\n".join(["[9] id name", *(f"{n}0{m} Ana {n * m} Lima" for m in range(9))]) for n in (1, 2))
    later = one.replace("105 Ana 5 Lima\n", "").replace("name", "name\n110 Zoe Nice").replace("103 Ana", "103 Ben")
    head = '[as above: the last "100 Ana …" without 105, but for these by id:]'
    assert shorten(later, one, other, unit="rows") == f"{head}\n[9] id name\n110 Zoe Nice\n103 Ben 3 Lima"
    assert "the last" not in shorten(later, one, other), "lines of a text are no rows"
    assert "but for" not in shorten(one.replace("102 Ana 2", "101 Ana 1"), one, unit="rows"), "two rows have one key"
