"""OpenAI chat completions: messages, requests, requests with responses and the input lines of a batch.

Sources: https://platform.openai.com/docs/api-reference/chat/create and …/docs/api-reference/batch/request-input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.chat_layout import ChatLayout, exchange_of, request_of
from accp_adapters.replay.formats.conversation import Part, Turn, call, definitions, result, text
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import ROLES, content_parts, result_text
from accp_adapters.replay.recorded_run import Role

__all__ = ["LAYOUT", "is_chat", "is_chat_message", "read_chat_message", "read_choices"]

_OWNER: Final = "an OpenAI message"
_THOUGHTS: Final = ("reasoning_content", "reasoning", "reasoning_details")
_MESSAGE: Final = frozenset(("content", "name", "tool_calls", "function_call", "refusal", *_THOUGHTS))
"""Fields that are read."""


def is_chat_message(message: Any) -> bool:
    """Return whether a value is one chat message."""
    match message:
        case {"role": str(role)} if role in ROLES:
            return "content" in message or "tool_calls" in message or "function_call" in message
    return False


def is_chat(document: Any) -> bool:
    """Return whether a document is in this format."""
    if isinstance(document, list):
        return bool(document) and is_chat_message(document[0])
    exchange = exchange_of(document) if isinstance(document, Mapping) and "request" in document else None
    body = exchange[0] if exchange else request_of(document)
    match body.get("messages"):
        case [first, *_]:
            return is_chat_message(first)
    return is_chat_message(document)


def read_chat_message(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    """Yield the turn in one message.

    Raises:
        KeyError, TypeError: a field is missing or has another type.
    """
    findings.fields(message, _MESSAGE, _OWNER)
    for name in _THOUGHTS:
        if message.get(name):
            findings.thoughts(name, _OWNER)
    role = ROLES.get(message["role"])
    if role is None:
        findings.role(message["role"], "an OpenAI conversation")
        return
    content = message.get("content")
    if role is Role.TOOL:
        answer = result(result_text(content, read_block, findings), message.get("tool_call_id"), message.get("name"))
        yield Turn(role=role, parts=(answer,))
        return
    parts = list(_words(content, findings))
    if isinstance(refusal := message.get("refusal"), str):
        parts.append(text(refusal))
    parts += map(_tool_call, message.get("tool_calls") or ())
    if function := message.get("function_call"):
        parts.append(call(function["name"], function.get("arguments")))
    yield Turn(role=role, parts=tuple(parts) or (text(""),), agent=message.get("name") or "")


def read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    """Yield the text of one block of content."""
    match block:
        case {"type": "text" | "input_text" | "output_text", "text": str(words)}:
            yield text(words)
        case {"type": "refusal", "refusal": str(words)}:
            yield text(words)
        case {"type": "thinking" | "reasoning" as kind}:
            findings.thoughts(kind, _OWNER)
        case _:
            findings.block(block.get("type"), _OWNER)


def read_choices(body: Mapping[str, Any], findings: Findings) -> tuple[Turn, ...]:
    """Return the turns in a response, one for each choice; it may be one message."""
    if "choices" not in body:
        return tuple(read_chat_message(body, findings)) if "role" in body else ()
    findings.fields(body, ("choices", "prompt_filter_results"), "an OpenAI response")
    return tuple(turn for choice in body["choices"] for turn in _choice(choice, findings))


def _choice(choice: Any, findings: Findings) -> Iterator[Turn]:
    """Yield the turn of one of several answers, each of which was paid for; a later prompt has one of them at most."""
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if isinstance(message, Mapping):
        yield from read_chat_message(message, findings)
    else:
        findings.add("choice", "without a message of an OpenAI response")


def _words(content: object, findings: Findings) -> Iterator[Part]:
    """Yield the words of a message; several blocks are one text, as a provider joins them."""
    parts = [part.text for part in content_parts(content, read_block, findings) if part.text]
    if parts:
        yield text("\n".join(parts))


def _tool_call(asked: Mapping[str, Any]) -> Part:
    # Custom tools are called with a text, not with JSON.
    if "custom" in asked:
        return call(asked["custom"]["name"], asked["custom"].get("input"), asked.get("id"))
    return call(asked["function"]["name"], asked["function"].get("arguments"), asked.get("id"))


LAYOUT: Final = ChatLayout(
    owner="OpenAI",
    fields=frozenset({"tools", "functions", "function_call", "response_format", "prediction", "web_search_options"}),
    read_message=read_chat_message,
    read_response=read_choices,
    read_tools=lambda body: definitions(body.get("tools"), body.get("functions"), body.get("response_format")),
)
