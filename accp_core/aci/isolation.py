"""What leaves for an invoked agent, what may come back, and what one agent learns of another (ACI 2.1, 4.1, 5.2).

Section 4.2 of the draft, "Context Isolation Strategy", is empty. These are the rules that its other sections state:

1. The TaskContext is the master's alone; neither it nor the user's query leaves.
2. An invoked agent receives one AgentContext, its own, and returns nothing but it.
3. What another agent found reaches it through the master: as abstracts or references, never as the full output.
4. References in ContextURI are grants: the agent may open these and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from accp_core import references
from accp_core.aci.checks import Json, violation
from accp_core.aci.contexts import AgentContext, TaskContext
from accp_core.error_codes import ErrorCode
from accp_core.references import uri_to_key

__all__ = ["check_grant", "delivery_json", "isolate", "scope_of", "with_results"]

MIN_QUERY_CHARS: Final = 16
"""Characters of a query that is looked for inside other texts; a shorter one ("help") may stand there by chance."""
_TASK_KEYS: Final = frozenset({"TaskContext", "UserQuery", "GoalStatus", "OverallStatus"})


# "Only task-relevant information, including todoItems and the associated context reference, is delivered to the
# Server Agent" (section 5.3)
def isolate(task: TaskContext, agent_context: AgentContext) -> dict[str, Json]:
    """Return what leaves for the invoked agent: `{"AgentContext": {...}}` with the fields it needs, and nothing else.

    Raises: ProtocolError: E5001 for inline context that holds a TaskContext or the user's query.
    """
    for value in agent_context.context:
        for text, is_key in _texts_in(value):
            if text in _TASK_KEYS if is_key else _quotes(text, task.user_query):
                raise violation(ErrorCode.POLICY_DENIED, "context without the TaskContext and the user's query", text)
    return delivery_json(agent_context)


def delivery_json(context: AgentContext) -> dict[str, Json]:
    """Return the JSON of a context without what its agent has no use for."""
    return replace(context, last_updated=None).to_json()


def _quotes(text: str, query: str) -> bool:
    wanted = query.strip()
    return bool(wanted) and (text.strip() == wanted or (len(wanted) >= MIN_QUERY_CHARS and wanted in text))


def _texts_in(value: Json) -> Iterator[tuple[str, bool]]:
    """Yield every text in a JSON value, and whether it is a key."""
    if isinstance(value, str):
        yield value, False
    elif isinstance(value, Mapping):
        yield from ((key, True) for key in value)
        yield from (found for member in value.values() for found in _texts_in(member))
    elif isinstance(value, (list, tuple)):
        yield from (found for member in value for found in _texts_in(member))


# "a dependency's result": what the master passes on of it, as said above under 3.
def with_results(context: AgentContext, upstream: Iterable[tuple[AgentContext, Iterable[str]]]) -> AgentContext:
    """Return `context` with what its dependencies found: their abstracts inline, their references granted.

    Args:
        context: The context of the dependant.
        upstream: Each dependency as it came out, and the references to what its agent stored. Those that the
            dependency itself was granted are not passed on.
    """
    found: dict[str, Json] = {}
    references = list(context.context_uri)
    for each, stored in upstream:
        abstracts = list(each.abstracts.values())
        name = each.subtask_name if each.subtask_name and each.subtask_name not in found else each.subtask_id
        found |= {name: abstracts[0] if len(abstracts) == 1 else abstracts} if abstracts else {}
        references += stored
    inline = (*context.context, found) if found else context.context
    return replace(context, context=inline, context_uri=tuple(references))


def check_grant(context: AgentContext, reference: str) -> str:
    """Return the key that `reference` opens for the agent of `context`, such as "cold.c9523506b4bd".

    Raises:
        ProtocolError: E5002, the context does not grant it.
    """
    granted = {key for uri in context.context_uri if (key := uri_to_key(uri))}
    return references.check_grant(reference, granted)


def scope_of(task_id: str) -> str:
    """Return the session of the cold store that holds the results of one task; purging it removes them all."""
    return f"aci:{task_id}"
