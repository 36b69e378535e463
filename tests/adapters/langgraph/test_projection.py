"""What one model reads of a conversation that others share."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.langgraph.metadata import Grant, Metadata
from accp_adapters.langgraph.projection import agent_name, find_words, project, projector_after
from accp_adapters.tokens import count_o200k
from accp_core.projection import PriorPrompt
from accp_core.references import key_of
from tests.adapters.langgraph.jobs import ROWS, agent, fetch_last, prose, results
from tests.scripted_model import call, calls

PAGE = "\n".join(f"{row['id']} is {row['name']}, to be reached at {row['email']}" for row in ROWS[:20])
LONG = "\n".join(f"{row['id']} is {row['name']}, to be reached at {row['email']}" for row in ROWS)
USAGE = {"input_tokens": 900, "output_tokens": 100, "total_tokens": 1_000}
AS_ABOVE = '[as above: 20 lines from "CRM-0000 is Cust…"]'


def shown(*messages: AnyMessage, policy: Policy | None = None, name: str | None = None) -> list[AnyMessage]:
    """Return what the model of the agent `name` reads."""
    return project(messages, policy or Policy(), agent=name).messages


def result(content: Any, call_id: str = "c1", **fields: Any) -> ToolMessage:
    return ToolMessage(content=content, tool_call_id=call_id, name="crm", **fields)


def test_what_a_tool_returns_again_is_named() -> None:
    first, second = result(PAGE), result(f"Again:\n{PAGE}\nThat is all.", "c2")
    again = shown(HumanMessage("go"), first, second)
    assert again[1] is first
    assert again[2].text == f"Again:\n{AS_ABOVE}\nThat is all."
    assert second.text.count("CRM") == 20
    assert {again[2].model_copy(update={"content": second.content}).model_dump_json()} == {second.model_dump_json()}


def test_what_the_agent_itself_or_the_user_said_is_named_too() -> None:
    for before in (HumanMessage(PAGE), AIMessage(PAGE), SystemMessage(PAGE)):
        assert shown(before, result(f"Found:\n{PAGE}"))[1].text == f"Found:\n{AS_ABOVE}"


@pytest.mark.parametrize(
    "message", [HumanMessage(PAGE), AIMessage(PAGE), AIMessage(PAGE, name="clerk"), SystemMessage(PAGE)]
)
def test_the_words_of_users_instructions_and_the_agent_itself_stay(message: AnyMessage) -> None:
    assert shown(result(PAGE), message, name="clerk")[1] is message


@pytest.mark.parametrize(
    "message", [result(PAGE, status="error"), ToolMessage(PAGE, name="accp_fetch", tool_call_id="c2")]
)
def test_errors_and_what_was_fetched_stay(message: ToolMessage) -> None:
    assert shown(result(PAGE), message, policy=Policy().excluding("accp_fetch"))[1] is message


def test_images_stay_beside_shortened_text() -> None:
    image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    again = shown(result(PAGE), result([{"type": "text", "text": f"See:\n{PAGE}", "id": "b1"}, image], "c2"))[1]
    assert again.content == [{"type": "text", "text": f"See:\n{AS_ABOVE}", "id": "b1"}, image]


def test_other_agents_long_words_are_a_preview_that_the_state_can_open() -> None:
    words = AIMessage(LONG, name="scout", id="m1", usage_metadata=USAGE)
    (_, brief) = shown(HumanMessage("Who is CRM-0150?"), words, name="clerk")
    key = key_of(LONG)
    assert f"${key}" in brief.text
    assert "CRM-0150" in brief.text
    assert count_o200k(brief.text) <= Policy().preview_limit
    assert (brief.id, brief.name, brief.additional_kwargs, brief.usage_metadata) == ("m1", "scout", {}, None)
    assert project([words], Policy(), agent="clerk").has_previews
    assert not project([words], Policy(), agent="scout").has_previews
    assert find_words(key, [HumanMessage("go"), words]) == LONG
    assert find_words(key, [HumanMessage(LONG)]) is None
    assert shown(HumanMessage("go"), words, name="scout")[1] is words


def test_agents_that_speak_as_humans_are_known_by_name() -> None:
    policy = Policy(agent_names=frozenset({"scout"}))
    person, scout = HumanMessage(LONG, name="mara"), HumanMessage(LONG, name="scout")
    asked = HumanMessage("Who is CRM-0150?")
    after = shown(asked, scout, name="clerk", policy=policy)
    assert f"${key_of(LONG)}" in after[1].text
    assert "CRM-0150" in after[1].text
    assert find_words(key_of(LONG), [scout]) == LONG
    assert shown(asked, person, name="clerk", policy=policy)[1] is person
    assert shown(asked, scout, name="scout", policy=policy)[1] is scout
    assert shown(asked, scout, name="clerk")[1] is scout


def test_other_agents_json_is_a_view() -> None:
    text = json.dumps(ROWS[:9], indent=2)
    (view,) = shown(AIMessage(text, name="scout"), name="clerk")
    assert view.text.startswith("[9] id name, email status trace\n")


@pytest.mark.parametrize(
    "words",
    [
        AIMessage([{"type": "text", "text": LONG}], name="scout"),
        AIMessage(LONG),
        HumanMessage(LONG, name="mara"),
        AIMessage("", name="scout", tool_calls=[call("crm", query=LONG)]),
    ],
    ids=["content blocks", "no name", "a person", "a call"],
)
def test_what_is_not_another_agents_plain_text_stays(words: AnyMessage) -> None:
    assert shown(words, name="clerk")[0] is words


def test_both_can_be_switched_off() -> None:
    messages = (result(PAGE), result(f"Again:\n{PAGE}", "c2"), AIMessage(LONG, name="scout"))
    for policy, changed in ((Policy(repeats=False), [2]), (Policy(other_agents=False), [1])):
        after = shown(*messages, policy=policy)
        assert [i for i, (old, new) in enumerate(zip(messages, after, strict=True)) if old is not new] == changed


def test_without_a_cache_every_saving_counts() -> None:
    small = "\n".join(PAGE.split("\n")[:4])
    messages = (HumanMessage("x" * 40_000), result(small), result(small, "c2"))
    assert shown(*messages)[2] is messages[2]
    assert shown(*messages, policy=Policy(cache_aware=False))[2].text.startswith("[as above: 4 lines")


def test_a_reading_of_a_trimmed_history_names_nothing_that_is_gone() -> None:
    first, second = result(PAGE), result(f"Again:\n{PAGE}", "c2")
    assert shown(first, second)[1] is not second
    assert shown(second)[0] is second


TEXTS = st.sampled_from(["", "ok", PAGE, LONG, PAGE[200:], f"one\n{PAGE}\ntwo", LONG[:9000], json.dumps(ROWS[:12])])
MESSAGES = st.lists(
    st.one_of(
        st.builds(result, TEXTS),
        st.builds(AIMessage, TEXTS, name=st.sampled_from(["clerk", "scout", None])),
        st.builds(HumanMessage, TEXTS),
    ),
    max_size=6,
)


@given(MESSAGES, st.sampled_from(["clerk", "scout", None]))
def test_a_sent_prefix_never_changes_and_nothing_gets_larger(messages: list[AnyMessage], name: str | None) -> None:
    policy = replace(Policy(inline_limit=500, preview_limit=200), counter=len)
    whole = project(messages, policy, agent=name).messages
    for length in range(len(messages)):
        assert project(messages[:length], policy, agent=name).messages == whole[:length]
    assert all(len(new.text) <= len(old.text) for old, new in zip(messages, whole, strict=True))


def prompt_of(*messages: AnyMessage, agent: str | None = None) -> PriorPrompt:
    return projector_after(messages, Policy(), agent).prompt


def test_a_prompt_is_what_the_provider_counted_and_an_estimate_of_the_rest() -> None:
    asked = AIMessage("", tool_calls=[call("crm", query="x" * 38)], usage_metadata=USAGE)
    cited = Metadata(grants=(Grant(key="cold.1", session_id="t"),)).on(result("x" * 400))
    assert prompt_of(HumanMessage("x" * 400)) == PriorPrompt(tokens=100)
    assert prompt_of(HumanMessage("x" * 400), asked, cited) == PriorPrompt(tokens=1_100, has_references=True)
    # What another agent's provider counted is another prompt.
    assert prompt_of(asked.model_copy(update={"name": "scout"}), agent="clerk").tokens < 20
    assert projector_after([], Policy(), None, offers_fetch=True).prompt == PriorPrompt(has_references=True)


def test_the_instructions_are_part_of_the_prompt() -> None:
    again = [HumanMessage("go"), result("\n".join(PAGE.split("\n")[:4])), result("\n".join(PAGE.split("\n")[:4]), "c2")]
    assert project(again, Policy()).messages[2] is not again[2]
    assert project(again, Policy(), instructions="x" * 40_000).messages[2] is again[2]


def test_a_counter_that_cannot_be_hashed_counts_as_well() -> None:
    class Counter:
        __hash__ = None  # type: ignore[assignment]  # as a pydantic model has it

        def __call__(self, text: str, /) -> int:
            return count_o200k(text)

    policy = Policy(counter=Counter())
    after = shown(result(PAGE), result(f"Again:\n{PAGE}", "c2"), AIMessage(LONG, name="scout"), policy=policy)
    assert after[1].text == f"Again:\n{AS_ABOVE}"
    assert "$cold." in after[2].text


def test_outside_of_a_run_nobody_has_a_name() -> None:
    assert agent_name() is None


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_agent_opens_what_another_agent_of_its_graph_said(asynchronous: bool) -> None:
    graph, model = agent([fetch_last, "CRM-0150 is Customer 150"], prose, name="clerk")
    team = StateGraph(MessagesState)
    team.add_node("scout", lambda state: {"messages": [AIMessage(LONG, name="scout"), HumanMessage("Well?")]})
    team.add_node("clerk", graph)
    team.add_edge(START, "scout")
    team.add_edge("scout", "clerk")
    compiled = team.compile()
    given: Any = {"messages": "Who is CRM-0150?"}
    state = await compiled.ainvoke(given) if asynchronous else compiled.invoke(given)
    (fetched,) = results(state)
    assert fetched.text.startswith("CRM-0000 is Customer 0")
    assert state["messages"][1].text == LONG
    assert model.received[0][1].text.startswith("[preview of 300 lines")
    assert model.received[1][:3] == model.received[0]
    assert model.tool_names[0] == ["prose", "accp_fetch"]


def test_a_second_like_result_is_named_to_the_model_and_whole_in_the_state() -> None:
    graph, model = agent(
        [calls(call("prose", "c1", query=LONG)), calls(call("prose", "c2", query=LONG)), "done"],
        prose,
        middleware=AccpMiddleware(Policy.lossless()),
    )
    state = graph.invoke({"messages": "go"})
    first, second = results(state)
    assert first.text == second.text
    sent = model.received[2]
    assert sent[2].text == first.text
    assert sent[4].text == '[as above: 300 lines from "Nothing is known…"]'
