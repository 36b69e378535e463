"""LangChain messages and the core's records of them: who wrote a message, and the texts of its content blocks."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from accp_core.projection import CallRecord, MessageRecord, Projected, Role, Unit, is_program

__all__ = [
    "Block", "calls_of", "program_calls", "texts_in", "texts_of", "to_records", "with_arguments", "with_projection",
    "with_texts",
]  # fmt: skip

Block: TypeAlias = str | dict[str, Any]
"""One piece of a message's content: text, or a content block."""

_Message = TypeVar("_Message", bound=BaseMessage)


def to_records(
    messages: Iterable[BaseMessage],
    *,
    kept: Collection[str] | None = None,
    stored: Callable[[BaseMessage], tuple[Unit | None, ...]] = lambda message: (),
) -> list[MessageRecord]:
    """Return the record of each message.

    Args:
        messages: The messages.
        kept: The texts of the state, where the messages are not those of the state.
        stored: Returns `MessageRecord.stored` of a message that is stored compressed and stays so; else ().
    """
    return [_to_record(message, kept, stored(message)) for message in messages]


def _to_record(message: BaseMessage, kept: Collection[str] | None, stored: tuple[Unit | None, ...]) -> MessageRecord:
    by_program = program_calls(message)
    return MessageRecord(
        role=_role_of(message),
        blocks=tuple(texts_of(message)),
        name=message.name,
        calls=tuple(
            CallRecord(id=each["id"], name=each["name"], args=each["args"], by_program=each["id"] in by_program)
            for each in calls_of(message)
        ),
        call_id=message.tool_call_id if isinstance(message, ToolMessage) else None,
        failed=isinstance(message, ToolMessage) and message.status == "error",
        is_kept=kept is None or all(text in kept for text in texts_in(message)),
        stays=bool(stored),
        stored=stored,
        is_plain=isinstance(message.content, str),
    )


def calls_of(message: BaseMessage) -> Sequence[ToolCall]:
    """Return the tool calls that `message` makes."""
    return message.tool_calls if isinstance(message, AIMessage) else ()


def program_calls(message: BaseMessage) -> set[str]:
    """Return the ids of those calls of `message` that a program made, which reads their results.

    `AIMessage.tool_calls` has no place for the caller; it stands in what the provider sent, from which they were read.
    """
    raw: Any = message.additional_kwargs.get("tool_calls")
    listed = [*(raw if isinstance(raw, list) else ()), *_blocks_of(message)]
    found = [each for each in listed if isinstance(each, Mapping) and is_program(_caller_of(each))]
    return {call_id for each in found if isinstance(call_id := each.get("call_id") or each.get("id"), str)}


def _caller_of(call: Mapping[str, Any]) -> Any:
    """Return who made a call: OpenAI and Anthropic say it in the call, LangChain's own blocks in their extras."""
    extras, caller = call.get("extras"), call.get("caller")
    return extras.get("caller") if caller is None and isinstance(extras, Mapping) else caller


def _role_of(message: BaseMessage) -> Role:
    if isinstance(message, ToolMessage):
        return Role.TOOL
    if isinstance(message, HumanMessage):
        return Role.USER
    return Role.MODEL if isinstance(message, AIMessage) else Role.INSTRUCTIONS


def texts_of(message: BaseMessage) -> list[str | None]:
    """Return the text of each content block, None for one that holds something else (an image, a file)."""
    return [_text_of(block) for block in _blocks_of(message)]


def texts_in(message: BaseMessage) -> Iterator[str]:
    """Yield the texts that `message` holds: its content blocks and the string arguments of its calls."""
    yield from (text for text in texts_of(message) if text)
    for call in calls_of(message):
        yield from (value for value in call["args"].values() if isinstance(value, str))


def with_projection(message: BaseMessage, shown: Projected) -> BaseMessage:
    """Return `message` as a model is sent it, the object itself where nothing changes."""
    if not shown.is_changed:
        return message
    changed = with_texts(message, shown.blocks)
    if shown.arguments:
        changed = with_arguments(changed, shown.arguments)
    # What the provider counted belongs to the text as it was.
    return changed.model_copy(update={"usage_metadata": None}) if isinstance(changed, AIMessage) else changed


def with_arguments(message: BaseMessage, arguments: Sequence[Mapping[str, str]]) -> BaseMessage:
    """Return `message` with new texts for arguments of its calls, wherever a provider's formatter reads them.

    Args:
        message: A message with calls.
        arguments: Of each call the new texts, by the name of the argument.
    """
    pairs = zip(calls_of(message), arguments, strict=True)
    calls: list[ToolCall] = [{**call, "args": {**call["args"], **new}} for call, new in pairs]
    changed: dict[str, Mapping[str, Any]] = {
        call["id"]: call["args"] for call, new in zip(calls, arguments, strict=True) if new and call["id"] is not None
    }
    content = message.content
    kwargs = dict(message.additional_kwargs)
    if isinstance(raw := kwargs.get("tool_calls"), list):
        kwargs["tool_calls"] = [_with_raw_arguments(each, changed) for each in raw]
    update = {
        "tool_calls": calls,
        "content": content if isinstance(content, str) else [_with_block_arguments(each, changed) for each in content],
        "additional_kwargs": kwargs,
    }
    return message.model_copy(update=update)


def _with_block_arguments(block: Any, changed: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return a content block with the arguments of its call, in the field of its type."""
    if not isinstance(block, dict):
        return block
    args = changed.get(str(block.get("call_id") or block.get("id")))
    match block.get("type") if args is not None else None:
        case "tool_use":  # Anthropic, Bedrock
            return {**{key: value for key, value in block.items() if key != "partial_json"}, "input": args}
        case "tool_call":  # LangChain
            return {**block, "args": args}
        case "function_call":  # OpenAI Responses
            return {**block, "arguments": json.dumps(args, ensure_ascii=False)}
        case "custom_tool_call" if args is not None and "__arg1" in args:  # OpenAI Responses
            return {**block, "input": args["__arg1"]}
    return block


def _with_raw_arguments(raw: Any, changed: Mapping[str, Mapping[str, Any]]) -> Any:
    """Return a call as OpenAI Chat wrote it with the arguments of its id."""
    match raw:
        case {"id": str(call_id), "function": {"arguments": str()} as function} if call_id in changed:
            arguments = json.dumps(changed[call_id], ensure_ascii=False)
            return {**raw, "function": {**function, "arguments": arguments}}
    return raw


def with_texts(message: _Message, texts: Sequence[str | None]) -> _Message:
    """Return `message` with a new text for each of its content blocks; None: the block stays as it is."""
    pairs = zip(_blocks_of(message), texts, strict=True)
    content = [block if text is None else _with_text(block, text) for block, text in pairs]
    return message.model_copy(update={"content": content[0] if isinstance(message.content, str) else content})


def _text_of(block: Block) -> str | None:
    if isinstance(block, str):
        return block
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else None


def _with_text(block: Block, text: str) -> Block:
    return text if isinstance(block, str) else {**block, "text": text}


def _blocks_of(message: BaseMessage) -> list[Block]:
    return [message.content] if isinstance(message.content, str) else list(message.content)
