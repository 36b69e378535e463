"""The lines of a view, the blocks below them, and where each begins."""

import pytest

from accp_core import DecodeError
from accp_core.view.line_reader import LineReader


def test_lines_are_taken_from_top_to_bottom() -> None:
    lines = LineReader("a\n\nb")
    taken = []
    while lines:
        taken.append(lines.next_line())
    assert taken == ["a", "", "b"]


def test_an_empty_text_is_one_empty_line() -> None:
    assert LineReader("").next_line() == ""


def test_lines_are_looked_at_without_taking_them() -> None:
    lines = LineReader("a\nb\nc\nd\ne")
    lines.next_line()
    assert lines.peek(2) == ["b", "c"]
    assert lines.peek(9) == ["b", "c", "d", "e"]
    assert lines.next_line() == "b"


@pytest.mark.parametrize(
    ("text", "lines"), [("aX\n", ["aX"]), ("X\r\n\n", ["X"]), ("aX", ["aX"]), ("a\nb", ["a", "b"])]
)
def test_only_line_breaks_are_left_out_at_the_end(text: str, lines: list[str]) -> None:
    assert LineReader(text).lines == lines


def test_a_line_brings_the_blocks_that_it_announces() -> None:
    lines = LineReader('a """ """\none\n\n"""\n"""\nb')
    assert lines.next_line() == 'a """ """'
    assert list(lines.blocks) == ["one\n", ""]
    assert lines.next_line() == "b"


def refusal_of(lines: LineReader, column: int) -> DecodeError:
    with pytest.raises(DecodeError) as refusal:
        lines.fail("expected a reason", column)
    return refusal.value


def test_a_refusal_counts_from_the_line_that_was_taken_last() -> None:
    lines = LineReader("one\ntwo\nthree")
    assert refusal_of(lines, 0).position == 0
    lines.next_line()
    assert refusal_of(lines, 2).position == 2
    lines.next_line()
    refusal = refusal_of(lines, 1)
    assert (refusal.code, refusal.position, refusal.text) == ("E1001", 5, "one\ntwo\nthree")
    assert str(refusal) == "E1001: expected a reason, at position 5"


def test_a_refusal_stays_within_the_text() -> None:
    assert refusal_of(LineReader("ab"), 100).position == 2


@pytest.mark.parametrize(
    ("text", "position"), [('"""', 0), ('"""\none', 0), ('a """ """\none\n"""', 14), ('a """\none\n """', 0)]
)
def test_a_block_that_does_not_end_is_refused(text: str, position: int) -> None:
    with pytest.raises(DecodeError, match="at the end of a text block, found the end") as refusal:
        LineReader(text).next_line()
    assert refusal.value.position == position


def test_no_line_is_behind_the_last() -> None:
    lines = LineReader("a")
    lines.next_line()
    with pytest.raises(DecodeError, match="expected another line, found the end of the text"):
        lines.next_line()
