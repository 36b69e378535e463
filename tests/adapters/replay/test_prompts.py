"""The messages that a middleware sees of a recorded run, and the tools beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from accp_adapters.messages.openai_chat import fetch_tool
from accp_adapters.policy import Policy
from accp_adapters.replay import RecordedCall, RecordedMessage, Role, Run
from accp_adapters.replay.prompts import PromptBuilder, SeenMessages, policy_strategy
from accp_core.projection import CallRecord
from accp_core.strict_json import compact_json
from tests.adapters.replay.runs import answers, asks, says, user

LONG = "\n".join(f"line {number} says something about subject {number * 7}" for number in range(900))
FETCH = compact_json(fetch_tool())
FIND = {"type": "function", "function": {"name": "find"}}
RULES = RecordedMessage(sender="harness", recipient="clerk", role=Role.INSTRUCTIONS, text="rules")


def all_of(*messages: RecordedMessage, agent: str = "clerk", tools: str = "") -> tuple[Run, RecordedCall]:
    """Return a run of one call that is sent all messages."""
    call = RecordedCall(agent=agent, prompt=tuple(range(len(messages))), output=(), tools=tools)
    return Run(name="test", source="test.json", messages=messages, calls=(call,)), call


def seen(*messages: RecordedMessage) -> list[dict[str, Any]]:
    run, call = all_of(*messages)
    return [each.message for each in SeenMessages(run).of(call)]


def test_what_a_model_says_and_calls_at_a_time_is_one_message_and_instructions_are_none() -> None:
    messages = seen(
        RULES, user("go"), says("I look.", 1), asks({"to": "SEA"}, 1, call_id="c1"), answers("{}", 1, call_id="c1")
    )
    assert [message["role"] for message in messages] == ["user", "assistant", "tool"]
    assert messages[1]["content"] == "I look."
    assert [call["id"] for call in messages[1]["tool_calls"]] == ["c1"]
    assert messages[2] == {"role": "tool", "content": "{}", "tool_call_id": "c1", "name": "search"}


def test_a_result_without_an_id_answers_a_call_of_the_last_turn() -> None:
    messages = seen(
        *(asks({}, 1), asks({}, 1, tool="other"), answers("2", 1, tool="other"), answers("1", 1)),
        *(asks({}, 2), answers("3", 2, tool="renamed"), answers("nobody's", 2)),
    )
    first, second = (message for message in messages if message["role"] == "assistant")
    results = {message["content"]: message["tool_call_id"] for message in messages if message["role"] == "tool"}
    assert [results["1"], results["2"]] == [call["id"] for call in first["tool_calls"]]
    assert results["3"] == second["tool_calls"][0]["id"]
    assert results["nobody's"] not in {results["1"], results["2"], results["3"]}


def test_arguments_that_are_no_object_are_those_of_a_tool_with_one_text() -> None:
    command = replace(asks({}, 1, tool="shell"), text="ls -la")
    run, call = all_of(command)
    (message,) = SeenMessages(run).of(call)
    assert message.record.calls == (CallRecord(id="call_0", name="shell", args={"input": "ls -la"}),)
    assert message.positions == ()


def test_participants_without_a_name_have_none() -> None:
    nameless = replace(says("words", 1), sender="assistant")
    assert "name" not in seen(nameless)[0]
    assert seen(says("words", 1))[0]["name"] == "clerk"


def sent(name: str, *messages: RecordedMessage, agent: str = "clerk", policy: Policy | None = None) -> list[str]:
    run, call = all_of(*messages, agent=agent)
    return [
        each.text
        for each in PromptBuilder(run, policy_strategy(name, policy or Policy())).build(call).messages.values()
    ]


def test_another_agents_words_are_known_by_its_name_after_the_users() -> None:
    words = says(LONG, 1, sender="scout")
    assert sent("", user("go"), words)[1].startswith("[preview of 900 lines")
    assert sent("", words, user("go"))[0] == LONG
    assert sent("", user("go"), words, agent="assistant")[1] == LONG
    assert sent("", user("go"), words, agent="scout")[1] == LONG


def test_the_system_prompt_stands_beside_the_messages_and_later_instructions_among_them() -> None:
    page = "\n".join(LONG.split("\n")[:20])
    rules = replace(RULES, text=page)
    assert sent("", rules, rules, answers(page, 1))[2] == page
    assert sent("", user("go"), rules, answers(page, 1))[1:] == [page, '[as above: 20 lines from "line 0 s…"]']
    assert sent("", answers(page, 1), answers(page, 2))[1].startswith("[as above")


def definitions(policy: Policy, *calls: RecordedCall, messages: tuple[RecordedMessage, ...]) -> list[list[str]]:
    run = Run(name="test", source="test.json", messages=messages, calls=calls)
    builder = PromptBuilder(run, policy_strategy("", policy))
    return [[*builder.build(call).definitions] for call in calls]


def test_the_fetch_tool_is_offered_from_the_first_reference_on_and_stays_after_a_summary() -> None:
    messages = (user("go"), answers(LONG, 1), user("Summary: all is well."))
    calls = [RecordedCall(agent="clerk", prompt=prompt, output=()) for prompt in ((0,), (0, 1), (2,))]
    scouts = RecordedCall(agent="scout", prompt=(0,), output=())
    assert definitions(Policy(), *calls, scouts, messages=messages) == [[], [FETCH], [FETCH], []]
    assert definitions(Policy.lossless(), *calls, messages=messages) == [[]] * 3


def test_the_names_that_the_reader_of_a_file_was_given_are_those_of_the_policy() -> None:
    run, call = all_of(says(LONG, 1, sender="scout"), agent="assistant")
    strategy = policy_strategy("", Policy(inline_limit=600, preview_limit=500))
    (alone,) = PromptBuilder(run, strategy).build(call).messages.values()
    (named,) = PromptBuilder(replace(run, agent_names=frozenset({"scout"})), strategy).build(call).messages.values()
    assert (alone.text, named.reference[:6]) == (LONG, "$cold.")
