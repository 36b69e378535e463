import json
import sys

import pytest

from accp_adapters.langgraph import Policy
from accp_adapters.replay import AS_RECORDED, replay
from accp_adapters.replay.recorded_run import RecordedMessage, Role
from accp_adapters.replay.strategies import StrategyName, strategy_named
from accp_adapters.replay.strategy import IncomingMessage, SentMessage
from accp_adapters.tokens import o200k_base
from tests.adapters.replay.runs import FLIGHTS, answers, run_of, says, user

LONG = "\n".join(f"line {number} says something about subject {number * 7}" for number in range(900))
POLICIES = [StrategyName.LOSSLESS, StrategyName.DEFAULT, StrategyName.TIGHT]
count = o200k_base()


def sent(
    name: StrategyName, *messages: RecordedMessage, agent: str = "clerk", results_in_turn: int = 1
) -> list[SentMessage]:
    """Return what `agent` reads of `messages`."""
    strategy = strategy_named(name, count)
    assert strategy.new_rewriter
    rewrite = strategy.new_rewriter(agent, "")
    return [
        rewrite(
            IncomingMessage(
                message=each,
                request="subject 700",
                results_in_turn=results_in_turn,
                is_foreign=each.sender not in (agent, "user"),
            )
        )
        for each in messages
    ]


@pytest.mark.parametrize("name", POLICIES)
def test_short_words_of_anyone_stay(name: StrategyName) -> None:
    rules = RecordedMessage(sender="harness", recipient="clerk", role=Role.INSTRUCTIONS, text="rules")
    messages = (rules, user("go"), says("mine", 0), answers("short", 0), says("other", 1, sender="scout", to="clerk"))
    assert sent(name, *messages) == [SentMessage(text=message.text) for message in messages]


@pytest.mark.parametrize("name", [StrategyName.DEFAULT, StrategyName.TIGHT])
@pytest.mark.parametrize("long", [answers(LONG, 0), says(LONG, 0, sender="scout", to="clerk")])
def test_a_policy_previews_what_is_too_long_and_says_where_the_rest_is(
    name: StrategyName, long: RecordedMessage
) -> None:
    _, shown = sent(name, user("go"), long)
    assert shown.reference.startswith("$cold.")
    assert shown.reference in shown.text
    assert count(shown.text) < count(LONG) / 2
    assert sent(name, user("go"), long)[1] == shown


@pytest.mark.parametrize("name", POLICIES)
def test_an_agent_reads_its_own_words_whole(name: StrategyName) -> None:
    assert sent(name, user("go"), says(LONG, 0))[1] == SentMessage(text=LONG)


@pytest.mark.parametrize("name", POLICIES)
def test_what_stands_above_is_not_said_again(name: StrategyName) -> None:
    page = "\n".join(LONG.split("\n")[:12])
    first, again = sent(name, answers(page, 0), answers(f"once more:\n{page}", 1))
    assert first.text == page
    assert again.text == 'once more:\n[as above: 12 lines from "line 0 s…"]'


def test_lossless_hides_nothing() -> None:
    (shown,) = sent(StrategyName.LOSSLESS, answers(LONG, 0))
    assert shown == SentMessage(text=LONG)


def test_results_of_one_turn_share_its_budget() -> None:
    text = json.dumps([flight | {"number": number} for number in range(60) for flight in FLIGHTS])
    (alone,) = sent(StrategyName.DEFAULT, answers(text, 0))
    (beside,) = sent(StrategyName.DEFAULT, answers(text, 0), results_in_turn=50)
    assert (alone.reference, beside.reference[:6]) == ("", "$cold.")


@pytest.mark.parametrize("name", [StrategyName.DEFAULT, StrategyName.TIGHT])
def test_a_fetch_is_answered_by_the_tool_within_its_limit(name: StrategyName) -> None:
    fetch = strategy_named(name, count).fetch
    assert fetch
    found = fetch(LONG, "subject 700")
    assert "line 100 says something about subject 700" in found
    assert count(found) < 200
    page = fetch(LONG * 9, "nothing of that kind")
    assert "line 0 says something" in page
    assert count(page) <= 4_000 < count(LONG * 9)


def test_only_what_previews_brings_the_fetch_tool() -> None:
    assert strategy_named(StrategyName.LOSSLESS, count).fetch_tool == ""
    for name in (StrategyName.DEFAULT, StrategyName.TIGHT):
        assert '"name":"accp_fetch"' in strategy_named(name, count).fetch_tool


@pytest.mark.parametrize("name", POLICIES)
def test_without_langgraph_a_policy_names_the_extra(name: StrategyName, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "accp_adapters.langgraph", None)
    monkeypatch.delitem(sys.modules, "accp_adapters.replay.policies", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'accp-middleware\[langgraph\]'"):
        strategy_named(name, count)


def test_a_run_is_replayed_under_a_strategy_the_name_of_one_or_a_policy() -> None:
    run = run_of(user("go"), answers(json.dumps(FLIGHTS * 200), 0), says("done", 1))
    assert replay(run, StrategyName.AS_RECORDED) == replay(run, AS_RECORDED)
    assert replay(run, Policy.tight()).calls == replay(run, StrategyName.TIGHT).calls
    assert replay(run, Policy.tight()).strategy == "policy"
