"""Ways to let agents work together, each without and with the adapter: the input tokens that one job takes."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm
from rich.console import Console

from accp_adapters.cli.tables import plain_table
from accp_adapters.langgraph import AccpMiddleware, AciState, begin, handoff_tool, master_graph, read_results
from accp_core.aci import AgentContext, TaskContext, todo
from tests.harness.bench.team import (
    FINDINGS,
    QUESTION,
    Finding,
    Log,
    Scripted,
    bytes_in,
    crm_page,
    crm_rows,
    customer,
    market_report,
    offer_findings,
)
from tests.scripted_model import call, calls

__all__ = ["PATTERNS", "Outcome", "main", "measure"]

TASKS: Final = {
    "crm": "List the customers with the five largest open offers.",
    "market": "Which five branches do the largest surveys of this week's report name first?",
    "writer": "Write the brief from what @crm and @market found.",
}
"""The task for each agent, in the patterns that give it one."""

_PLAN: Final = (
    "Give each agent its task, as a JSON object. Agents: crm (reads the customers), market (reads the market report), "
    "writer (writes from what both found)."
)

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

    def finder(self, name: str, findings: Sequence[Finding] = (), then: Callable[[str], Any] = str) -> Scripted:
        """Return a model that calls its tool, if it has one, looks up its findings and goes on with `then`."""
        model = self.model(name, *([_FIRST_CALLS[name]] if name in _FIRST_CALLS else []))
        model.script.append(model.find([*FINDINGS.get(name, ()), *findings], then))
        return model

    def lead(self, name: str, *turns: Callable[[str], AIMessage]) -> Scripted:
        """Return a model that gives the agents their tasks in turn, with what it was told, and reports the brief."""
        model = self.model(name)
        told = [(), (), (*FINDINGS["crm, as told"], *FINDINGS["market, as told"])]
        model.script = [model.find(found, turn) for found, turn in zip(told, turns, strict=True)]
        model.script.append(model.find(FINDINGS["writer, as told"]))
        return model

    def worker(
        self,
        name: str,
        findings: Sequence[Finding] = (),
        then: Callable[[str], Any] = str,
        tools: Sequence[BaseTool] = (),
    ) -> Any:
        """Return the agent of `finder`."""
        own = [_TOOLS[name]] if name in _TOOLS else []
        model = self.finder(name, findings, then)
        return create_agent(model, [*own, *tools], name=name, middleware=self.middleware())


Build = Callable[[Team], StateGraph[Any, Any, Any, Any]]


def shared(team: Team) -> Any:
    """Return agents that share one list of messages."""
    graph = StateGraph(MessagesState)
    for name in TASKS:
        graph.add_node(name, team.worker(name))
    graph.add_edge(START, "crm").add_edge("crm", "market").add_edge("market", "writer")
    return graph


def isolated(team: Team) -> Any:
    """Return a master and agents that get their own context (ACI); models plan and report."""
    planner, reporter = team.model("planner", json.dumps(TASKS)), team.model("report")
    reporter.script.append(reporter.find(FINDINGS["writer, as told"]))

    def plan(state: Any) -> Any:
        asked = [SystemMessage(_PLAN), HumanMessage(QUESTION)]
        tasks = json.loads(planner.invoke(asked).text)
        return begin(TaskContext(task_id="brief", user_query=QUESTION), _contexts(tasks))

    def report(state: Any) -> Any:
        found = json.dumps(read_results(state))
        return {"answer": reporter.invoke([HumanMessage(f"{QUESTION}\n\n{found}")]).text}

    agents = {name: team.worker(name, then="done: {}".format) for name in TASKS}
    return master_graph(agents, plan=plan, report=report, state_schema=Reported)


class Reported(AciState):
    """The state of a master that reports."""

    answer: str


def _contexts(tasks: Mapping[str, str]) -> list[AgentContext]:
    dependencies: dict[str, tuple[str, ...]] = {"writer": ("crm", "market")}
    return [
        AgentContext(agent_id=name, subtask_id=name, dependencies=dependencies.get(name, ()), todo_items=todo(task))
        for name, task in tasks.items()
    ]


def supervised(output_mode: Any, *, handoff: bool = False) -> Build:
    """Return a supervisor with its library's tools, or with `handoff_tool`."""

    def build(team: Team) -> Any:
        tools: list[Any] = [handoff_tool(name, style="supervisor") for name in TASKS] if handoff else []
        turns = [partial(_transfer, name, number, task=handoff) for number, name in enumerate(TASKS)]
        model = team.lead("supervisor", *turns)
        workers = [team.worker(name) for name in TASKS]
        return create_supervisor(workers, model=model, tools=tools, output_mode=output_mode)

    return build


def swarm(*, handoff: bool = False) -> Build:
    """Return a swarm with its library's tools, or with `handoff_tool`, whose receivers see only the task."""

    def build(team: Team) -> Any:
        if not handoff:
            pairs = ("crm", "market"), ("market", "writer")
            turns = {name: partial(_transfer, after, 0, task=False, says=True) for name, after in pairs}
            tools = {name: [create_handoff_tool(agent_name=after)] for name, after in pairs}
            members = [team.worker(name, (), turns.get(name, str), tools.get(name, ())) for name in TASKS]
            return create_swarm(members, default_active_agent="crm")
        told = FINDINGS["crm, as told"]
        crm = team.worker("crm", (), partial(_transfer, "market", 0, task=True, says=True), [handoff_tool("market")])
        say = partial(_transfer, "writer", 1, task=True, says=True)
        market = team.worker("market", told, say, [handoff_tool("writer")])
        return create_swarm([crm, market, team.worker("writer")], default_active_agent="crm")

    return build


def _transfer(name: str, number: int, found: str, *, task: bool, says: bool = False) -> AIMessage:
    """Return the turn that hands over, with what was found in the task or, without one, in the text."""
    words = f"{found}\n{TASKS[name]}" if says else TASKS[name]
    given = {"task": words} if task else {}
    text = found if says and not task else ""
    return AIMessage(text, tool_calls=[call(f"transfer_to_{name}", f"hand_{name}_{number}", **given)])


def as_tools(team: Team) -> Any:
    """Return an agent whose tools are agents, each of which answers with its last message."""
    asking = [_ask(name, team.worker(name)) for name in TASKS]
    turns = [partial(_assign, name, f"ask_{name}", "task") for name in TASKS]
    return create_agent(team.lead("lead", *turns), asking, middleware=team.middleware())


def _assign(name: str, tool_name: str, argument: str, found: str, **more: str) -> AIMessage:
    """Return the turn that gives an agent its task, with what was found for it."""
    return calls(call(tool_name, f"ask_{name}", **{argument: f"{found}\n{TASKS[name]}".strip(), **more}))


def _ask(name: str, worker: Any) -> BaseTool:
    @tool(f"ask_{name}", description=f"Ask agent '{name}' for help")
    def ask(task: str) -> str:
        return str(worker.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)

    return ask


def deep(team: Team) -> Any:
    """Return an agent of deepagents: sub-agents behind one tool, with a file system and a list of tasks."""
    turns = [partial(_assign, name, "task", "description", subagent_type=name) for name in TASKS]
    subagents: list[Any] = [
        {
            "name": name,
            "description": f"Ask agent '{name}' for help",
            "system_prompt": "Answer briefly.",
            "model": team.finder(name),
            "tools": [_TOOLS[name]] if name in _TOOLS else [],
            "middleware": team.middleware(),
        }
        for name in TASKS
    ]
    return create_deep_agent(team.lead("lead", *turns), subagents=subagents, middleware=team.middleware())


def alone(team: Team) -> Any:
    """Return one agent that reads 24 pages of four rows from the CRM."""
    turns = [calls(call("crm_page", f"look{number}", page=number, rows=4)) for number in range(24)]
    model = team.model("agent", *turns)
    model.script.append(model.find(offer_findings(customer(number) for number in range(24 * 4))))
    return create_agent(model, [crm_page], middleware=team.middleware())


def mapped(team: Team) -> Any:
    """Return a fan-out to a reader for each source, each with the whole state."""
    both: list[Any] = [*_FIRST_CALLS["crm"].tool_calls, *_FIRST_CALLS["market"].tool_calls]
    scout = create_agent(
        team.model("scout", calls(*both), "Looked."), list(_TOOLS.values()), middleware=team.middleware()
    )
    graph = StateGraph(MessagesState).add_node("scout", scout).add_edge(START, "scout")
    for name in _TOOLS:
        model = team.model(name)
        model.script.append(model.find(FINDINGS[name]))
        reader = create_agent(model, [], name=name, middleware=team.middleware())
        graph.add_node(name, reader).add_edge(name, "writer")

    def fan_out(state: Any) -> list[Send]:
        return [Send(n, {**state, "messages": [*state["messages"], HumanMessage(TASKS[n])]}) for n in _TOOLS]

    graph.add_conditional_edges("scout", fan_out, list(_TOOLS))
    return graph.add_node("writer", team.worker("writer"))


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
    ("shared history", "isolate + middleware", isolated, {}),
    ("supervisor, last message", "as it is", supervised("last_message"), None),
    ("supervisor, last message", "+ handoff_tool", supervised("last_message", handoff=True), None),
    ("supervisor, last message", "+ middleware", supervised("last_message"), {}),
    ("supervisor, last message", "+ both", supervised("last_message", handoff=True), {}),
    ("supervisor, full history", "as it is", supervised("full_history"), None),
    ("supervisor, full history", "+ both", supervised("full_history", handoff=True), {}),
    ("swarm", "as it is", swarm(), None),
    ("swarm", "+ both", swarm(handoff=True), {}),
    ("map-reduce, whole state", "as it is", mapped, None),
    ("map-reduce, whole state", "+ middleware", mapped, {}),
    ("agents as tools, last message", "as it is", as_tools, None),
    ("agents as tools, last message", "+ middleware", as_tools, {}),
    ("deepagents", "as it is", deep, None),
    ("deepagents", "+ middleware", deep, {}),
    ("one agent, 24 small looks", "as it is", alone, None),
    ("one agent, 24 small looks", "+ middleware", alone, {}),
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
    columns = ("pattern", "", "calls", "fetches", "schemas", "input", "cost", "kB", "refused by", "unseen facts")
    console.print(plain_table("7. patterns of work: input tokens of one job", columns, map(_line, outcomes())), "")


def _line(outcome: Outcome) -> tuple[str, ...]:
    log = outcome.log
    numbers = (log.calls, log.fetches, log.definition_tokens, log.tokens, log.cost, outcome.kilobytes)
    refused = ", ".join(sorted(log.refused)) or "-"
    unseen = ", ".join(f"FAILS: {agent} {len(facts)}" for agent, facts in log.unseen.items()) or "none"
    return outcome.pattern, outcome.variant, *(f"{number:,.0f}" for number in numbers), refused, unseen
