"""Start the planner as a user does and check the answers and every prompt; exit code 0 if all is right."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping

from app import JobRun, main
from models import rank
from tickets import tickets

MARKER = "BLUE-HERON"


def expected() -> str:
    """Return the answer, computed from the tickets."""
    lines = [
        f"{ticket['id']} {ticket['customer']['name']} ({ticket['customer']['revenue_eur']} EUR): x, "
        f"{ticket['days_overdue']} days overdue"
        for ticket in tickets()
        if ticket["priority"] == "P1" and ticket["state"] == "open" and ticket["days_overdue"]
    ]
    return rank("\n".join(lines))


def prompts(run: JobRun, agent: str) -> str:
    """Return all prompts of one agent's model."""
    return "\n".join(call["prompt"] for call in run.prompts if call["agent"] == agent)


def check(runs: Mapping[str, JobRun]) -> None:
    """Assert that both ways give the right answer, and that no prompt holds what its agent must not know."""
    plain, contexts = runs["plain"], runs["contexts"]
    assert plain.answer == contexts.answer == expected(), (plain.answer, contexts.answer, expected())
    assert len(plain.prompts) == len(contexts.prompts)
    assert contexts.tokens().total() <= 0.4 * plain.tokens().total(), (contexts.tokens(), plain.tokens())
    for agent in ("support", "analyst"):
        # With contexts an agent gets its own subtask; the user's question stays with the master.
        assert MARKER in prompts(plain, agent)
        assert MARKER not in prompts(contexts, agent)
    assert MARKER in prompts(contexts, "master")
    assert "assignee" not in prompts(contexts, "analyst"), "the result of the service desk reached the analyst"
    assert "REQ-" in prompts(contexts, "analyst"), "the analyst did not open the list"
    assert "open_reference" in prompts(contexts, "analyst")
    assert prompts(contexts, "master").count("REQ-") < 20, "the whole list reached the master's model"


if __name__ == "__main__":
    check(asyncio.run(main()))
    print("planner_over_a2a: three processes, one MCP server, the same answer from less than half the tokens")
    sys.exit(0)
