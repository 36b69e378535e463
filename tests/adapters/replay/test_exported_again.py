"""Spans and runs that a tracer exports more than once are one call each (docs/replay.md, "What it reads")."""

import json
from typing import Any

import pytest

from accp_adapters.replay import Findings, parse_runs


def span(key: str, trace: str = "t1", answer: str = "gone") -> dict[str, Any]:
    sides = {"input": ("user", "go"), "output": ("assistant", answer)}
    attributes = {
        f"gen_ai.{side}.messages": json.dumps([{"role": role, "parts": [{"type": "text", "content": words}]}])
        for side, (role, words) in sides.items()
    }
    return {
        "traceId": trace,
        "spanId": key,
        "startTimeUnixNano": "1",
        "attributes": {"gen_ai.operation.name": "chat", **attributes},
    }


def run(key: str, answer: str = "gone") -> dict[str, Any]:
    asked = {"messages": [{"role": "user", "content": "go"}]}
    outputs = {"generations": [[{"text": answer}]]} if answer else None
    return {"id": key, "trace_id": "t", "run_type": "llm", "inputs": asked, "outputs": outputs}


@pytest.mark.parametrize(
    ("records", "calls"),
    [
        ([{"resourceSpans": [{"scopeSpans": [{"spans": [span("a"), span("a")]}]}]}] * 2, [1]),
        ([span("a"), span("b"), span("a")], [2]),
        ([span("a"), span("a", trace="t2", answer="other")], [1, 1]),
        ([run("a"), run("a")], [1]),
        ([run("a"), run("b"), run("b")], [2]),
    ],
)
def test_a_call_that_is_exported_again_counts_once(records: list[Any], calls: list[int]) -> None:
    findings = Findings()
    runs = parse_runs("\n".join(map(json.dumps, records)), path="log.jsonl", findings=findings)
    assert [len(each.calls) for each in runs] == calls
    assert findings.not_understood() == []


@pytest.mark.parametrize("records", [[run("a", ""), run("a")], [run("a"), run("a", "")]])
def test_a_run_that_is_logged_at_its_start_and_its_end_has_its_answer(records: list[Any]) -> None:
    (found,) = parse_runs("\n".join(map(json.dumps, records)), path="log.jsonl")
    assert [call.output for call in found.calls] == [(1,)]
