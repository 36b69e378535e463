"""The state of a master graph: the task, one context for each subtask, and reducers that lose no update (ACI 5)."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, TypeAlias

from langgraph.types import Overwrite
from typing_extensions import TypedDict  # as MessagesState: Python 3.11 refuses classes of both kinds

from accp_core import aci
from accp_core.aci import AcceptedReply, AgentContext, Interaction, Mode, Step, TaskContext, Usage
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "AciState", "begin", "check_agents", "interaction_update", "merge_contexts", "merge_entries", "read_interaction",
    "read_results", "receive_reply", "start_interaction",
]  # fmt: skip

Json: TypeAlias = dict[str, Any]


def merge_contexts(left: Mapping[str, Json] | None, right: Mapping[str, Json | None] | None) -> dict[str, Json]:
    """Return the contexts of `left` with those of `right`, by SubTaskID and in the order of the ids.

    Each context has its own SubTaskID as key; a later one replaces an earlier one, None removes it. The order in which
    agents end does not matter: LangGraph gives the writes of one step in the order of its tasks.

    Raises:
        ProtocolError: E1004, a value is no AgentContext; E5001, the key of a context is another SubTaskID.
    """
    for subtask_id, context in _members("agent_contexts", right).items():
        if context is not None and (own := AgentContext.from_json(context).subtask_id) != subtask_id:
            raise ProtocolError(
                f"expected the context of subtask {subtask_id!r}, found that of {own!r}", code=ErrorCode.POLICY_DENIED
            )
    return merge_entries(left, right)


def merge_entries(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the entries of both in the order of their keys; `right` replaces those of `left`, None removes them."""
    merged = {**(left or {}), **(right or {})}
    return {key: merged[key] for key in sorted(merged) if merged[key] is not None}


class AciState(TypedDict, total=False):
    """The keys of a master graph. All values are JSON, so that any checkpointer keeps them."""

    task_context: Json
    """`{"TaskContext": {...}}`; the planner and the master's node write it, agents never get it."""
    agent_contexts: Annotated[dict[str, Json], merge_contexts]
    """SubTaskID to `{"AgentContext": {...}}`: as planned, then as its agent returned it, then as it was verified."""
    aci_progress: Json | None
    """The progress of each subtask, which only the master's node writes; `read_interaction` reads it."""
    aci_texts: Annotated[dict[str, str], merge_entries]
    """Key to the full text, where no store has it; each agent gets those that it may open."""


def begin(
    task: TaskContext, contexts: Iterable[AgentContext] | Iterable[Step], *, repeatable: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the update with which a planner begins `task`; it removes what an earlier task of the thread left.

    The task gets a StartTime, unless it has one.

    Args:
        task: The task; each of its goals needs a subtask.
        contexts: One planned context for each subtask, or the steps that `step` makes.
        repeatable: The SubTaskIDs that may be run again although they may have had effects, besides the steps that say
            so themselves.

    Raises:
        ProtocolError: E1004, a subtask comes twice, waits for an unknown one, itself or a cycle, or has nothing to do;
            E2003, there are none or too many; E5001, a context holds what only the master may know.
    """
    planned = aci.plan_contexts(contexts)
    again = {*planned.repeatable, *repeatable}
    begun = Interaction.start(task, planned.contexts, repeatable=again, now=time.time())
    return {
        "task_context": begun.base.to_json(),
        "agent_contexts": Overwrite({name: context.to_json() for name, context in begun.plan.subtasks.items()}),
        "aci_progress": {"repeatable": sorted(begun.plan.repeatable)},
        "aci_texts": Overwrite({}),
    }


def start_interaction(
    state: Mapping[str, Any], *, agents: Collection[str] | None, mode: Mode, retries: int
) -> Interaction:
    """Return the interaction that the state of a planner begins.

    Args:
        state: The master's state.
        agents: The AgentIDs that there are; None: any.
        mode: One delivery at a time, or every subtask that is ready.
        retries: How often a subtask is tried again.

    Raises:
        ProtocolError: E1004, there is no task or no plan; E4001, an agent of the plan is not there; as `begin`.
    """
    if not state.get("task_context") or not state.get("agent_contexts"):
        raise ProtocolError(
            f"expected a planner to have written task_context and agent_contexts, as `begin` does, found "
            f"{sorted(key for key, value in state.items() if value)}",
            code=ErrorCode.INVALID_TYPE,
        )
    contexts = [AgentContext.from_json(context) for context in state["agent_contexts"].values()]
    check_agents(contexts, agents)
    task = TaskContext.from_json(state["task_context"])
    repeatable = (state.get("aci_progress") or {}).get("repeatable", ())
    return Interaction.start(task, contexts, repeatable=repeatable, mode=mode, retries=retries)


def check_agents(contexts: Iterable[AgentContext], agents: Collection[str] | None) -> None:
    """Check that each context is for one of `agents`; None: any.

    Raises:
        ProtocolError: E4001, one is not.
    """
    for context in contexts:
        if agents is not None and context.agent_id not in agents:
            raise ProtocolError(
                f"expected an agent of {sorted(agents)} for subtask {context.subtask_id!r}, found {context.agent_id!r}",
                code=ErrorCode.TOOL_NOT_FOUND,
            )


def read_interaction(state: Mapping[str, Any]) -> Interaction:
    """Return the course of the task: `.results["Find churn"]`, `.results.failures`, `.results.usage`, `.task`.

    Raises:
        ProtocolError: E1004, the task has not begun.
    """
    return aci.interaction_from_json(_members("aci_progress", state.get("aci_progress")).get("interaction"))


def interaction_update(interaction: Interaction, session_id: str) -> dict[str, Any]:
    """Return the update that writes an interaction and the session whose store its task uses."""
    return {
        "task_context": interaction.task.to_json(),
        "agent_contexts": {name: context.to_json() for name, context in interaction.contexts.items()},
        "aci_progress": {"interaction": aci.interaction_to_json(interaction), "session": session_id},
    }


def receive_reply(interaction: Interaction, delivery_id: str, reply: Json, now: float) -> Interaction:
    """Return the interaction after what an isolated agent wrote for a delivery: a reply, or why there is none.

    Raises:
        LocalProtocolError: E3002, no reply to that delivery is awaited.
    """
    if "lost" in reply:
        return interaction.mark_lost(delivery_id, reply["lost"], now, usage=Usage.from_json(reply["usage"]))
    return interaction.receive(delivery_id, AcceptedReply.from_json(reply), now=now)


def read_results(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the results for the answer: the name of each subtask to its abstract, or to a list of several.

    An item that is not done is "failed: …" with the reason, one that nobody can vouch for "unverified: …" with the
    agent's words. A subtask without a name, or with one that is taken, has its SubTaskID as name.
    """
    contexts = _members("agent_contexts", state.get("agent_contexts")).values()
    return aci.result_texts(AgentContext.from_json(context) for context in contexts)


def _members(name: str, value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the members of a key of the state, none where it is not set.

    Raises:
        ProtocolError: E1004, it is not an object.
    """
    if not isinstance(value, Mapping | None):
        raise ProtocolError(f"expected {name!r} to be an object, found {value!r:.100}", code=ErrorCode.INVALID_TYPE)
    return value or {}
