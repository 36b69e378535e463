"""Amazon Bedrock Converse: requests, requests with responses, and the invocation log of a model.

Sources: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and
https://docs.aws.amazon.com/bedrock/latest/userguide/model-invocation-logging.html (`input.inputBodyJson`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats import conversation
from accp_adapters.replay.recorded_run import Findings

__all__ = ["is_converse", "read_converse"]

_OWNER: Final = "a Bedrock message"


def is_converse(document: Any) -> bool:
    """Return whether a document is in this format."""
    match document:
        case {"input": {"inputBodyJson": {"messages": [*messages]}}}:
            return _has_blocks(messages)
        case {"request": _, "response": _}:
            request, _ = conversation.exchange_of(document) or ({}, None)
            return _has_blocks(request.get("messages"))
        case {"messages": [*messages]} | [*messages]:
            return _has_blocks(messages)
    return _has_blocks([document])


def _has_blocks(messages: Any) -> bool:
    """Return whether the first block of a message is an object of one field, which is not its type."""
    match messages:
        case [{"role": "user" | "assistant", "content": [{**block}, *_]}, *_]:
            return len(block) == 1 and "type" not in block
    return False


def read_converse(document: Any, findings: Findings) -> Iterator[conversation.Item]:
    """Yield what a document says."""
    match document:
        case {"input": {"inputBodyJson": request}}:
            findings.fields(document, ("input", "output"), "a Bedrock log record")
            answer = document.get("output", {}).get("outputBodyJson") or {}
            yield from LAYOUT.read({"request": request, "response": answer}, findings)
        case _:
            yield from LAYOUT.read(document, findings)


def _read_message(message: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    findings.fields(message, ("content",), _OWNER)
    parts = conversation.content_parts(message["content"], _read_block, findings)
    yield from conversation.turn_of(message["role"], parts, findings, "a Bedrock conversation")


def _read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Part]:
    match block:
        case {"text": str(words)}:
            yield conversation.text(words)
        case {"json": value}:
            yield conversation.text(conversation.written(value))
        case {"toolUse": {"name": str(tool), "input": arguments} as asked}:
            yield conversation.call(tool, arguments, asked.get("toolUseId"))
        case {"toolResult": {"content": content} as answer}:
            findings.fields(answer, ("content",), "a Bedrock tool result")
            texts = [part.text for part in conversation.content_parts(content, _read_block, findings)]
            yield conversation.result("\n".join(filter(None, texts)), answer.get("toolUseId"))
        case {"reasoningContent": _}:
            findings.thoughts("reasoningContent", _OWNER)
        case {"cachePoint": _}:
            return
        case _:
            findings.block(next(iter(block), None), _OWNER)


def _read_response(body: Mapping[str, Any], findings: Findings) -> tuple[conversation.Turn, ...]:
    findings.fields(body, ("output",), "a Bedrock response")
    message = (body.get("output") or {}).get("message")
    return tuple(_read_message(message, findings)) if message else ()


def _system(body: Mapping[str, Any], findings: Findings) -> tuple[conversation.Turn, ...]:
    words = [part.text for part in conversation.content_parts(body.get("system"), _read_block, findings)]
    return conversation.instructions("\n".join(words))


LAYOUT: Final = conversation.ChatLayout(
    owner="Bedrock",
    fields=frozenset({"system", "toolConfig", "additionalModelRequestFields"}),
    read_message=_read_message,
    read_response=_read_response,
    read_instructions=_system,
    read_tools=lambda body: conversation.definitions((body.get("toolConfig") or {}).get("tools")),
)
