"""No way of working together takes more input with us than without, where the default already isolates neither."""

from __future__ import annotations

import pytest
from rich.console import Console

from tests.bench import patterns
from tests.bench.patterns import PATTERNS, Outcome, measure

pytestmark = pytest.mark.filterwarnings("ignore:create_react_agent has been moved")


def run(name: str) -> list[Outcome]:
    return [measure(*row) for row in PATTERNS if row[0] == name]


@pytest.mark.parametrize(
    "name", ["shared history", "supervisor, last message", "swarm", "agents as tools, last message"]
)
def test_what_we_add_lowers_input_cost_and_checkpoints(name: str) -> None:
    alone, *ours = run(name)
    assert ours
    for outcome in ours:
        assert outcome.log.calls == alone.log.calls
        assert outcome.log.tokens < alone.log.tokens
        assert outcome.log.cost < alone.log.cost
        assert outcome.kilobytes < alone.kilobytes
        assert outcome.log.refused <= alone.log.refused


def test_the_table_has_a_line_for_each_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATTERNS", PATTERNS[:2])
    console = Console(width=120)
    with console.capture() as table:
        patterns.main(None, console)
    assert table.get().count("shared history") == 2
