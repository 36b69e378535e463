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
TOOLS = {
    "autogen_events": [True, False],  # the second call was made without tools
    **{name: [False, False] for name in ("openai_agents_chat", "openai_v2_events", "strands", "strands_latest")},
}
"""Whether each call has its tools, where an exporter does not write them."""


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.stem)
def test_an_export_says_what_the_conversation_said(path: Path) -> None:
    findings = Findings()
    runs = list(read_runs(path, findings=findings))
    assert list(map(str, findings.not_understood())) == []
    # Without a span around them, the official instrumentation gives each call a trace of its own.
    first, last = runs[0], runs[-1]
    assert len(runs) == (2 if path.stem == "openai_v2_events" else 1)
    system, asked, said, *calls = first.messages[:5]
    assert (system.role, asked.role, said.role) == (Role.INSTRUCTIONS, Role.USER, Role.AGENT)
    assert system.text.startswith(INSTRUCTIONS)
    assert asked.text == "Which trains go from Rome to Milan on Friday, and what is the weather there?"
    assert said.text == "I look both up."
    assert {call.tool: (call.call_id, json.loads(call.text)) for call in calls} == CALLS
    results = {message.tool: message for message in last.messages if message.role is Role.TOOL}
    assert {tool: message.call_id for tool, message in results.items()} == {
        tool: key for tool, (key, _) in CALLS.items()
    }
    assert len(json.loads(results["search_trains"].text)["trains"]) == 3
    assert results["get_weather"].text == "Rain, 14 °C"
    assert last.messages[-1].text == "Take FR9500 at 06:00; it rains in Milan."
    recorded = [call.tools.count("search_trains") > 0 for run in runs for call in run.calls]
    assert recorded == TOOLS.get(path.stem, [True, True])
    assert [len(call.output) for run in runs for call in run.calls] == [3, 1]


def test_the_roles_of_smolagents_are_calls_and_results() -> None:
    roles = {"user": "go", "tool-call": "Calling tools: []", "tool-response": "Observation: done"}
    rows = {
        f"llm.input_messages.{number}.message.{name}": value
        for number, (role, words) in enumerate(roles.items())
        for name, value in (("role", role), ("content", words))
    }
    (run,) = parse_runs(json.dumps(inference(**rows)), path="log.json")
    assert [message.role for message in run.messages[:3]] == [Role.USER, Role.AGENT, Role.TOOL]


def test_what_an_autogen_model_says_beside_its_calls_is_sent_again() -> None:
    call = {"id": "c1", "name": "weather", "arguments": "{}"}
    said = {"type": "AssistantMessage", "content": [call], "thought": "I look.", "source": "planner"}
    messages = [{"type": "UserMessage", "content": "go", "source": "user"}, said]
    (run,) = parse_runs(json.dumps({"llm_context": {"messages": messages}}), path="log.json")
    assert [message.text for message in run.messages] == ["go", "I look.", "{}"]


def test_spans_without_any_message_make_no_run_and_are_named() -> None:
    findings = Findings()
    bare = {"name": "chat", "context": {"trace_id": "1"}, "attributes": {"gen_ai.operation.name": "chat"}}
    response = {"object": "trace.span", "trace_id": "t", "span_data": {"type": "response", "response_id": "r"}}
    agent = {"object": "trace.span", "trace_id": "t", "span_data": {"type": "agent", "name": "planner"}}
    other = {"resourceLogs": [{"scopeLogs": [{"logRecords": [{"eventName": "other", "body": {"stringValue": "a"}}]}]}]}
    log = "\n".join(map(json.dumps, (bare, response, agent, other)))
    assert parse_runs(log, path="log.jsonl", findings=findings) == []
    assert [finding.noun for finding in findings.not_understood()] == ["model call", "model call"]
    assert [finding.noun for finding in findings.left_out()] == ["record", "log record"]
