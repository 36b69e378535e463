"""A planner with three workers over a shop's data, once with a shared history and once with isolated contexts."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from database import Database, NoServer, open_postgres, open_sqlite
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph
from models import Model
from shop import make_shop, sales_tools, support_tools, writer_tools

from accp_adapters.langgraph import AccpMiddleware, AciState, Policy, begin, master_graph, read_results, step
from accp_adapters.tokens import o200k_base
from accp_core import render
from accp_core.aci import Step, TaskContext
from integrations.isolated_contexts.prompt_log import PromptLog

QUESTION: Final = "Whom should we win back, why did they leave, and what do we write to them?"
POLICY: Final = Policy(inline_limit=800, preview_limit=250)
WORKERS: Final = ("sales", "support", "writer")


@dataclass(frozen=True)
class Run:
    """The result of one way of working."""

    answer: str
    log: PromptLog


class State(AciState):
    """The state of the master."""

    answer: str
    """What it tells the user."""


def tools_of(folder: Path, out: Path) -> dict[str, list[Any]]:
    """Return each worker's tools."""
    return {"sales": sales_tools(folder), "support": support_tools(folder), "writer": writer_tools(out)}


def run_shared(folder: Path, out: Path) -> Run:
    """Do the job as most graphs do: all agents read and write one list of messages."""
    log = PromptLog()
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
    log = PromptLog()
    graph = isolated_team(folder, out, log).compile(checkpointer=database.saver, store=database.store)
    return Run(graph.invoke({}, {"configurable": {"thread_id": thread}})["answer"], log)


def isolated_team(folder: Path, out: Path, log: PromptLog, **options: Any) -> StateGraph[Any, Any, Any, Any]:
    """Return the graph of the master and its workers; `options` are those of `master_graph`."""
    planner, reporter = (Model(agent=name, log=log) for name in ("planner", "reporter"))
    tools = tools_of(folder, out)
    agents = {
        name: create_agent(Model(agent=name, log=log), tools[name], middleware=[AccpMiddleware(POLICY)])
        for name in WORKERS
    }

    def plan(state: State) -> dict[str, Any]:
        answer = planner.invoke([HumanMessage(QUESTION)]).text
        return begin(TaskContext(task_id="win-back", user_query=QUESTION), steps_of(json.loads(answer)))

    def report(state: State) -> dict[str, Any]:
        results = render(read_results(state), counter=o200k_base())
        return {"answer": reporter.invoke([HumanMessage(f"{QUESTION}\n\n{results}")]).text}

    return master_graph(agents, plan=plan, report=report, state_schema=State, policy=POLICY, **options)


def steps_of(plan: dict[str, list[str]]) -> Iterator[Step]:
    """Yield the steps of a plan, a mapping from "agent after other, other" to what that agent does."""
    for name, items in plan.items():
        agent, _, others = name.partition(" after ")
        after = [other.strip() for other in others.split(",") if other]
        yield step(agent, agent, items=items, after=after)


@contextmanager
def database_in(folder: Path, *, sqlite: bool) -> Iterator[Database]:
    """Yield PostgreSQL where it can be started, else SQLite, and print which."""
    with ExitStack() as stack:
        try:
            if sqlite:
                raise NoServer("chosen by --sqlite")
            opened = stack.enter_context(open_postgres())
        except NoServer as reason:
            print(f"SQLite files instead of PostgreSQL: {reason}")
            opened = stack.enter_context(open_sqlite(folder))
        yield opened


def table(shared: Run, isolated: Run) -> str:
    """Return the calls, tokens and cost of both as a table in Markdown."""
    lines = ["| one job, 5 agents | model calls | input tokens | with prompt cache |", "|---|--:|--:|--:|"]
    for name, log in (("shared history", shared.log), ("isolated contexts", isolated.log)):
        lines.append(f"| {name} | {log.calls} | {log.tokens:,} | {log.cost:,.0f} |")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run both ways and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=Path("isolated-contexts-out"), help="folder for letters and run.json"
    )
    parser.add_argument("--sqlite", action="store_true", help="use SQLite, even where PostgreSQL is installed")
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
