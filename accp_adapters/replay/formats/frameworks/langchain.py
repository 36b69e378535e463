"""LangChain messages (`messages_to_dict`, `dumps`, `model_dump`) and the state of a LangGraph thread that holds them.

Nothing is loaded as an object: a dump names classes and secrets, and only the fields of messages are read.
Sources: `langchain_core.messages`, `langchain_core.load.dump`, https://docs.langchain.com/langsmith/agent-server-api
(thread state) and `langchain_core.messages.content` for the blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from accp_adapters.replay.formats.conversation import Item, Part, Snapshot, Step, Turn, call, definitions, result, text
from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.parts import ROLES, content_parts, read_turns, result_text
from accp_adapters.replay.recorded_run import Role

__all__ = ["is_message", "is_message_dump", "read_langchain", "read_message", "state_items"]

_OWNER: Final = "a LangChain message"
_ROLES: Final = {
    **ROLES,
    "human": Role.USER,
    "ai": Role.AGENT,
    "AIMessageChunk": Role.AGENT,
    "HumanMessageChunk": Role.USER,
    "SystemMessageChunk": Role.INSTRUCTIONS,
    "ToolMessageChunk": Role.TOOL,
}
_MESSAGE: Final = (
    "content",
    "name",
    "tool_calls",
    "invalid_tool_calls",
    "additional_kwargs",
    "artifact",
    "tool_call_chunks",
)
_ADDITIONAL: Final = frozenset(
    [
        "tool_calls",
        "function_call",
        "refusal",
        "parsed",
        "reasoning",
        "reasoning_content",
        "thought_signatures",
        "__gemini_function_call_thought_signatures__",
    ]
)
_COPIES: Final = ("tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta", "custom_tool_call")
"""Blocks that repeat `tool_calls`."""
_THOUGHTS: Final = ("thinking", "redacted_thinking", "reasoning", "reasoning_content")
_STATE: Final = ("values", "checkpoint", "parent_checkpoint", "parent_config", "config", "tasks", "interrupts")


def is_message(message: Any) -> bool:
    """Return whether a value is one message of LangChain."""
    match message:
        case {"type": str(), "data": {"content": _}}:
            return True
        case {"lc": int(), "type": "constructor", "id": [*_, str(name)], "kwargs": {**fields}}:
            return "Message" in name and "content" in fields
        case {"type": str(kind), "content": _}:
            return kind in _ROLES and "role" not in message and "source" not in message
    return False


def is_message_dump(document: Any) -> bool:
    """Return whether a document is in this format: messages, or a state or a list of states that hold them."""
    match document:
        case [{"values": _}, *_]:
            return any(map(is_message_dump, document))
        case [first, *_]:
            return is_message(first)
        case {"values": {**values}}:
            return any(isinstance(value, list) and is_message_dump(value) for value in values.values())
        case {"messages": [first, *_]}:
            return is_message(first)
    return is_message(document)


def read_langchain(document: Any, findings: Findings) -> Iterator[Item]:
    """Yield what a document says."""
    match document:
        case [{"values": _}, *_]:
            # A thread's history begins with its newest state.
            for state in sorted(document, key=lambda state: str(state.get("created_at") or "")):
                yield from read_langchain(state, findings)
        case [*_]:
            yield Snapshot(turns=read_turns(document, read_message, findings))
        case {"values": {}}:
            findings.fields(document, _STATE, "a LangGraph state")
            yield from state_items(document["values"], findings)
        case {"messages": [*_]}:
            yield from state_items(document, findings)
        case _:
            yield from (Step(turn=turn) for turn in read_message(document, findings))


def state_items(values: Mapping[str, Any], findings: Findings) -> Iterator[Item]:
    """Yield the conversation of each channel of a state that holds messages; other channels are no prompts."""
    for name, value in values.items():
        if isinstance(value, list) and value and is_message(value[0]):
            yield Snapshot(turns=read_turns(value, read_message, findings), tools=definitions(values.get("tools")))
        elif name not in ("messages", "tools"):
            findings.add("channel", f"{name!r} of a LangGraph state", left_out=True)


def read_message(message: Mapping[str, Any], findings: Findings) -> Iterator[Turn]:
    """Yield the turn in one message.

    Raises:
        KeyError, TypeError: a field is missing or has another type.
    """
    fields = message["data"] if "data" in message else message.get("kwargs", message)
    kind = message["type"] if "data" in message else fields.get("type") or _kind_of(message)
    findings.fields(fields, _MESSAGE, _OWNER)
    findings.fields(fields.get("additional_kwargs") or {}, _ADDITIONAL, "the additional_kwargs of a message")
    role = _ROLES.get(fields.get("role", "") if kind in ("chat", "ChatMessageChunk") else kind)
    if role is None:
        findings.role(kind, "a LangChain conversation")
    elif role is Role.TOOL:
        if fields.get("artifact"):
            findings.add("artifact", "of a tool message", left_out=True)
        answer = result_text(fields["content"], _read_block, findings)
        yield Turn(role=role, parts=(result(answer, fields.get("tool_call_id"), fields.get("name")),))
    else:
        calls = list(_calls(fields)) if role is Role.AGENT else []
        words = _words(fields, {part.call_id for part in calls}, findings)
        yield Turn(role=role, parts=(*words, *calls) or (text(""),), agent=fields.get("name") or "")


def _kind_of(dump: Mapping[str, Any]) -> str:
    """Return the type of a message from the name of its class, such as "HumanMessage"."""
    name = str(dump.get("id", [""])[-1]).removesuffix("Chunk").removesuffix("Message").lower()
    return {"ai": "ai", "human": "human"}.get(name, name)


def _words(fields: Mapping[str, Any], call_ids: set[str], findings: Findings) -> list[Part]:
    """Return the words of a message, joined as a provider joins them, and calls that are in its content only."""
    additional = fields.get("additional_kwargs") or {}
    if additional.get("reasoning_content") or additional.get("reasoning"):
        findings.thoughts("reasoning_content", _OWNER)
    parts = list(content_parts(fields["content"], _read_block, findings))
    lines = [part.text for part in parts if not part.call_id and not part.tool]
    lines.append(additional.get("refusal") or "")
    joined = "\n".join(filter(None, lines))
    asked = [part for part in parts if part.tool and part.call_id not in call_ids]
    return [*([text(joined)] if joined else []), *asked]


def _calls(fields: Mapping[str, Any]) -> Iterator[Part]:
    for asked in (*(fields.get("tool_calls") or ()), *(fields.get("invalid_tool_calls") or ())):
        # LangChain holds arguments as a value; models write them as compact JSON.
        yield call(asked["name"] or "", asked["args"], asked.get("id"))
    if fields.get("tool_calls") or fields.get("invalid_tool_calls"):
        return
    additional = fields.get("additional_kwargs") or {}
    for asked in additional.get("tool_calls") or ():
        yield call(asked["function"]["name"], asked["function"]["arguments"], asked.get("id"))
    if function := additional.get("function_call"):
        yield call(function["name"], function["arguments"])


def _read_block(block: Mapping[str, Any], findings: Findings) -> Iterator[Part]:
    kind = block.get("type")
    match block:
        case {"type": "text" | "output_text" | "input_text", "text": str(words)}:
            yield text(words)
        case {"text": str(words)} if kind is None:
            yield text(words)
        case {"type": "tool_result", "content": content}:
            yield result(result_text(content, _read_block, findings), block.get("tool_use_id"), "tool")
        case {"type": str(), "name": str(tool)} if kind in _COPIES or kind in ("server_tool_use", "server_tool_call"):
            arguments = block.get("input", block.get("args", block.get("arguments")))
            yield call(tool, arguments, block.get("call_id") or block.get("id") or "call")
        case {"type": "input_json_delta"}:
            return
        case {"type": "json", "json": value}:
            yield result(value)
        case _ if kind in _THOUGHTS:
            findings.thoughts(kind, _OWNER)
        case _:
            findings.block(kind, _OWNER)
