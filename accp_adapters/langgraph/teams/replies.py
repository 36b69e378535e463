"""What an isolated agent is given for its AgentContext, and its result as a reply: the pure part of `isolate`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from accp_adapters.langgraph.references.grants import HANDED_TEXTS_KEY, find_texts
from accp_adapters.langgraph.runtime import messages_of
from accp_core.aci import (
    AcceptedReply,
    AgentContext,
    AgentReply,
    KeyInformation,
    brief,
    reply_from_value,
    reply_from_words,
    unread_reply,
)
from accp_core.aci.items import MAX_ABSTRACT_CHARS
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.references import StoredText, find_references

__all__ = ["agent_input", "cited_texts", "is_awaited", "messages_in", "read_reply"]


def agent_input(agent: Any, context: AgentContext, texts: Mapping[str, str], *, counter: TokenCounter) -> Any:
    """Return what the agent of `context` is invoked with: one message, and the texts that it may open.

    The id of the message is made of its text, so that it is the same in a replay.

    Args:
        agent: A chat model gets the message, anything else a state with it.
        context: The agent's own context.
        texts: Key to text of what the context cites.
        counter: Counts the tokens of the model.
    """
    words = brief(context, counter=counter)
    message = HumanMessage(words, id=str(uuid5(NAMESPACE_OID, f"{context.agent_id}/{context.subtask_id}/{words}")))
    if isinstance(agent, BaseLanguageModel):
        return [message]
    return {"messages": [message], **({HANDED_TEXTS_KEY: dict(texts)} if texts else {})}


def read_reply(context: AgentContext, result: Any) -> AgentReply:
    """Return the reply that an agent's result means; one that means none is unread, with the reason.

    Args:
        context: The context that was delivered.
        result: An `AgentReply`, an AgentContext or its JSON, a state with a `structured_response` or `messages`, a
            message, or text.
    """
    try:
        return _read(context, result)
    except ProtocolError as refusal:
        return unread_reply(context, str(refusal))


def _read(context: AgentContext, result: Any) -> AgentReply:
    if isinstance(result, AgentReply):
        return result
    if isinstance(result, AgentContext) or (isinstance(result, Mapping) and _is_context(result)):
        return AgentReply(context=result)
    if isinstance(result, Mapping) and result.get("structured_response") is not None:
        return reply_from_value(context, result["structured_response"])
    text = result if isinstance(result, str) else _last_words(messages_in(result))
    if text is None:
        raise ProtocolError(
            f"expected a state with an answer of the agent, found {type(result).__name__}", code=ErrorCode.INVALID_TYPE
        )
    return _with_answer(context, reply_from_words(context, text), text)


def _with_answer(context: AgentContext, reply: AgentReply, text: str) -> AgentReply:
    """Return the reply with the agent's own words where no result was found in them, so that a person can judge."""
    known = AcceptedReply.of(context, reply).context
    if known.abstracts or not text.strip():
        return reply
    words = text.strip()[:MAX_ABSTRACT_CHARS]
    return replace(reply, context=replace(known, key_information=tuple(KeyInformation(i, words) for i in reply.unread)))


def messages_in(result: Any) -> list[BaseMessage]:
    """Return the messages in an agent's result."""
    return [result] if isinstance(result, BaseMessage) else messages_of(result)


def cited_texts(context: AgentContext, reply: AgentReply, messages: list[BaseMessage]) -> tuple[StoredText, ...]:
    """Return the texts that the answers cite and the agent's own messages hold; other references are mere words."""
    known = AcceptedReply.of(context, reply)
    answers = {**known.context.abstracts, **known.full}.values()
    names = dict.fromkeys(name for answer in answers for name in find_references(answer))
    return tuple(map(StoredText.of, dict.fromkeys(find_texts(names, None, messages).values())))


def _is_context(result: Mapping[str, Any]) -> bool:
    return "AgentContext" in result or {"AgentID", "SubTaskID"} <= set(result)


def _last_words(messages: list[BaseMessage]) -> str | None:
    return next((message.text for message in reversed(messages) if isinstance(message, AIMessage)), None)


def is_awaited(function: Callable[..., Any]) -> bool:
    """Return whether a call of `function`, or of an object, has to be awaited."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
