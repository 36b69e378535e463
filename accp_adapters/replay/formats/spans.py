"""OpenTelemetry spans of model calls: the conventions for generative AI, and OpenInference's.

A document is OTLP in JSON, or a span as `ReadableSpan.to_json` writes it.

Sources: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding,
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ (since 1.37) and
https://arize-ai.github.io/openinference/spec/attributes/semantic-conventions.html
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_adapters.replay.formats import conversation, logged
from accp_adapters.replay.recorded_run import Findings, Role

__all__ = ["is_spans", "read_spans"]


_MAX_INDEX: Final = 100_000
"""A hostile key such as `llm.input_messages.999999999` makes no list of that length."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One operation of a trace."""

    trace: str
    """The id of the trace."""
    key: str
    """What no other span has: the ids of trace and span; empty: not recorded."""
    started: str
    """When it began; texts of one trace have one form."""
    attributes: Mapping[str, Any]
    """Its attributes."""
    events: tuple[tuple[str, Mapping[str, Any]], ...]
    """Name and attributes of each event."""


def unflatten(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return the list that attributes such as `gen_ai.prompt.0.role` spell out below `prefix`.

    Each entry maps the rest of the key, such as "role" or "tool_calls.0.name", to the value; gaps are left out.
    """
    rows: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if not key.startswith(f"{prefix}."):
            continue
        index, _, rest = key.removeprefix(f"{prefix}.").partition(".")
        if index.isdecimal() and int(index) <= _MAX_INDEX:
            rows.setdefault(int(index), {})[rest] = value
    return [rows[index] for index in sorted(rows)]


_MESSAGE: Final = "a message of a GenAI span"
_SPAN: Final = "a GenAI span"
_WHOLE: Final = (
    ("gen_ai.input.messages", "gen_ai.output.messages"),
    # LangSmith's exporter
    ("gen_ai.prompt", "gen_ai.completion"),
)
"""Attributes that hold all messages of a prompt and of an answer."""
_OPERATIONS: Final = ("chat", "text_completion", "generate_content")
_DETAILS: Final = "gen_ai.client.inference.operation.details"
"""The event that holds the messages where they are no attributes of the span."""


def is_genai_call(span: Span) -> bool:
    """Return whether a span is a model call; that of an agent or a tool is not."""
    operation = span.attributes.get("gen_ai.operation.name") or span.attributes.get("llm.request.type")
    if operation is not None:
        return operation in (*_OPERATIONS, "completion")
    return "gen_ai.request.model" in span.attributes


def read_genai_call(span: Span, findings: Findings) -> conversation.Request:
    """Return the model call of a span."""
    details = (event for name, event in span.events if name == _DETAILS)
    span = replace(span, attributes=ChainMap(*map(dict, details), dict(span.attributes)))
    attributes = span.attributes
    given = logged.opened(attributes.get("gen_ai.system_instructions"))
    system = "\n".join(part.text for part in conversation.content_parts(given, logged.read_genai_part, findings))
    (prompt, tools), output = _messages(span, findings)
    if not prompt:
        findings.add("model call", "without its messages: the span does not hold them")
    return conversation.Request(
        prompt=(*conversation.instructions(system), *prompt),
        output=output,
        tools=tools or conversation.definitions(logged.opened(attributes.get("gen_ai.tool.definitions"))),
        group=span.trace,
        agent=str(attributes.get("gen_ai.agent.name") or ""),
        started=span.started,
    )


def _messages(span: Span, findings: Findings) -> tuple[logged.Prompt, tuple[conversation.Turn, ...]]:
    """Return the prompt and the turns of the answer, in the first of the ways that the span has."""
    attributes = span.attributes
    for asked, answered in _WHOLE:
        if asked in attributes:
            return _logged(attributes[asked], attributes.get(answered), findings)
    # Before 1.37, tracers wrote each field as an attribute: `gen_ai.prompt.0.content`.
    prompt, answer = (
        tuple(turn for row in unflatten(attributes, side) for turn in _turn(row, findings)) for side in _WHOLE[-1]
    )
    return (prompt, ""), answer


def _logged(asked: object, answered: object, findings: Findings) -> tuple[logged.Prompt, tuple[conversation.Turn, ...]]:
    sides = (logged.opened(asked), logged.opened(answered))
    own = [
        conversation.read_turns(side, logged.read_genai_message, findings) if _has_parts(side) else None
        for side in sides
    ]
    prompt = logged.read_prompt(sides[0], findings, _SPAN) if own[0] is None else (own[0], "")
    return prompt, logged.read_answer(sides[1], findings, _SPAN) if own[1] is None else own[1]


def _has_parts(messages: object) -> bool:
    """Return whether a list has messages with `parts`, known or unknown."""
    return isinstance(messages, list) and any(isinstance(each, Mapping) and "parts" in each for each in messages)


_INFERENCE: Final = "an OpenInference message"
_ROLES: Final = {**conversation.ROLES, "tool-call": Role.AGENT, "tool-response": Role.TOOL}
"""Those of smolagents, too."""


def is_openinference_call(span: Span) -> bool:
    """Return whether a span is a model call."""
    # Frameworks also mark the steps around a call, which have neither messages nor a count of tokens.
    marks = ("llm.input_messages.", "llm.output_messages.", "llm.token_count.", "llm.tools.")
    return span.attributes.get("openinference.span.kind") == "LLM" and any(
        name.startswith(marks) for name in span.attributes
    )


def read_openinference_call(span: Span, findings: Findings) -> conversation.Request:
    """Return the model call of a span."""
    attributes = span.attributes
    prompt = [turn for row in unflatten(attributes, "llm.input_messages") for turn in _turn(row, findings)]
    if not prompt:
        findings.add("model call", "without its messages, of OpenInference")
    # Tracers write a schema with blanks, in which it is not sent.
    tools = [
        conversation.written(logged.opened(row.get("tool.json_schema") or row))
        for row in unflatten(attributes, "llm.tools")
    ]
    return conversation.Request(
        prompt=tuple(prompt),
        output=tuple(turn for row in unflatten(attributes, "llm.output_messages") for turn in _turn(row, findings)),
        tools=f"[{','.join(tools)}]" if tools else "",
        group=span.trace,
        agent=str(attributes.get("agent.name") or ""),
        started=span.started,
    )


def _turn(row: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    message = {key.removeprefix("message."): value for key, value in row.items()}
    known = {key for key in message if key.startswith(("contents.", "tool_calls."))}
    findings.fields(message, {"content", "name", "function_call_arguments_json"} | known, _INFERENCE)
    role = _ROLES.get(str(message.get("role")))
    if role is None:
        findings.role(message.get("role"), "an OpenInference span")
        return
    words = _words(message, findings)
    if role is Role.TOOL:
        yield conversation.Turn(
            role=role, parts=(conversation.result(words, message.get("tool_call_id"), message.get("name")),)
        )
        return
    calls = [_call(row, findings) for row in unflatten(message, "tool_calls")]
    if name := message.get("function_call_name"):
        calls.append(conversation.call(name, message.get("function_call_arguments_json")))
    agent = str(message.get("name") or "") if role is Role.AGENT else ""
    yield conversation.Turn(role=role, parts=(*([conversation.text(words)] if words else []), *calls), agent=agent)


def _words(message: Mapping[str, Any], findings: Findings) -> str:
    """Return the words of a message; some tracers write them both as its content and as its contents."""
    blocks = "\n".join(filter(None, _contents(message, findings)))
    content = conversation.written(message.get("content"))
    return blocks if content == blocks else "\n".join(filter(None, [content, blocks]))


def _contents(message: Mapping[str, Any], findings: Findings) -> Iterator[str]:
    for row in unflatten(message, "contents"):
        block = {key.removeprefix("message_content."): value for key, value in row.items()}
        kind = block.get("type")
        if kind == "text" or (kind is None and "text" in block):
            yield conversation.written(block.get("text"))
        elif kind == "tool_use" and "tool_calls.0.tool_call.function.name" in message:
            # A copy of a call.
            continue
        elif kind == "reasoning":
            findings.thoughts(kind, _INFERENCE)
        else:
            findings.block(kind, _INFERENCE)


def _call(row: Mapping[str, Any], findings: Findings) -> conversation.Part:
    asked = {key.removeprefix("tool_call."): value for key, value in row.items()}
    findings.fields(asked, ("function.arguments", "arguments"), "an OpenInference tool call")
    name, arguments = (asked.get(f"function.{field}") or asked.get(field) for field in ("name", "arguments"))
    return conversation.call(str(name or ""), arguments, asked.get("id"))


def is_spans(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"resourceSpans": [*_]} | {"resource_spans": [*_]}:
            return True
        case {"context": {"trace_id": _}, "attributes": {}} | {"spanId": str(), "attributes": _}:
            return True
    return False


def read_spans(document: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Request]:
    """Yield the model calls in the spans of a document."""
    for span in map(_to_span, _spans(document)):
        # A call of which nothing is recorded is named and makes no run.
        yield from (call for call in _read_call(span, findings) if call.prompt or call.output or call.tools)


def _read_call(span: Span, findings: Findings) -> Iterator[conversation.Request]:
    """Yield the model call that a span is; nothing for a span of another kind."""
    if is_openinference_call(span):
        yield replace(read_openinference_call(span, findings), identity=span.key)
    elif span.attributes.get("langfuse.observation.type") == "generation":
        for request in logged.read_observation(_observation(span), findings):
            yield replace(request, identity=span.key)
    elif is_genai_call(span):
        yield replace(read_genai_call(span, findings), identity=span.key)
    else:
        findings.add("span", "that is no model call", left_out=True)


def _observation(span: Span) -> Mapping[str, Any]:
    """Return a span of Langfuse's SDK as the observation that Langfuse exports."""
    sides = {name: span.attributes.get(f"langfuse.observation.{name}") for name in ("input", "output")}
    return {"type": "GENERATION", "traceId": span.trace, "startTime": span.started, **sides}


def _spans(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "resourceSpans" not in document and "resource_spans" not in document:
        yield document
        return
    for resource in document.get("resourceSpans") or document.get("resource_spans") or ():
        for scope in resource.get("scopeSpans") or resource.get("scope_spans") or ():
            yield from scope.get("spans") or ()


def _to_span(span: Mapping[str, Any]) -> Span:
    """Return a span from its JSON."""
    context = span.get("context") or {}
    trace = str(span.get("traceId") or span.get("trace_id") or context.get("trace_id") or "")
    own = str(span.get("spanId") or span.get("span_id") or context.get("span_id") or "")
    return Span(
        trace=trace,
        key=f"{trace} {own}" if trace and own else "",
        started=str(span.get("startTimeUnixNano") or span.get("start_time") or ""),
        attributes=_attributes_of(span.get("attributes")),
        events=tuple(
            (event.get("name", ""), _attributes_of(event.get("attributes"))) for event in span.get("events") or ()
        ),
    )


def _attributes_of(attributes: Any) -> dict[str, Any]:
    """Return attributes by their names, from a list of them or a mapping."""
    if isinstance(attributes, Mapping):
        return dict(attributes)
    return {each["key"]: _value(each.get("value") or {}) for each in attributes or ()}


def _value(value: Mapping[str, Any]) -> Any:
    match value:
        case {"stringValue": plain} | {"boolValue": plain} | {"doubleValue": plain} | {"bytesValue": plain}:
            return plain
        case {"intValue": number}:
            return int(number)
        case {"arrayValue": array}:
            return [_value(each) for each in array.get("values") or ()]
        case {"kvlistValue": entries}:
            return _attributes_of(entries.get("values"))
    return None
