"""Start the planner as a user would, and look at what every model was sent: exit code 0 if all of it is right."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping

from app import Run, main
from models import rank
from tickets import tickets

MARKER = "BLUE-HERON"


def expected() -> str:
    """Return the answer, computed from the tickets themselves."""
    lines = [
        f"{each['id']} {each['customer']['name']} ({each['customer']['revenue_eur']} EUR): x, "
        f"{each['days_overdue']} days overdue"
        for each in tickets()
        if each["priority"] == "P1" and each["state"] == "open" and each["days_overdue"]
    ]
    return rank("\n".join(lines))


def prompts(run: Run, agent: str) -> str:
    """Return all that the model of an agent was sent."""
    return "\n".join(each["prompt"] for each in run.prompts if each["agent"] == agent)


def check(runs: Mapping[str, Run]) -> None:
    """Compare the two ways."""
    plain, ours = runs["plain"], runs["contexts"]
    assert plain.answer == ours.answer == expected(), (plain.answer, ours.answer, expected())
    assert len(plain.prompts) == len(ours.prompts)
    assert ours.tokens().total() <= 0.4 * plain.tokens().total(), (ours.tokens(), plain.tokens())
    for agent in ("support", "analyst"):
        # The question is the master's; an agent gets its own subtask and nothing else.
        assert MARKER in prompts(plain, agent)
        assert MARKER not in prompts(ours, agent)
    assert MARKER in prompts(ours, "master")
    assert "assignee" not in prompts(ours, "analyst"), "the analyst saw what the service desk answered"
    assert "REQ-" in prompts(ours, "analyst"), "the analyst did not open the list"
    assert "open_reference" in prompts(ours, "analyst")
    assert prompts(ours, "master").count("REQ-") < 20, "the whole list reached the master's model"


if __name__ == "__main__":
    check(asyncio.run(main()))
    print("planner_over_a2a: three processes, one MCP server, the same answer from less than half the tokens")
    sys.exit(0)
