"""What an invoked agent receives, what it may open, and which results of other agents it learns (ACI 2.1, 4.1, 5.2).

Section 4.2 of the draft, "Context Isolation Strategy", is empty. These are the rules that its other sections state:

1. Only the master has the TaskContext; neither it nor the user's query is sent to an agent.
2. An invoked agent receives one AgentContext, its own, and returns nothing else (`accept_reply` checks that).
3. The results of other agents reach it through the master: as abstracts or references, never as the full output.
4. References in ContextURI are grants: the agent may open these and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from accp_core import references
from accp_core.aci.checks import Json, violation
from accp_core.aci.contexts import AgentContext, TaskContext
from accp_core.aci.items import DONE
from accp_core.error_codes import ErrorCode
from accp_core.references import uri_to_key

__all__ = ["check_context_grant", "delivery_json", "isolate", "scope_of", "with_results"]

MIN_QUERY_CHARS: Final = 16
"""Characters; a shorter query ("help") may be part of another text by chance, so only an equal text is refused."""
_TASK_KEYS: Final = frozenset({"TaskContext", "UserQuery", "GoalStatus", "OverallStatus"})


# "Only task-relevant information, including todoItems and the associated context reference, is delivered to the
# Server Agent" (section 5.3)
def isolate(task: TaskContext, agent_context: AgentContext) -> dict[str, Json]:
    """Return what is sent to the invoked agent: `{"AgentContext": {...}}` with the fields it needs, nothing else.

    Raises:
        ProtocolError: E5001, the inline context holds fields of a TaskContext or the user's query.
    """
    for value in agent_context.context:
        for text, is_key in _texts_in(value):
            if text in _TASK_KEYS if is_key else _quotes(text, task.user_query):
                raise violation(ErrorCode.POLICY_DENIED, "context without the TaskContext and the user's query", text)
    return delivery_json(agent_context)


def delivery_json(context: AgentContext) -> dict[str, Json]:
    """Return the JSON of a context as its agent receives it: without the time of the last update."""
    return replace(context, last_updated=None).to_json()


def _quotes(text: str, query: str) -> bool:
    """Return whether `text` holds the user's query."""
    words = query.strip()
    return bool(words) and (text.strip() == words or (len(words) >= MIN_QUERY_CHARS and words in text))


def _texts_in(value: Json) -> Iterator[tuple[str, bool]]:
    """Yield every text in a JSON value, and whether it is a key."""
    if isinstance(value, str):
        yield value, False
    elif isinstance(value, Mapping):
        yield from ((key, True) for key in value)
        yield from (text for member in value.values() for text in _texts_in(member))
    elif isinstance(value, (list, tuple)):
        yield from (text for member in value for text in _texts_in(member))


# Rule 3 above.
def with_results(context: AgentContext, upstream: Iterable[tuple[AgentContext, Iterable[str]]]) -> AgentContext:
    """Return `context` with the results of its dependencies: their abstracts inline, their references granted.

    Args:
        context: The context of the subtask that depends on them.
        upstream: The completed context of each dependency, with the references to what its agent stored. References
            that were granted to that agent are not passed on.
    """
    results: dict[str, Json] = {}
    granted = list(context.context_uri)
    for done, stored in upstream:
        # A reason why something is not done is no result.
        abstracts = [text for item, text in done.abstracts.items() if done.states.get(item) == DONE]
        name = done.subtask_name if done.subtask_name and done.subtask_name not in results else done.subtask_id
        results |= {name: abstracts[0] if len(abstracts) == 1 else abstracts} if abstracts else {}
        granted += stored
    inline = (*context.context, results) if results else context.context
    return replace(context, context=inline, context_uri=tuple(granted))


def check_context_grant(context: AgentContext, reference: str) -> str:
    """Return the key that `reference` opens for the agent of `context`, such as "cold.c9523506b4bd".

    Raises:
        ProtocolError: E5002, the context does not grant it.
    """
    granted = {key for uri in context.context_uri if (key := uri_to_key(uri))}
    return references.check_grant(reference, granted)


def scope_of(task_id: str) -> str:
    """Return the session of the cold store that holds the results of one task; purging it removes them all."""
    return f"aci:{task_id}"
