"""The evaluation of a reply in two phases, item by item (ACI sections 4.1 and 5.2).

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
NO_EVIDENCE: Final = "reported as done, but without an abstract of the result"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """An item that is not done."""

    item_id: str
    """The item."""
    reason: str
    """Why it is not done: the finding of phase 1, or the verifier's feedback."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An item that its agent reports as done, with all that a verifier sees of it."""

    subtask_id: str
    """The subtask; not shown to the verifier."""
    item_id: str
    """The item; not shown to the verifier."""
    subtask_name: str
    """The short description of the subtask."""
    description: str
    """The description of the item."""
    abstract: str
    """The result that the agent reports."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """The result of both phases."""

    verified: tuple[str, ...]
    """The ids of the items that are done."""
    open: tuple[OpenItem, ...]
    """All other items, with the reason."""

    @property
    def complete(self) -> bool:
        """Whether every item is verified; a subtask without items never is."""
        return bool(self.verified) and not self.open


def evaluate(context: AgentContext | Json) -> tuple[tuple[OpenItem, ...], tuple[Claim, ...]]:
    """Return the unfinished items of a context, and the claims to verify: phase 1, which costs no tokens.

    An item is unfinished without a state 1, and without an abstract.

    Raises:
        ProtocolError: As `AgentContext.from_json`, `context` is JSON and no context.
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
    """Return the result of both phases, asking `verifier` about each claim in the order of the items.

    Raises:
        ProtocolError: As `evaluate`; E1004, the verifier returned neither None nor text.
    """
    _, claims = evaluate(context)
    verdicts = {claim.item_id: verifier(claim.subtask_name, claim.description, claim.abstract) for claim in claims}
    return judge(context, verdicts)


def judge(context: AgentContext | Json, verdicts: Mapping[str, str | None]) -> Evaluation:
    """Return the result of both phases with verdicts that the caller has: itemId to None (verified) or feedback.

    A claim without a verdict is not verified.

    Raises:
        ProtocolError: As `evaluate`; E1004, a verdict is neither None nor text.
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
        raise violation(ErrorCode.INVALID_TYPE, "a verdict to be None or text", verdict)
    return check_text("feedback", verdict) or "rejected"


# Abstracts that say that the item is done, and nothing about the result.
_NO_RESULT: Final = re.compile(
    r"[\W_]*(?:ok(?:ay)?|done|completed?|finished|success(?:ful(?:ly)?)?|n/?a|todo|tbd)?[\W_]*"
)


def verify_by_rule(subtask: str, item: str, abstract: str) -> str | None:
    """Return feedback for an abstract that only says that the item is done or repeats the item, else None.

    This is the verifier that needs no model. It does not see whether a result is right; where that matters, pass a
    model or a rule of your own.
    """
    words = _normalized(abstract)
    if _NO_RESULT.fullmatch(words) or words in (_normalized(item), _normalized(subtask)):
        return "say what came out, not that it is done"
    return None


def _normalized(text: str) -> str:
    return " ".join(text.casefold().split())
