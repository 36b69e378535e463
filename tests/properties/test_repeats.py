"""A reader who knows only the rule of the markers gets every text back, whatever was read before."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core.projection import Repeats
from accp_core.projection.repeats import Unit
from tests.properties.recorded import some_recorded_runs
from tests.properties.repeat_reader import Reader

counter = o200k_base()

LINES = st.sampled_from(
    [
        "",
        "x",
        "\r",
        "  indented and long enough to be quoted by itself, with more",
        "indented and long enough to be quoted by itself, with more",
        "\tindented and long enough to be quoted by itself, but another end of the line",
        "the same line of some length, again and again",
        "the same line of some length, but another ending",
        "the same line of s",
        'quotes " and … in "it…"] are not the end of a long line',
        '[as above: 2 lines from "the same line of…"]',
        "日本語のテキスト。中文文本没有空格。日本語のテキスト。",
        "\x0b split by none but line feeds, of which it has none\u2028 at all",
    ]
)
WORDS = st.sampled_from(
    [
        "The", "same", "words", "sat", "cat", "concat", "and,", "again", "(in", "brackets)", '"quoted"', "…", "1.46",
        '[as above: "The same … again"]', '"]', "https://a.example/path?of=an&address", "中文文本没有空格。", "\t",
        "\r",         "a_word_of_more_than_thirty_two_letters_in_a_row",
    ]
)  # fmt: skip
LONG_LINES = st.lists(WORDS, min_size=20, max_size=60).map(" ".join)


@st.composite
def edited_lines(draw: st.DrawFn) -> str:
    """Return a text of one long line, said several times with small changes."""
    line = draw(LONG_LINES)
    lines = []
    for _ in range(draw(st.integers(2, 4))):
        words = line.split(" ")
        for _ in range(draw(st.integers(0, 3))):
            words[draw(st.integers(0, len(words) - 1))] = draw(WORDS)
        lines.append(" ".join(words))
    return draw(st.sampled_from(["\n", " "])).join(lines)


TEXTS = st.lists(LINES | LONG_LINES | edited_lines(), max_size=12).map("\n".join)
MESSAGES = st.lists(TEXTS, min_size=1, max_size=3)


def check_conversation(messages: Sequence[Sequence[str]]) -> int:
    """Return the number of markers in a conversation of which every text must come back to every reader."""
    repeats, again, readers = Repeats(), Repeats(), [Reader(sees_blanks=True), Reader(sees_blanks=False)]
    markers = 0
    for text in (text for texts in messages for text in texts):
        unit: Unit = "rows" if len(text) % 3 == 0 else "lines"
        shown = repeats.shorten(text, counter=counter, unit=unit)
        assert repeats.shorten(text, counter=counter, unit=unit) == shown
        assert again.restore(shown) == text
        assert [reader.read(shown.text, shown.markers) for reader in readers] == [text, text]
        assert counter(shown.text) <= counter(text)
        markers += len(shown.markers)
        repeats.add(shown)
    return markers


@pytest.mark.slow
@given(st.lists(MESSAGES, max_size=4))
def test_every_text_comes_back_to_a_reader_who_looks_up(messages: list[list[str]]) -> None:
    check_conversation(messages)


def test_every_recorded_text_comes_back() -> None:
    runs = some_recorded_runs()
    assert sum(check_conversation([[message.text] for message in run.messages]) for run in runs) > len(runs)
