from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_adapters.replay.needed_values import contains, mentions_of, values_of
from accp_adapters.replay.recorded_run import RecordedMessage, Role, Run
from accp_adapters.replay.strategy import SentMessage
from accp_adapters.replay.visibility import NeededValue, OneFetch, VisibilityCheck
from tests.adapters.replay.runs import answers, asks, run_of, says, user
from tests.work import grows_in_proportion


def found_in(text: str) -> set[object]:
    return set(values_of([says(text, 0)]))


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
    ("arguments", "values"),
    [
        ({"to": "SEA"}, set()),
        ({"to": "Seattle"}, {"Seattle"}),
        ({"text": "x" * 2000}, {"x" * 2000}),
        ({"text": "x" * 2001}, set()),
        ({"price": 1100, "seats": 17, "rate": 0.125}, {Decimal(1100), Decimal("0.125")}),
        ({"price": "1,100.00"}, {Decimal(1100)}),
        ({"yes": True, "none": None, "deep": [{"er": ["HAT069"]}]}, {"HAT069"}),
        ({"loss": -2500}, {Decimal(2500)}),
    ],
)
def test_arguments_hold_their_leaves(arguments: dict[str, Any], values: set[object]) -> None:
    assert set(values_of([asks(arguments, 0)])) == values


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
    assert mentions_of([says(text, 0)]) - values_of([says(text, 0)]) == mentioned


def test_the_strict_detector_finds_the_values_within_arguments() -> None:
    arguments = {"note": "ask for HAT069", "deep": [{"seats": 17, "yes": True, "no": None}, -25]}
    assert mentions_of([asks(arguments, 0)]) == {"ask for HAT069", "HAT069", Decimal(17), Decimal(25)}


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
        assert value in values_of([says(before + value + behind, 0)])


@pytest.mark.parametrize("text", ["flight HAT069 at 17:45", "on May 20, 2024", "see https://example.com/a?b=1."])
def test_the_strict_detector_finds_all_that_the_other_finds(text: str) -> None:
    for message in (says(text, 0), asks({"text": text, "n": [1234]}, 0)):
        assert values_of([message]) <= mentions_of([message])


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


def needs_of(
    run: Run, sent: dict[int, SentMessage] | None = None, fetch: Callable[[str, str], str] | None = None
) -> list[NeededValue]:
    recorded = {i: SentMessage(text=m.text) for i, m in enumerate(run.messages)}
    return VisibilityCheck(run).needed_values(run.calls[-1], recorded | (sent or {}), OneFetch(fetch))


def test_a_value_from_a_tool_result_is_needed() -> None:
    run = run_of(user("book"), asks({"to": "SEA"}, 0), answers("HAT069 121", 0), says("take HAT069", 1))
    assert [need.value for need in needs_of(run)] == ["HAT069"]


@pytest.mark.parametrize("given", ["book HAT069", "the HAT069, please"])
def test_a_value_that_the_user_gave_is_not_needed(given: str) -> None:
    run = run_of(user(given), asks({"to": "SEA"}, 0), answers("HAT069", 0), says("take HAT069", 1))
    assert needs_of(run) == []


def test_a_value_that_the_agent_said_before_is_not_needed() -> None:
    run = run_of(user("book"), asks({"to": "HAT069"}, 0), answers("HAT069", 0), says("take HAT069", 1))
    assert needs_of(run) == []


def test_a_value_of_the_tool_definitions_is_not_needed() -> None:
    messages = (user("book"), asks({}, 0), answers("HAT069", 0), says("take HAT069", 1))
    assert needs_of(run_of(*messages, tools='[{"enum":["HAT069"]}]')) == []


def test_a_value_that_stands_nowhere_is_not_needed() -> None:
    run = run_of(user("book"), asks({}, 0), answers("nothing", 0), says("take HAT069", 1))
    assert needs_of(run) == []


def test_a_value_from_another_agent_is_needed() -> None:
    other = RecordedMessage(sender="scout", recipient="clerk", role=Role.AGENT, text="HAT069 is free")
    run = run_of(user("book"), other, says("take HAT069", 1))
    assert [need.value for need in needs_of(run, {1: SentMessage(text=other.text)})] == ["HAT069"]


def test_a_value_left_out_is_hidden_and_without_a_reference_unreachable() -> None:
    run = run_of(user("book"), asks({}, 0), answers("HAT069", 0), says("take HAT069", 1))
    (need,) = needs_of(run, {2: SentMessage(text="one flight")})
    assert (need.visible, need.reachable) == (False, False)


def test_a_value_left_out_is_reachable_through_a_reference_to_its_message() -> None:
    run = run_of(user("book"), asks({}, 0), answers("HAT069", 0), says("take HAT069", 1))
    (need,) = needs_of(run, {2: SentMessage(text="one flight, $cold.1", reference="$cold.1")})
    assert (need.visible, need.reachable) == (False, True)


@pytest.mark.parametrize(
    ("answer", "queries", "reachable"),
    [
        ("found HAT-069/B here", ["HAT-069/B"], True),
        ("", ["HAT-069/B", "HAT 069 B", ""], False),
        ("another page", ["HAT-069/B", "HAT 069 B"], False),
        ('0 of 900 lines have "HAT-069/B"', ["HAT-069/B", "HAT 069 B"], False),
    ],
    ids=["found", "refused", "not in the answer", "only what was asked for"],
)
def test_a_value_is_reachable_if_the_answer_of_one_fetch_that_asks_for_it_holds_it(
    answer: str, queries: list[str], reachable: bool
) -> None:
    run = run_of(user("book"), asks({}, 0), answers("one: HAT-069/B", 0), says("take `HAT-069/B`", 1))
    asked: list[str] = []

    def fetch(text: str, query: str) -> str:
        assert text == "one: HAT-069/B"
        asked.append(query)
        return answer

    check = VisibilityCheck(run, lambda messages: frozenset({"HAT-069/B"} if "take" in messages[0].text else ()))
    recorded = {i: SentMessage(text=m.text) for i, m in enumerate(run.messages)}
    hidden = {2: SentMessage(text="a preview, $cold.1", reference="$cold.1")}
    (need,) = check.needed_values(run.calls[-1], recorded | hidden, OneFetch(fetch))
    assert (need.visible, need.reachable, asked) == (False, reachable, queries)
    assert need.fetched and need.fetched.answer == answer


def test_a_number_is_asked_for_as_it_may_be_written() -> None:
    run = run_of(user("sum"), asks({}, 0), answers("total 1,200.50", 0), says("1200.50 dollars", 1))
    asked: list[str] = []

    def fetch(text: str, query: str) -> str:
        asked.append(query)
        return text if query == "1,200.5" else ""

    (need,) = needs_of(run, {2: SentMessage(text="$cold.1", reference="$cold.1")}, fetch)
    assert (need.reachable, asked) == (True, ["1200.5", "1,200.5"])


def test_a_value_of_a_tool_that_is_offered_later_is_needed_before() -> None:
    run = run_of(user("book"), asks({}, 0), answers("HAT069", 0), says("take HAT069", 1), user("and?"), says("done", 2))
    first, second, third = run.calls
    later = replace(run, calls=(first, second, replace(third, tools='[{"enum":["HAT069"]}]')))
    recorded = {i: SentMessage(text=m.text) for i, m in enumerate(run.messages)}
    (need,) = VisibilityCheck(later).needed_values(second, recorded, OneFetch(None))
    assert need.visible


def test_a_value_that_a_preview_keeps_is_visible() -> None:
    run = run_of(user("book"), asks({}, 0), answers("HAT069 HAT083", 0), says("take HAT069", 1))
    (need,) = needs_of(run, {2: SentMessage(text="HAT069, $cold.1", reference="$cold.1")})
    assert need.visible


@pytest.mark.parametrize(
    ("view", "reachable"),
    [
        ("url https://api.example/repos/octo\nissues_url=${url}/issues", True),
        ("[1] name (url=https://api.example/repos/${name}/issues)\nocto", True),
        ("[1] name (url=https://api.example/repos/${name}/issues)\ncat", False),
        ("[1] name (url=https://api.example/repos/${name})\nocto", False),
    ],
)
def test_an_address_written_with_the_name_of_another_value_is_not_visible_but_reachable(
    view: str, reachable: bool
) -> None:
    address = "https://api.example/repos/octo/issues"
    run = run_of(user("list"), asks({}, 0), answers(address, 0), says(f"see {address}", 1))
    (need,) = needs_of(run, {2: SentMessage(text=view)})
    assert (need.visible, need.reachable, need.fetched) == (False, reachable, None)


def test_the_letter_of_an_escape_begins_no_name() -> None:
    assert found_in('{"title": "Ann\\u2019s"}') == set()


@pytest.mark.parametrize("part", ["a/", "1,", "A of ", "**a"])
def test_a_long_run_takes_no_quadratic_time(part: str) -> None:
    assert grows_in_proportion(lambda size: mentions_of([says(part * size, 0)]), 10_000)
