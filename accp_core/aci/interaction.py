"""The course of a task as an immutable value: which context is delivered when, until all is done (ACI 2.1, 5.3).

The cycle of one subtask: build its AgentContext, deliver it, receive and check the reply, evaluate it in two phases,
update the TaskContext. The transport of a context and the verifier belong to the caller:

    interaction = Interaction.start(task, contexts)
    while not interaction.finished:
        interaction, deliveries = interaction.deliver()
        for delivery in deliveries:
            interaction = interaction.receive(delivery.id, send(delivery.payload))
        interaction = interaction.verify(verifier)
    interaction.task.overall_status
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accp_core.aci.checks import Json, violation
from accp_core.aci.contexts import AgentContext, TaskContext
from accp_core.aci.evaluation import Claim, Evaluation, OpenItem, evaluate, judge, verify_by_rule
from accp_core.aci.isolation import delivery_json, isolate, with_results
from accp_core.aci.items import DONE, ItemState, KeyInformation, Status
from accp_core.aci.plan import Plan
from accp_core.aci.progress import Move, Progress, SubtaskState
from accp_core.aci.reply import AcceptedReply, AgentReply
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError, ProtocolError
from accp_core.ports import Verifier
from accp_core.references import uri_to_key

__all__ = ["Delivery", "Interaction", "Mode"]


class Mode(StrEnum):
    """How contexts are exchanged (section 2.1)."""

    SYNCHRONOUS = "synchronous"
    """"An agent MUST wait for the completion of the current interaction round": one delivery at a time."""
    ASYNCHRONOUS = "asynchronous"
    """"An agent MAY exchange contexts with multiple agents concurrently": every subtask that is ready."""


_STATUS: Final = MappingProxyType({SubtaskState.COMPLETED: Status.COMPLETED, SubtaskState.FAILED: Status.FAILED})
_DEFAULT_RETRIES: Final = 2
_MAX_RETRIES: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One context on its way to its agent."""

    id: str
    """Correlation Identifier of the reply: 12 hex digits, the same each time it is computed."""
    context: AgentContext
    """The context that the agent receives."""
    payload: dict[str, Json]
    """The same as JSON, as it is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interaction:
    """A task in progress; each step returns a new value. Replies may arrive in any order."""

    base: TaskContext
    """The task as it was passed to `start`."""
    plan: Plan
    """The subtasks as planned."""
    mode: Mode = Mode.ASYNCHRONOUS
    """One delivery at a time, or every subtask that is ready."""
    retries: int = _DEFAULT_RETRIES
    """How often a subtask is tried again before it fails, from 0 to 100."""
    progress: Mapping[str, Progress]
    """SubTaskID to progress, in the order of the ids."""

    def __post_init__(self) -> None:
        """Check the number of retries (ProtocolError E1004)."""
        if type(self.retries) is not int or not 0 <= self.retries <= _MAX_RETRIES:
            raise violation(ErrorCode.INVALID_TYPE, f"retries from 0 to {_MAX_RETRIES}", self.retries)

    @classmethod
    def start(
        cls,
        task: TaskContext,
        contexts: Collection[AgentContext],
        *,
        goals: Mapping[str, Collection[str]] | None = None,
        mode: Mode = Mode.ASYNCHRONOUS,
        retries: int = _DEFAULT_RETRIES,
    ) -> Interaction:
        """Return the interaction before its first delivery.

        Args:
            task: Each of its goals needs a subtask.
            contexts: One planned context for each subtask.
            goals: Goal to the SubTaskIDs that serve it; None: each subtask is a goal of the same name.
            mode: One delivery at a time, or every subtask that is ready.
            retries: How often a subtask is tried again.

        Raises:
            ProtocolError: As `Plan.of` and `isolate`.
        """
        plan = Plan.of(task, contexts, goals)
        for context in plan.subtasks.values():
            isolate(task, context)
        progress = MappingProxyType(dict.fromkeys(plan.subtasks, Progress()))
        return cls(base=task, plan=plan, mode=Mode(mode), retries=retries, progress=progress)

    @property
    def task(self) -> TaskContext:
        """The TaskContext now: its goals and overall status follow from the subtasks."""
        statuses = {subtask_id: self._status(progress) for subtask_id, progress in self.progress.items()}
        return replace(self.base, goal_status=self.plan.goal_status(statuses))

    @property
    def contexts(self) -> Mapping[str, AgentContext]:
        """SubTaskID to context as the master knows it: the plan with the verified results, and nothing else."""
        return {subtask_id: self._verified_context(subtask_id) for subtask_id in self.plan.subtasks}

    @property
    def finished(self) -> bool:
        """Whether nothing is left to deliver, to receive or to verify; `task` shows whether it completed or failed."""
        return all(progress.state in _STATUS for progress in self.progress.values())

    @property
    def ready(self) -> tuple[str, ...]:
        """The ids of the subtasks that may be delivered now, in order."""
        ready = [subtask for subtask in self.progress if self._is_ready(subtask)]
        if self.mode is Mode.ASYNCHRONOUS:
            return tuple(ready)
        is_busy = any(progress.state in _BUSY for progress in self.progress.values())
        return () if is_busy else tuple(ready[:1])

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims that need a verdict, in the order of subtasks and items."""
        replies = (progress.reply for progress in self.progress.values() if progress.state is SubtaskState.RETURNED)
        return tuple(claim for reply in replies if reply for claim in evaluate(reply)[1])

    @property
    def references(self) -> tuple[str, ...]:
        """The keys of all texts that the agents of this task stored, which a purge of the task must remove."""
        uris = (uri for progress in self.progress.values() for uri in progress.stored)
        return tuple(sorted({key for uri in uris if (key := uri_to_key(uri))}))

    def deliver(self) -> tuple[Interaction, tuple[Delivery, ...]]:
        """Return the interaction in which every `ready` subtask is delivered, and the deliveries to send."""
        deliveries = []
        after = self
        for subtask_id in self.ready:
            progress = self.progress[subtask_id]
            after = after._with(subtask_id, progress.advance(Move.DELIVER, attempts=progress.attempts + 1))
            deliveries.append(after.delivery(subtask_id))
        return after, tuple(deliveries)

    def delivery(self, subtask_id: str) -> Delivery:
        """Return the delivery of a subtask's last attempt, the same each time, to send it once more."""
        context = self._context_for(subtask_id)
        return Delivery(id=self._delivery_id(subtask_id), context=context, payload=delivery_json(context))

    def receive(
        self, delivery_id: str, returned: AgentReply | AgentContext | Json, *, stored: Collection[str] = ()
    ) -> Interaction:
        """Return the interaction after a reply. One that breaks a rule counts as not done, with the reason.

        Args:
            delivery_id: The delivery that it answers.
            returned: A reply, a context or its JSON; an `AcceptedReply` to this delivery is not checked again. Long
                results must be stored by then (`offload_long`): `AgentReply.full` is not kept.
            stored: The references that the agent stored itself, where `returned` is not a reply that lists them.

        Raises:
            LocalProtocolError: E3002, no reply to that delivery is awaited: it is unknown, too late or answered; the
                interaction stays as it is.
        """
        subtask_id = self._subtask_of(delivery_id)
        sent = self._context_for(subtask_id)
        try:
            reply = AcceptedReply.of(sent, returned, stored=stored).context
        except ProtocolError as refusal:
            return self._after_failure(subtask_id, refusal.reason)
        new = tuple(uri for uri in reply.context_uri if uri not in sent.context_uri)
        progress = self.progress[subtask_id]
        kept = tuple(dict.fromkeys((*progress.stored, *new)))
        return self._with(subtask_id, progress.advance(Move.ACCEPT, reply=reply, stored=kept))

    def mark_lost(self, delivery_id: str, reason: str) -> Interaction:
        """Return the interaction after a delivery that failed or took too long; `reason` is the agent's feedback.

        Raises:
            LocalProtocolError: As `receive`.
        """
        return self._after_failure(self._subtask_of(delivery_id), reason)

    def verify(self, verifier: Verifier = verify_by_rule) -> Interaction:
        """Return the interaction after `verifier` judged all claims: each subtask completed, retried or failed.

        Raises:
            ProtocolError: E1004, the verifier returned neither None nor text.
        """
        return self.judge(
            {
                (claim.subtask_id, claim.item_id): verifier(claim.subtask_name, claim.description, claim.abstract)
                for claim in self.claims
            }
        )

    def judge(self, verdicts: Mapping[tuple[str, str], str | None]) -> Interaction:
        """Return the interaction after the verdicts on `claims`: (SubTaskID, itemId) to None or feedback.

        A claim without a verdict is not verified.

        Raises:
            ProtocolError: E1004, a verdict is neither None nor text.
        """
        after = self
        for subtask_id, progress in self.progress.items():
            if progress.state is SubtaskState.RETURNED:
                own = {item: verdict for (subtask, item), verdict in verdicts.items() if subtask == subtask_id}
                after = after._after_evaluation(subtask_id, judge(progress.reply, own))
        return after

    def _after_evaluation(self, subtask_id: str, evaluation: Evaluation) -> Interaction:
        progress = self.progress[subtask_id]
        abstracts = progress.reply.abstracts if progress.reply else {}
        verified = {**progress.verified, **{item: abstracts[item] for item in evaluation.verified}}
        judged = replace(progress, verified=verified, open=evaluation.open)
        if evaluation.complete:
            return self._with(subtask_id, judged.advance(Move.COMPLETE, reply=None))
        return self._with(subtask_id, judged)._after_failure(subtask_id)

    # Unfinished work is retried or fails; it is never reported as finished.
    def _after_failure(self, subtask_id: str, reason: str | None = None) -> Interaction:
        """Return the interaction after an attempt that did not complete the subtask."""
        progress = self.progress[subtask_id]
        if reason is not None:
            undone = self._context_for(subtask_id).todo_items
            progress = replace(progress, open=tuple(OpenItem(item_id=item.item_id, reason=reason) for item in undone))
        if progress.attempts <= self.retries:
            return self._with(subtask_id, progress.advance(Move.RETRY, reply=None))
        after = self._with(subtask_id, progress.advance(Move.FAIL, reply=None))
        for dependant in self.plan.dependants(subtask_id):
            after = after._fail_dependant(dependant, subtask_id)
        return after

    def _fail_dependant(self, subtask_id: str, failed: str) -> Interaction:
        progress = self.progress[subtask_id]
        if progress.state is SubtaskState.FAILED:
            return self
        items = self.plan.subtasks[subtask_id].todo_items
        undone = tuple(OpenItem(item_id=item.item_id, reason=f"subtask {failed!r} failed") for item in items)
        return self._with(subtask_id, progress.advance(Move.FAIL, open=undone))

    def _with(self, subtask_id: str, progress: Progress) -> Interaction:
        return replace(self, progress=MappingProxyType({**self.progress, subtask_id: progress}))

    def _status(self, progress: Progress) -> Status:
        begun = Status.IN_PROGRESS if progress.attempts else Status.PENDING
        return _STATUS.get(progress.state, begun)

    def _is_ready(self, subtask_id: str) -> bool:
        dependencies = self.plan.subtasks[subtask_id].dependencies
        return self.progress[subtask_id].state is SubtaskState.WAITING and all(
            self.progress[dependency].state is SubtaskState.COMPLETED for dependency in dependencies
        )

    def _subtask_of(self, delivery_id: str) -> str:
        """Return the subtask whose reply to this delivery is awaited."""
        for subtask_id, progress in self.progress.items():
            if progress.state is SubtaskState.DELIVERED and self._delivery_id(subtask_id) == delivery_id:
                return subtask_id
        raise LocalProtocolError(
            f"expected the id of a delivery without a reply, found {delivery_id!r}", code=ErrorCode.DUPLICATE
        )

    def _delivery_id(self, subtask_id: str) -> str:
        identity = f"{self.base.task_id}\0{subtask_id}\0{self.progress[subtask_id].attempts}"
        return hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def _verified_context(self, subtask_id: str) -> AgentContext:
        """Return the planned context of a subtask with its verified results."""
        planned, progress = self.plan.subtasks[subtask_id], self.progress[subtask_id]
        done = [item.item_id for item in planned.todo_items if item.item_id in progress.verified]
        return replace(
            planned,
            item_state_updates=tuple(ItemState(item, DONE) for item in done),
            key_information=tuple(KeyInformation(item, progress.verified[item]) for item in done),
            context_uri=(*planned.context_uri, *progress.stored),
        )

    def _context_for(self, subtask_id: str) -> AgentContext:
        """Return the context that the agent of a subtask receives.

        It holds the open items, the results of its dependencies, and after a failed attempt what was verified before
        and why the rest was not.
        """
        planned, progress = self.plan.subtasks[subtask_id], self.progress[subtask_id]
        upstream = [(self._verified_context(needed), self.progress[needed].stored) for needed in planned.dependencies]
        context = with_results(planned, upstream)
        if progress.attempts <= 1:
            return context
        items = tuple(item for item in planned.todo_items if item.item_id not in progress.verified)
        feedback: dict[str, Json] = {"feedback": _feedback(progress.open)}
        earlier = {**({"done": dict(progress.verified)} if progress.verified else {}), **feedback}
        references = (*context.context_uri, *progress.stored)
        return replace(context, todo_items=items, context=(*context.context, earlier), context_uri=references)


def _feedback(items: tuple[OpenItem, ...]) -> Json:
    """Return why the items are open: by item, or once where all have the same reason."""
    reasons = {item.reason for item in items}
    return reasons.pop() if len(reasons) == 1 else {item.item_id: item.reason for item in items}


_BUSY: Final = frozenset({SubtaskState.DELIVERED, SubtaskState.RETURNED})
