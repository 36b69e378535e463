"""AgentContext to what a sub-agent is given, and what it returns to a reply: the pure part of `isolate`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import NAMESPACE_OID, uuid5

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from accp_adapters.langgraph.marks import MARK, carried_text
from accp_adapters.langgraph.messages import ColdItem
from accp_adapters.langgraph.policy import SMALLEST_PREVIEW
from accp_adapters.langgraph.runtime import messages_of, named_references, open_grant
from accp_core.aci import AgentContext, AgentReply, ItemAnswer, brief, read_answers, with_answers
from accp_core.aci.checks import MAX_ABSTRACT_CHARS
from accp_core.cold import cold_key
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.references import uri_to_key
from accp_core.view import preview

__all__ = ["Cited", "Reply", "given_to", "is_awaited", "offload_long", "reply_of"]

_CUTS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back of a sub-agent; a callable that stands for one may return it instead of an AgentContext."""

    context: AgentContext | Mapping[str, Any]
    """Its own context, or the JSON of it."""
    full: Mapping[str, str] = field(default_factory=dict)
    """Item to the whole result, where the abstract is less; it is stored before the context cites it."""
    stored: Collection[str] = ()
    """References to what the agent stored itself; others may not be new in the context."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A reference that an agent's answer names and that the agent may open."""

    owner: str
    """The session whose text it is."""
    key: str
    """Its key, such as "cold.c9523506b4bd"."""
    text: str | None
    """The text, where a message of the agent carries it; else it is in the store."""


def given_to(
    agent: Any, context: AgentContext, texts: Mapping[str, str], *, counter: TokenCounter, session_id: str
) -> Any:
    """Return what the sub-agent of `context` begins with: one message, and the grants of its references.

    `texts` are those that the message carries, key to packed text, as there is no store. The id of the message comes
    from what it says, so that a replay comes to the same one.
    """
    words = brief(context, counter=counter)
    keys = [key for uri in context.context_uri if (key := uri_to_key(uri)) and key.startswith("cold.")]
    carried = [[key, texts[key]] for key in keys if key in texts]
    mark = {"refs": keys, "sessions": [session_id] * len(keys), **({"texts": carried} if carried else {})}
    kwargs = {MARK: mark} if keys else {}
    identity = str(uuid5(NAMESPACE_OID, f"{session_id}/{context.agent_id}/{context.subtask_id}/{words}"))
    message = HumanMessage(words, id=identity, additional_kwargs=kwargs)
    return [message] if isinstance(agent, BaseLanguageModel) else {"messages": [message]}


def reply_of(
    context: AgentContext, result: Any, session_id: str, agents: Collection[str]
) -> tuple[Reply, tuple[Cited, ...]]:
    """Return the reply that a sub-agent's result means, and the references in it that the agent may open.

    A result is a `Reply`, an AgentContext or its JSON, a state with a `structured_response` or `messages`, a message,
    or text.

    Raises:
        ProtocolError: E1004, it is none of these.
    """
    if isinstance(result, Reply):
        return result, ()
    if isinstance(result, AgentReply):
        return Reply(context=result.context, full=result.full, stored=result.stored), ()
    if isinstance(result, AgentContext) or (isinstance(result, Mapping) and _is_context(result)):
        return Reply(context=result), ()
    if isinstance(result, Mapping) and (structured := _structured(context, result)):
        return Reply(context=structured), ()
    messages = [result] if isinstance(result, BaseMessage) else messages_of(result)
    text = result if isinstance(result, str) else _last_words(messages)
    if text is None:
        raise ProtocolError(
            f"expected a state with an answer of the agent, found {type(result).__name__}", code=ErrorCode.INVALID_TYPE
        )
    answers = read_answers(context, text)
    return _spoken(context, answers), tuple(_cited(answers, messages, session_id, agents))


def _is_context(result: Mapping[str, Any]) -> bool:
    return "AgentContext" in result or {"AgentID", "SubTaskID"} <= set(result)


def _structured(context: AgentContext, result: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the context that a structured response means: identity is not for a model to write."""
    found = result.get("structured_response")
    dump = getattr(found, "model_dump", None)
    data = dump() if callable(dump) else found
    if not isinstance(data, Mapping) or "KeyInformation" not in data:
        return None
    return {**data, "AgentID": context.agent_id, "SubTaskID": context.subtask_id}


def _last_words(messages: list[BaseMessage]) -> str | None:
    return next((message.text for message in reversed(messages) if isinstance(message, AIMessage)), None)


def _spoken(context: AgentContext, answers: Mapping[str, ItemAnswer]) -> Reply:
    """Return the reply of an agent that answered in words; what is long goes by its item, to be stored."""
    long = {item: answer.text for item, answer in answers.items() if len(answer.text) > MAX_ABSTRACT_CHARS}
    short = {item: replace(answer, text=answer.text[:MAX_ABSTRACT_CHARS]) for item, answer in answers.items()}
    return Reply(context=with_answers(context, short), full=long)


def _cited(
    answers: Mapping[str, ItemAnswer], messages: list[BaseMessage], session_id: str, agents: Collection[str]
) -> list[Cited]:
    """Return the references in the answers that the agent's own state grants; others are words."""
    found = []
    for key in dict.fromkeys(key for answer in answers.values() for key in named_references(answer.text)):
        try:
            owner, _ = open_grant(key, messages, session_id, agents)
        except ProtocolError:
            continue
        found.append(Cited(owner, key, carried_text(key, messages)))
    return found


def offload_long(
    context: AgentContext, full: Mapping[str, str], *, limit: int, session_id: str, counter: TokenCounter
) -> tuple[AgentContext, tuple[ColdItem, ...]]:
    """Return a reply's context with each long result as preview and reference, and what to store before it is used.

    Args:
        context: What the agent returned.
        full: Item to the whole result, where it is more than the abstract.
        limit: Tokens of an abstract.
        session_id: Whose store the results belong to.
        counter: Counts the tokens.
    """
    items: dict[str, ColdItem] = {}
    abstracts = []
    for entry in context.key_information:
        text = full.get(entry.item_id, entry.output_abstract)
        if counter(text) > limit or len(text) > MAX_ABSTRACT_CHARS:
            items[entry.item_id] = ColdItem(key=cold_key(session_id, text), text=text)
            shown = _shortened(text, f"${items[entry.item_id].key}", limit, counter)
            abstracts.append(replace(entry, output_abstract=shown))
        else:
            abstracts.append(entry)
    uris = (*context.context_uri, *(f"${item.key}" for item in items.values()))
    return replace(context, key_information=tuple(abstracts), context_uri=uris), tuple(items.values())


def _shortened(text: str, ref: str, limit: int, counter: TokenCounter) -> str:
    """Return a preview that is an abstract in characters, too: a token of blanks may have a hundred."""
    shown = text
    for cut in range(_CUTS):
        room = max(limit >> cut, SMALLEST_PREVIEW)
        shown = preview(text[: MAX_ABSTRACT_CHARS * 50], limit=room, opening=f"accp_fetch {ref}", counter=counter)
        if len(shown) <= MAX_ABSTRACT_CHARS:
            return shown
    return f"{ref} {shown[: MAX_ABSTRACT_CHARS - 100]}"


def is_awaited(function: Callable[..., Any]) -> bool:
    """Tell whether calling `function`, or an object of its class, gives something to await."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
