"""The course of a task as an immutable value: which context is delivered when, until all is done (ACI 2.1, 5.3).

The cycle of one subtask: build its AgentContext, deliver it, receive and check the reply, evaluate it in two phases,
update the TaskContext. The transport of a context and the verifier belong to the caller:

    interaction = Interaction.start(task, [step("crm", "Count who left"), step("mail", "Write it", after="crm")])
    while not interaction.finished:
        interaction, deliveries = interaction.deliver()
        for delivery in deliveries:
            interaction = interaction.receive(delivery.id, send(delivery.payload))
        interaction = interaction.verify(verifier)
    interaction.results["Count who left"].text

What is run again: an item that its agent or the verifier calls not done, a bounded number of times. Where it is not
known whether something was done (no understandable answer, a lost delivery), only a subtask that is declared repeatable
is run again. Each step takes the time as `now`, in seconds since 1970; without it no times are kept.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from accp_core.aci.contexts import AgentContext, TaskContext
from accp_core.aci.evaluation import (
    Claim,
    Evaluation,
    NotJudged,
    OpenItem,
    Verdict,
    delivery_json,
    evaluate,
    isolate,
    judge,
    verify_by_rule,
    with_results,
)
from accp_core.aci.items import MAX_TEXT_CHARS, NO_USAGE, Json, Outcome, Status, Usage, time_text, violation
from accp_core.aci.plan import (
    ENDED,
    ItemMove,
    Plan,
    Progress,
    Step,
    SubtaskState,
    known_context,
    plan_contexts,
    verified_context,
)
from accp_core.aci.reply import AcceptedReply, AgentReply
from accp_core.aci.results import Results, SubtaskResult
from accp_core.error_codes import ErrorCode
from accp_core.errors import LocalProtocolError, ProtocolError
from accp_core.ports import Verifier
from accp_core.references import uri_to_key

__all__ = ["Delivery", "Interaction", "Mode", "interaction_from_json", "interaction_to_json"]


class Mode(StrEnum):
    """How contexts are exchanged (section 2.1)."""

    SYNCHRONOUS = "synchronous"
    """"An agent MUST wait for the completion of the current interaction round": one delivery at a time."""
    ASYNCHRONOUS = "asynchronous"
    """"An agent MAY exchange contexts with multiple agents concurrently": every subtask that is ready."""


_STATUS: Final = MappingProxyType(
    {
        SubtaskState.COMPLETED: Status.COMPLETED,
        SubtaskState.FAILED: Status.FAILED,
        # A goal that nobody can vouch for is not reached.
        SubtaskState.UNVERIFIED: Status.FAILED,
    }
)
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
    """The task as it was passed to `start`, with the times of its start and end."""
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
        contexts: Collection[AgentContext] | Collection[Step],
        *,
        goals: Mapping[str, Collection[str]] | None = None,
        repeatable: Collection[str] = (),
        mode: Mode = Mode.ASYNCHRONOUS,
        retries: int = _DEFAULT_RETRIES,
        now: float | None = None,
    ) -> Interaction:
        """Return the interaction before its first delivery.

        Args:
            task: Each of its goals needs a subtask.
            contexts: One planned context for each subtask, or the steps that `step` made.
            goals: Goal to the SubTaskIDs that serve it; None: each subtask is a goal of the same name.
            repeatable: The SubTaskIDs that may be run again although they may have had effects, besides the steps that
                say so themselves.
            mode: One delivery at a time, or every subtask that is ready.
            retries: How often a subtask is tried again.
            now: The time, for StartTime; None: no time is set.

        Raises:
            ProtocolError: As `Plan.of`, `plan_contexts` and `isolate`.
        """
        planned = plan_contexts(contexts)
        plan = Plan.of(task, planned.contexts, goals, {*repeatable, *planned.repeatable})
        for context in plan.subtasks.values():
            isolate(task, context)
        progress = MappingProxyType(dict.fromkeys(plan.subtasks, Progress()))
        base = replace(task, start_time=task.start_time or time_text(now))
        return cls(base=base, plan=plan, mode=Mode(mode), retries=retries, progress=progress)

    @property
    def task(self) -> TaskContext:
        """The TaskContext now: its goals and overall status follow from the subtasks."""
        statuses = {subtask_id: self._status(progress) for subtask_id, progress in self.progress.items()}
        return replace(self.base, goal_status=self.plan.goal_status(statuses))

    @property
    def contexts(self) -> Mapping[str, AgentContext]:
        """SubTaskID to context as the master knows it: the plan with the verified results.

        Where a subtask has ended without completing, the other items say why: a failed one has state 0 and the reason,
        an unverified one has no state and the agent's words.
        """
        return {name: known_context(planned, self.progress[name]) for name, planned in self.plan.subtasks.items()}

    @property
    def results(self) -> Results:
        """The results by title or SubTaskID, failures with their reasons included."""
        return Results(SubtaskResult.of(each, self.progress[name]) for name, each in self.plan.subtasks.items())

    @property
    def finished(self) -> bool:
        """Whether nothing is left to deliver, to receive or to verify; `task` shows whether it completed or failed."""
        return all(progress.state in ENDED for progress in self.progress.values())

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
        returned = (progress for progress in self.progress.values() if progress.state is SubtaskState.RETURNED)
        return tuple(claim for progress in returned for claim in evaluate(progress.reply, progress.unread)[1])

    @property
    def references(self) -> tuple[str, ...]:
        """The keys of all texts that the agents of this task stored, which a purge of the task must remove."""
        uris = (uri for progress in self.progress.values() for uri in progress.stored)
        return tuple(sorted({key for uri in uris if (key := uri_to_key(uri))}))

    def deliver(self, now: float | None = None) -> tuple[Interaction, tuple[Delivery, ...]]:
        """Return the interaction in which every `ready` subtask is delivered, and the deliveries to send."""
        deliveries = []
        after = self
        for subtask_id in self.ready:
            progress = self.progress[subtask_id]
            after = after._with(subtask_id, progress.advance(ItemMove.DELIVER, attempts=progress.attempts + 1))
            deliveries.append(after.delivery(subtask_id))
        return after._at(now, self), tuple(deliveries)

    def delivery(self, subtask_id: str) -> Delivery:
        """Return the delivery of a subtask's last attempt, the same each time, to send it once more."""
        context = self._context_for(subtask_id)
        return Delivery(id=self._delivery_id(subtask_id), context=context, payload=delivery_json(context))

    def receive(
        self,
        delivery_id: str,
        returned: AgentReply | AgentContext | Json,
        *,
        stored: Collection[str] = (),
        now: float | None = None,
    ) -> Interaction:
        """Return the interaction after a reply. One that breaks a rule leaves the subtask unverified, with the reason.

        Args:
            delivery_id: The delivery that it answers.
            returned: A reply, a context or its JSON; an `AcceptedReply` to this delivery is not checked again. Long
                results must be stored by then (`offload_long`): `AgentReply.full` is not kept.
            stored: The references that the agent stored itself, where `returned` is not a reply that lists them.
            now: The time, for LastUpdated.

        Raises:
            LocalProtocolError: E3002, no reply to that delivery is awaited: it is unknown, too late or answered; the
                interaction stays as it is.
        """
        subtask_id = self._subtask_of(delivery_id)
        sent = self._context_for(subtask_id)
        try:
            reply = AcceptedReply.of(sent, returned, stored=stored)
        except ProtocolError as refusal:
            return self._after_loss(subtask_id, refusal.reason, Outcome.UNVERIFIED)._at(now, self)
        new = tuple(uri for uri in reply.context.context_uri if uri not in sent.context_uri)
        progress = self.progress[subtask_id]
        accepted = progress.advance(
            ItemMove.ACCEPT,
            reply=reply.context,
            unread=dict(reply.unread),
            reported=tuple(reply.reported),
            usage=progress.usage + reply.usage,
            stored=tuple(dict.fromkeys((*progress.stored, *new))),
        )
        return self._with(subtask_id, accepted)._at(now, self)

    def mark_lost(
        self, delivery_id: str, reason: str, now: float | None = None, *, usage: Usage = NO_USAGE
    ) -> Interaction:
        """Return the interaction after a delivery that raised, failed on its way or took too long, for `reason`.

        Nobody knows what its agent did, so it is run again only where the subtask is repeatable; else it has failed.

        Args:
            delivery_id: The delivery that has no reply.
            reason: Why, such as the exception.
            now: The time, for LastUpdated and EndTime.
            usage: What the attempt cost, as far as it is known.

        Raises:
            LocalProtocolError: As `receive`.
        """
        subtask_id = self._subtask_of(delivery_id)
        progress = self.progress[subtask_id]
        paid = self._with(subtask_id, replace(progress, usage=progress.usage + usage))
        return paid._after_loss(subtask_id, reason, Outcome.FAILED)._at(now, self)

    def verify(
        self, verifier: Verifier = verify_by_rule, *, catch: tuple[type[Exception], ...] = (), now: float | None = None
    ) -> Interaction:
        """Return the interaction after `verifier` judged all claims: each subtask completed, retried or ended.

        Args:
            verifier: Called with subtask, item and abstract.
            catch: Exceptions of the verifier that leave the item unverified, with the reason; others are raised, and
                the interaction stays as it is.
            now: The time, for LastUpdated and EndTime.

        Raises:
            ProtocolError: E1004, the verifier returned neither None nor text.
        """
        verdicts: dict[tuple[str, str], Verdict] = {}
        for claim in self.claims:
            try:
                verdict: Verdict = verifier(claim.subtask_name, claim.description, claim.abstract)
            except catch as error:
                verdict = NotJudged(f"{type(error).__name__}: {error}")
            verdicts[claim.subtask_id, claim.item_id] = verdict
        return self.judge(verdicts, now)

    def judge(self, verdicts: Mapping[tuple[str, str], Verdict], now: float | None = None) -> Interaction:
        """Return the interaction after the verdicts on `claims`: (SubTaskID, itemId) to None, feedback or `NotJudged`.

        A claim without a verdict is rejected.

        Raises:
            ProtocolError: E1004, a verdict is something else.
        """
        after = self
        for subtask_id, progress in self.progress.items():
            if progress.state is SubtaskState.RETURNED:
                own = {item: verdict for (subtask, item), verdict in verdicts.items() if subtask == subtask_id}
                after = after._after_evaluation(subtask_id, judge(progress.reply, own, progress.unread))
        return after._at(now, self)

    def _after_evaluation(self, subtask_id: str, evaluation: Evaluation) -> Interaction:
        progress = self.progress[subtask_id]
        abstracts = progress.reply.abstracts if progress.reply else {}
        verified = {**progress.verified, **{item: abstracts[item] for item in evaluation.verified}}
        judged = replace(progress, verified=verified, open=evaluation.open, reply=None, unread={}, reported=())
        if evaluation.complete:
            return self._with(subtask_id, judged.advance(ItemMove.COMPLETE))
        return self._with(subtask_id, judged)._again_or_end(subtask_id, may_repeat=progress.are_undone(evaluation.open))

    def _after_loss(self, subtask_id: str, reason: str, outcome: Outcome) -> Interaction:
        """Return the interaction after an attempt of which no reply can be used."""
        undone = self._context_for(subtask_id).todo_items
        items = tuple(OpenItem(item_id=item.item_id, reason=reason, outcome=outcome) for item in undone)
        lost = replace(self.progress[subtask_id], open=items)
        return self._with(subtask_id, lost)._again_or_end(subtask_id, may_repeat=False)

    # Unfinished work is retried or fails, and is never reported as finished. What may be done is not done twice.
    def _again_or_end(self, subtask_id: str, *, may_repeat: bool) -> Interaction:
        progress = self.progress[subtask_id]
        if progress.attempts <= self.retries and (may_repeat or subtask_id in self.plan.repeatable):
            return self._with(subtask_id, progress.advance(ItemMove.RETRY))
        has_failed = any(item.outcome is Outcome.FAILED for item in progress.open)
        after = self._with(subtask_id, progress.advance(ItemMove.FAIL if has_failed else ItemMove.DOUBT))
        for dependant in self.plan.dependants(subtask_id):
            after = after._stop(dependant, subtask_id)
        return after

    def _stop(self, subtask_id: str, cause: str) -> Interaction:
        """Return the interaction in which a subtask has failed because `cause`, which it needs, did not complete."""
        progress, ended = self.progress[subtask_id], self.progress[cause]
        if progress.state in ENDED:
            return self
        title = self.plan.subtasks[cause].subtask_name
        named = f"{cause!r} ({title})" if title else repr(cause)
        verb = "failed" if ended.state is SubtaskState.FAILED else "is unverified"
        reason = f"stopped: subtask {named} {verb}: {ended.reason}"[:MAX_TEXT_CHARS]
        items = self.plan.subtasks[subtask_id].todo_items
        undone = tuple(OpenItem(item_id=item.item_id, reason=reason) for item in items)
        return self._with(subtask_id, progress.advance(ItemMove.FAIL, open=undone, stopped_by=cause))

    def _at(self, now: float | None, before: Interaction) -> Interaction:
        """Return the interaction with the time `now` in each subtask that changed since `before`."""
        time = time_text(now)
        if time is None:
            return self
        progress = {
            name: each if each is before.progress[name] else each.at(time) for name, each in self.progress.items()
        }
        base = replace(self.base, end_time=self.base.end_time or time) if self.finished else self.base
        return replace(self, base=base, progress=MappingProxyType(progress))

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

    def _context_for(self, subtask_id: str) -> AgentContext:
        """Return the context that the agent of a subtask receives.

        It holds the open items, the results of its dependencies, and after a failed attempt what was verified before
        and why the rest was not.
        """
        planned, progress = self.plan.subtasks[subtask_id], self.progress[subtask_id]
        needed = [(self.plan.subtasks[name], self.progress[name]) for name in planned.dependencies]
        upstream = [(verified_context(context, done), done.stored) for context, done in needed]
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


# An interaction as JSON and back, to continue it later: from a checkpoint, a database or in another process.


def interaction_to_json(interaction: Interaction) -> dict[str, Json]:
    """Return an interaction as JSON; like the TaskContext in it, it never leaves the master."""
    return {
        **interaction.base.to_json(),
        "plan": [context.to_json() for context in interaction.plan.subtasks.values()],
        "goals": {goal: list(ids) for goal, ids in interaction.plan.goals.items()},
        "repeatable": sorted(interaction.plan.repeatable),
        "mode": interaction.mode.value,
        "retries": interaction.retries,
        "progress": {subtask: _progress_to_json(progress) for subtask, progress in interaction.progress.items()},
    }


def interaction_from_json(data: Json) -> Interaction:
    """Return the interaction that `interaction_to_json` wrote.

    Raises:
        ProtocolError: E1004, it is something else.
    """
    try:
        task = TaskContext.from_json(data["TaskContext"])
        plan = Plan.of(
            task, [AgentContext.from_json(context) for context in data["plan"]], data["goals"], data["repeatable"]
        )
        progress = {subtask: _progress_from_json(data["progress"][subtask]) for subtask in plan.subtasks}
        mode = Mode(data["mode"])
        return Interaction(
            base=task, plan=plan, mode=mode, retries=data["retries"], progress=MappingProxyType(progress)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise violation(ErrorCode.INVALID_TYPE, "an interaction as `interaction_to_json` wrote it", data) from None


_TEXTS = ("started", "updated", "ended", "stopped_by")


def _progress_to_json(progress: Progress) -> dict[str, Json]:
    return {
        "state": progress.state.value,
        "attempts": progress.attempts,
        "verified": dict(progress.verified),
        "open": [[item.item_id, item.reason, item.outcome.value, item.answer] for item in progress.open],
        "stored": list(progress.stored),
        "reply": progress.reply.to_json() if progress.reply else None,
        "unread": dict(progress.unread),
        "usage": progress.usage.to_json(),
        **({"reported": list(progress.reported)} if progress.reported else {}),
        **{name: text for name in _TEXTS if (text := getattr(progress, name))},
    }


def _progress_from_json(data: Json) -> Progress:
    reply = data["reply"]
    return Progress(
        state=SubtaskState(data["state"]),
        attempts=data["attempts"],
        verified=dict(data["verified"]),
        open=tuple(
            OpenItem(item_id=item, reason=reason, outcome=Outcome(outcome), answer=answer)
            for item, reason, outcome, answer in data["open"]
        ),
        stored=tuple(data["stored"]),
        reply=None if reply is None else AgentContext.from_json(reply),
        unread=dict(data["unread"]),
        reported=tuple(data.get("reported", ())),
        usage=Usage.from_json(data["usage"]),
        **{name: data[name] for name in _TEXTS if name in data},
    )
