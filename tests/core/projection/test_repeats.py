"""Lines that the reader has read are named, not said again (DESIGN 5.14)."""

from collections.abc import Callable

import pytest

from accp_adapters.tokens import o200k_base
from accp_core import DecodeError
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
