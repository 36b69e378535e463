"""A recorded stream joined to the response that the provider would have sent at once.

Sources: `openai.lib.streaming.chat` and `anthropic.lib.streaming`, to whose results the tests hold this;
https://platform.openai.com/docs/api-reference/responses-streaming,
https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent and
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.streams.ends import RESPONSE_ENDS, breaks_off, first_stream
from accp_adapters.replay.formats.streams.events import BROKEN, STREAM_END, StreamEvent, events_of

__all__ = ["join_response", "joined_exchange", "stream_kind"]

_WHOLE: Final = ("id", "type", "role", "index", "name", "object")
"""Fields of a delta that are given whole, by some servers in every chunk."""
_ANTHROPIC: Final = ("message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta")
_ANTHROPIC_DELTAS: Final = {
    "text_delta": "text",
    "input_json_delta": "partial_json",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
_ANTHROPIC_SILENT: Final = (
    "message_start", "message_delta", "message_stop", "content_block_start", "content_block_stop", "ping", "error",
    # What the SDK's helper adds to the events of the provider.
    "text", "input_json", "thinking", "signature", "citation",
)  # fmt: skip
_GEMINI_WORDS: Final = frozenset({"text", "thought", "thoughtSignature", "thought_signature"})
"""Fields of a part that is words and nothing else."""
_KEPT: Final = {"OpenAI Responses": "its finished items are counted"}
"""What is read of a stream that breaks off, where it is not all of it."""
_BEDROCK: Final = (
    "messageStart",
    "contentBlockStart",
    "contentBlockDelta",
    "contentBlockStop",
    "messageStop",
    "metadata",
)
"""Fields of which each event of a Converse stream has one."""


class _Pieces(list[str]):
    """A text that grows: adding to a str would copy it for each piece."""


def joined_exchange(document: Any, findings: Findings) -> Any:
    """Return a record of a request and a response in which a response that is a stream is joined."""
    match document:
        case {"request": _, "response": {"body": body}}:
            return {**document, "response": {**document["response"], "body": join_response(body, findings)}}
        case {"request": _, "response": response}:
            return {**document, "response": join_response(response, findings)}
    return document


def join_response(recorded: object, findings: Findings) -> Any:
    """Return the response that a recorded stream comes to, or what was recorded where it is no stream."""
    events = events_of(recorded)
    kind = _kind_of(events)
    if not events or kind is None:
        return recorded
    for _ in range(sum(event is BROKEN for event in events)):
        findings.add("event", f"that is no JSON of a stream of {kind}")
    for _ in range(sum(map(_has_error, events))):
        findings.add("error", f"within a stream of {kind}")
    whole = first_stream([event for event in events if event is not BROKEN], kind, findings)
    if breaks_off(whole, kind):
        findings.add("stream", f"of {kind} that breaks off; {_KEPT.get(kind, 'what it has is counted')}")
    return _JOINS[kind]([event for event in whole if event is not STREAM_END], findings)


def _has_error(event: StreamEvent) -> bool:
    match event:
        # The error event of OpenAI Responses has its message beside its type.
        case {"type": "error" | "response.failed"} | {"response": {"error": {"code": _} | {"message": _}}}:
            return True
    return bool(event.get("error"))


def stream_kind(recorded: object) -> str | None:
    """Return which provider's a recorded stream or one event of it is; None: it is none."""
    return _kind_of([recorded] if isinstance(recorded, Mapping) else events_of(recorded))


def _kind_of(events: list[StreamEvent] | None) -> str | None:
    if not events:
        return None
    return next((kind for event in events[:3] for kind, holds in _KINDS.items() if holds(event)), None)


def _is_chunk(event: StreamEvent) -> bool:
    match event:
        case {"object": "chat.completion.chunk"} | {"choices": [{"delta": _}, *_]}:
            return True
    return False


def _merge(whole: dict[str, Any], delta: Mapping[str, Any]) -> None:
    """Add the fields of a delta: texts and objects grow, entries of lists grow by their index."""
    for name, value in delta.items():
        if name in _WHOLE:
            whole[name] = whole.get(name) if value in (None, "") else value
        elif isinstance(value, str):
            _add_text(whole, name, value)
        elif isinstance(value, Mapping):
            _merge(_object_in(whole, name), value)
        elif isinstance(value, list):
            _merge_list(whole, name, value)
        elif value is not None:
            whole[name] = value


def _add_text(whole: dict[str, Any], name: str, text: str) -> None:
    known = whole.get(name)
    if not isinstance(known, _Pieces):
        known = whole[name] = _Pieces([known] if isinstance(known, str) else [])
    known.append(text)


def _object_in(whole: dict[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(whole.get(name), dict):
        whole[name] = {}
    found: dict[str, Any] = whole[name]
    return found


def _merge_list(whole: dict[str, Any], name: str, values: list[Any]) -> None:
    if type(whole.get(name)) is not list:
        whole[name] = []
    entries: list[Any] = whole[name]
    for value in values:
        if not isinstance(value, Mapping) or "index" not in value:
            entries.append(value)
            continue
        # Servers that give each call whole give all of them the index 0.
        last = next((entry for entry in reversed(entries) if _continues(entry, value)), None)
        if last is None:
            entries.append(last := {})
        _merge(last, value)


def _continues(entry: object, value: Mapping[str, Any]) -> bool:
    if not isinstance(entry, dict) or entry.get("index") != value["index"]:
        return False
    return not value.get("id") or not entry.get("id") or entry["id"] == value["id"]


def _finished(value: Any) -> Any:
    """Return a value whose growing texts are texts."""
    if isinstance(value, _Pieces):
        return "".join(value)
    if isinstance(value, dict):
        return {name: _finished(each) for name, each in value.items()}
    return list(map(_finished, value)) if isinstance(value, list) else value


def _join_chunks(events: list[StreamEvent], findings: Findings) -> dict[str, Any]:
    choices: dict[str, dict[str, Any]] = {}
    for event in events:
        findings.fields(event, ("choices", "prompt_filter_results"), "an OpenAI chunk")
        for choice in event.get("choices") or ():
            _merge(choices.setdefault(str(choice.get("index")), {}), choice.get("delta") or {})
    messages = [{"role": "assistant", "content": None} | _finished(message) for message in choices.values()]
    for message in messages:
        _check_arguments([message.get("function_call"), *_listed(message.get("tool_calls"))], findings)
    return {"object": "chat.completion", "choices": [{"message": message} for message in messages]}


def _join_responses(events: list[StreamEvent], findings: Findings) -> dict[str, Any]:
    end: StreamEvent = next((event for event in reversed(events) if event.get("type") in RESPONSE_ENDS), {})
    held = end.get("response")
    response: StreamEvent = held if isinstance(held, Mapping) else {"object": "response"}
    if end.get("type") == "response.incomplete":
        details = response.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        findings.add("response", f"of OpenAI that ended early ({reason!r:.60}); what it has is counted", left_out=True)
    # A response that failed does not list the items that were finished before.
    finished = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
    output = response.get("output") or finished
    _check_arguments(_listed(output), findings)
    return {**response, "output": output}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _join_anthropic(events: list[StreamEvent], findings: Findings) -> dict[str, Any]:
    blocks: dict[str, dict[str, Any]] = {}
    message: dict[str, Any] = {"role": "assistant", "type": "message"}
    for event in events:
        kind, index = event.get("type"), str(event.get("index"))
        if kind == "content_block_start" and blocks.get(index):
            findings.add("block", "that an Anthropic stream begins again; both are counted")
            blocks[f"{index} before {len(blocks)}"] = blocks.pop(index)
        block = blocks.setdefault(index, {})
        if kind == "message_start":
            message |= event["message"]
        elif kind == "content_block_start":
            block |= {name: value for name, value in event["content_block"].items() if value not in ("", {})}
        elif kind == "content_block_delta":
            _add_anthropic(block, event["delta"], findings)
        elif kind not in _ANTHROPIC_SILENT:
            findings.add("event", f"of type {kind!r:.60} of an Anthropic stream")
    return message | {"content": [_anthropic_block(_finished(block), findings) for block in blocks.values() if block]}


def _add_anthropic(block: dict[str, Any], delta: StreamEvent, findings: Findings) -> None:
    name = _ANTHROPIC_DELTAS.get(str(delta.get("type")))
    if name:
        _add_text(block, name, delta[name])
    elif delta.get("type") != "citations_delta":
        findings.block(delta.get("type"), "an Anthropic stream")


def _anthropic_block(block: dict[str, Any], findings: Findings) -> dict[str, Any]:
    written = block.pop("partial_json", "")
    if "name" in block:
        block["input"] = _arguments(written, findings) if written else block.get("input", {})
    elif block.get("type") == "text":
        block.setdefault("text", "")
    return block


def _arguments(written: str, findings: Findings) -> Any:
    """Return the arguments of a call, as text where the stream broke off within them."""
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        findings.add("tool call", "whose arguments break off in a stream")
        return written


def _check_arguments(calls: list[Any], findings: Findings) -> None:
    """Name the arguments of calls of OpenAI, which are text, where they break off."""
    for call in calls:
        match call:
            case {"arguments": str(written)} | {"function": {"arguments": str(written)}} if written:
                _arguments(written, findings)


def _join_gemini(events: list[StreamEvent], findings: Findings) -> dict[str, Any]:
    candidates: dict[str, list[Any]] = {}
    for candidate in (candidate for event in events for candidate in event.get("candidates") or ()):
        parts = candidates.setdefault(str(candidate.get("index") or 0), [])
        for part in (candidate.get("content") or {}).get("parts") or ():
            _add_gemini(parts, part)
    return {"candidates": [{"content": {"role": "model", "parts": _finished(parts)}} for parts in candidates.values()]}


def _add_gemini(parts: list[Any], part: StreamEvent) -> None:
    """Add a part; a text continues the one before it where both are words or both are thoughts."""
    filled = {name: value for name, value in part.items() if value is not None}
    is_text = filled.keys() <= _GEMINI_WORDS and isinstance(filled.get("text"), str)
    if not is_text:
        parts.append(filled)
    elif filled["text"]:
        last = parts[-1] if parts else {}
        if not isinstance(last.get("text"), _Pieces) or last.get("thought") != filled.get("thought"):
            parts.append({**filled, "text": _Pieces()})
        _add_text(parts[-1], "text", filled["text"])


def _join_bedrock(events: list[StreamEvent], findings: Findings) -> dict[str, Any]:
    blocks: dict[str, dict[str, Any]] = {}
    for event in events:
        findings.fields(event, _BEDROCK, "an event of a Bedrock stream")
        for part, field in (("contentBlockStart", "start"), ("contentBlockDelta", "delta")):
            if isinstance(inner := event.get(part), Mapping):
                _merge(blocks.setdefault(str(inner.get("contentBlockIndex")), {}), inner.get(field) or {})
    content = [_bedrock_block(_finished(block), findings) for block in blocks.values()]
    return {"output": {"message": {"role": "assistant", "content": content}}}


def _bedrock_block(block: dict[str, Any], findings: Findings) -> dict[str, Any]:
    asked = block.get("toolUse")
    if isinstance(asked, dict):
        asked["input"] = _arguments(asked.get("input") or "{}", findings)
    return block


_KINDS: Final[Mapping[str, Callable[[StreamEvent], bool]]] = {
    "OpenAI chat": _is_chunk,
    "OpenAI Responses": lambda event: str(event.get("type")).startswith("response."),
    "Anthropic": lambda event: event.get("type") in _ANTHROPIC,
    "Gemini": lambda event: isinstance(event.get("candidates"), list),
    "Bedrock Converse": lambda event: len(event) == 1 and not event.keys().isdisjoint(_BEDROCK[:-1]),
}
_JOINS: Final[Mapping[str, Callable[[list[StreamEvent], Findings], dict[str, Any]]]] = {
    "OpenAI chat": _join_chunks,
    "OpenAI Responses": _join_responses,
    "Anthropic": _join_anthropic,
    "Gemini": _join_gemini,
    "Bedrock Converse": _join_bedrock,
}
