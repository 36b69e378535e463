"""One conversation as the exporters of today's frameworks write it (docs/replay.md names their versions).

Each file was captured in process from a scripted model, and holds the model calls of the export.
"""

import json
from pathlib import Path

import pytest

from accp_adapters.replay import Findings, Role, parse_runs, read_runs
from tests.adapters.replay.test_format_details import inference
from tests.conformance.vectors import ROOT

EXPORTS = sorted((ROOT / "replay" / "exporters").glob("*.jsonl"))
INSTRUCTIONS = "You plan trips. Be brief."
CALLS = {
    "search_trains": ("call_a1", {"origin": "Rome", "to": "Milan", "day": "Friday"}),
    "get_weather": ("call_b2", {"city": "Milan"}),
}
TOOLS = {"strands_latest": [False, False]}
"""Whether each call has its tools, where an exporter does not write them."""


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.stem)
def test_an_export_says_what_the_conversation_said(path: Path) -> None:
    findings = Findings()
    runs = list(read_runs(path, findings=findings))
    assert list(map(str, findings.not_understood())) == []
    (run,) = runs
    system, asked, said, *calls = run.messages[:5]
    assert (system.role, asked.role, said.role) == (Role.INSTRUCTIONS, Role.USER, Role.AGENT)
    assert system.text.startswith(INSTRUCTIONS)
    assert asked.text == "Which trains go from Rome to Milan on Friday, and what is the weather there?"
    assert said.text == "I look both up."
    assert {call.tool: (call.call_id, json.loads(call.text)) for call in calls} == CALLS
    results = {message.tool: message for message in run.messages if message.role is Role.TOOL}
    assert {tool: message.call_id for tool, message in results.items()} == {
        tool: key for tool, (key, _) in CALLS.items()
    }
    assert len(json.loads(results["search_trains"].text)["trains"]) == 3
    assert results["get_weather"].text == "Rain, 14 °C"
    assert run.messages[-1].text == "Take FR9500 at 06:00; it rains in Milan."
    recorded = [call.tools.count("search_trains") > 0 for call in run.calls]
    assert recorded == TOOLS.get(path.stem, [True, True])
    assert [len(call.output) for call in run.calls] == [3, 1]


def test_the_roles_of_smolagents_are_calls_and_results() -> None:
    roles = {"user": "go", "tool-call": "Calling tools: []", "tool-response": "Observation: done"}
    rows = {
        f"llm.input_messages.{number}.message.{name}": value
        for number, (role, words) in enumerate(roles.items())
        for name, value in (("role", role), ("content", words))
    }
    (run,) = parse_runs(json.dumps(inference(**rows)), path="log.json")
    assert [message.role for message in run.messages[:3]] == [Role.USER, Role.AGENT, Role.TOOL]


def test_spans_without_any_message_make_no_run_and_are_named() -> None:
    findings = Findings()
    bare = {"name": "chat", "context": {"trace_id": "1"}, "attributes": {"gen_ai.operation.name": "chat"}}
    agent = {"name": "plan", "context": {"trace_id": "1"}, "attributes": {"gen_ai.operation.name": "invoke_agent"}}
    log = "\n".join(map(json.dumps, (bare, agent)))
    assert parse_runs(log, path="log.jsonl", findings=findings) == []
    assert [finding.noun for finding in findings.not_understood()] == ["model call"]
    assert [finding.noun for finding in findings.left_out()] == ["span"]
