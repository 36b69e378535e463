"""Lines are those of `grep -n`, `wc -l` and editors, and one module numbers them for queries, pages and marks."""

from itertools import accumulate

import pytest

from accp_core.tables import count_lines
from accp_core.tables.table import LineNumbers, has_other_numbers, lines_of, table_of_lines

TEXTS = [
    "",
    "\n",
    "one",
    "one\n",
    "one\ntwo",
    "one\r\n\r\ntwo\r\n",
    "x" * 5_000 + "\nb\n",
    "a\n\n\n",
    "one\rtwo\x85three\u2028\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_lines_are_counted_from_one_and_end_with_a_line_feed_alone(text: str) -> None:
    lines = text.removesuffix("\n").split("\n") if text else []
    rows = list(table_of_lines(text).rows)
    assert [row["n"] for row in rows] == list(range(1, len(lines) + 1))
    assert [row["text"] for row in rows] == [line.removesuffix("\r") for line in lines]
    assert "".join(lines_of(text)) == text
    assert len(lines_of(text)) == count_lines(text) == len(lines)
    if text.endswith("\n"):
        assert count_lines(text) == text.count("\n")  # as `wc -l` says


@pytest.mark.parametrize("text", TEXTS)
def test_a_position_is_in_the_line_that_a_query_finds(text: str) -> None:
    numbers = LineNumbers(text)
    starts = list(accumulate(map(len, lines_of(text)), initial=0))[: count_lines(text)]
    assert list(map(numbers.number_at, starts)) == [row["n"] for row in table_of_lines(text).rows]
    assert numbers.number_at(0) == 1


@pytest.mark.parametrize(
    ("text", "has_others"),
    [
        ("\n".join(f"{number:6}\tcode" for number in range(200, 300)), True),
        ("File: a.py\n" + "\n".join(f"{number}: code" for number in range(1, 100)), True),
        ("\n".join(f"{number:6}→code" for number in range(1, 100)), False),
        ("\n".join(f"{number}.5 seconds" for number in range(7, 99)), False),
        ("\n".join(f"2026-01-{number:02} start" for number in range(7, 29)), False),
        ("1 apple\n2 pears\nand more\n", False),
        ("", False),
    ],
)
def test_a_text_may_number_its_lines_in_another_way(text: str, has_others: bool) -> None:
    assert has_other_numbers(text) == has_others
