"""OpenAI: chat completions and Responses, as messages, requests, requests with responses and lines of a batch.

Sources: https://platform.openai.com/docs/api-reference/chat/create, …/responses/create and …/batch/request-input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats import conversation
from accp_adapters.replay.recorded_run import Findings, Role

__all__ = [
    "LAYOUT", "is_chat", "is_chat_message", "is_item", "is_responses", "read_chat_message", "read_choices",
    "read_item", "read_responses",
]  # fmt: skip


_OWNER: Final = "an OpenAI message"
_THOUGHTS: Final = ("reasoning_content", "reasoning", "reasoning_details")
_MESSAGE: Final = frozenset(("content", "name", "tool_calls", "function_call", "refusal", *_THOUGHTS))
"""Fields that are read."""
_ARGUMENTS: Final = ("arguments", "input", "args")


def is_chat_message(message: Any) -> bool:
    """Return whether a value is one chat message."""
    match message:
        case {"role": str(role)} if role in conversation.ROLES:
            return "content" in message or "tool_calls" in message or "function_call" in message
    return False


def is_chat(document: Any) -> bool:
    """Return whether a document is in this format."""
    if isinstance(document, list):
        return bool(document) and is_chat_message(document[0])
    exchange = conversation.exchange_of(document) if isinstance(document, Mapping) and "request" in document else None
    body = exchange[0] if exchange else conversation.request_of(document)
    match body.get("messages"):
        case [first, *_]:
            return is_chat_message(first)
    return is_chat_message(document)


def read_chat_message(message: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    """Yield the turn in one message.

    Raises:
        KeyError, TypeError: a field is missing or has another type.
    """
    findings.fields(message, _MESSAGE, _OWNER)
    for name in _THOUGHTS:
        if message.get(name):
            findings.thoughts(name, _OWNER)
    role = conversation.ROLES.get(message["role"])
    if role is None:
        findings.role(message["role"], "an OpenAI conversation")
        return
    content = message.get("content")
    blocks = list(conversation.content_parts(content, read_block, findings))
    words = "\n".join(part.text for part in blocks if part.kind is conversation.Kind.TEXT and part.text)
    parts = [part for part in blocks if part.kind is not conversation.Kind.TEXT]
    if role is Role.TOOL:
        answer = conversation.result(words, message.get("tool_call_id"), message.get("name"))
        yield conversation.Turn(role=role, parts=tuple(parts) or (answer,))
        return
    parts = [*([conversation.text(words)] if words else []), *parts]
    if isinstance(refusal := message.get("refusal"), str):
        parts.append(conversation.text(refusal))
    parts += map(_tool_call, message.get("tool_calls") or ())
    if function := message.get("function_call"):
        parts.append(conversation.call(function["name"], function.get("arguments")))
    yield conversation.Turn(role=role, parts=tuple(parts) or (conversation.text(""),), agent=message.get("name") or "")


def read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Part]:
    """Yield the text of one block of content, or the call or result in one of Vercel's AI SDK."""
    match block:
        case {"type": "text" | "input_text" | "output_text", "text": str(words)}:
            yield conversation.text(words)
        case {"type": "refusal", "refusal": str(words)}:
            yield conversation.text(words)
        case {"toolName": str(tool), "output": {"value": answer}} | {"toolName": str(tool), "result": answer}:
            yield conversation.result(answer, block.get("toolCallId"), tool)
        case {"toolName": str(tool), "input": asked} | {"toolName": str(tool), "args": asked}:
            yield conversation.call(tool, asked, block.get("toolCallId"))
        case {"type": "thinking" | "reasoning" as kind}:
            findings.thoughts(kind, _OWNER)
        case _:
            findings.block(block.get("type"), _OWNER)


def read_choices(body: Mapping[str, Any], findings: Findings) -> tuple[conversation.Turn, ...]:
    """Return the turns in a response, one for each choice; it may be one message."""
    if "choices" not in body:
        return tuple(read_chat_message(body, findings)) if "role" in body else ()
    findings.fields(body, ("choices", "prompt_filter_results"), "an OpenAI response")
    return tuple(turn for choice in body["choices"] for turn in _choice(choice, findings))


def _choice(choice: Any, findings: Findings) -> Iterator[conversation.Turn]:
    """Yield the turn of one of several answers, each of which was paid for; a later prompt has one of them at most."""
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if isinstance(message, Mapping):
        yield from read_chat_message(message, findings)
    else:
        findings.add("choice", "without a message of an OpenAI response")


def _tool_call(asked: Mapping[str, Any]) -> conversation.Part:
    """Return a call; custom tools are called with a text, and LangChain writes the arguments beside the name."""
    body = asked.get("function") or asked.get("custom") or asked
    return conversation.call(
        body["name"], next((body[name] for name in _ARGUMENTS if name in body), None), asked.get("id")
    )


LAYOUT: Final = conversation.ChatLayout(
    owner="OpenAI",
    fields=frozenset({"tools", "functions", "function_call", "response_format", "prediction", "web_search_options"}),
    read_message=read_chat_message,
    read_response=read_choices,
    read_tools=lambda body: conversation.definitions(
        body.get("tools"), body.get("functions"), body.get("response_format")
    ),
)


_RESPONSE: Final = "an OpenAI response"
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
            exchange = conversation.exchange_of(document)
            return exchange is not None and "input" in exchange[0] and "messages" not in exchange[0]
        case {"object": "response", "output": [*_]}:
            return True
    body = conversation.request_of(document)
    return is_item(document) or ("input" in body and "model" in body and isinstance(body["input"], str | list))


def read_responses(document: Any, findings: Findings) -> Iterator[conversation.Item]:
    """Yield what a document says."""
    if is_item(document):
        yield from (conversation.Step(turn=turn, joined=True) for turn in read_item(document, findings))
    elif isinstance(document, Mapping) and document.get("object") == "response":
        findings.add("OpenAI response", "without its request")
    elif isinstance(document, list):
        yield conversation.Snapshot(turns=tuple(_merge(conversation.read_turns(document, read_item, findings))))
    else:
        yield from RESPONSES.read(_with_items(document), findings)


def read_item(item: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    """Yield the turn in one item.

    Raises:
        KeyError, TypeError: a field is missing or has another type.
    """
    kind = item.get("type", "message")
    if kind == "reasoning":
        findings.thoughts(kind, _RESPONSE)
        return
    if kind == "message":
        yield from _message(item, findings)
    elif kind in _CALLS:
        yield conversation.Turn(role=Role.AGENT, parts=tuple(_calls(item, kind)))
    elif kind in _RESULTS:
        yield conversation.Turn(
            role=Role.TOOL, parts=(conversation.result(_answer(item.get("output"), findings), item["call_id"]),)
        )
    else:
        findings.block(kind, _RESPONSE)
        return
    findings.fields(item, ("content", "arguments", "input", "output"), "an OpenAI item")


def _message(item: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    parts = [part.text for part in conversation.content_parts(item.get("content"), read_block, findings)]
    yield from conversation.turn_of(
        item["role"], (conversation.text("\n".join(filter(None, parts))),), findings, _RESPONSE
    )


def _calls(item: Mapping[str, Any], kind: str) -> Iterator[conversation.Part]:
    call_id = item.get("call_id") or item.get("id")
    yield conversation.call(item["name"], item.get(_CALLS[kind]), call_id)
    if kind == "mcp_call" and item.get("output"):
        yield conversation.result(item["output"], call_id)


def _answer(output: object, findings: Findings) -> str:
    return "\n".join(part.text for part in conversation.content_parts(output, read_block, findings))


def _with_items(document: Any) -> Any:
    """Return a document in which an input that is a text is a message."""
    match document:
        case {"request": _, "response": response}:
            request, _ = conversation.exchange_of(document) or ({}, None)
            return {**document, "request": _with_items(request), "response": response}
        case {"input": str(words)}:
            return {**document, "input": [{"role": "user", "content": words}]}
    return document


def _merge(turns: Iterable[conversation.Turn]) -> Iterator[conversation.Turn]:
    """Yield the turns with those of one model call, which are items of their own, put together."""
    pending: list[conversation.Part] = []
    for turn in turns:
        if turn.role is Role.AGENT:
            pending += turn.parts
            continue
        if pending:
            yield conversation.Turn(role=Role.AGENT, parts=tuple(pending))
            pending = []
        yield turn
    if pending:
        yield conversation.Turn(role=Role.AGENT, parts=tuple(pending))


def _read_response(body: Mapping[str, Any], findings: Findings) -> tuple[conversation.Turn, ...]:
    return tuple(_merge(turn for item in body.get("output") or () for turn in read_item(item, findings)))


def _schema(body: Mapping[str, Any]) -> object:
    """Return the schema of a structured output, which is a part of the prompt."""
    written_as = (body.get("text") or {}).get("format") or {}
    return written_as if written_as.get("type") == "json_schema" else None


RESPONSES: Final = conversation.ChatLayout(
    owner="OpenAI Responses",
    messages="input",
    fields=frozenset({"instructions", "tools", "text"}),
    read_message=read_item,
    read_response=_read_response,
    read_instructions=lambda body, findings: conversation.instructions(body.get("instructions") or ""),
    read_tools=lambda body: conversation.definitions(body.get("tools"), _schema(body)),
    requests_only=True,
    arrange=_merge,
)
