"""OpenInference spans of kind LLM, as Phoenix and its instrumentations write them.

Sources: https://arize-ai.github.io/openinference/spec/attributes/semantic-conventions.html and
https://arize-ai.github.io/openinference/spec/content/tool-calling.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Part, Request, Turn, call, result, text, written
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.traces.genai_messages import GENAI_ROLES
from accp_adapters.replay.formats.traces.logged_messages import opened
from accp_adapters.replay.formats.traces.span import Span, unflatten
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_call", "read_call"]

_OWNER: Final = "an OpenInference message"
_ROLES: Final = {
    **GENAI_ROLES,
    "human": Role.USER,
    "ai": Role.AGENT,
    # smolagents
    "tool-call": Role.AGENT,
    "tool-response": Role.TOOL,
}


def is_call(span: Span) -> bool:
    """Return whether a span is a model call."""
    # Frameworks also mark the steps around a call, which have neither messages nor a count of tokens.
    marks = ("llm.input_messages.", "llm.output_messages.", "llm.token_count.", "llm.tools.")
    return span.attributes.get("openinference.span.kind") == "LLM" and any(
        name.startswith(marks) for name in span.attributes
    )


def read_call(span: Span, findings: Findings) -> Request:
    """Return the model call of a span."""
    attributes = span.attributes
    prompt = [turn for row in unflatten(attributes, "llm.input_messages") for turn in _turn(row, findings)]
    if not prompt:
        findings.add("model call", "without its messages, of OpenInference")
    # Tracers write a schema with blanks, in which it is not sent.
    tools = [written(opened(row.get("tool.json_schema") or row)) for row in unflatten(attributes, "llm.tools")]
    return Request(
        prompt=tuple(prompt),
        output=tuple(turn for row in unflatten(attributes, "llm.output_messages") for turn in _turn(row, findings)),
        tools=f"[{','.join(tools)}]" if tools else "",
        group=span.trace,
        agent=str(attributes.get("agent.name") or ""),
        started=span.started,
    )


def _turn(row: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    message = {key.removeprefix("message."): value for key, value in row.items()}
    known = {key for key in message if key.startswith(("contents.", "tool_calls."))}
    findings.fields(message, {"content", "name", "function_call_arguments_json"} | known, _OWNER)
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        findings.role(message.get("role"), "an OpenInference span")
        return
    words = _words(message, findings)
    if role is Role.TOOL:
        yield Turn(role=role, parts=(result(words, message.get("tool_call_id"), message.get("name")),))
        return
    calls = [_call(row, findings) for row in unflatten(message, "tool_calls")]
    if name := message.get("function_call_name"):
        calls.append(call(name, message.get("function_call_arguments_json")))
    agent = str(message.get("name") or "") if role is Role.AGENT else ""
    yield Turn(role=role, parts=(*([text(words)] if words else []), *calls), agent=agent)


def _words(message: Mapping[str, Any], findings: Findings) -> str:
    """Return the words of a message; some tracers write them both as its content and as its contents."""
    blocks = "\n".join(filter(None, _contents(message, findings)))
    content = written(message.get("content"))
    return blocks if content == blocks else "\n".join(filter(None, [content, blocks]))


def _contents(message: Mapping[str, Any], findings: Findings) -> Iterator[str]:
    for row in unflatten(message, "contents"):
        block = {key.removeprefix("message_content."): value for key, value in row.items()}
        kind = block.get("type")
        if kind == "text" or (kind is None and "text" in block):
            yield written(block.get("text"))
        elif kind == "tool_use" and "tool_calls.0.tool_call.function.name" in message:
            # A copy of a call.
            continue
        elif kind == "reasoning":
            findings.thoughts(kind, _OWNER)
        else:
            findings.block(kind, _OWNER)


def _call(row: Mapping[str, Any], findings: Findings) -> Part:
    asked = {key.removeprefix("tool_call."): value for key, value in row.items()}
    findings.fields(asked, ("function.arguments",), "an OpenInference tool call")
    return call(str(asked.get("function.name") or ""), asked.get("function.arguments"), asked.get("id"))
