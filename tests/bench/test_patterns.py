"""No way of working together takes more input with us than without, where the default already isolates neither."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bench.patterns import PATTERNS, Outcome, measure
from tests.bench.team import FINDINGS

pytestmark = pytest.mark.filterwarnings("ignore:create_react_agent has been moved")


def run(name: str) -> list[Outcome]:
    return [measure(*row) for row in PATTERNS if row[0] == name]


@pytest.mark.parametrize("row", PATTERNS, ids=lambda row: f"{row[0]}, {row[1]}")
def test_each_agent_reads_or_fetches_what_it_needs_and_comes_to_the_same_answer(row: Any) -> None:
    log = measure(*row).log
    assert log.unseen == {}
    if row[0].startswith("one agent"):
        return
    for name in ("crm", "market", "writer"):
        lines = {line for answer in log.answers[name] for line in answer.removeprefix("done: ").splitlines()}
        assert lines >= {finding.line for finding in FINDINGS[name]}
    assert len(FINDINGS["writer"]) == 3


@pytest.mark.parametrize(
    "name", ["shared history", "supervisor, last message", "swarm", "agents as tools, last message"]
)
def test_what_we_add_lowers_input_and_cost(name: str) -> None:
    alone, *ours = run(name)
    assert ours
    for outcome in ours:
        planned = 2 * ("planner" in outcome.log.prompts)
        assert outcome.log.calls == alone.log.calls + planned
        assert outcome.log.tokens < alone.log.tokens
        assert outcome.log.cost < alone.log.cost
        assert outcome.log.refused <= alone.log.refused
