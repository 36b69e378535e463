"""OpenTelemetry spans of model calls by the conventions for generative AI, in the ways in which they are written.

`gen_ai.input.messages` and `gen_ai.output.messages` (since 1.37), indexed attributes such as `gen_ai.prompt.0.content`
(OpenLLMetry), span events such as `gen_ai.user.message` (until 1.36), and what LangSmith's exporter (`gen_ai.prompt`),
the Vercel AI SDK (`ai.prompt.messages`) and Google's Agent Development Kit (`gcp.vertex.agent.llm_request`) write
beside them.
Sources: https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/, …/gen-ai-input-messages.json,
…/gen-ai-output-messages.json and https://github.com/open-telemetry/semantic-conventions/blob/v1.36.0/docs/gen-ai.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Request, Turn, call, definitions, result, text, written
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import content_parts, instructions, read_turns
from accp_adapters.replay.formats.providers.bedrock import is_converse
from accp_adapters.replay.formats.traces.genai_messages import GENAI_ROLES, read_genai_message, read_genai_part
from accp_adapters.replay.formats.traces.logged_messages import Prompt, opened, read_answer, read_prompt
from accp_adapters.replay.formats.traces.span import Span, unflatten
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_call", "is_event", "read_call"]

_OWNER: Final = "a message of a GenAI span"
_SPAN: Final = "a GenAI span"
_WHOLE: Final = (
    ("gen_ai.input.messages", "gen_ai.output.messages"),
    # LangSmith's exporter
    ("gen_ai.prompt", "gen_ai.completion"),
    # Google's Agent Development Kit
    ("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
)
"""Attributes that hold all messages of a prompt and of an answer."""
_OPERATIONS: Final = ("chat", "text_completion", "generate_content")
_DETAILS: Final = "gen_ai.client.inference.operation.details"
"""The event that holds the messages where they are no attributes of the span."""
_CHOICE: Final = "gen_ai.choice"
_EVENTS: Final = {f"gen_ai.{role}.message": role for role in ("system", "user", "assistant", "tool")}


def is_event(name: object) -> bool:
    """Return whether an event, of a span or logged beside it, says something of a model call."""
    return name in (*_EVENTS, _CHOICE, _DETAILS)


def is_call(span: Span) -> bool:
    """Return whether a span is a model call; that of an agent or a tool is not."""
    operation = span.attributes.get("gen_ai.operation.name") or span.attributes.get("llm.request.type")
    if operation is not None:
        return operation in (*_OPERATIONS, "completion")
    return "gen_ai.request.model" in span.attributes


def read_call(span: Span, findings: Findings) -> Request:
    """Return the model call of a span."""
    details = (event for name, event in span.events if name == _DETAILS)
    span = replace(span, attributes=ChainMap(*map(dict, details), dict(span.attributes)))
    attributes = span.attributes
    given = opened(attributes.get("gen_ai.system_instructions"))
    system = "\n".join(part.text for part in content_parts(given, read_genai_part, findings))
    (prompt, tools), output = _messages(span, findings)
    if not prompt:
        findings.add("model call", "without its messages: the span does not hold them")
    functions = unflatten(attributes, "llm.request.functions")
    return Request(
        prompt=(*instructions(system), *prompt),
        output=output,
        tools=tools or definitions(opened(attributes.get("gen_ai.tool.definitions")), functions),
        group=span.trace,
        agent=str(attributes.get("gen_ai.agent.name") or ""),
        started=span.started,
    )


def _messages(span: Span, findings: Findings) -> tuple[Prompt, tuple[Turn, ...]]:
    """Return the prompt and the turns of the answer, in the first of the ways that the span has."""
    attributes = span.attributes
    for asked, answered in _WHOLE:
        if asked in attributes:
            return _logged(attributes[asked], attributes.get(answered), findings)
    if "ai.prompt.messages" in attributes:
        calls = {"role": "assistant", "content": _vercel_answer(attributes)}
        (prompt, _), output = _logged(attributes["ai.prompt.messages"], [calls], findings)
        return (prompt, definitions([opened(each) for each in attributes.get("ai.prompt.tools") or ()])), output
    if prompts := unflatten(attributes, "gen_ai.prompt"):
        answers = unflatten(attributes, "gen_ai.completion")
        prompt = tuple(turn for row in prompts for turn in _indexed(row, findings))
        return (prompt, ""), tuple(turn for row in answers for turn in _indexed(row, findings))
    given = ((_EVENTS[name], body) for name, body in span.events if name in _EVENTS)
    choices = (_choice(body) for name, body in span.events if name == _CHOICE)
    prompt = tuple(turn for role, body in given for turn in _event(body, role, findings))
    return (prompt, ""), tuple(turn for body in choices for turn in _event(body, "assistant", findings))


def _logged(asked: object, answered: object, findings: Findings) -> tuple[Prompt, tuple[Turn, ...]]:
    sides = (opened(asked), opened(answered))
    own = [read_turns(side, read_genai_message, findings) if _has_parts(side) else None for side in sides]
    prompt = read_prompt(sides[0], findings, _SPAN) if own[0] is None else (own[0], "")
    return prompt, read_answer(sides[1], findings, _SPAN) if own[1] is None else own[1]


def _has_parts(messages: object) -> bool:
    """Return whether a list has messages with `parts`, known or unknown."""
    return isinstance(messages, list) and any(isinstance(each, Mapping) and "parts" in each for each in messages)


def _vercel_answer(attributes: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the blocks of the answer in a span of the Vercel AI SDK."""
    words = attributes.get("ai.response.text")
    asked = opened(attributes.get("ai.response.toolCalls")) or ()
    blocks = [{"type": "text", "text": words}] if words else []
    return [*blocks, *({**each, "type": "tool-call", "input": opened(each.get("input"))} for each in asked)]


def _indexed(row: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    """Yield the turns of attributes such as `gen_ai.prompt.0.role` and `gen_ai.prompt.0.tool_calls.0.name`."""
    known = {key for key in row if key.startswith("tool_calls.")}
    findings.fields(row, {"content"} | known, _OWNER)
    yield from _turns(row, str(row.get("role") or "assistant"), unflatten(row, "tool_calls"), findings)


def _event(body: Mapping[str, Any], role: str, findings: Findings) -> Iterator[Turn]:
    asked = opened(body.get("tool_calls")) or ()
    calls = [{"id": each.get("id"), **(each.get("function") or each)} for each in asked]
    yield from _turns({**body, "tool_call_id": body.get("id")}, role, calls, findings)


def _choice(body: Mapping[str, Any]) -> Mapping[str, Any]:
    message = opened(body.get("message", body))
    return message if isinstance(message, Mapping) else {"content": message}


def _turns(row: Mapping[str, Any], role: str, calls: list[dict[str, Any]], findings: Findings) -> Iterator[Turn]:
    known = GENAI_ROLES.get(role)
    if known is None:
        findings.role(role, "a GenAI span")
        return
    blocks = opened(row.get("content"))
    message = {"role": "assistant" if known is Role.AGENT else "user", "content": blocks}
    if isinstance(blocks, list) and is_converse(message):
        turns, _ = read_prompt([message], findings, _SPAN)
        yield from (replace(turn, role=known) if known is Role.INSTRUCTIONS else turn for turn in turns)
        return
    words = "\n".join(_words(row.get("content"), findings))
    if known is Role.TOOL:
        yield Turn(role=known, parts=(result(words, row.get("tool_call_id")),))
        return
    parts = [text(words)] if words else []
    yield Turn(role=known, parts=(*parts, *(call(c["name"], c.get("arguments"), c.get("id")) for c in calls)))


def _words(content: object, findings: Findings) -> Iterator[str]:
    """Yield the texts of a content; some tracers write a list of blocks as JSON into the attribute."""
    match opened(content):
        case [{"type": _}, *_] as blocks:
            for block in blocks:
                if block.get("type") in ("text", "input_text", "output_text"):
                    yield written(block.get("text") or block.get("content"))
                else:
                    findings.block(block.get("type"), _OWNER)
        case _:
            yield written(content)
