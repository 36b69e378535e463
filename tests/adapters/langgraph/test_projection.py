"""What one model reads of a conversation that others share."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph import START, MessagesState, StateGraph

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.langgraph.conversation import MessageProjector, agent_name
from accp_adapters.langgraph.grants import held_texts
from accp_adapters.tokens import count_o200k
from accp_core.references import key_of, short_key, short_reference
from tests.adapters.langgraph.jobs import ROWS, agent, fetch_last, prose, results
from tests.adapters.langgraph.transcripts import check, payload
from tests.scripted_model import call, calls

PAGE = "\n".join(f"{row['id']} is {row['name']}, to be reached at {row['email']}" for row in ROWS[:20])
LONG = "\n".join(f"{row['id']} is {row['name']}, to be reached at {row['email']}" for row in ROWS)
USAGE = {"input_tokens": 900, "output_tokens": 100, "total_tokens": 1_000}
TEAM = Policy(agent_names=frozenset({"scout"}))
AS_ABOVE = '[as above: 20 lines from "CRM-0000…"]'


def shown(*messages: AnyMessage, policy: Policy | None = None, name: str | None = None) -> list[AnyMessage]:
    """Return what the model of the agent `name` reads."""
    return MessageProjector(policy or TEAM).project(messages, agent=name).messages


def result(content: Any, call_id: str = "c1", **fields: Any) -> ToolMessage:
    return ToolMessage(content=content, tool_call_id=call_id, name="crm", **fields)


def test_what_a_tool_returns_again_is_named() -> None:
    first, second = result(PAGE), result(f"Again:\n{PAGE}\nThat is all.", "c2")
    again = shown(HumanMessage("go"), first, second)
    assert again[1] is first
    assert again[2].text == f"Again:\n{AS_ABOVE}\nThat is all."
    assert second.text.count("CRM") == 20
    assert {again[2].model_copy(update={"content": second.content}).model_dump_json()} == {second.model_dump_json()}


@pytest.mark.parametrize(
    "message", [HumanMessage(PAGE), AIMessage(PAGE), AIMessage(PAGE, name="clerk"), SystemMessage(PAGE)]
)
def test_the_words_of_users_instructions_and_the_agent_itself_stay(message: AnyMessage) -> None:
    assert shown(result(PAGE), message, name="clerk")[1] is message


def test_images_stay_beside_shortened_text() -> None:
    image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    again = shown(result(PAGE), result([{"type": "text", "text": f"See:\n{PAGE}", "id": "b1"}, image], "c2"))[1]
    assert again.content == [{"type": "text", "text": f"See:\n{AS_ABOVE}", "id": "b1"}, image]


def test_other_agents_long_words_are_a_preview_that_the_state_can_open() -> None:
    words = AIMessage(LONG, name="scout", id="m1", usage_metadata=USAGE)
    (_, brief) = shown(HumanMessage("Who is CRM-0150?"), words, name="clerk")
    key = key_of(LONG)
    assert short_reference(key) in brief.text
    assert "CRM-0150" in brief.text
    assert count_o200k(brief.text) <= Policy().preview_limit
    assert (brief.id, brief.name, brief.additional_kwargs, brief.usage_metadata) == ("m1", "scout", {}, None)
    assert list(MessageProjector(TEAM).project([words], agent="clerk").stored) == ["m1"]
    assert not MessageProjector(TEAM).project([words], agent="scout").stored
    assert held_texts({"messages": [HumanMessage("go"), words]})[key] == LONG
    assert key not in held_texts({"messages": [HumanMessage("go")]})
    assert shown(HumanMessage("go"), words, name="scout")[1] is words


def test_agents_that_speak_as_humans_are_known_by_name() -> None:
    person, scout = HumanMessage(LONG, name="mara"), HumanMessage(LONG, name="scout")
    asked = HumanMessage("Who is CRM-0150?")
    after = shown(asked, scout, name="clerk")
    assert short_reference(key_of(LONG)) in after[1].text
    assert "CRM-0150" in after[1].text
    assert shown(asked, person, name="clerk")[1] is person
    assert shown(asked, scout, name="scout")[1] is scout
    assert shown(asked, scout, name="clerk", policy=Policy())[1] is scout


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


def test_what_a_provider_counted_changes_nothing() -> None:
    """A client that sends the history back has no counts."""
    asked, again = calls(call("crm", "c1")), calls(call("crm", "c2"))
    history = [HumanMessage("go"), asked, result(PAGE), again, result(PAGE, "c2")]
    counted = [
        each.model_copy(update={"usage_metadata": USAGE}) if each in (asked, again) else each for each in history
    ]
    assert [message.text for message in shown(*history)] == [message.text for message in shown(*counted)]


def test_a_text_that_the_state_does_not_hold_is_shown_as_a_view_at_most() -> None:
    rows = json.dumps(ROWS)
    asked = [calls(call("crm")), result(rows)]
    state = [asked[0], result("something else")]
    projected = MessageProjector(Policy()).project(asked, state=state)
    assert projected.stored == {}
    assert "$cold." not in projected.messages[1].text
    assert projected.messages[1].text.count("CRM-") == 300
    assert "$cold." in MessageProjector(Policy()).project(asked, state=asked).messages[1].text


def test_a_tool_has_limits_of_its_own() -> None:
    policy = Policy(tools={"crm": Policy(inline_limit=600, preview_limit=500).result_limits()})
    tight, default = (shown(result(LONG), policy=each)[0] for each in (policy, Policy()))
    assert count_o200k(tight.text) <= 500 < count_o200k(default.text)


def test_outside_of_a_run_nobody_has_a_name() -> None:
    assert agent_name() is None


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_an_agent_opens_what_another_agent_of_its_graph_said(asynchronous: bool) -> None:
    graph, model = agent([fetch_last, "CRM-0150 is Customer 150"], prose, middleware=AccpMiddleware(TEAM), name="clerk")
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
    assert sent[4].text == '[as above: 300 lines from "Nothing …"]'


FILE = "\n".join(f"line {number} of the file, which says what line {number} says" for number in range(300))
ARGS = {"path": "a.txt", "text": FILE}
WRITES = Policy(argument_limit=100)
WRITTEN: dict[str, AIMessage] = {
    "openai": AIMessage(
        "",
        additional_kwargs={
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "write", "arguments": json.dumps(ARGS)}},
                {"id": "c2", "type": "function", "function": {"name": "write", "arguments": "{}"}},
            ]
        },
    ),
    "responses": AIMessage(
        [
            "so",
            {"type": "function_call", "call_id": "c1", "id": "fc_1", "name": "write", "arguments": json.dumps(ARGS)},
            {"type": "function_call", "call_id": "c2", "id": "fc_2", "name": "write", "arguments": "{}"},
        ],
        response_metadata={"model_provider": "openai"},
    ),
    "anthropic": AIMessage(
        [
            {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "tool_use", "id": "c1", "name": "write", "input": ARGS, "partial_json": json.dumps(ARGS)},
            {"type": "tool_use", "id": "c2", "name": "write", "input": {}},
        ]
    ),
    "langchain": AIMessage(
        [
            {"type": "tool_call", "id": "c1", "name": "write", "args": ARGS},
            {"type": "tool_call", "id": "c2", "name": "write", "args": {}},
        ]
    ),
}


@pytest.mark.parametrize("provider", WRITTEN)
def test_a_long_argument_is_a_preview_wherever_a_formatter_reads_it(provider: str) -> None:
    made = [call("write", "c1", **ARGS), call("write", "c2")]
    turn = WRITTEN[provider].model_copy(update={"tool_calls": made, "usage_metadata": USAGE})
    answers = [ToolMessage("written", tool_call_id=f"c{number}") for number in (1, 2)]
    conversation = [HumanMessage("Write it."), turn, *answers]
    sent = shown(*conversation, policy=WRITES)
    assert held_texts({"messages": conversation})[key_of(FILE)] == FILE
    changed = sent[1]
    assert isinstance(changed, AIMessage)
    preview = changed.tool_calls[0]["args"]["text"]
    assert f"accp_fetch {short_reference(key_of(FILE))}" in preview
    assert changed.tool_calls[0]["args"]["path"] == "a.txt"
    assert changed.tool_calls[1] == made[1]
    assert changed.usage_metadata is None
    assert "line 150 of the file, which says what line 150 says" not in changed.model_dump_json()
    assert turn.tool_calls[0]["args"]["text"] == FILE
    for name in ("openai", "responses", "anthropic"):
        if provider in ("openai", "langchain", name):
            assert short_key(key_of(FILE)) in json.dumps(payload(name, sent))
    if provider != "langchain":
        check([*sent, HumanMessage("and?")])
    assert shown(*conversation, policy=Policy())[1] is turn
    # It is counted in the call that sends it first, and in no later one.
    projector = MessageProjector(WRITES)
    sends = [projector.project([*conversation, *more]).rewritten for more in ([], [AIMessage("done")])]
    assert [len(each) for each in sends] == [1, 0]


def test_a_custom_tool_has_its_short_input() -> None:
    block = {"type": "custom_tool_call", "call_id": "c1", "id": "ct_1", "name": "write", "input": FILE}
    turn = AIMessage([block], tool_calls=[call("write", "c1", __arg1=FILE)])
    changed = shown(turn, policy=WRITES)[0]
    assert changed.content[0]["input"] == changed.tool_calls[0]["args"]["__arg1"] != FILE
    unknown = turn.model_copy(update={"tool_calls": [call("write", "c1", text=FILE)]})
    assert shown(unknown, policy=WRITES)[0].content == turn.content
