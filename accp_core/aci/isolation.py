"""What leaves for an invoked agent, what may come back, and what one agent learns of another (ACI 2.1, 4.1, 5.2).

Section 4.2 of the draft, "Context Isolation Strategy", is empty. These are the rules that its other sections state:

1. The TaskContext is the master's alone; neither it nor the user's query leaves.
2. An invoked agent receives one AgentContext, its own, and returns nothing but it.
3. What another agent found reaches it through the master: as abstracts or references, never as the full output.
4. References in ContextURI are grants: the agent may open these and no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from accp_core.aci.checks import Json, breach, ref_of, uri_of
from accp_core.aci.contexts import AgentContext, TaskContext
from accp_core.cold import cold_key
from accp_core.error_codes import ErrorCode

__all__ = ["Offloaded", "check_grant", "isolate", "offload", "outgoing", "scope_of", "with_results"]

SHORTEST_QUERY: Final = 16
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
                raise breach(ErrorCode.POLICY_DENIED, "context without the TaskContext and the user's query", text)
    return outgoing(agent_context)


def outgoing(context: AgentContext) -> dict[str, Json]:
    """Return the JSON of a context without what its agent has no use for."""
    return replace(context, last_updated=None).to_json()


def _quotes(text: str, query: str) -> bool:
    wanted = query.strip()
    return bool(wanted) and (text.strip() == wanted or (len(wanted) >= SHORTEST_QUERY and wanted in text))


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
    """Return the ref-key, such as "cold.c9523506b4bd", that `reference` opens for the agent of `context`.

    Raises: ProtocolError E5002 when the context does not grant it.
    """
    uri = uri_of(reference.strip())
    key = ref_of(uri)
    if key is None or uri not in context.context_uri:
        raise breach(ErrorCode.UNAUTHORIZED_REF, "a reference that the AgentContext grants", reference)
    return key


# "store or offload full context data to external storage systems, while only structured task descriptions and
# references to the full context are exchanged" (section 4.1)
@dataclass(frozen=True, slots=True, kw_only=True)
class Offloaded:
    """A full result on its way to the cold store; it must be there before a context cites it."""

    scope: str
    """The session of the cold store that it belongs to: that of its task."""
    key: str
    """Its key, such as "cold.c9523506b4bd"."""
    text: str
    """The result."""

    @property
    def uri(self) -> str:
        """The reference, as a context spells it."""
        return uri_of(f"${self.key}")


def scope_of(task_id: str) -> str:
    """Return the session of the cold store that holds a task's results, and nothing else; purging it forgets them."""
    return f"aci:{task_id}"


def offload(task_id: str, text: str) -> Offloaded:
    """Return what to store, and under which key: the same text of the same task has one key, so a retry stores once."""
    scope = scope_of(task_id)
    return Offloaded(scope=scope, key=cold_key(scope, text), text=text)
