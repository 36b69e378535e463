"""OpenAI Responses: requests (`input`), requests with responses, and lists of items.

Source: https://platform.openai.com/docs/api-reference/responses/create and `openai.types.responses`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.chat_layout import ChatLayout, exchange_of, request_of
from accp_adapters.replay.formats.conversation import Item, Part, Snapshot, Step, Turn, call, definitions, result, text
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import content_parts, instructions, read_turns, turn_of
from accp_adapters.replay.formats.providers.openai_chat import read_block
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_item", "is_responses", "read_item", "read_responses"]

_OWNER: Final = "an OpenAI response"
_CALLS: Final = {"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments"}
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")


def is_item(item: Any) -> bool:
    """Return whether a value is an item that chat completions do not have."""
    match item:
        case {"type": "function_call" | "function_call_output" | "custom_tool_call" | "custom_tool_call_output"}:
            return "call_id" in item
        case {"type": "message", "role": str(), "content": _}:
            return True
        case {"type": "reasoning", "summary": _}:
            return True
    return False


def is_responses(document: Any) -> bool:
    """Return whether a document is in this format."""
    if isinstance(document, list):
        return any(map(is_item, document))
    match document:
        case {"request": _, "response": _}:
            exchange = exchange_of(document)
            return exchange is not None and "input" in exchange[0] and "messages" not in exchange[0]
        case {"object": "response", "output": [*_]}:
            return True
    body = request_of(document)
    return is_item(document) or ("input" in body and "model" in body and isinstance(body["input"], str | list))


def read_responses(document: Any, findings: Findings) -> Iterator[Item]:
    """Yield what a document says."""
    if is_item(document):
        yield from (Step(turn=turn, joined=True) for turn in read_item(document, findings))
    elif isinstance(document, Mapping) and document.get("object") == "response":
        findings.add("OpenAI response", "without its request")
    elif isinstance(document, list):
        yield Snapshot(turns=tuple(_merge(read_turns(document, read_item, findings))))
    else:
        yield from LAYOUT.read(_with_items(document), findings)


def read_item(item: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    """Yield the turn in one item.

    Raises:
        KeyError, TypeError: a field is missing or has another type.
    """
    kind = item.get("type", "message")
    if kind == "reasoning":
        findings.thoughts(kind, _OWNER)
        return
    if kind == "message":
        yield from _message(item, findings)
    elif kind in _CALLS:
        yield Turn(role=Role.AGENT, parts=tuple(_calls(item, kind)))
    elif kind in _RESULTS:
        yield Turn(role=Role.TOOL, parts=(result(_answer(item.get("output"), findings), item["call_id"]),))
    else:
        findings.block(kind, _OWNER)
        return
    findings.fields(item, ("content", "arguments", "input", "output"), "an OpenAI item")


def _message(item: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    parts = [part.text for part in content_parts(item.get("content"), read_block, findings)]
    yield from turn_of(item["role"], (text("\n".join(filter(None, parts))),), findings, _OWNER)


def _calls(item: Mapping[str, Any], kind: str) -> Iterator[Part]:
    call_id = item.get("call_id") or item.get("id")
    yield call(item["name"], item.get(_CALLS[kind]), call_id)
    if kind == "mcp_call" and item.get("output"):
        yield result(item["output"], call_id)


def _answer(output: object, findings: Findings) -> str:
    return "\n".join(part.text for part in content_parts(output, read_block, findings))


def _with_items(document: Any) -> Any:
    """Return a document in which an input that is a text is a message."""
    match document:
        case {"request": _, "response": response}:
            request, _ = exchange_of(document) or ({}, None)
            return {**document, "request": _with_items(request), "response": response}
        case {"input": str(words)}:
            return {**document, "input": [{"role": "user", "content": words}]}
    return document


def _merge(turns: Iterable[Turn]) -> Iterator[Turn]:
    """Yield the turns with those of one model call, which are items of their own, put together."""
    pending: list[Part] = []
    for turn in turns:
        if turn.role is Role.AGENT:
            pending += turn.parts
            continue
        if pending:
            yield Turn(role=Role.AGENT, parts=tuple(pending))
            pending = []
        yield turn
    if pending:
        yield Turn(role=Role.AGENT, parts=tuple(pending))


def _read_response(body: Mapping[str, Any], findings: Findings) -> tuple[Turn, ...]:
    return tuple(_merge(turn for item in body.get("output") or () for turn in read_item(item, findings)))


def _schema(body: Mapping[str, Any]) -> object:
    """Return the schema of a structured output, which is a part of the prompt."""
    written_as = (body.get("text") or {}).get("format") or {}
    return written_as if written_as.get("type") == "json_schema" else None


LAYOUT: Final = ChatLayout(
    owner="OpenAI Responses",
    messages="input",
    fields=frozenset({"instructions", "tools", "text"}),
    read_message=read_item,
    read_response=_read_response,
    read_instructions=lambda body, findings: instructions(body.get("instructions") or ""),
    read_tools=lambda body: definitions(body.get("tools"), _schema(body)),
    requests_only=True,
    arrange=_merge,
)
