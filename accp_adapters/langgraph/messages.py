"""LangChain messages and the core's records of them: who wrote a message, and the texts of its content blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from accp_adapters.langgraph.metadata import Metadata
from accp_adapters.langgraph.policy import Policy
from accp_core.projection import CallRecord, MessageRecord, Role

__all__ = ["Block", "is_by_other_agent", "plain_text", "texts_of", "to_record", "to_records", "with_texts"]

Block: TypeAlias = str | dict[str, Any]
"""One piece of a message's content: text, or a content block."""

_Message = TypeVar("_Message", bound=BaseMessage)


def to_records(messages: Iterable[BaseMessage], policy: Policy, agent: str | None) -> list[MessageRecord]:
    """Return the record of each message, as the model of `agent` reads it."""
    return [to_record(message, policy, agent) for message in messages]


def to_record(message: BaseMessage, policy: Policy, agent: str | None) -> MessageRecord:
    """Return the record of `message`, as the model of `agent` reads it; None: that agent has no name."""
    calls = message.tool_calls if isinstance(message, AIMessage) else ()
    return MessageRecord(
        role=_role_of(message, policy, agent),
        blocks=tuple(texts_of(message)),
        name=message.name,
        calls=tuple(CallRecord(id=call["id"], name=call["name"], args=call["args"]) for call in calls),
        call_id=message.tool_call_id if isinstance(message, ToolMessage) else None,
        failed=isinstance(message, ToolMessage) and message.status == "error",
        tokens_counted=_tokens_counted(message, agent),
        references=tuple(grant.key for grant in Metadata.of(message).grants),
    )


def _role_of(message: BaseMessage, policy: Policy, agent: str | None) -> Role:
    if isinstance(message, ToolMessage):
        return Role.TOOL
    by_other = policy.other_agents and is_by_other_agent(message, agent, policy.agent_names)
    if by_other and plain_text(message):
        return Role.OTHER_AGENT
    if isinstance(message, HumanMessage):
        return Role.USER
    return Role.MODEL if isinstance(message, AIMessage) else Role.INSTRUCTIONS


def is_by_other_agent(message: BaseMessage, agent: str | None, names: Collection[str] = ()) -> bool:
    """Return whether another agent than `agent` wrote `message`: LangChain notes the name of an agent that has one.

    Args:
        message: Any message.
        agent: The name of the agent whose model reads it, None where it has none.
        names: Those of agents whose words come as HumanMessages.
    """
    if not message.name or message.name == agent:
        return False
    return isinstance(message, AIMessage) or (isinstance(message, HumanMessage) and message.name in names)


def plain_text(message: BaseMessage) -> str:
    """Return the text of a message that is nothing but text; content blocks (thinking, images) must stay together."""
    return message.content if isinstance(message.content, str) else ""


def _tokens_counted(message: BaseMessage, agent: str | None) -> int:
    """Return what the provider counted up to and with the agent's own `message`, 0 where it did not count."""
    if not isinstance(message, AIMessage) or is_by_other_agent(message, agent):
        return 0
    usage = message.usage_metadata
    return usage["input_tokens"] + usage["output_tokens"] if usage else 0


def texts_of(message: BaseMessage) -> list[str | None]:
    """Return the text of each content block, None for one that holds something else (an image, a file)."""
    return [_text_of(block) for block in _blocks_of(message)]


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
