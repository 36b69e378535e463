"""Agents inside graphs and inside tools: what each may open is its own, but for what it is handed over."""

from __future__ import annotations

from functools import partial
from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

from accp_adapters.langgraph import AccpMiddleware, fetch_tool
from accp_core.references import key_of, reference_to
from tests.adapters.langgraph.jobs import LOOK_UP, ROWS, agent, fetch_last, refs_in, results, thread
from tests.adapters.langgraph.ways import alternating
from tests.scripted_model import ScriptedModel, call, calls


def test_an_agent_that_is_a_node_opens_in_the_second_turn_what_it_was_shown_in_the_first() -> None:
    inner, model = agent([LOOK_UP, "found", fetch_last, "done"])
    outer = StateGraph(MessagesState).add_node("crm", inner).add_edge(START, "crm")
    graph = outer.compile(checkpointer=InMemorySaver())
    graph.invoke({"messages": [("user", "find customers")]}, thread("t"))
    state = graph.invoke({"messages": [("user", "look closer")]}, thread("t"))
    _, fetched = results(state)
    assert refs_in(model.received[1][-1])
    assert fetched.status == "success"
    assert ROWS[0]["email"] in fetched.text


def expert(name: str, source: Any = None, form: str = "text") -> Any:
    """Return a tool in which an agent answers with the reference of what `source`, or a tool of its own, returned."""

    @tool
    def look(question: str) -> list[dict[str, Any]]:
        """Return the rows of this expert."""
        return [{**row, "owner": name} for row in ROWS]

    asked = calls(call((source or look).name, question="?"))
    inner, _ = agent([asked, lambda messages: f"I found {refs_in(messages[-1])[0]}."], source or look)

    @tool(name, description="Ask the expert.")
    def ask(question: str, runtime: ToolRuntime) -> Any:
        answer: str = inner.invoke({"messages": question})["messages"][-1].text
        message = ToolMessage(answer, tool_call_id=runtime.tool_call_id, name=name)
        return {"text": answer, "command": Command(update={"messages": [message]}), "list": [message]}[form]

    return ask


def asks(*names: str) -> Any:
    return calls(*(call(name, f"of {name}", question="?") for name in names))


def owners_of(*names: str) -> list[Any]:
    """Return the steps of a model that opens what each of the experts found."""

    def step(messages: list[Any], name: str) -> Any:
        ref = next(refs_in(each)[0] for each in messages if getattr(each, "tool_call_id", "") == f"of {name}")
        return calls(call("accp_fetch", f"f{len(messages)}", ref=ref, query="SELECT DISTINCT owner FROM rows"))

    return [partial(step, name=name) for name in names]


TEN = [f"expert{number}" for number in range(10)]


@alternating(
    ("script", "form", "owners"),
    [
        ([asks("a", "b"), *owners_of("a", "b")], form, ["a", "b"])  # two tools in one step
        for form in ("text", "command", "list", "text")
    ]
    + [
        ([asks("a"), asks("b"), *owners_of("a", "b")], "text", ["a", "b"]),
        ([asks("a"), *owners_of("a"), "done", asks("b"), *owners_of("a", "b")], "text", ["a", "a", "b"]),
        ([asks("c", "a"), *owners_of("c", "a")], "text", ["b", "a"]),
        ([asks(*TEN), *owners_of(*TEN)], "text", TEN),
    ],
)
async def test_what_the_answers_of_agents_in_tools_cite_opens_for_the_agent_that_called_them(
    script: list[Any], form: str, owners: list[str], asynchronous: bool
) -> None:
    experts = [expert("a", form=form), expert("b"), expert("c", expert("c_of", expert("b"))), *map(expert, TEN)]
    outer, _ = agent([*script, "done"], *experts, checkpointer=InMemorySaver())
    for given in [{"messages": "go"}] * (1 + script.count("done")):
        state = await outer.ainvoke(given, thread("t")) if asynchronous else outer.invoke(given, thread("t"))
    assert [each.text.split()[-1] for each in results(state) if each.name == "accp_fetch"] == owners
    assert set(state) == {"messages"}


def test_of_many_texts_that_no_message_cites_only_the_last_are_kept() -> None:
    given = {key_of(text): text for text in map(str, range(200))}
    outer, _ = agent([asks("a"), *owners_of("a"), "done"], expert("a"), checkpointer=InMemorySaver())
    outer.invoke({"messages": f"see {reference_to(key_of('0'))}", "accp_texts": given}, thread("t"))
    held = list(outer.get_state(thread("t")).values["accp_texts"].values())
    assert (held[:2], len(held), held[-2]) == (["0", "136"], 66, "199")


def test_in_a_graph_of_ones_own_a_tool_node_with_the_middleware_takes_over_what_answers_cite() -> None:
    accp, model = AccpMiddleware(), ScriptedModel(script=[asks("a", "b"), *owners_of("a", "b"), "done"])
    tools = [expert("a"), expert("b", form="command"), fetch_tool()]
    graph = StateGraph(accp.state_schema).add_node("tools", ToolNode(tools, wrap_tool_call=accp.wrap_tool_call))
    graph.add_node("agent", lambda state: {"messages": [model.invoke(state["messages"])]}).add_edge(START, "agent")
    graph.add_conditional_edges("agent", tools_condition).add_edge("tools", "agent")
    state = graph.compile(checkpointer=InMemorySaver()).invoke({"messages": [("user", "go")]}, thread("t"))
    assert [each.text.split()[-1] for each in results(state)[2:]] == ["a", "b"]


def test_what_an_agent_only_names_is_not_handed_over() -> None:
    seen: list[str] = []

    def quiet(messages: Any) -> str:
        seen.extend(refs_in(messages[-1]))
        return "I found something."

    inner, _ = agent([LOOK_UP, quiet])

    @tool
    def ask_crm(question: str) -> str:
        """Ask the CRM agent."""
        answer: str = inner.invoke({"messages": question})["messages"][-1].text
        return answer

    script = [calls(call("ask_crm", question="who?")), lambda _: calls(call("accp_fetch", "f1", ref=seen[0])), "done"]
    outer, _ = agent(script, ask_crm, middleware=AccpMiddleware())
    assert results(outer.invoke({"messages": "go"}))[1].text.startswith("E5002: ")
