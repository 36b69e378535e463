"""The planner over A2A: it is started as a user starts it, and its own check looks at it."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.a2a import A2aWire, RemoteAgent
from accp_adapters.langgraph import begin, master_graph, read_results
from accp_adapters.stores import SqliteColdStore
from accp_core.aci import AgentContext, TaskContext, todo
from tests.adapters.a2a.teams.agents import LONG, lister, served
from tests.limits import PROGRAM_PATIENCE

pytest.importorskip("mcp.server", reason="the MCP server behind one of the agents")

FOLDER = Path(__file__).parents[2] / "integrations" / "planner_over_a2a"


def numbers(text: str, name: str) -> list[int]:
    """Return the tokens in the line of a table that begins with `name`."""
    (line,) = [line for line in text.splitlines() if re.match(rf"(\| )?{name}\b.*[0-9]", line)]
    return [int(found.replace(",", "")) for found in re.findall(r"\b[0-9,]{3,}\b", line)]


@pytest.mark.slow
def test_the_check_passes_and_the_readme_shows_what_it_prints() -> None:
    command = [sys.executable, "-W", "error", str(FOLDER / "check.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROGRAM_PATIENCE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "the same answer" in done.stdout
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in ("master", "support", "analyst", "all"):
        # Ids that the plain server makes up have more or fewer tokens each time.
        assert numbers(done.stdout, name) == pytest.approx(numbers(readme, name), rel=0.05)


def plan(state: Any) -> dict[str, Any]:
    """Plan one subtask for the remote agent."""
    context = AgentContext(agent_id="crm", subtask_id="s1", subtask_name="orders", todo_items=todo("List", "Sum"))
    return begin(TaskContext(task_id="t1", user_query="What is open?"), [context])


@pytest.mark.parametrize("waits", [True, False], ids=["ainvoke", "invoke"])
async def test_a_remote_agent_is_a_node_and_its_long_result_is_in_the_masters_store(waits: bool) -> None:
    store = SqliteColdStore()
    async with served(lister) as running:
        agent = RemoteAgent(A2aWire(running.url), agent_id="crm")
        graph = master_graph({"crm": agent if waits else agent.run}, plan=plan, store=store).compile()
        config: Any = {"configurable": {"thread_id": "t1"}}
        state = await (graph.ainvoke({}, config) if waits else asyncio.to_thread(graph.invoke, {}, config))
    (returned,) = (AgentContext.from_json(context) for context in state["agent_contexts"].values())
    assert returned.states == {"1": 1, "2": 1}
    (uri,) = returned.context_uri
    assert store.get("t1", uri.replace("accp://cold/", "cold.")) == LONG
    assert "264,180 EUR" in str(read_results(state))
