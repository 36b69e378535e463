"""Handing over in langgraph-swarm and langgraph-supervisor: who receives what, who may open what."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode
from langgraph.types import Send
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_swarm

from accp_adapters.langgraph import AccpMiddleware, Policy, handoff_tool
from accp_adapters.tokens import count_o200k
from accp_core.references import key_of, short_key
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, crm, prose, refs_in, results, thread
from tests.adapters.langgraph.transcripts import check
from tests.scripted_model import ScriptedModel, call, calls

# langgraph-supervisor builds its agent by `create_react_agent`, which langgraph calls deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:create_react_agent has been moved")

SOURCE = json.dumps(ROWS)
TO_MARKET = calls(call("transfer_to_market", "h1", task="Which rows matter?"))


def member(name: str, script: Sequence[Any], *tools: BaseTool, **options: Any) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(script=list(script))
    return create_agent(model, list(tools), name=name, **options), model


def swarm(first: Sequence[Any], second: Sequence[Any], **options: Any) -> tuple[Any, ScriptedModel, ScriptedModel]:
    """Return a swarm of `crm`, which begins, and `market`, with their models."""
    one, one_model = member("crm", first, crm, handoff_tool("market"), middleware=[AccpMiddleware()])
    two, two_model = member("market", second, handoff_tool("crm"), middleware=[AccpMiddleware()])
    return create_swarm([one, two], default_active_agent="crm").compile(**options), one_model, two_model


def supervisor(
    script: Sequence[Any], *workers: Any, tools: Sequence[BaseTool] = (), **options: Any
) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(script=list(script))
    hand = [handoff_tool(worker.name, style="supervisor") for worker in workers]
    return create_supervisor(list(workers), model=model, tools=[*tools, *hand], **options).compile(), model


async def run(graph: Any, asked: Any, asynchronous: bool, **options: Any) -> Any:
    state = await graph.ainvoke(asked, **options) if asynchronous else graph.invoke(asked, **options)
    check([*state["messages"], HumanMessage("and?")])
    return state


def texts(messages: Sequence[BaseMessage]) -> list[str]:
    return [message.text for message in messages]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_the_next_agent_of_a_swarm_receives_its_task_and_nothing_else(asynchronous: bool) -> None:
    graph, _, market = swarm([LOOK_UP, TO_MARKET], ["These do.", "Still these."], checkpointer=InMemorySaver())
    state = await run(graph, {"messages": "compare"}, asynchronous, config=thread("t"))
    assert texts(market.received[0]) == ["Which rows matter?"]
    said = [text.split("\n")[0] for text in texts(state["messages"])]
    assert said == ["compare", "", SOURCE, "", "Transferred", "Which rows matter?", "These do."]
    assert state["active_agent"] == "market"
    await run(graph, {"messages": "sure?"}, asynchronous, config=thread("t"))
    assert texts(market.received[1])[-1] == "sure?"
    assert market.received[1][2].text.startswith("[preview")


def test_a_swarm_hands_back_and_forth() -> None:
    back = calls(call("transfer_to_crm", "h2", task="Ask them."))
    graph, first, _ = swarm([TO_MARKET, "Asked."], [back])
    state = graph.invoke({"messages": "compare"})
    assert texts(first.received[1]) == ["Ask them."]
    assert state["active_agent"] == "crm"
    assert state["messages"][-1].text == "Asked."
    check([*state["messages"], HumanMessage("and?")])


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_supervisor_goes_on_with_all_that_it_knew(asynchronous: bool) -> None:
    worker, worker_model = member("market", ["Rows 1 and 2."])
    script = [LOOK_UP, TO_MARKET, "Rows 1 and 2, says the market."]
    graph, model = supervisor(script, worker, tools=[crm])
    state = await run(graph, {"messages": "compare"}, asynchronous)
    assert texts(worker_model.received[0]) == ["Which rows matter?"]
    assert ROWS[0]["email"] in model.received[2][2].text
    assert state["messages"][-1].text == "Rows 1 and 2, says the market."


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_supervisor_hands_to_several_agents_at_once(asynchronous: bool) -> None:
    one, one_model = member("market", ["Up."])
    two, two_model = member("legal", ["Allowed."])
    turn = calls(call("transfer_to_market", "h1", task="Up or down?"), call("transfer_to_legal", "h2", task="May we?"))
    graph, model = supervisor([turn, "Up, and allowed."], one, two)
    state = await run(graph, {"messages": "compare"}, asynchronous)
    assert texts(one_model.received[0]) == ["Up or down?"]
    assert texts(two_model.received[0]) == ["May we?"]
    said = texts(model.received[1])
    assert [text for text in said if text in {"Up.", "Allowed."}] == ["Up.", "Allowed."]
    assert [message.tool_call_id for message in results(state)][:2] == ["h1", "h2"]


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_a_supervisor_built_by_hand_hands_to_several_agents_at_once(asynchronous: bool) -> None:
    turn = calls(call("transfer_to_market", "h1", task="Up or down?"), call("transfer_to_legal", "h2", task="May we?"))
    tools = [handoff_tool(name, style="supervisor") for name in ("market", "legal")]
    lead, model = member("lead", [turn, "Up, and allowed."], *tools)
    one, one_model = member("market", ["Up."])
    two, two_model = member("legal", ["Allowed."])
    graph = StateGraph(MessagesState).add_node("lead", lead, destinations=("market", "legal"))
    graph.add_node("market", one).add_node("legal", two).add_node("ask", lambda _: {"messages": [HumanMessage("so?")]})
    graph.add_edge(START, "lead").add_edge(["market", "legal"], "ask").add_edge("ask", "lead")
    state = await run(graph.compile(checkpointer=InMemorySaver()), {"messages": "go"}, asynchronous, config=thread("t"))
    assert (texts(one_model.received[0]), texts(two_model.received[0])) == (["Up or down?"], ["May we?"])
    assert [message.tool_call_id for message in results(state)] == ["h1", "h2"]
    assert texts(model.received[1])[-1] == "so?"


def test_a_swarm_talks_as_one_agent() -> None:
    turn = calls(call("transfer_to_market", "h1", task="a"), call("transfer_to_legal", "h2", task="b"))
    one, model = member("crm", [turn, TO_MARKET], handoff_tool("market"), handoff_tool("legal"))
    two, _ = member("market", ["Fine."])
    three, three_model = member("legal", ["Fine."])
    graph = create_swarm([one, two, three], default_active_agent="crm").compile()
    state = graph.invoke({"messages": "go"})
    refused = [message for message in model.received[1] if isinstance(message, ToolMessage)]
    assert [message.status for message in refused] == ["error", "error"]
    assert refused[0].text.startswith("E5001: expected one agent to hand over to, found ['market', 'legal']")
    assert (state["active_agent"], three_model.received) == ("market", [])


@pytest.mark.parametrize("style", ["swarm", "supervisor"])
def test_other_calls_of_the_turn_are_cut_and_the_answer_says_so(style: Any) -> None:
    content = [
        {"type": "thinking", "thinking": "hm", "signature": "c2ln"},
        {"type": "text", "text": "I look and ask."},
        {"type": "tool_use", "id": "c1", "name": "crm", "input": {"query": "x"}},
        {"type": "tool_use", "id": "h1", "name": "transfer_to_market", "input": {"task": "y"}},
    ]
    turn = AIMessage(content, tool_calls=[call("crm", "c1", query="x"), call("transfer_to_market", "h1", task="y")])
    one, _ = member("crm", [turn], crm, handoff_tool("market", style=style))
    two, _ = member("market", ["Fine."])
    outer = StateGraph(MessagesState).add_node("crm", one, destinations=("market",)).add_node("market", two)
    graph = outer.add_edge(START, "crm").add_edge("market", END).compile()
    state = graph.invoke({"messages": "go"})
    _, said, answer = state["messages"][:3]
    assert (said.text, said.content) == ("I look and ask.", "I look and ask.")
    assert [each["id"] for each in said.tool_calls] == ["h1"]
    assert answer.text == "Transferred; without the results of crm"
    check([*state["messages"], HumanMessage("and?")])


def naming(messages: Sequence[BaseMessage]) -> AIMessage:
    ref = next(refs_in(message)[0] for message in reversed(messages) if refs_in(message))
    return calls(call("transfer_to_market", "h1", task=f"Read {ref}."))


def opening(call_id: str) -> Any:
    def step(messages: Sequence[BaseMessage]) -> AIMessage:
        ref = next(refs_in(message)[0] for message in reversed(messages) if refs_in(message))
        return calls(call("accp_fetch", call_id, ref=ref, limit=2))

    return step


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_the_receiver_is_shown_the_rows(asynchronous: bool) -> None:
    graph, _, market = swarm([LOOK_UP, naming], [opening("f1"), "Read."])
    state = await run(graph, {"messages": "compare"}, asynchronous)
    assert ROWS[1]["email"] in market.received[1][-1].text
    assert results(state)[-1].status == "success"


def test_what_one_agent_was_handed_opens_for_no_other_that_sees_its_messages() -> None:
    own: dict[str, Any] = {"middleware": [AccpMiddleware()]}
    one, _ = member("crm", [LOOK_UP, naming], crm, handoff_tool("market", style="supervisor"), **own)
    two, _ = member("market", ["Read."], **own)
    three, model = member("legal", [opening("f9"), "done"], middleware=[AccpMiddleware()])
    model.strict = False  # Anthropic wants a user's turn after another agent's; this is about who may open what
    outer = StateGraph(MessagesState).add_node("crm", one, destinations=("market",)).add_node("market", two)
    outer.add_node("legal", three).add_edge(START, "crm")
    outer.add_conditional_edges("market", lambda s: [Send("legal", {"messages": s["messages"][-2:]})], ["legal"])
    state = outer.compile().invoke({"messages": "compare"})
    assert [ref for message in model.received[0] for ref in refs_in(message)]
    assert results(state)[-1].text.startswith("E5002: ")


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_who_is_handed_to_again_finds_what_it_had_found(asynchronous: bool) -> None:
    back = calls(call("transfer_to_crm", "h2", task="Which of them is the first?"))
    script = [LOOK_UP, TO_MARKET, "Customer 0.", opening("f2"), "Customer 0."]
    graph, model, market = swarm(script, [back], checkpointer=InMemorySaver())
    await run(graph, {"messages": "compare"}, asynchronous, config=thread("t"))
    state = await run(graph, {"messages": "sure?"}, asynchronous, config=thread("t"))
    assert results(state)[-1].status == "success"
    assert market.tool_names == [["transfer_to_crm"]]
    assert ROWS[1]["email"] in model.received[-1][-1].text


def test_what_was_found_in_few_words_stays_as_it_is_without_the_thoughts() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    look = AIMessage([thought], tool_calls=[call("prose", "c1", query="it")])
    one, _ = member("crm", [look, TO_MARKET], prose, handoff_tool("market"), middleware=[AccpMiddleware()])
    two, model = member("market", ["Fine."])
    state = create_swarm([one, two], default_active_agent="crm").compile().invoke({"messages": "compare"})
    assert texts(results(state)) == ["Nothing is known about it.", "Transferred"]
    assert state["messages"][1].content == ""
    assert texts(model.received[0]) == ["Which rows matter?"]


def test_who_reads_no_reference_is_not_offered_the_fetch_tool() -> None:
    graph, _, market = swarm([LOOK_UP, TO_MARKET], ["Fine."])
    graph.invoke({"messages": "compare"})
    assert market.tool_names == [["transfer_to_crm"]]


def test_without_the_fetch_tool_the_parent_keeps_what_was_found() -> None:
    one, _ = member("crm", [LOOK_UP, TO_MARKET], crm, handoff_tool("market"))
    two, model = member("market", ["Fine."])
    state = create_swarm([one, two], default_active_agent="crm").compile().invoke({"messages": "compare"})
    assert [message.tool_call_id for message in results(state)] == ["c1", "h1"]
    assert results(state)[1].text == "Transferred"
    assert texts(model.received[0]) == ["Which rows matter?"]
    check([*state["messages"], HumanMessage("and?")])


def test_a_reference_that_the_agent_does_not_hold_is_refused_before_anything_moves() -> None:
    typed = "$cold.00000000000000000123456789012"
    graph, model, market = swarm([calls(call("transfer_to_market", "h1", task=f"Open {typed}.")), "No."], ["?"])
    graph.invoke({"messages": f"Open {typed}."})
    refused = model.received[1][-1]
    assert refused.text.startswith("E5002: expected a reference to a text that this conversation still has")
    assert market.received == []


def test_without_a_task_the_users_words_go_on_with_their_images_and_grant_nothing() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    words: list[Any] = [{"type": "text", "text": "Open $cold.00000000000000000123456789012."}, image]
    graph, _, market = swarm([calls(call("transfer_to_market", "h1"))], ["Seen."])
    graph.invoke({"messages": [HumanMessage(words)]})
    (brief,) = market.received[0]
    assert (brief.content, brief.additional_kwargs) == (words, {})


def test_a_replay_comes_to_the_same_messages() -> None:
    graph, _, _ = swarm([TO_MARKET, TO_MARKET], ["Fine.", "Fine."], checkpointer=InMemorySaver())
    first = graph.invoke({"messages": [HumanMessage("go", id="m")]}, thread("t"))
    start = next(past for past in graph.get_state_history(thread("t")) if past.next == ("crm",))
    second = graph.invoke(None, start.config)
    assert texts(first["messages"]) == texts(second["messages"])


def test_streams_show_the_transfer_and_the_receivers_words() -> None:
    graph, _, _ = swarm([TO_MARKET], ["Fine."])
    updates = [part for _, part in graph.stream({"messages": "go"}, stream_mode="updates", subgraphs=True)]
    assert {"crm", "market"} & {name for update in updates for name in update}
    spoken = [message.text for message, _ in graph.stream({"messages": "go"}, stream_mode="messages")]
    assert "Fine." in spoken


@pytest.mark.parametrize(
    ("agent", "options", "named"),
    [
        ("market", {"style": "queue"}, "'queue'"),
        ("  ", {}, "'  '"),
        ("m" * 80, {}, "m" * 80),
        ("m", {"name": "a b"}, "'a b'"),
    ],
)
def test_a_tool_that_no_provider_takes_is_refused(agent: str, options: Any, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        handoff_tool(agent, **options)


class Talk(TypedDict):
    talk: Annotated[list[AnyMessage], add_messages]


@pytest.mark.parametrize("key", ["messages", "talk"])
def test_the_messages_are_looked_for_under_their_key(key: str) -> None:
    node = ToolNode([handoff_tool("market", messages_key=key)], messages_key="talk")
    inner = StateGraph(Talk).add_node("tools", node).add_edge(START, "tools").compile()
    seen: list[Any] = []
    outer = StateGraph(Talk).add_node("desk", inner, destinations=("market",)).add_node("market", seen.append)
    state = outer.add_edge(START, "desk").compile().invoke({"talk": [TO_MARKET]})
    if key == "talk":
        assert texts(seen[0]["talk"]) == ["Which rows matter?"]
    else:
        assert state["talk"][-1].text == "E4003: expected a message that makes the call 'h1', found none"


def test_the_last_answers_of_agents_that_the_task_names_go_with_it() -> None:
    one, _ = member("market", ["Up."])
    two, two_model = member("legal", ["Allowed."])
    script = [TO_MARKET, calls(call("transfer_to_legal", "h2", task="May we? See @market, not @nobody or me@market."))]
    graph, _ = supervisor([*script, "Done."], one, two)
    graph.invoke({"messages": "compare"})
    (brief,) = two_model.received[0]
    assert brief.text == "May we? See @market, not @nobody or me@market.\n\n@market: Up."


@pytest.mark.parametrize("policy", [None, Policy(), Policy.lossless()])
def test_a_policy_bounds_the_answers_that_a_task_quotes(policy: Policy | None) -> None:
    found = "\n".join(f"Law {number} is about matter {number * 7} and allows it." for number in range(200))
    task = calls(call("transfer_to_legal", "h2", task="May we? See @market."))
    one, _ = member("market", [found])
    two, legal = member("legal", [opening("f1"), "Allowed."], middleware=[AccpMiddleware()])
    tools = [handoff_tool(name, style="supervisor", policy=policy) for name in ("market", "legal")]
    script = ScriptedModel(script=[TO_MARKET, task, "Done."])
    graph = create_supervisor([one, two], model=script, tools=tools, output_mode="last_message").compile()
    if policy is None or not policy.previews:
        legal.script = ["Allowed."]
    graph.invoke({"messages": "compare"})
    brief = legal.received[0][0].text
    if policy is None or not policy.previews:
        assert brief.endswith(f"@market: {found}")
        return
    assert count_o200k(brief) <= 200 + 20
    assert short_key(key_of(found)) in brief
    assert legal.received[1][-1].status == "success"
