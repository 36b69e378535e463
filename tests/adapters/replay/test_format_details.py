"""What each format has beside the conversation of the vectors: other blocks, other roles, other ways to say it."""

import json
from typing import Any

import pytest

from accp_adapters.replay import Findings, Run, parse_runs
from tests.conformance.vectors import ROOT

SAID = {"role": "assistant", "content": "done"}
GO = {"role": "user", "content": "go"}


def read(document: Any, *more: Any) -> tuple[list[Run], Findings]:
    findings = Findings()
    text = "\n".join(json.dumps(each) for each in (document, *more))
    return parse_runs(text, path="log.json", findings=findings), findings


def texts(document: Any, *more: Any) -> list[str]:
    """Return the texts of the one run in some records that are understood as a whole."""
    (run,), findings = read(document, *more)
    assert list(map(str, findings.not_understood())) == []
    return [message.text for message in run.messages]


def unknown(document: Any, *more: Any) -> list[str]:
    """Return what is not understood of some records."""
    return [f"{finding.noun} {finding.detail}" for finding in read(document, *more)[1].not_understood()]


def lc(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": kind, "content": content, **fields}


def generation(**fields: Any) -> dict[str, Any]:
    return {"id": "o1", "traceId": "t1", "type": "GENERATION", "input": "go", "output": "done", **fields}


def llm(inputs: Any, outputs: Any, **fields: Any) -> dict[str, Any]:
    return {"id": "r1", "run_type": "llm", "inputs": inputs, "outputs": outputs, **fields}


def span(**attributes: Any) -> dict[str, Any]:
    return {"name": "chat", "context": {"trace_id": "1"}, "attributes": attributes}


def inference(**messages: Any) -> dict[str, Any]:
    return span(**{"openinference.span.kind": "LLM", "llm.output_messages.0.message.role": "assistant"}, **messages)


def asked(**fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": "go", **fields}


DETAILS = ROOT / "replay" / "details"
UNDERSTOOD = json.loads((DETAILS / "understood.json").read_text(encoding="utf-8"))
NOT_UNDERSTOOD = json.loads((DETAILS / "not_understood.json").read_text(encoding="utf-8"))

CALLS = json.loads((DETAILS / "calls.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("vector", CALLS.values(), ids=CALLS)
def test_a_request_is_one_call_and_a_turn_of_a_conversation_is_one(vector: dict[str, Any]) -> None:
    (run,), findings = read(*vector["records"])
    assert findings.not_understood() == []
    assert [[list(call.prompt), list(call.output)] for call in run.calls] == vector["calls"]


@pytest.mark.parametrize("vector", UNDERSTOOD.values(), ids=UNDERSTOOD)
def test_what_is_understood_is_counted(vector: dict[str, Any]) -> None:
    assert texts(*vector["records"]) == vector["texts"]


@pytest.mark.parametrize("vector", NOT_UNDERSTOOD.values(), ids=NOT_UNDERSTOOD)
def test_what_is_not_understood_is_named(vector: dict[str, Any]) -> None:
    assert vector["finding"] in unknown(*vector["records"])


def test_a_claude_code_compaction_and_a_side_chain_are_prompts_of_their_own() -> None:
    def record(kind: str, content: str, **fields: Any) -> dict[str, Any]:
        message = {"role": kind, "content": content, "id": content}
        return {"type": kind, "uuid": content, "sessionId": "s", "message": message, **fields}

    (main, side), findings = read(
        record("user", "go"),
        record("assistant", "one"),
        record("user", "look", isSidechain=True, agentId="a1"),
        record("assistant", "seen", isSidechain=True, agentId="a1"),
        record("user", "summary", isCompactSummary=True),
        record("assistant", "two"),
    )
    assert findings.not_understood() == []
    assert [(call.prompt, call.output) for call in main.calls] == [((0,), (1,)), ((2,), (3,))]
    assert [(call.agent, call.prompt) for call in side.calls] == [("a1", (0,))]


def test_the_definitions_of_each_provider_are_sent_with_each_call() -> None:
    tools = [{"name": "f"}]
    requests: list[dict[str, Any]] = [
        {"model": "m", "messages": [GO], "tools": tools},
        {"model": "m", "system": "s", "messages": [GO], "tools": tools},
        {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "go"}]}], "toolConfig": {"tools": tools}},
        {"contents": [{"role": "user", "parts": [{"text": "go"}]}], "tools": tools},
        asked(tools=tools),
        {"messages": [lc("human", "go"), lc("ai", "done")], "tools": tools},
        llm({"messages": [GO]}, {}, extra={"invocation_params": {"tools": tools}}),
        span(**{"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": json.dumps(tools)}),
        inference(**{"llm.tools.0.tool.json_schema": '{"name": "f"}'}),
    ]
    for request in requests:
        (run,), _ = read(request)
        assert [call.tools for call in run.calls] == ['[{"name":"f"}]'], request


def test_more_runs_than_are_kept_open_are_closed_in_their_order() -> None:
    lines = [json.dumps([{"role": "user", "content": f"go {n}"}, SAID]) for n in range(200)]
    runs = parse_runs("\n".join(lines), path="log.jsonl")
    assert [run.name for run in runs] == [f"log.jsonl:{n}" for n in range(1, 201)]


def test_the_calls_of_a_trace_are_put_in_the_order_of_time() -> None:
    first = generation(id="o1", input=[GO], output=SAID, startTime="2026-05-01T10:00:00Z")
    second = generation(id="o2", input=[GO, SAID, GO], output=SAID, startTime="2026-05-01T10:00:05Z")
    (run,), _ = read(second, first)
    assert [(call.prompt, call.output) for call in run.calls] == [((0,), (1,)), ((0, 1, 2), (3,))]
