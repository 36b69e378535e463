"""What an isolated agent is given for its AgentContext, and its result as a reply: the pure part of `isolate`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from accp_adapters.langgraph.metadata import Grant, Metadata, carried_text
from accp_adapters.langgraph.runtime import messages_of, open_grant
from accp_core.aci import AcceptedReply, AgentContext, AgentReply, brief, reply_from_words
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.references import find_references, uri_to_key

__all__ = ["CitedText", "agent_input", "is_awaited", "read_reply"]


@dataclass(frozen=True, slots=True)
class CitedText:
    """A stored text that an agent's answer cites and that the agent may open."""

    grant: Grant
    """By which the agent may open it."""
    text: str | None
    """The text, where a message of the agent carries it; None: it is in the store."""


def agent_input(
    agent: Any, context: AgentContext, texts: Mapping[str, str], *, counter: TokenCounter, session_id: str
) -> Any:
    """Return what the agent of `context` is invoked with: one message, which grants the references of the context.

    The id of the message is made of its text, so that it is the same in a replay.

    Args:
        agent: A chat model gets the message, anything else a state with it.
        context: The agent's own context.
        texts: Key to packed text, where the graph has no store: the message carries those that it grants.
        counter: Counts the tokens of the model.
        session_id: The session whose store the task uses.
    """
    words = brief(context, counter=counter)
    keys = [key for uri in context.context_uri if (key := uri_to_key(uri)) and key.startswith("cold.")]
    metadata = Metadata(
        grants=tuple(Grant(key=key, session_id=session_id) for key in keys),
        texts=tuple((key, texts[key]) for key in keys if key in texts),
    )
    identity = str(uuid5(NAMESPACE_OID, f"{session_id}/{context.agent_id}/{context.subtask_id}/{words}"))
    message = metadata.on(HumanMessage(words, id=identity))
    return [message] if isinstance(agent, BaseLanguageModel) else {"messages": [message]}


def read_reply(
    context: AgentContext, result: Any, session_id: str, agents: Collection[str]
) -> tuple[AgentReply, tuple[CitedText, ...]]:
    """Return the reply that an agent's result means, and the texts that it cites and the agent may open.

    Args:
        context: The context that was delivered.
        result: An `AgentReply`, an AgentContext or its JSON, a state with a `structured_response` or `messages`, a
            message, or text.
        session_id: The session of the agent.
        agents: The nodes that run (`agents_of`).

    Raises:
        ProtocolError: E1004, the result is none of these; E2001, a message carries another text than the one it cites.
    """
    if isinstance(result, AgentReply):
        return result, ()
    if isinstance(result, AgentContext) or (isinstance(result, Mapping) and _is_context(result)):
        return AgentReply(context=result), ()
    if isinstance(result, Mapping) and (structured := _structured(context, result)):
        return AgentReply(context=structured), ()
    messages = [result] if isinstance(result, BaseMessage) else messages_of(result)
    text = result if isinstance(result, str) else _last_words(messages)
    if text is None:
        raise ProtocolError(
            f"expected a state with an answer of the agent, found {type(result).__name__}", code=ErrorCode.INVALID_TYPE
        )
    reply = AcceptedReply.of(context, reply_from_words(context, text))
    answers = {**reply.context.abstracts, **reply.full}.values()
    return reply, tuple(_cited_in(answers, messages, session_id, agents))


def _is_context(result: Mapping[str, Any]) -> bool:
    return "AgentContext" in result or {"AgentID", "SubTaskID"} <= set(result)


def _structured(context: AgentContext, result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the context that a structured response means; its identity is not for a model to write."""
    response = result.get("structured_response")
    dump = getattr(response, "model_dump", None)
    data = dump() if callable(dump) else response
    if not isinstance(data, Mapping) or "KeyInformation" not in data:
        return None
    return {**data, "AgentID": context.agent_id, "SubTaskID": context.subtask_id}


def _last_words(messages: list[BaseMessage]) -> str | None:
    return next((message.text for message in reversed(messages) if isinstance(message, AIMessage)), None)


def _cited_in(
    answers: Iterable[str], messages: list[BaseMessage], session_id: str, agents: Collection[str]
) -> list[CitedText]:
    """Return what the answers cite and the agent's own state grants; other references are mere words."""
    cited = []
    for key in dict.fromkeys(key for answer in answers for key in find_references(answer)):
        try:
            grant = open_grant(key, messages, session_id, agents)
        except ProtocolError:
            continue
        cited.append(CitedText(grant, carried_text(key, messages)))
    return cited


def is_awaited(function: Callable[..., Any]) -> bool:
    """Return whether a call of `function`, or of an object, has to be awaited."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
