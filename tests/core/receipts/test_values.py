from decimal import Decimal

import pytest

from accp_core.receipts.values import contains, forget_texts, mentions_in, text_leaf, values_in
from tests.work import grows_in_proportion


def found_in(text: str) -> set[object]:
    return set(values_in(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("see https://example.com/a?b=1.", "https://example.com/a?b=1"),
        ("write to ann.lee@example.com now", "ann.lee@example.com"),
        ("on 2024-05-20 at noon", "2024-05-20"),
        ("on 5/20/2024 at noon", "5/20/2024"),
        ("until May 20, 2024 or so", "May 20, 2024"),
        ("leaves at 17:45", "17:45"),
        ("flight HAT069 it is", "HAT069"),
        ("the user mia_li_3668", "mia_li_3668"),
        ("set max_tokens", "max_tokens"),
        ("call getUser", "getUser"),
        ("open /srv/demo/notes.txt", "/srv/demo/notes.txt"),
        ("open src/app/main.py", "src/app/main.py"),
        ("open report.pdf", "report.pdf"),
        ("costs 1,234.50 dollars", Decimal("1234.5")),
        ("about 121 people", Decimal(121)),
    ],
)
def test_a_text_holds_values_of_every_kind(text: str, value: object) -> None:
    assert found_in(text) == {value}


def test_plain_words_and_short_numbers_are_no_values() -> None:
    assert found_in("I can help you with 12 of those, in 3 days") == set()


def test_the_digits_of_a_url_are_no_numbers() -> None:
    assert found_in("https://example.com/12345") == {"https://example.com/12345"}


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [
        ("It lies near Mount Rainier today", {"Mount Rainier"}),
        ("Then ask the Bank of England or O\u2019Hare", {"Bank of England", "O\u2019Hare"}),
        ("see the US", set()),
        ("I can help. They agree.\nPerhaps", set()),
        ("it is 12 of those, 3 days", {Decimal(12)}),
        ("costs 4.7 %", {Decimal("4.7")}),
        ("press `ok now` or **stop it.**", {"ok now", "stop it"}),
        ('the song "blue moon", or “red sun”', {"blue moon", "red sun"}),
    ],
)
def test_the_strict_detector_finds_names_quotations_and_short_numbers(text: str, mentioned: set[object]) -> None:
    assert set(mentions_in(text)) - values_in(text) == mentioned


@pytest.mark.parametrize("before", ["", "see the file, ", "Then ask, for it; ", "\\nothing new ", "\u00e9t\u00e9 so, "])
@pytest.mark.parametrize("behind", ["", " and more, words", ", then stop"])
def test_plain_words_around_a_value_hide_none(before: str, behind: str) -> None:
    values = {
        "Jan 5",
        "ops@example.com",
        "https://a.b/c",
        "src/app.py",
        "app.py",
        "17:45",
        "is_open",
        "HAT069",
        "/etc/x",
    }
    for value in values:
        assert value in values_in(before + value + behind)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("HAT069", 'flight "HAT069", 121'),
        ("line one\nline two", '{"text": "line one\\nline two"}'),
        ("naïve", '{"text": "na\\u00efve"}'),
        ("it's", "text='it\\'s'"),
        ("HAT069", '{"text": "{\\"flight\\": \\"\\\\nHAT069\\"}"}'),
        (Decimal("1234.5"), "in all 1,234.50 dollars"),
        (Decimal("1234.5"), '{"price": 1234.5}'),
        ("C:\\new", "at C:\\new there"),
    ],
)
def test_a_value_stands_raw_or_with_its_escapes_undone(value: str | Decimal, text: str) -> None:
    assert contains(value, text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("HAT06", "flight HAT069"),
        ("AT069", "flight HAT069"),
        ("user", "user_id"),
        (Decimal(121), "1211 and 0.121 and A121"),
    ],
)
def test_a_part_of_a_word_does_not_count(value: str | Decimal, text: str) -> None:
    assert not contains(value, text)


def test_a_later_whole_word_counts_after_a_part_of_a_word() -> None:
    assert contains("HAT06", "HAT069 HAT06")


def test_the_letter_of_an_escape_begins_no_name() -> None:
    assert found_in('{"title": "Ann\\u2019s"}') == set()


@pytest.mark.parametrize("part", ["a/", "1,", "A of ", "**a", "1-"])
def test_a_long_run_takes_no_quadratic_time(part: str) -> None:
    assert grows_in_proportion(lambda size: list(mentions_in(part * size)), 10_000)


@pytest.mark.parametrize(
    ("text", "value"), [("1,200", [Decimal(1200)]), ("12", []), ("SEA", []), ("Seattle", ["Seattle"])]
)
def test_a_whole_text_is_a_number_or_a_value_of_some_length(text: str, value: list[object]) -> None:
    assert list(text_leaf(text)) == value


def test_texts_that_were_searched_can_be_forgotten() -> None:
    assert contains("HAT069", "flight HAT069")
    forget_texts()
    assert contains("HAT069", "flight HAT069")
