import json

import pytest

from accp_adapters.policy import Policy
from accp_adapters.replay import AS_RECORDED, replay
from accp_adapters.replay.prompts import PromptBuilder
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Run
from accp_adapters.replay.strategies import StrategyName, strategy_named
from accp_adapters.replay.strategy import SentMessage
from accp_adapters.tokens import o200k_base
from tests.adapters.replay.runs import FLIGHTS, answers, asks, run_of, says, user

LONG = "\n".join(f"line {number} says something about subject {number * 7}" for number in range(900))
count = o200k_base()


def sent(name: StrategyName, *messages: RecordedMessage, agent: str = "clerk") -> list[SentMessage]:
    """Return what `agent` reads of `messages`."""
    call = RecordedCall(agent=agent, prompt=tuple(range(len(messages))), output=())
    run = Run(name="test", source="test.json", messages=messages, calls=(call,))
    return [*PromptBuilder(run, strategy_named(name, count)).build(call).messages.values()]


def test_results_of_one_turn_share_its_budget() -> None:
    text = json.dumps([flight | {"number": number} for number in range(80) for flight in FLIGHTS])
    alone = sent(StrategyName.DEFAULT, asks({}, 0), answers(text, 0))[-1]
    beside = sent(StrategyName.DEFAULT, *(asks({}, 0) for _ in range(50)), answers(text, 0))[-1]
    assert (alone.reference, beside.reference[:6]) == ("", "$cold.")


@pytest.mark.parametrize("name", [StrategyName.DEFAULT, StrategyName.TIGHT])
def test_a_fetch_is_answered_by_the_tool_within_its_limit(name: StrategyName) -> None:
    fetch = strategy_named(name, count).fetch
    assert fetch
    found = fetch(LONG, "subject 700")
    assert "line 100 says something about subject 700" in found
    assert count(found) < 200
    assert fetch(LONG * 9, "zebra quagga") == "0 of 8,092 lines"
    assert fetch(LONG * 9, "SELECT nosuch FROM lines") == ""
    page = fetch(LONG * 9, "")
    assert "line 0 says something" in page
    assert count(page) <= 4_000 < count(LONG * 9)


def test_only_what_previews_brings_the_fetch_tool() -> None:
    assert strategy_named(StrategyName.LOSSLESS, count).fetch_tool == ""
    for name in (StrategyName.DEFAULT, StrategyName.TIGHT):
        assert '"name":"accp_fetch"' in strategy_named(name, count).fetch_tool


def test_a_run_is_replayed_under_a_strategy_the_name_of_one_or_a_policy() -> None:
    run = run_of(user("go"), answers(json.dumps(FLIGHTS * 200), 0), says("done", 1))
    assert replay(run, StrategyName.AS_RECORDED) == replay(run, AS_RECORDED)
    assert replay(run, Policy.tight()).calls == replay(run, StrategyName.TIGHT).calls
    assert replay(run, Policy.tight()).strategy == "policy"
