"""No way of working together takes more input with us than without, where the default already isolates neither."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from rich.console import Console

from accp_core.references import key_of, reference_to
from tests.bench import patterns
from tests.bench.patterns import PATTERNS, Outcome, measure
from tests.bench.team import FINDINGS, ROWS, Log, Scripted

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


def test_what_an_agent_cannot_read_is_told_and_counts_as_failing() -> None:
    log = Log()
    model = Scripted(agent="writer", log=log)
    model.script.append(model.find(FINDINGS["writer"]))
    assert model.invoke("Write the brief.").text == ""
    assert len(log.unseen["writer"]) == 6
    outcome = Outcome(pattern="p", variant="v", log=log, kilobytes=0)
    assert patterns._line(outcome)[-1] == "FAILS: writer 6"


def test_a_model_fetches_what_stands_behind_a_reference() -> None:
    log = Log()
    model = Scripted(agent="crm", log=log)
    model.script.append(model.find(FINDINGS["crm"]))
    asked = [HumanMessage(f"See {reference_to(key_of('rows'))}.")]
    turn = model.invoke(asked)
    assert turn.tool_calls[0]["args"]["query"] == "stage = 'offer'"
    rows = ToolMessage(json.dumps(ROWS), tool_call_id=turn.tool_calls[0]["id"])
    assert model.invoke([*asked, turn, rows]).text.count("CUS-") == 5
    assert (log.calls, log.fetches, log.unseen) == (2, 1, {})


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


def test_the_table_has_a_line_for_each_variant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATTERNS", PATTERNS[:2])
    console = Console(width=120)
    with console.capture() as table:
        patterns.main(None, console)
    assert table.get().count("shared history") == 2
