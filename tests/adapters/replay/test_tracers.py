"""Forms in which tracers wrote one conversation of late: another's messages inside their own records."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.replay import Role
from tests.adapters.replay.test_format_details import generation, read, span

CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}
ARGUMENTS = {"city": "Rome"}
ASKED = "Weather in Rome?"
ANSWER = "It is sunny."
LANGCHAIN_JS = [
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "weather", "content": "Sunny", "additional_kwargs": {}},
]
GENAI = [
    {"role": "user", "parts": [{"type": "text", "content": ASKED}]},
    {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "weather", "arguments": ARGUMENTS}]},
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": "Sunny"}]},
]
GEMINI = [
    {"role": "user", "parts": [{"text": ASKED}]},
    {"role": "model", "parts": [{"function_call": {"name": "weather", "args": ARGUMENTS}}]},
    {"role": "user", "parts": [{"function_response": {"name": "weather", "response": {"result": "Sunny"}}}]},
]
FLAT = [
    {"role": "user", "content": ASKED},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "Sunny", "tool_call_id": "c1"},
]


def constructed(name: str, **fields: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", name], "kwargs": fields}


LANGCHAIN_CALL = {"name": "weather", "args": ARGUMENTS, "id": "c1"}
LANGSMITH = {
    "messages": [
        [
            constructed("HumanMessage", content=ASKED, type="human"),
            constructed("AIMessage", content="", type="ai", tool_calls=[LANGCHAIN_CALL]),
            constructed("ToolMessage", content="Sunny", type="tool", tool_call_id="c1"),
        ]
    ]
}
SAID = {"role": "assistant", "content": ANSWER}
RECORDS = {
    "LangGraph.js in Langfuse": generation(input=json.dumps(LANGCHAIN_JS), output=SAID),
    "a Gemini request in Langfuse": generation(
        input=json.dumps({"model": "gemini", "config": {"system_instruction": ""}, "contents": GEMINI}),
        output={"content": {"parts": [{"text": ANSWER}], "role": "model"}, "finish_reason": "STOP"},
    ),
    "OpenTelemetry messages in Langfuse": generation(
        input=json.dumps(GENAI), output=[{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    ),
    "LangSmith's exporter": span(
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.prompt": json.dumps(LANGSMITH),
            "gen_ai.completion": json.dumps({"generations": [[{"text": ANSWER, "type": "ChatGeneration"}]]}),
        }
    ),
    "flat messages": span(
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(FLAT),
            "gen_ai.output.messages": json.dumps([SAID]),
        }
    ),
}


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_a_conversation_is_read_whichever_tracer_wrote_it(record: Any) -> None:
    (run,), findings = read(record)
    assert list(map(str, findings.not_understood())) == []
    assert [(message.role, message.text) for message in run.messages] == [
        (Role.USER, ASKED),
        (Role.AGENT, '{"city":"Rome"}'),
        (Role.TOOL, "Sunny"),
        (Role.AGENT, ANSWER),
    ]
    assert run.messages[2].tool == "weather"


def test_an_observation_that_cannot_be_read_is_counted_and_the_others_of_its_trace_are_read() -> None:
    broken = generation(input={"messages": [{"role": "user", "content": "go", "tool_calls": [{"id": "c1"}]}]})
    (run,), findings = read({"id": "t1", "observations": [broken, generation()]})
    assert [message.text for message in run.messages] == ["go", "done"]
    assert len(findings.not_understood()) == 1
