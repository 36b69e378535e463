import json
from collections.abc import Sequence
from dataclasses import replace

import pytest

from accp_adapters.replay import AS_RECORDED, RecordedMessage, Role, Run, Strategy, replay
from accp_adapters.replay.prompts import SentMessage, StrategyName, to_strategy
from accp_adapters.replay.replay import Replay
from accp_adapters.tokens import o200k_base
from tests.adapters.replay.runs import FLIGHTS, answers, asks, run_of, says, user


def words(text: str) -> Sequence[int]:
    """Return one token a word."""
    return [hash(word) for word in text.split()]


def shortening(*, ref: str = "", fetch_tool: str = "") -> Strategy:
    """Return the strategy that keeps the first word of long texts."""

    def rewrite(message: RecordedMessage) -> SentMessage:
        first, *rest = message.text.split() or [""]
        return SentMessage(text=first, reference=ref) if len(rest) > 1 else SentMessage(text=message.text)

    return Strategy(name="short", rewrite=rewrite, fetch_tool=fetch_tool)


def job() -> Run:
    """Return a run of three calls whose second needs a word of the answer to the first."""
    found = answers("three flights: HAT069 HAT083", 0)
    said = (says("take HAT083", 1), user("thanks", 1), says("welcome", 2))
    return run_of(user("find flights", 0), asks({"to": "SEA"}, 0), found, *said, tools="one tool")


def prompts(played: Replay) -> list[int]:
    return [call.charge.tokens for call in played.calls]


def test_a_result_counts_in_its_new_size_in_every_later_prompt() -> None:
    assert prompts(replay(job(), shortening(), words)) == [4, 7, 10]


def test_everything_needed_is_visible_as_recorded_and_lost_if_left_out_without_a_reference() -> None:
    calls = replay(job(), AS_RECORDED, words).calls
    assert [(call.needed, call.visible, call.reachable) for call in calls] == [(0, 0, 0), (1, 1, 1), (0, 0, 0)]
    for reference, reachable in (("", 0), ("$cold.1", 1)):
        call = replay(job(), shortening(ref=reference), words).calls[1]
        assert (call.needed, call.visible, call.reachable) == (1, 0, reachable)


def test_each_hidden_value_is_asked_for_once() -> None:
    run = run_of(user("find"), asks({}, 0), answers("three: HAT069 HAT083", 0), says("HAT083", 1), says("HAT069", 2))
    asked: list[tuple[str, str]] = []

    def fetch(text: str, words: str) -> str:
        asked.append((text, words))
        return f"found {words}"

    calls = replay(run, replace(shortening(ref="$cold.1"), fetch=fetch), words).calls
    assert [(call.visible, call.reachable) for call in calls[1:]] == [(0, 1), (0, 1)]
    assert asked == [("three: HAT069 HAT083", "HAT083"), ("three: HAT069 HAT083", "HAT069")]


def test_the_fetch_tool_counts_from_the_first_call_on_that_shows_a_reference() -> None:
    played = replay(job(), shortening(ref="$cold.1", fetch_tool="a fetch tool"), words)
    plain = replay(job(), shortening(ref="$cold.1"), words)
    assert [more - less for more, less in zip(prompts(played), prompts(plain), strict=True)] == [0, 3, 3]


def test_an_agent_reads_its_own_words_as_it_wrote_them() -> None:
    long = "a report of many words"
    messages = (
        RecordedMessage(sender="user", recipient="group", role=Role.USER, text="go"),
        says(long, 0, sender="scout", to="group"),
        says("fine", 1, sender="clerk", to="group"),
        says("more", 2, sender="scout", to="group"),
    )
    assert prompts(replay(run_of(*messages), shortening(), words)) == [1, 2, 7]


@pytest.mark.parametrize("name", StrategyName)
def test_no_message_gets_larger(name: StrategyName) -> None:
    texts = [json.dumps(FLIGHTS, indent=2), "plain words", "[]", "{broken", '{"a": 1}', "", "42"]
    run = run_of(user("go"), *(answers(text, 0) for text in texts), says("done", 1))
    played = replay(run, to_strategy(name), o200k_base_ids)
    assert all(message.sent <= message.recorded for message in played.messages)
    assert (played.messages[0].sent < played.messages[0].recorded) == (name is not StrategyName.AS_RECORDED)


def o200k_base_ids(text: str) -> Sequence[int]:
    return range(o200k_base()(text))
