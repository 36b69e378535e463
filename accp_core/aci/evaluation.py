"""The evaluation of a reply in two phases, item by item (ACI sections 4.1 and 5.2).

"It first inspects ItemstateUpdates for a preliminary decision; items marked as 0 are considered unfinished and bypass
further assessment. For items marked as 1, the Master Agent performs a second-stage verification based on the
corresponding KeyInformation".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_core import references
from accp_core.aci.contexts import AgentContext, TaskContext
from accp_core.aci.items import DONE, Json, Outcome, check_text, violation
from accp_core.aci.replies import NO_ANSWER, NO_EVIDENCE, NOT_JUDGED, says_nothing
from accp_core.error_codes import ErrorCode
from accp_core.ports import Verifier
from accp_core.references import uri_to_key

__all__ = [
    "Claim", "Evaluation", "NotJudged", "OpenItem", "Verdict", "check_context_grant", "delivery_json", "evaluate",
    "isolate", "judge", "scope_of", "verify", "verify_by_rule", "with_results",
]  # fmt: skip


NOT_DONE: Final = "not done"
_MAX_EXCERPT: Final = 80
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """An item that is not done."""

    item_id: str
    """The item."""
    reason: str
    """Why it is not done, or what was not understood: the finding of phase 1, or the verifier's feedback."""
    outcome: Outcome = Outcome.FAILED
    """`FAILED`: it is not done, or the verifier rejects its result. `UNVERIFIED`: nobody knows whether it is done."""
    answer: str = ""
    """The agent's own words about it, where they are no verified result."""

    @property
    def words(self) -> str:
        """What to show of it: the reason of a failure; the agent's words, where nobody knows."""
        return self.reason if self.outcome is Outcome.FAILED else self.answer or self.reason


@dataclass(frozen=True, slots=True)
class NotJudged:
    """The verdict of a verifier that failed: the claim is neither verified nor rejected."""

    reason: str
    """Why, such as the exception."""


Verdict: TypeAlias = str | NotJudged | None
"""None: verified. Text: rejected, with this feedback. `NotJudged`: the verifier failed."""


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


def evaluate(
    context: AgentContext | Json, unread: Mapping[str, str] = _NONE
) -> tuple[tuple[OpenItem, ...], tuple[Claim, ...]]:
    """Return the unfinished items of a context, and the claims to verify: phase 1, which costs no tokens.

    State 0 is a failure. An item without a state, or with state 1 and no result, is unverified.

    Args:
        context: What the agent returned.
        unread: itemId to what was not understood of its answer, where the answer was read from words.

    Raises:
        ProtocolError: As `AgentContext.from_json`, `context` is JSON and no context.
    """
    known = context if isinstance(context, AgentContext) else AgentContext.from_json(context)
    unfinished, claims = [], []
    for item in known.todo_items:
        abstract = known.abstracts.get(item.item_id, "").strip()
        state = known.states.get(item.item_id)
        is_evidence = not verify_by_rule(known.subtask_name, item.description, abstract)
        if state == DONE and is_evidence and item.item_id not in unread:
            claims.append(_claim(known, item.item_id, item.description, abstract))
        else:
            unfinished.append(_unfinished(item.item_id, state, abstract, unread.get(item.item_id, "")))
    return tuple(unfinished), tuple(claims)


# "items marked as 0 are considered unfinished and bypass further assessment" (section 5.2)
def _unfinished(item_id: str, state: int | None, abstract: str, problem: str) -> OpenItem:
    if state is not None and state != DONE and not problem:
        return OpenItem(item_id=item_id, reason=abstract or NOT_DONE)
    if not problem:
        problem = NO_EVIDENCE if state == DONE else _not_understood(abstract)
    return OpenItem(item_id=item_id, reason=problem, outcome=Outcome.UNVERIFIED, answer=abstract)


def _not_understood(answer: str) -> str:
    excerpt = answer if len(answer) <= _MAX_EXCERPT else f"{answer[:_MAX_EXCERPT]}…"
    return f'not understood: "{excerpt}"' if answer else NO_ANSWER


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


def judge(
    context: AgentContext | Json, verdicts: Mapping[str, Verdict], unread: Mapping[str, str] = _NONE
) -> Evaluation:
    """Return the result of both phases with verdicts that the caller has: itemId to verdict.

    A claim without a verdict is rejected.

    Args:
        context: What the agent returned.
        verdicts: itemId to None (verified), feedback, or `NotJudged`.
        unread: As `evaluate` takes it.

    Raises:
        ProtocolError: As `evaluate`; E1004, a verdict is something else.
    """
    unfinished, claims = evaluate(context, unread)
    rejected = [
        _rejected(claim, verdicts.get(claim.item_id, "not verified"))
        for claim in claims
        if verdicts.get(claim.item_id, "not verified") is not None
    ]
    still_open = {item.item_id for item in rejected}
    verified = tuple(claim.item_id for claim in claims if claim.item_id not in still_open)
    return Evaluation(verified=verified, open=(*unfinished, *rejected))


def _rejected(claim: Claim, verdict: object) -> OpenItem:
    if isinstance(verdict, NotJudged):
        reason, outcome = f"{NOT_JUDGED}: {verdict.reason}", Outcome.UNVERIFIED
    elif isinstance(verdict, str) and verdict.startswith(NOT_JUDGED):
        reason, outcome = verdict, Outcome.UNVERIFIED
    elif isinstance(verdict, str):
        reason, outcome = verdict or "rejected", Outcome.FAILED
    else:
        raise violation(ErrorCode.INVALID_TYPE, "a verdict to be None, text or NotJudged", verdict)
    check_text("feedback", reason)
    return OpenItem(item_id=claim.item_id, reason=reason, outcome=outcome, answer=claim.abstract)


def verify_by_rule(subtask: str, item: str, abstract: str) -> str | None:
    """Return feedback for an abstract that only says that the item is done or repeats the item, else None.

    This is the verifier that needs no model. It does not see whether a result is right; where that matters, pass a
    model or a rule of your own.
    """
    words = _normalized(abstract)
    if says_nothing(abstract) or words in (_normalized(item), _normalized(subtask)):
        return "say what came out, not that it is done"
    return None


def _normalized(text: str) -> str:
    return " ".join(text.casefold().split())


# What an invoked agent receives, what it may open, and which results of other agents it learns (ACI 2.1, 4.1, 5.2).

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
