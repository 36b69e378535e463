"""What the reader has read before is named, not said again."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.tokens import o200k_base
from accp_core import DecodeError
from accp_core.projection import Repeats, Shortened
from tests.work import grows_in_proportion

counter = o200k_base()

PAGE = "\n".join(
    [
        "Martial Arts Schools, Studios & Dojos in New York",
        "Home | Dojo Search | New Listings | Dojo Names",
        "",
        "There are 120 schools listed in New York, New York.",
        "Kwon Jae-Hwa Tae Kwon-Do, 38 W 13th St, 1.46 miles",
        "East Side Tae Kwon Do, 325 East 65 Street, 1.48 miles",
    ]
)


def read(*texts: str) -> Repeats:
    """Return the reader of `texts`."""
    repeats = Repeats()
    for text in texts:
        repeats.add(text)
    return repeats


def shorten(text: str, *before: str) -> Shortened:
    """Return `text` shortened for a reader of `before`; it must come back, and never be larger."""
    repeats = read(*before)
    short = repeats.shorten(text, counter=counter)
    assert repeats.restore(short) == text
    assert counter(short.text) <= counter(text)
    assert repeats.shorten(text, counter=counter) == short
    return short


def test_lines_read_before_are_named_by_their_number_and_beginning() -> None:
    short = shorten(f"I clicked 'Details'.\n{PAGE}\n<Image>", f"Here it is:\n{PAGE}")
    assert short.text == "I clicked 'Details'.\n[as above: 6 lines from \"Martial Arts Sch…\"]\n<Image>"
    assert short.marker_lines == (1,)


def test_a_long_line_is_enough() -> None:
    line = (
        "A line of many words which nobody would like to read for a second time, whatever it says: " + "1 2 3 4 5 " * 4
    )
    assert shorten(f"{line}\nnew", line).text == '[as above: 1 line from "A line of many w…"]\nnew'


@pytest.mark.parametrize("text", ["", "short", "a\nb\nc\n" * 50, "A single line of some words", "new\n" + "word " * 99])
def test_what_is_short_or_new_stays(text: str) -> None:
    assert shorten(text, PAGE, "A single line of some words", "a\nb\nc\n" * 50) == Shortened(text=text, marker_lines=())


def test_the_nearest_line_above_that_begins_so_is_meant() -> None:
    rows = "\n".join(f"{number} is the number of a row" for number in range(40))
    first, other = f"The same first line\n{rows}", "The same first line, but\nanother"
    assert shorten(first, other, first).text == '[as above: 41 lines from "The same first l…"]'
    # Behind `other` the quote would mislead, so the reference begins a line later.
    assert shorten(first, first, other).text == 'The same first line\n[as above: 40 lines from "0 is the number …"]'


def test_a_longer_quote_tells_lines_apart() -> None:
    block = "\n".join(f"the row number {n} of a table of many rows" for n in range(30))
    other = "The beginning of it all, said in other words"
    text = f"The beginning of it all is this line here\n{block}"
    assert '31 lines from "The beginning of it all is this …"' in shorten(text, text, other).text


def test_references_are_not_referred_to() -> None:
    repeats = read(PAGE)
    second = repeats.shorten(f"one more line of text\n{PAGE}", counter=counter)
    repeats.add(second.text, second.marker_lines)
    third = repeats.shorten(f"one more line of text\n{PAGE}", counter=counter)
    assert third == second
    assert repeats.restore(third) == f"one more line of text\n{PAGE}"


def test_no_reference_reaches_across_two_texts() -> None:
    head, tail = PAGE, PAGE.replace(" ", "  ")
    assert shorten(f"{head}\n{tail}", head, tail).text.count("[as above") == 2


def test_a_text_that_looks_like_a_reference_is_text() -> None:
    forged = '[as above: 2 lines from "Martial Arts Sch…"]'
    short = shorten(f"{forged}\n{PAGE}", PAGE)
    assert short.marker_lines == (1,)
    assert short.text.startswith(forged)


@pytest.mark.parametrize(
    "reference",
    [
        "no reference",
        '[as above: 1 line from "never read this…"]',
        '[as above: 7 lines from "Martial Arts Sch…"]',
        '[as above: 99 lines from "Martial Arts Sch…"]',
    ],
)
def test_a_reference_to_what_was_not_read_is_refused(reference: str) -> None:
    with pytest.raises(DecodeError, match="expected a repeat marker for lines that were read") as refusal:
        read(PAGE).restore(Shortened(text=reference, marker_lines=(0,)))
    assert refusal.value.code == "E1001"
    assert repr(reference) in str(refusal.value)


LINES = st.sampled_from(
    [
        "",
        "x",
        "\r",
        "  indented and long enough to be quoted by itself, with more",
        "the same line of some length, again and again",
        "the same line of some length, but another ending",
        'quotes " and … in "it…"] are not the end of a long line',
        '[as above: 2 lines from "the same line of…"]',
        "日本語のテキスト。中文文本没有空格。日本語のテキスト。",
        "\x0b split by none but line feeds, of which it has none\u2028 at all",
    ]
)
TEXTS = st.lists(LINES, max_size=30).map("\n".join)


@given(st.lists(TEXTS, max_size=4), TEXTS)
def test_every_text_comes_back(before: list[str], text: str) -> None:
    repeats = Repeats()
    for each in before:
        short = repeats.shorten(each, counter=counter)
        repeats.add(short.text, short.marker_lines)
    short = repeats.shorten(text, counter=counter)
    assert repeats.restore(short) == text
    assert counter(short.text) <= counter(text)


@pytest.mark.parametrize(
    "build",
    [
        lambda size: "the same line of some length\n" * size,
        lambda size: ("a line that is long enough\n" + "\n" * 300) * (size // 64),
        lambda size: "\n".join(f"line number {n % 97} of a text" for n in range(size)),
        lambda size: " " * 20 * size,
    ],
    ids=["one line", "empty lines", "97 lines", "blanks"],
)
def test_hostile_repetition_takes_linear_time(build: Callable[[int], str]) -> None:
    def run(size: int) -> None:
        text = build(size)
        read(text, text[:1000], text).shorten(text + "x" + text, counter=len)

    assert grows_in_proportion(run, 4_000)
