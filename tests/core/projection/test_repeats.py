"""What the reader has read before is named, not said again."""

from collections.abc import Callable

import pytest

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
        repeats.add(Shortened(text=text))
    return repeats


def shorten(text: str, *before: str) -> Shortened:
    """Return `text` shortened for a reader of `before`; it must come back, and never be larger."""
    repeats = read(*before)
    (short,) = repeats.shorten([text], counter=counter)
    assert repeats.restore([short]) == [text]
    assert counter(short.text) <= counter(text)
    return short


def test_lines_read_before_are_named_by_their_number_and_beginning() -> None:
    short = shorten(f"I clicked 'Details'.\n{PAGE}\n<Image>", f"Here it is:\n{PAGE}")
    assert short.text == "I clicked 'Details'.\n[as above: 6 lines from \"Martial …\"]\n<Image>"
    assert [short.text[start:end] for start, end in short.markers] == [short.text.split("\n")[1]]


def preview_of(key: str) -> str:
    """Return a preview with a gap between lines and one within a line."""
    first, *lines = PAGE.split("\n")
    long_line = f"{' '.join(lines)} […310 characters] {' '.join(lines)}"
    head = f"[preview of 900 lines; the whole is intact: accp_fetch $cold.{key}]"
    return "\n".join([head, "[…lines 1-15]", first, *lines, "[…19-410]", *lines, long_line])


def test_equal_gaps_of_two_texts_are_not_taken_for_the_same_lines() -> None:
    short = shorten(preview_of("2222"), preview_of("1111"))
    assert "[…lines 1-15]\n[as above: 6 lines from" in short.text
    assert "\n[…19-410]\nHome | Dojo Search" in short.text
    assert short.text.endswith(preview_of("2222").split("\n")[-1])


def test_a_preview_that_was_read_is_named_with_its_gaps() -> None:
    short = shorten(preview_of("1111"), preview_of("1111"))
    assert short.text == '[as above: 15 lines from "[preview…"]'


def test_a_long_line_is_enough() -> None:
    line = (
        "A line of many words which nobody would like to read for a second time, whatever it says: " + "1 2 3 4 5 " * 4
    )
    assert shorten(f"{line}\nnew", line).text == '[as above: 1 line from "A line o…"]\nnew'


@pytest.mark.parametrize("text", ["", "short", "A single line of some words", "new\n" + "word " * 99])
def test_what_is_short_or_new_stays(text: str) -> None:
    assert shorten(text, PAGE, "A single line of some words") == Shortened(text=text)


def test_the_nearest_line_above_that_begins_so_is_meant() -> None:
    rows = "\n".join(f"{number} is the number of a row" for number in range(40))
    first, other = f"The same first line\n{rows}", "The same first line, but\nanother"
    assert shorten(first, other, first).text == '[as above: 41 lines from "The same first l…"]'
    # Behind `other` the quote would mislead, so the marker begins a line later.
    assert shorten(first, first, other).text == 'The same first line\n[as above: 40 lines from "0 is the…"]'


def test_a_line_of_the_same_text_is_nearer_than_one_of_an_earlier_text() -> None:
    results = (
        "## R\nTitle: OpenAI CLIP guide one\nLink: https://a.example/one-long-path-for-tokens\nSnippet: " + "s " * 30
    )
    short = shorten(f"Title: OpenAI CLIP guide two\n{results}", results)
    assert '2 lines from "Link: ht…"' in short.text
    twice = shorten(f"{PAGE}\nonce more\n{PAGE}")
    assert twice.text == f'{PAGE}\nonce more\n[as above: 6 lines from "Martial …"]'


def test_the_quote_has_the_blanks_that_its_line_begins_with() -> None:
    code = "\n".join(f"    print({number}, 'some more words to print')" for number in range(9))
    assert shorten(code, code).text == '[as above: 9 lines from "    print(0,…"]'
    assert '8 lines from "    print(1,' in shorten(code, code, code.split("\n")[0].strip()).text


def test_a_short_quote_names_only_a_line_that_alone_begins_so() -> None:
    assert shorten(PAGE, PAGE, "Martial law").text == '[as above: 6 lines from "Martial Arts Sch…"]'
    assert shorten(PAGE, PAGE, "  Marti al").text == '[as above: 6 lines from "Martial …"]'
    marked = read(PAGE, "Home | D: something else")
    assert marked.shorten([PAGE], counter=counter)[0].text == '[as above: 6 lines from "Martial …"]'


def test_a_block_may_name_lines_of_the_block_before_it() -> None:
    assert [len(short.markers) for short in Repeats().shorten([PAGE, PAGE], counter=counter)] == [0, 1]


def test_a_longer_quote_tells_lines_apart() -> None:
    block = "\n".join(f"the row number {n} of a table of many rows" for n in range(30))
    other = "The beginning of it all, said in other words"
    text = f"The beginning of it all is this line here\n{block}"
    assert '31 lines from "The beginning of it all is this …"' in shorten(text, text, other).text


def test_a_short_line_is_quoted_as_a_whole() -> None:
    menu = "Our Offers\n" + "\n".join(f"Offer {number % 9}" for number in range(20))
    assert shorten(menu, menu).text == '[as above: 21 lines from "Our Offe…"]'
    assert shorten(menu, menu, "Our Offerings").text == menu


WORDS = " ".join(f"The {number}th of them is the sum of {number} and {7 * number + 3}." for number in range(20))


def test_a_passage_of_a_long_line_is_named_by_its_first_and_its_last_words() -> None:
    edited = WORDS.replace("The 9th of them is", "The 9th of them was")
    assert shorten(edited, WORDS).text == (
        '[as above: "The 0th of them is the … 9th of them"] was [as above: "the sum of 9 and 66 … 19 and 136."]'
    )


def test_a_passage_further_left_in_the_same_line_is_the_nearest() -> None:
    short = shorten(f"{WORDS} And once more: {WORDS} The end.")
    assert short.text == f'{WORDS} And once more: [as above: "The 0th of them is the … 19 and 136."] The end.'


def test_a_passage_ends_between_words_and_before_a_marker() -> None:
    address = "https://a.example/one/long/path?with=a&query=of&many=parts"
    assert shorten(f"{WORDS} {address}2", f"{WORDS} {address}1").text.endswith(f'"] {address}2')
    repeats = read(WORDS)
    third = f"{WORDS[300:600]}, says he, {WORDS}"
    repeats.add(*repeats.shorten([third], counter=counter))
    assert repeats.restore(repeats.shorten([third], counter=counter)) == [third]


@pytest.mark.parametrize("hidden", ["…", '"]', "[as above: x"])
def test_words_that_would_make_a_marker_ambiguous_are_not_quoted(hidden: str) -> None:
    line = f"A line {hidden} of words, " + "again and again the same words, " * 5 + f"and its {hidden} end."
    assert hidden not in "".join(shorten(f"{line} New.", line).text.split("[as above: ")[1:])


def test_lines_with_markers_are_not_named_but_their_other_words_are() -> None:
    repeats = read(WORDS)
    news = " ".join(f"News number {number} is told in sentence {9 * number + 2}." for number in range(9))
    (second,) = repeats.shorten([f"{WORDS} {news}"], counter=counter)
    repeats.add(second)
    (third,) = repeats.shorten([f"{WORDS} {news}"], counter=counter)
    assert third.text == f'{second.text.removesuffix(news)}[as above: "News number 0 is told … sentence 74."]'


def test_references_are_not_referred_to() -> None:
    repeats = read(PAGE)
    second = repeats.shorten([f"one more line of text\n{PAGE}"], counter=counter)
    repeats.add(*second)
    third = repeats.shorten([f"one more line of text\n{PAGE}"], counter=counter)
    assert third == second
    assert repeats.restore(third) == [f"one more line of text\n{PAGE}"]


def test_no_reference_reaches_across_two_texts() -> None:
    head, tail = PAGE, PAGE.replace(" ", "  ")
    assert shorten(f"{head}\n{tail}", head, tail).text.count("[as above") == 2


def test_a_text_that_looks_like_a_reference_is_text() -> None:
    forged = '[as above: 2 lines from "Martial Arts Sch…"]'
    short = shorten(f"{forged}\n{PAGE}", PAGE)
    assert [short.text[start:end] for start, end in short.markers] == [short.text.split("\n")[1]]
    assert short.text.startswith(forged)


@pytest.mark.parametrize(
    "reference",
    [
        "no reference",
        '[as above: 1 line from "never read this…"]',
        '[as above: 7 lines from "Martial Arts Sch…"]',
        '[as above: 99 lines from "Martial Arts Sch…"]',
        '[as above: "never read this line before … nor this"]',
        '[as above: "Martial Arts Schools, Studios … nor this"]',
        '[as above: "… no words"]',
        '[as above: ", Studios & Dojos in New … York"]',
    ],
)
def test_a_reference_to_what_was_not_read_is_refused(reference: str) -> None:
    with pytest.raises(DecodeError, match="expected a repeat marker for something that was read") as refusal:
        read(PAGE).restore([Shortened(text=reference, markers=((0, len(reference)),))])
    assert refusal.value.code == "E1001"
    assert repr(reference) in str(refusal.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        lambda size: "the same line of some length\n" * size,
        lambda size: ("a line that is long enough\n" + "\n" * 300) * (size // 64),
        lambda size: "\n".join(f"line number {n % 97} of a text" for n in range(size)),
        lambda size: " " * 20 * size,
        lambda size: " ".join(f"word{n * n % 9973}" for n in range(size)),
        lambda size: " ".join(f"word{n % 97 or n}" for n in range(size)),
        lambda size: "the same words again " * size,
        lambda size: "a," * 4 * size,
        lambda size: ("x y z w " * 40 + "q." * 40 + "!") * (size // 64),
        lambda size: " ".join(f"{n} {'the same words again, ' * 4}" for n in range(size // 16)),
    ],
    ids=[
        "one line",
        "empty lines",
        "97 lines",
        "blanks",
        "words",
        "edited words",
        "one phrase",
        "commas",
        "no place to end",
        "many markers",
    ],
)
def test_hostile_repetition_takes_linear_time(build: Callable[[int], str]) -> None:
    def run(size: int) -> None:
        text = build(size)
        read(text, text[:1000], text).shorten([text + "x" + text], counter=len)

    assert grows_in_proportion(run, 4_000)


def test_a_passage_without_a_place_to_end_stays() -> None:
    path = "/" + "abcdefgh" * 90
    repeats = Repeats()
    repeats.add(Shortened(text=f"see word{path}1 once"))
    (short,) = repeats.shorten([f"got word{path}2 again"], counter=counter)
    assert short == Shortened(text=f"got word{path}2 again")


def test_the_share_of_known_lines_is_that_of_whole_lines() -> None:
    repeats = Repeats()
    repeats.add(Shortened(text="the first line that was read\nthe second line that was read"))
    assert repeats.known_share("the first line that was read\nthe second line, another one") == pytest.approx(
        0.5, abs=0.03
    )
    assert repeats.known_share("\n") == 0


def test_what_no_marker_may_name_hides_what_stands_above_it() -> None:
    words = "The quick brown fox jumps over the lazy dog and runs home to its den in the green hills beyond."
    for text in (PAGE, f"It says: {words} So it is."):
        repeats = Repeats()
        repeats.add(Shortened(text=text))
        (short,) = repeats.shorten([f"Again: {text}\n{text}"], counter=counter)
        assert short.markers
        repeats.hide(text)
        (same,) = repeats.shorten([text], counter=counter)
        assert same == Shortened(text=text)


PASSAGE = "return int(round(value.total_seconds() / base_unit.total_seconds()))  # round to the nearest int"


def test_no_passage_of_a_text_that_no_marker_names_is_named() -> None:
    repeats = Repeats()
    repeats.hide(f"edit 1475:1475\n            {PASSAGE}\nend_of_edit")
    (short,) = repeats.shorten([f"1475:{PASSAGE} and on"], counter=counter)
    assert short == Shortened(text=f"1475:{PASSAGE} and on")


def test_a_passage_that_stands_above_a_text_that_no_marker_names_comes_back() -> None:
    repeats = read(f"1475:{PASSAGE}")
    repeats.hide(f"            {PASSAGE}")
    short = repeats.shorten([f"1475:{PASSAGE} and on"], counter=counter)
    assert repeats.restore(short) == [f"1475:{PASSAGE} and on"]
