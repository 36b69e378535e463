"""Properties of grids of text: whatever they hold, a view restores them, and what is read of one is written again."""

import csv
import io
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from accp_core import DecodeError, render_text
from accp_core.documents import Value, read
from accp_core.documents.grids import GRIDS
from accp_core.packing.expansion import Expansion
from accp_core.view.layout import restore
from tests.core.documents.grid_texts import FORMS
from tests.harness.fuzz.view import count

cells = st.one_of(
    st.sampled_from(
        ["", " ", "a", "1", "-0", "007", "1.10", "true", "True", "NULL", "a|b", "\\|", "日本", "+", "x +", '"']
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
tables = st.integers(2, 5).flatmap(
    lambda size: st.lists(st.lists(cells, min_size=size, max_size=size), min_size=2, max_size=6)
)
pieces = st.lists(
    st.sampled_from(
        ["a", "1", "B", " ", "  ", ",", ";", "\t", "|", " | ", "+", "-", "---", "-+-", ":-", "\\", '"', "\n", "\n",
         "\r\n", "┌", "─", "┬", "┐", "│", "├", "┼", "┤", "└", "┴", "┘", "A  B  C\n", "true", "NULL"]
    ),
    max_size=60,
).map("".join)  # fmt: skip
edits = st.tuples(st.sampled_from(list(FORMS.values())), st.integers(0, 400), st.integers(0, 4), st.text(max_size=3))


def edited(parts: tuple[str, int, int, str]) -> str:
    source, at, removed, added = parts
    return source[:at] + added + source[at + removed :]


def check(source: str) -> None:
    """Check that a text comes back from its view, and each grid in it from its value."""
    view = render_text(source, counter=count)
    assert view.restore() == source
    assert view.tokens_after <= view.tokens_before
    for part in read(source).values():
        if isinstance(part, Value) and part.form in GRIDS and part.how is not None:
            assert part.form.write(part.value, part.how, Expansion(len(part.written))) == part.written


@given(pieces)
def test_a_text_of_the_signs_of_grids_comes_back(source: str) -> None:
    check(source)


@given(edits.map(edited))
def test_a_grid_with_a_change_anywhere_comes_back(source: str) -> None:
    check(source)


@given(tables, st.sampled_from([",", ";", "\t"]), st.sampled_from(["\n", "\r\n"]), st.sampled_from([0, 1, 2]))
def test_what_csv_writes_comes_back(table: list[list[str]], sign: str, end: str, quoting: Any) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=sign, lineterminator=end, quoting=quoting).writerows(table)
    check(written.getvalue())


@given(tables)
def test_padded_tables_come_back(table: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    rule = "-+-".join("-" * width for width in widths)
    check("\n".join([f" {lines[0]} ", f"-{rule}-", *(f" {line}" for line in lines[1:])]))
    check("\n".join([f"| {lines[0]} |", f"|-{rule.replace('+', '|')}-|", *(f"| {line} |" for line in lines[1:])]))
    columns = ["   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    check("\n".join(["   ".join("NAME".ljust(width) for width in widths), *columns]))


@given(tables, st.lists(st.integers(0, 3), min_size=6, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_tables_whose_rows_and_header_have_other_cells_come_back(
    table: list[list[str]], left_out: list[int], end: str
) -> None:
    rows = [row[: max(1, len(row) - fewer)] for row, fewer in zip(table, left_out, strict=False)]
    for start, sign, stop in (("| ", " | ", " |"), ("", ",", ""), ("", "\t", ""), (" ", " | ", "")):
        lines = [f"{start}{sign.join(row)}{stop}" for row in rows]
        rule = "|".join(["---"] * len(rows[0]))
        check(end.join([lines[0], f"|{rule}|" if stop else rule.replace("|", "-+-"), *lines[1:]]))
        check(end.join(lines))


@given(st.text("[(1.e+-0,) 'ax\\ud8NoneDecimal()datetime.", max_size=30).map(lambda text: f"[({text})]"))
def test_what_looks_like_tuples_comes_back(source: str) -> None:
    check(source)


@given(st.sampled_from([form.CODE for form in GRIDS]), st.text("mpbenrwtlc0129;,*.|+-yx/", max_size=30))
@example("r", "nm||;;---|---;/")
@example("w", "n/l+999999s;0.0*9")
def test_any_layout_restores_within_the_limits_or_is_refused(code: str, how: str) -> None:
    text = "[2] a b\n1 2\n3 4"
    try:
        restore(text, f"v4 {code}{how}:{len(text)}")
    except DecodeError as refusal:
        assert refusal.code in {"E1001", "E2003"}
