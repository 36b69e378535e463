"""Ways to let agents work together, each without and with the adapter: the input tokens that one job takes."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm
from rich.console import Console

from accp_adapters.inspector.tables import plain_table
from accp_adapters.langgraph import AccpMiddleware, begin, handoff_tool, master_graph
from accp_core.aci import AgentContext, TaskContext, todo
from tests.bench.team import ANSWERS, QUESTION, Log, Scripted, bytes_in, crm_page, crm_rows, market_report
from tests.scripted_model import call, calls

__all__ = ["PATTERNS", "Outcome", "main", "measure"]

TASKS: Final = {
    "crm": "List customers with open offers.",
    "market": "Which branches does this week's report point at?",
    "writer": "Write the brief from what @crm and @market found.",
}
"""The task for each agent, in the patterns that give it one."""

FOLD: Final[dict[str, Any]] = {"hot_budget": 4_000}

_TOOLS: Final[dict[str, BaseTool]] = {"crm": crm_rows, "market": market_report}
_FIRST_CALLS: Final = {
    "crm": calls(call("crm_rows", "look1", query="open offers")),
    "market": calls(call("market_report", "look2", topic="this week")),
}


@dataclass
class Team:
    """The agents of one run."""

    options: dict[str, Any] | None
    """The arguments of each agent's AccpMiddleware; None: agents have none."""
    log: Log = field(default_factory=Log)
    """The prompts of all agents."""

    def model(self, name: str, *steps: Any) -> Scripted:
        """Return the model of an agent."""
        return Scripted(agent=name, log=self.log, script=list(steps))

    def middleware(self) -> list[Any]:
        """Return the middleware of an agent."""
        return [] if self.options is None else [AccpMiddleware(**self.options)]

    def worker(self, name: str, *after: Any, tools: Sequence[BaseTool] = ()) -> Any:
        """Return an agent that calls its tool, if it has one, and then takes the steps `after`, or answers."""
        own = [_TOOLS[name]] if name in _TOOLS else []
        steps = [*([_FIRST_CALLS[name]] if own else []), *(after or [ANSWERS[name]])]
        return create_agent(self.model(name, *steps), [*own, *tools], name=name, middleware=self.middleware())


Build = Callable[[Team], StateGraph[Any, Any, Any, Any]]


def shared(team: Team) -> Any:
    """Return agents that share one list of messages."""
    graph = StateGraph(MessagesState)
    for name in TASKS:
        graph.add_node(name, team.worker(name))
    graph.add_edge(START, "crm").add_edge("crm", "market").add_edge("market", "writer")
    return graph


def isolated(team: Team) -> Any:
    """Return a master with a fixed plan, and agents that get their own context (ACI)."""
    dependencies: dict[str, tuple[str, ...]] = {"writer": ("crm", "market")}
    contexts = [
        AgentContext(agent_id=name, subtask_id=name, dependencies=dependencies.get(name, ()), todo_items=todo(task))
        for name, task in TASKS.items()
    ]
    task = TaskContext(task_id="brief", user_query=QUESTION)
    return master_graph({name: team.worker(name) for name in TASKS}, plan=lambda state: begin(task, contexts))


def supervised(output_mode: Any, *, handoff: bool = False) -> Build:
    """Return a supervisor with its library's tools, or with `handoff_tool`."""

    def build(team: Team) -> Any:
        tools = [handoff_tool(name, style="supervisor") for name in TASKS] if handoff else []
        turns = [_transfer(name, number, task=handoff) for number, name in enumerate(TASKS)]
        model = team.model("supervisor", *turns, "Done: see the brief.")
        workers = [team.worker(name) for name in TASKS]
        return create_supervisor(workers, model=model, tools=tools, output_mode=output_mode)

    return build


def swarm(*, handoff: bool = False) -> Build:
    """Return a swarm with its library's tools, or with `handoff_tool`."""

    def build(team: Team) -> Any:
        make: Any = handoff_tool if handoff else create_handoff_tool_by_name
        found = [None, ANSWERS["crm"], f"{ANSWERS['crm']}\n{ANSWERS['market']}"]
        members = []
        for number, name in enumerate(TASKS):
            following = list(TASKS)[number + 1 : number + 2]
            turn = [_transfer(after, number, found=found[number + 1], task=handoff) for after in following]
            members.append(team.worker(name, *turn, tools=[make(after) for after in following]))
        return create_swarm(members, default_active_agent="crm")

    return build


def create_handoff_tool_by_name(name: str) -> BaseTool:
    """Return langgraph-swarm's own tool."""
    return create_handoff_tool(agent_name=name)


def _transfer(name: str, number: int, *, task: bool, found: str | None = None) -> AIMessage:
    """Return the turn that hands over, with what was found so far in the task or, without one, in the text."""
    words = f"{found}\n{TASKS[name]}" if found else TASKS[name]
    given = {"task": words} if task else {}
    return AIMessage("" if task else found or "", tool_calls=[call(f"transfer_to_{name}", f"hand{number}", **given)])


def as_tools(*, dumped: bool = False) -> Build:
    """Return an agent whose tools are agents, each of which answers with its last message or with all of them."""

    def build(team: Team) -> Any:
        asking = [_ask(name, team.worker(name), dumped) for name in TASKS]
        found = f"{ANSWERS['crm']}\n{ANSWERS['market']}\n"
        turns = [
            calls(call(f"ask_{name}", f"ask{number}", task=(found if name == "writer" else "") + task))
            for number, (name, task) in enumerate(TASKS.items())
        ]
        model = team.model("lead", *turns, "Done: see the brief.")
        return create_agent(model, asking, middleware=team.middleware())

    return build


def _ask(name: str, worker: Any, dumped: bool) -> BaseTool:
    @tool(f"ask_{name}", description=f"Ask agent '{name}' for help")
    def ask(task: str) -> str:
        messages = worker.invoke({"messages": [HumanMessage(task)]})["messages"]
        return json.dumps([message.model_dump() for message in messages]) if dumped else messages[-1].text

    return ask


def deep(team: Team) -> Any:
    """Return an agent of deepagents: sub-agents behind one tool, with a file system and a list of tasks."""
    found = f"{ANSWERS['crm']}\n{ANSWERS['market']}\n"
    turns = [
        calls(call("task", f"task{number}", description=(found if name == "writer" else "") + task, subagent_type=name))
        for number, (name, task) in enumerate(TASKS.items())
    ]
    subagents: list[Any] = [
        {
            "name": name,
            "description": f"Ask agent '{name}' for help",
            "system_prompt": "Answer briefly.",
            "model": team.model(name, *([_FIRST_CALLS[name]] if name in _FIRST_CALLS else []), ANSWERS[name]),
            "tools": [_TOOLS[name]] if name in _TOOLS else [],
            "middleware": team.middleware(),
        }
        for name in TASKS
    ]
    lead = team.model("lead", *turns, "Done: see the brief.")
    return create_deep_agent(lead, subagents=subagents, middleware=team.middleware())


def alone(looks: int, *, rows: int) -> Build:
    """Return one agent that reads a page of `rows` from the CRM, `looks` times."""

    def build(team: Team) -> Any:
        turns = [calls(call("crm_page", f"look{number}", page=number, rows=rows)) for number in range(looks)]
        model = team.model("agent", *turns, ANSWERS["writer"])
        return create_agent(model, [crm_page], middleware=team.middleware())

    return build


class Topics(MessagesState):
    """The messages of a team, and the topic of one reader."""

    topic: str


def mapped(*, whole: bool) -> Build:
    """Return a fan-out to four readers, each with the whole state or with its topic alone."""

    def build(team: Team) -> Any:
        topics = ["offers", "branches", "cities", "owners"]
        reader = create_agent(team.model("reader", *[ANSWERS["crm"]] * 4), [], middleware=team.middleware())
        scout = create_agent(
            team.model("scout", calls(*_FIRST_CALLS["crm"].tool_calls, *_FIRST_CALLS["market"].tool_calls), "Looked."),
            list(_TOOLS.values()),
            middleware=team.middleware(),
        )

        def fan_out(state: Any) -> list[Send]:
            asks = [[*state["messages"], HumanMessage(f"Report on {topic}.")] for topic in topics]
            states = [{**state, "messages": ask} if whole else {"messages": _topic_only(ask)} for ask in asks]
            return [Send("reader", reader_state) for reader_state in states]

        graph = StateGraph(Topics).add_node("scout", scout).add_node("reader", reader)
        graph.add_node("writer", team.worker("writer"))
        graph.add_edge(START, "scout").add_conditional_edges("scout", fan_out, ["reader"])
        return graph.add_edge("reader", "writer")

    return build


def _topic_only(messages: Sequence[Any]) -> list[Any]:
    """Return the report and the last question, which is all that a reader needs."""
    report = next(message.text for message in messages if getattr(message, "tool_call_id", "") == "look2")
    return [HumanMessage(f"{report}\n\n{messages[-1].text}")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The figures of one way of working."""

    pattern: str
    variant: str
    log: Log
    kilobytes: float


PATTERNS: Final[tuple[tuple[str, str, Build, dict[str, Any] | None], ...]] = (
    ("shared history", "as it is", shared, None),
    ("shared history", "+ middleware", shared, {}),
    ("shared history", "isolate instead", isolated, None),
    ("shared history", "isolate + middleware", isolated, {}),
    ("supervisor, last message", "as it is", supervised("last_message"), None),
    ("supervisor, last message", "+ handoff_tool", supervised("last_message", handoff=True), None),
    ("supervisor, last message", "+ middleware", supervised("last_message"), {}),
    ("supervisor, last message", "+ both", supervised("last_message", handoff=True), {}),
    ("supervisor, full history", "as it is", supervised("full_history"), None),
    ("supervisor, full history", "+ both", supervised("full_history", handoff=True), {}),
    ("swarm", "as it is", swarm(), None),
    ("swarm", "+ handoff_tool", swarm(handoff=True), None),
    ("swarm", "+ both", swarm(handoff=True), {}),
    ("map-reduce, whole state", "as it is", mapped(whole=True), None),
    ("map-reduce, whole state", "+ middleware", mapped(whole=True), {}),
    ("map-reduce, own argument", "as it is", mapped(whole=False), None),
    ("map-reduce, own argument", "+ middleware", mapped(whole=False), {}),
    ("agents as tools, last message", "as it is", as_tools(), None),
    ("agents as tools, last message", "+ middleware", as_tools(), {}),
    ("agents as tools, all messages", "as it is", as_tools(dumped=True), None),
    ("agents as tools, all messages", "+ middleware", as_tools(dumped=True), {}),
    ("deepagents", "as it is", deep, None),
    ("deepagents", "+ middleware", deep, {}),
    ("one agent, 8 large looks", "as it is", alone(8, rows=44), None),
    ("one agent, 8 large looks", "+ middleware", alone(8, rows=44), {}),
    ("one agent, 8 large looks", "+ fold", alone(8, rows=44), FOLD),
    ("one agent, 24 small looks", "as it is", alone(24, rows=4), None),
    ("one agent, 24 small looks", "+ middleware", alone(24, rows=4), {}),
    ("one agent, 24 small looks", "+ fold", alone(24, rows=4), FOLD),
)
"""Each row of the table: the pattern, what is added to it, its graph, and the arguments of each AccpMiddleware."""


def measure(pattern: str, variant: str, build: Build, options: dict[str, Any] | None) -> Outcome:
    """Run the job once."""
    team, saver = Team(options=options), InMemorySaver()
    built: Any = build(team)
    if isinstance(built, StateGraph):
        built = built.compile(checkpointer=saver)
    else:
        built.checkpointer = saver
    asked = (
        {} if "task_context" in built.get_input_jsonschema()["properties"] else {"messages": [HumanMessage(QUESTION)]}
    )
    built.invoke(asked, {"configurable": {"thread_id": "bench"}})
    return Outcome(pattern=pattern, variant=variant, log=team.log, kilobytes=bytes_in(saver) / 1000)


def outcomes() -> Iterator[Outcome]:
    """Run every row."""
    with warnings.catch_warnings():
        # langgraph-supervisor builds its agent by `create_react_agent`, which langgraph calls deprecated.
        warnings.filterwarnings("ignore", message="create_react_agent has been moved")
        for row in PATTERNS:
            yield measure(*row)


def main(data: Any, console: Console) -> None:
    """Print the table; it needs no data."""
    columns = ("pattern", "", "calls", "messages", "schemas", "input", "cost", "kB kept", "refused by")
    console.print(plain_table("7. patterns of work: input tokens of one job", columns, map(_line, outcomes())), "")


def _line(outcome: Outcome) -> tuple[str, ...]:
    log = outcome.log
    numbers = (log.calls, log.message_tokens, log.definition_tokens, log.tokens, log.cost, outcome.kilobytes)
    refused = ", ".join(sorted(log.refused)) or "-"
    return outcome.pattern, outcome.variant, *(f"{number:,.0f}" for number in numbers), refused
