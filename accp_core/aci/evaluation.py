"""Is a subtask done? Two phases, item by item (ACI sections 4.1 and 5.2).

"It first inspects ItemstateUpdates for a preliminary decision; items marked as 0 are considered unfinished and bypass
further assessment. For items marked as 1, the Master Agent performs a second-stage verification based on the
corresponding KeyInformation".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from accp_core.aci.checks import Json, check_text, violation
from accp_core.aci.contexts import AgentContext
from accp_core.aci.items import DONE
from accp_core.error_codes import ErrorCode
from accp_core.ports import Verifier

__all__ = ["Claim", "Evaluation", "OpenItem", "evaluate", "judge", "verify", "verify_by_rule"]

NOT_DONE: Final = "not done"
NO_EVIDENCE: Final = "said to be done, but without an abstract of what came out"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """An item that is not done."""

    item_id: str
    """Which one."""
    reason: str
    """Why: what phase 1 found, or the verifier's feedback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An item that its agent says is done: all that a verifier sees."""

    subtask_id: str
    """Which subtask; not for the verifier."""
    item_id: str
    """Which item; not for the verifier."""
    subtask_name: str
    """What the subtask is."""
    description: str
    """What was to be done."""
    abstract: str
    """What came out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What the two phases found."""

    verified: tuple[str, ...]
    """The items that are done."""
    open: tuple[OpenItem, ...]
    """All others, with the reason."""

    @property
    def complete(self) -> bool:
        """Whether every item is verified; a subtask without items never is."""
        return bool(self.verified) and not self.open


def evaluate(context: AgentContext | Json) -> tuple[tuple[OpenItem, ...], tuple[Claim, ...]]:
    """Phase 1, which costs no tokens: return the unfinished items of a context, and the claims to verify.

    An item without a state is unfinished, and so is one that is said to be done without an abstract.

    Raises: ProtocolError as `AgentContext.from_json` for JSON that is no context.
    """
    known = context if isinstance(context, AgentContext) else AgentContext.from_json(context)
    unfinished, claims = [], []
    for item in known.todo_items:
        abstract = known.abstracts.get(item.item_id, "").strip()
        if known.states.get(item.item_id) != DONE:
            unfinished.append(OpenItem(item_id=item.item_id, reason=abstract or NOT_DONE))
        elif not abstract:
            unfinished.append(OpenItem(item_id=item.item_id, reason=NO_EVIDENCE))
        else:
            claims.append(_claim(known, item.item_id, item.description, abstract))
    return tuple(unfinished), tuple(claims)


def _claim(context: AgentContext, item_id: str, description: str, abstract: str) -> Claim:
    return Claim(
        subtask_id=context.subtask_id,
        item_id=item_id,
        subtask_name=context.subtask_name,
        description=description,
        abstract=abstract,
    )


def verify(context: AgentContext | Json, verifier: Verifier) -> Evaluation:
    """Both phases: ask `verifier` about each claim, in the order of the items.

    Raises: ProtocolError as `evaluate`, and E1004 for an answer that is neither None nor text; what `verifier` raises.
    """
    _, claims = evaluate(context)
    verdicts = {claim.item_id: verifier(claim.subtask_name, claim.description, claim.abstract) for claim in claims}
    return judge(context, verdicts)


def judge(context: AgentContext | Json, verdicts: Mapping[str, str | None]) -> Evaluation:
    """Both phases, where somebody has asked the verifier: `verdicts` is item to None (verified) or feedback.

    A claim without a verdict is not verified.

    Raises: ProtocolError as `verify`.
    """
    unfinished, claims = evaluate(context)
    rejected = [
        OpenItem(item_id=claim.item_id, reason=_feedback(verdicts.get(claim.item_id, "not verified")))
        for claim in claims
        if verdicts.get(claim.item_id, "not verified") is not None
    ]
    still_open = {item.item_id for item in rejected}
    verified = tuple(claim.item_id for claim in claims if claim.item_id not in still_open)
    return Evaluation(verified=verified, open=(*unfinished, *rejected))


def _feedback(verdict: object) -> str:
    if not isinstance(verdict, str):
        raise violation(ErrorCode.INVALID_TYPE, "a verdict to be None or feedback in words", verdict)
    return check_text("feedback", verdict) or "rejected"


# Words with which an agent says that it is done, and nothing about what came out.
_EMPTY: Final = re.compile(r"[\W_]*(?:ok(?:ay)?|done|completed?|finished|success(?:ful(?:ly)?)?|n/?a|todo|tbd)?[\W_]*")


def verify_by_rule(subtask: str, item: str, abstract: str) -> str | None:
    """The verifier by rule: refuse an abstract that only says that the item is done, or repeats the item.

    It cannot tell a wrong result from a right one; give a model, or a rule of your own, where that matters.
    """
    said = " ".join(abstract.casefold().split())
    if _EMPTY.fullmatch(said) or said in (" ".join(item.casefold().split()), " ".join(subtask.casefold().split())):
        return "say what came out, not that it is done"
    return None
