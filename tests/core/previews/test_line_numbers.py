"""The numbers of lines in a preview are those of `accp_core.tables.lines_of`, which queries name."""

from itertools import accumulate, product

import pytest

from accp_core.previews.line_numbers import LineNumbers
from accp_core.tables import lines_of

LENGTHS = (0, 1, 398, 399, 400, 401, 800, 1_201)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_has_the_number_that_a_query_finds_it_under(end: str) -> None:
    for lengths in product(LENGTHS, repeat=3):
        lines = ["x" * length + end for length in lengths]
        lines.append("last")
        text = "".join(lines)
        numbers = LineNumbers(text)
        assert numbers.are_exact
        for start in accumulate(map(len, lines[:-1]), initial=0):
            assert numbers.number_at(start) == len(lines_of(text[:start]))


@pytest.mark.parametrize("end", ["\r", "\n\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_lines_that_do_not_end_with_a_line_feed_have_other_numbers(end: str) -> None:
    assert not LineNumbers(f"one\ntwo{end}three\n").are_exact
    assert LineNumbers("one\ntwo\r\nthree\n").are_exact
