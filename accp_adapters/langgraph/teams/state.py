"""The state of a master graph: the task, one context for each subtask, and reducers that lose no update (ACI 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

from langgraph.types import Overwrite
from typing_extensions import TypedDict  # as MessagesState: Python 3.11 refuses classes of both kinds

from accp_core.aci import AgentContext, TaskContext
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["AciState", "begin", "merge_contexts", "merge_entries", "read_results", "reduce_contexts"]

Json: TypeAlias = dict[str, Any]


def merge_contexts(left: Mapping[str, Json] | None, right: Mapping[str, Json | None] | None) -> dict[str, Json]:
    """Return the contexts of `left` with those of `right`, by SubTaskID and in the order of the ids.

    Each context has its own SubTaskID as key; a later one replaces an earlier one, None removes it. The order in which
    agents end does not matter: LangGraph gives the writes of one step in the order of its tasks.

    Raises:
        ProtocolError: E1004, a value is no AgentContext; E5001, the key of a context is another SubTaskID.
    """
    for subtask_id, context in (right or {}).items():
        if context is not None and (own := AgentContext.from_json(context).subtask_id) != subtask_id:
            raise ProtocolError(
                f"expected the context of subtask {subtask_id!r}, found that of {own!r}", code=ErrorCode.POLICY_DENIED
            )
    return merge_entries(left, right)


def reduce_contexts(state: Mapping[str, Json] | None, writes: Sequence[Mapping[str, Json | None]]) -> dict[str, Json]:
    """`merge_contexts` over the writes of a step: the reducer for LangGraph's `DeltaChannel`."""
    merged = merge_contexts(state, None)
    for write in writes:
        merged = merge_contexts(merged, write)
    return merged


def merge_entries(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the entries of both in the order of their keys; `right` replaces those of `left`, None removes them."""
    merged = {**(left or {}), **(right or {})}
    return {key: merged[key] for key in sorted(merged) if merged[key] is not None}


class AciState(TypedDict, total=False):
    """The keys of a master graph. All values are JSON, so that any checkpointer keeps them."""

    task_context: Json
    """`{"TaskContext": {...}}`; the planner and the evaluating node write it, agents never get it."""
    agent_contexts: Annotated[dict[str, Json], merge_contexts]
    """SubTaskID to `{"AgentContext": {...}}`: as planned, then as its agent returned it, then as it was verified."""
    aci_progress: Json | None
    """The progress of each subtask; only the evaluating node uses it."""
    aci_replies: Annotated[dict[str, Json], merge_entries]
    """Delivery id to the reply; each agent writes one entry, the evaluating node removes it."""
    aci_texts: Annotated[dict[str, str], merge_entries]
    """Key to the full text, compressed, where the graph has no store; each agent gets those that it may open."""


def begin(task: TaskContext, contexts: Iterable[AgentContext]) -> dict[str, Any]:
    """Return the update with which a planner begins `task`; it removes what an earlier task of the thread left."""
    return {
        "task_context": task.to_json(),
        "agent_contexts": Overwrite({context.subtask_id: context.to_json() for context in contexts}),
        "aci_progress": None,
        "aci_replies": Overwrite({}),
        "aci_texts": Overwrite({}),
    }


def read_results(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results for the answer: the name of each subtask to its abstract, or to a list of several.

    A subtask without a name, or with one that is taken, has its SubTaskID as name.
    """
    contexts = [AgentContext.from_json(context) for context in state.get("agent_contexts", {}).values()]
    results: dict[str, Any] = {}
    for context in contexts:
        abstracts = list(context.abstracts.values())
        name = (
            context.subtask_name if context.subtask_name and context.subtask_name not in results else context.subtask_id
        )
        results[name] = abstracts[0] if len(abstracts) == 1 else abstracts
    return results
