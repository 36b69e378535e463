"""An interaction as JSON and back, to continue it later: from a checkpoint, a database or in another process."""

from __future__ import annotations

from types import MappingProxyType

from accp_core.aci.checks import Json, violation
from accp_core.aci.contexts import AgentContext, TaskContext
from accp_core.aci.evaluation import OpenItem
from accp_core.aci.interaction import Interaction, Mode
from accp_core.aci.items import Outcome
from accp_core.aci.plan import Plan
from accp_core.aci.progress import Progress, SubtaskState
from accp_core.aci.replies import Usage
from accp_core.error_codes import ErrorCode

__all__ = ["interaction_from_json", "interaction_to_json"]


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
