import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from accp_adapters.replay import StrategyName, replay
from accp_adapters.replay.prompts import SentMessage
from accp_adapters.replay.recorded_run import RecordedMessage, Role, Run
from accp_adapters.replay.visibility import NeededValue, OneFetch, VisibilityCheck, has_moved, values_of
from tests.adapters.replay.runs import answers, asks, run_of, says, user
from tests.work import count_calls


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


def needs_of(
    run: Run, sent: dict[int, SentMessage] | None = None, fetch: Callable[[str, str], str] | None = None, call: int = -1
) -> list[NeededValue]:
    recorded = {i: SentMessage(text=m.text) for i, m in enumerate(run.messages)}
    return VisibilityCheck(run).needed_values(run.calls[call], recorded | (sent or {}), OneFetch(fetch))


@pytest.mark.parametrize("given", ["book HAT069", "the HAT069, please"])
def test_a_value_that_the_user_gave_is_not_needed(given: str) -> None:
    run = run_of(user(given), asks({"to": "SEA"}, 0), answers("HAT069", 0), says("take HAT069", 1))
    assert needs_of(run) == []


def test_a_value_from_another_agent_is_needed() -> None:
    other = RecordedMessage(sender="scout", recipient="clerk", role=Role.AGENT, text="HAT069 is free")
    run = run_of(user("book"), other, says("take HAT069", 1))
    assert [need.value for need in needs_of(run, {1: SentMessage(text=other.text)})] == ["HAT069"]


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        (SentMessage(text="one flight"), (False, False)),
        (SentMessage(text="one flight, $cold.1", reference="$cold.1"), (False, True)),
        (SentMessage(text="HAT069, $cold.1", reference="$cold.1"), (True, True)),
    ],
)
def test_a_value_that_is_left_out_is_reachable_through_a_reference_only(sent: SentMessage, found: object) -> None:
    run = run_of(user("book"), asks({}, 0), answers("HAT069 HAT083", 0), says("take HAT069", 1))
    (need,) = needs_of(run, {2: sent})
    assert (need.value, (need.visible, need.reachable)) == ("HAT069", found)


def test_many_hidden_values_are_found_in_one_pass_and_asked_for_up_to_a_bound() -> None:
    hidden = {2: SentMessage(text="a preview, $cold.1", reference="$cold.1")}
    ids = [f"HAT{n}" for n in range(1000, 3000)]
    half, whole = (
        run_of(user("go"), asks({}, 0), answers(json.dumps(part) + " " * 50_000, 0), says(" ".join(part), 1))
        for part in (ids[:1000], ids)
    )
    assert count_calls(partial(needs_of, whole, hidden)) < 3 * count_calls(partial(needs_of, half, hidden))
    needs = needs_of(half, hidden, lambda text, query: query)
    reachable = sum(need.reachable for need in needs)
    assert 200 < reachable < 400 and reachable + sum(need.unasked for need in needs) == 1000


ROWS = '[{"a":"x y 1203","b":778,"c":"L780B653"},{"a":"x z 204","b":779,"c":"L780B654"}]'
PAID = '{"iban":"DE89370400440532013000","paid":110.49,"rate":"1.234,50","day":"2026-05-22T14:03:00Z","ip":"10.1.0.12"}'


@pytest.mark.parametrize(
    ("result", "used", "needed"),
    [
        (ROWS, says("1203, and 204 with 779", 1), 3),
        ("[1203,77,204,778]", says("1203, 204 and 778", 1), 3),
        (ROWS, asks({"sql": "SELECT a FROM t WHERE c = 'L780B653' OR b = 778"}, 1), 2),
        (f"{ROWS}\ngrep 'L780B653' t", asks({"command": "grep 'L780B653' t"}, 1), 1),
        ("[1130, 250]", asks({"command": "git log -1130 | head -250"}, 1), 0),
        (PAID, says("110,49 € at 1,234.5 on 22/05/2026 from DE89 3704 0044 0532 0130 00 and 10.1.0.12", 1), 5),
        (PAID, says("2026-05-22T14:03:00Z, so May 22, 2026", 1), 1),
    ],
)
def test_views_and_answers_spell_values_in_their_own_ways(result: str, used: RecordedMessage, needed: int) -> None:
    call = replay(run_of(user("go"), asks({}, 0), answers(result, 0), used), StrategyName.LOSSLESS).calls[-1]
    assert (call.needed, call.visible, call.reachable) == (needed, needed, needed)


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


def test_a_hidden_number_is_asked_for_as_its_text_spells_it() -> None:
    run = run_of(user("go"), asks({}, 0), answers("DE 2021,17 on 22.05.2026", 0), says("2021.17 on 2026-05-22", 1))
    hidden = {2: SentMessage(text="a preview, $cold.1", reference="$cold.1")}
    needs = needs_of(run, hidden, lambda text, query: text if query in text else "")
    assert [need.reachable for need in needs] == [True, True]


def test_a_value_of_a_tool_that_is_offered_later_is_needed_before() -> None:
    run = run_of(user("book"), asks({}, 0), answers("HAT069", 0), says("take HAT069", 1), user("and?"), says("done", 2))
    first, second, third = run.calls
    later = replace(run, calls=(first, second, replace(third, tools='[{"enum":["HAT069"]}]')))
    (need,) = needs_of(later, call=1)
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


@pytest.mark.parametrize(
    ("sent", "moved"),
    [
        ("[3] file line text\norder.py 31 create_agent\nfile_8.py 56 run_all\nuser.py 77 load_user", False),
        ("[3] file line text\norder.py 31 \nfile_8.py 56 create_agent\nuser.py 77 load_user", True),
        ("file order.py\nline 31\ntext create_agent", False),
        ("text create_agent", False),
        ("nothing", False),
    ],
)
def test_a_value_that_stands_in_the_row_of_others_has_moved(sent: str, moved: bool) -> None:
    rows = [("order.py", 31, "create_agent"), ("file_8.py", 56, "run_all"), ("user.py", 77, "load_user")]
    recorded = json.dumps([dict(zip(("file", "line", "text"), row, strict=True)) for row in rows])
    assert has_moved("create_agent", recorded, sent) is moved
    assert not has_moved("create_agent", recorded, recorded)


def test_a_message_is_looked_through_once_for_all_prompts_that_begin_with_it() -> None:
    half, whole = (run_of(*(m for n in range(size) for m in (asks({}, n), answers("HAT", n)))) for size in (100, 200))
    once, twice = (count_calls(partial(replay, run, StrategyName.DEFAULT)) for run in (half, whole))
    assert twice < 3 * once
