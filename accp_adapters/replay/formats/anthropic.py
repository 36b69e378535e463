"""Anthropic Messages, and the transcripts of Claude Code, whose records hold such messages.

In a transcript the records of one response have its id. Instructions and tool definitions are not recorded. After a
compaction the model is sent the summary and nothing before it.

Sources: https://docs.anthropic.com/en/api/messages and https://code.claude.com/docs/en/hooks (`transcript_path`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats import conversation
from accp_adapters.replay.recorded_run import Findings

__all__ = ["LAYOUT", "is_messages", "is_record", "read_message", "read_record", "read_response"]


_OWNER: Final = "an Anthropic message"
_CALL: Final = "tool_use"
_RESULT: Final = "tool_result"
"""How the types of calls and results end: `mcp_tool_use`, `web_search_tool_result`."""
_THOUGHTS: Final = ("thinking", "redacted_thinking")
_BLOCKS: Final = (_CALL, _RESULT, *_THOUGHTS, "search_result")
"""How the types of blocks end that no other format of messages has."""


def is_messages(document: Any) -> bool:
    """Return whether a document is in this format."""
    exchange = conversation.exchange_of(document) if isinstance(document, Mapping) and "request" in document else None
    body = exchange[0] if exchange else conversation.request_of(document)
    messages = body.get("messages", document if isinstance(document, list) else [document])
    if isinstance(messages, list) and any(map(_has_block, messages)):
        return not any(isinstance(message, Mapping) and message.get("type") in ("ai", "human") for message in messages)
    is_answer = exchange is not None and isinstance(exchange[1], Mapping) and exchange[1].get("type") == "message"
    return is_answer or ("messages" in body and ("anthropic_version" in body or "system" in body))


def _has_block(message: Any) -> bool:
    content = message.get("content") if isinstance(message, Mapping) else None
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, Mapping) and str(block.get("type")).endswith(_BLOCKS) for block in blocks)


def read_message(message: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Turn]:
    """Yield the turns in one message: the results of tools in it, then its words and calls.

    Raises:
        KeyError, TypeError: a field is missing or has another type.
    """
    findings.fields(message, ("content",), _OWNER)
    parts = conversation.content_parts(message["content"], read_block, findings)
    yield from conversation.turn_of(message["role"], parts, findings, "an Anthropic conversation")


def read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Part]:
    """Yield the text, call or result in one block of content."""
    kind = block.get("type")
    if kind in _THOUGHTS:
        findings.thoughts(kind, _OWNER)
        return
    findings.fields(block, ("text", "input", "content", "title", "source"), "an Anthropic block")
    match block:
        case {"type": "text", "text": str(words)}:
            yield conversation.text(words)
        case {"type": str(), "name": str(tool), "input": arguments} if str(kind).endswith(_CALL):
            yield conversation.call(tool, arguments, block.get("id"))
        case {"type": str()} if str(kind).endswith(_RESULT):
            yield conversation.result(_answer(block.get("content"), findings), block.get("tool_use_id"))
        case {"type": "search_result", "content": content}:
            lines = (block.get("title"), block.get("source"), conversation.result_text(content, read_block, findings))
            yield conversation.text("\n".join(str(each) for each in lines if each))
        case _:
            findings.block(kind, _OWNER)


def read_response(body: Mapping[str, Any], findings: Findings) -> tuple[conversation.Turn, ...]:
    """Return the turn of a response."""
    return tuple(read_message(body, findings)) if body.get("content") else ()


def _answer(content: object, findings: Findings) -> object:
    """Return the text of a result's blocks; the results of the provider's own tools are objects, which stay so."""
    match content:
        case {"type": str()}:
            return content
        case [{"type": "web_search_result"}, *_]:
            return content
    return conversation.result_text(content, _result_block, findings)


def _result_block(block: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Part]:
    if block.get("type") == "tool_reference":
        yield conversation.text(str(block.get("tool_name", "")))
        return
    yield from (part for part in read_block(block, findings) if part.kind is conversation.Kind.TEXT)


LAYOUT: Final = conversation.ChatLayout(
    owner="Anthropic",
    fields=frozenset({"system", "tools", "mcp_servers", "output_format", "container"}),
    read_message=read_message,
    read_response=read_response,
    read_instructions=lambda body, findings: conversation.instructions(
        conversation.result_text(body.get("system"), read_block, findings)
    ),
    read_tools=lambda body: conversation.definitions(body.get("tools"), body.get("output_format")),
)


_SILENT: Final = frozenset((
    "system", "summary", "progress", "file-history-snapshot", "queue-operation", "custom-title", "agent-name",
    "last-prompt", "ai-title", "pr-link", "permission-mode", "agent-setting",
))  # fmt: skip
"""Types of records that no model is sent."""


def is_record(document: Any) -> bool:
    """Return whether a document is a line of a transcript."""
    match document:
        case {"type": "user" | "assistant", "message": {"role": _}, "uuid": str()}:
            return True
        case {"type": "summary", "summary": str(), "leafUuid": _} | {"type": "file-history-snapshot"}:
            return True
        case {"type": str(), "sessionId": str()}:
            return True
    return False


def read_record(document: Mapping[str, Any], findings: Findings) -> Iterator[conversation.Step]:
    """Yield the turns in one record; a side chain is a run of its own."""
    kind = document["type"]
    if kind not in ("user", "assistant"):
        is_silent = kind in _SILENT
        findings.add("record", f"of type {kind!r} of Claude Code", left_out=is_silent)
        return
    message = document["message"]
    side = str(document.get("agentId") or "side chain") if document.get("isSidechain") else ""
    turns = [] if document.get("isApiErrorMessage") else list(read_message(message, findings))
    for turn in turns:
        yield conversation.Step(
            turn=conversation.Turn(role=turn.role, parts=turn.parts, agent=side if kind == "assistant" else ""),
            group=f"{document.get('sessionId', '')} {side}",
            response=str(message.get("id") or "") if kind == "assistant" else "",
            restarts=bool(document.get("isCompactSummary")),
            awaits_answer=True,
        )
