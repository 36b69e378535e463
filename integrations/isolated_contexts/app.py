"""A planner with three workers over a shop's data: once with the history shared, once with isolated contexts."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypedDict

from database import Database, NoServer, open_postgres, open_sqlite
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from models import Log, Model
from shop import make_shop, sales_tools, support_tools, writer_tools

from accp_adapters.langgraph import AccpMiddleware, AciState, Policy, begin, master_graph, read_results
from accp_adapters.tokens import o200k_base
from accp_core import render
from accp_core.aci import AgentContext, TaskContext, todo

QUESTION: Final = "Whom should we win back, why did they leave, and what do we write to them?"
POLICY: Final = Policy(inline_limit=800, preview_limit=250)
WORKERS: Final = ("sales", "support", "writer")


@dataclass(frozen=True)
class Run:
    """What came of one way of working."""

    answer: str
    log: Log


class State(AciState):
    """What the master knows, and what it answers."""

    answer: str


class Keys(TypedDict):
    """The configuration of a run."""

    configurable: dict[str, str]


def tools_of(folder: Path, out: Path) -> dict[str, list[Any]]:
    """Return each worker's tools."""
    return {"sales": sales_tools(folder), "support": support_tools(folder), "writer": writer_tools(out)}


def run_shared(folder: Path, out: Path) -> Run:
    """Do the job as most graphs do: everybody reads and writes one list of messages."""
    log = Log()
    graph = StateGraph(MessagesState)
    chain = ["planner", *WORKERS, "reporter"]
    tools = tools_of(folder, out)
    for name in chain:
        graph.add_node(name, create_agent(Model(agent=name, log=log), tools.get(name, [])))
    for before, after in zip([START, *chain], chain, strict=False):
        graph.add_edge(before, after)
    state = graph.compile().invoke({"messages": [HumanMessage(QUESTION)]})
    return Run(state["messages"][-1].text, log)


def run_isolated(folder: Path, out: Path, database: Database, thread: str) -> Run:
    """Do the job with a context for each worker."""
    log = Log()
    planner, reporter = (Model(agent=name, log=log) for name in ("planner", "reporter"))
    tools = tools_of(folder, out)
    agents = {
        name: create_agent(Model(agent=name, log=log), tools[name], middleware=[AccpMiddleware(POLICY)])
        for name in WORKERS
    }

    def plan(state: State) -> dict[str, Any]:
        return begin(
            TaskContext(task_id=thread, user_query=QUESTION),
            contexts_of(json.loads(planner.invoke([HumanMessage(QUESTION)]).text)),
        )

    def report(state: State) -> dict[str, Any]:
        found = render(read_results(state), counter=o200k_base())
        return {"answer": reporter.invoke([HumanMessage(f"{QUESTION}\n\n{found}")]).text}

    master = master_graph(agents, plan=plan, report=report, state_schema=State, policy=POLICY)
    graph = master.compile(checkpointer=database.saver, store=database.store)
    keys: Any = Keys(configurable={"thread_id": thread})
    return Run(graph.invoke({}, keys)["answer"], log)


def contexts_of(plan: dict[str, list[str]]) -> Iterator[AgentContext]:
    """Yield the subtasks of a plan as the planner writes it: "agent after other, other" to its steps."""
    for name, steps in plan.items():
        agent, _, others = name.partition(" after ")
        after = tuple(each.strip() for each in others.split(",") if each)
        yield AgentContext(
            agent_id=agent, subtask_id=agent, subtask_name=agent, dependencies=after, todo_items=todo(*steps)
        )


@contextmanager
def database_in(folder: Path, *, sqlite: bool) -> Iterator[Database]:
    """Yield PostgreSQL where it can be started, else SQLite, and say so."""
    with ExitStack() as stack:
        try:
            if sqlite:
                raise NoServer("as you asked")
            opened = stack.enter_context(open_postgres())
        except NoServer as reason:
            print(f"without PostgreSQL, in SQLite files: {reason}")
            opened = stack.enter_context(open_sqlite(folder))
        yield opened


def table(shared: Run, isolated: Run) -> str:
    """Return what both took."""
    lines = ["| one job, 5 agents | model calls | input tokens | with prompt cache |", "|---|--:|--:|--:|"]
    for name, log in (("shared history", shared.log), ("isolated contexts", isolated.log)):
        lines.append(f"| {name} | {log.calls} | {log.tokens:,} | {log.cost:,.0f} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("isolated-contexts-out"), help="where letters and run.json go")
    parser.add_argument("--sqlite", action="store_true", help="do not look for PostgreSQL")
    chosen = parser.parse_args(arguments)
    for name in ("shared", "isolated"):
        (chosen.out / name).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, database_in(chosen.out, sqlite=chosen.sqlite) as database:
        folder = Path(place)
        make_shop(folder)
        shared = run_shared(folder, chosen.out / "shared")
        isolated = run_isolated(folder, chosen.out / "isolated", database, thread="win-back")
    runs = {"shared": shared, "isolated": isolated}
    record = {
        "database": database.name,
        **{
            name: {"answer": run.answer, "tokens": run.log.tokens, "prompts": run.log.prompts}
            for name, run in runs.items()
        },
    }
    (chosen.out / "run.json").write_text(json.dumps(record, indent=1), encoding="utf-8")
    print(f"{database.name}: {isolated.answer}\n\n{table(shared, isolated)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
