"""A plan as a person writes it: steps by agent and title, in the order of their needs (ACI sections 3 and 5.2).

plan = [step("crm", "Count who left"), step("mail", "Write one mail", after="crm")]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from accp_core.aci.checks import Json, check_text, violation
from accp_core.aci.contexts import AgentContext
from accp_core.aci.items import todo
from accp_core.error_codes import ErrorCode

__all__ = ["PlannedContexts", "Step", "plan_contexts", "step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of a plan; `step` makes it."""

    agent: str
    """The AgentID of the agent that does it."""
    title: str
    """A short description, by which its result is found."""
    items: tuple[str, ...] = ()
    """What is to be done, one by one; empty: the title says it."""
    after: tuple[str, ...] = ()
    """The steps whose results it needs, each by its id, its title, or the AgentID of its agent."""
    context: tuple[Json, ...] = ()
    """Facts that the agent needs: JSON values."""
    references: tuple[str, ...] = ()
    """References that the agent may open."""
    repeatable: bool = False
    """Whether it may be run again although it may have had effects."""
    id: str = ""
    """Its SubTaskID; empty: "s1", "s2" and so on, by its place in the plan."""


def step(
    agent: str,
    title: str,
    *,
    items: Iterable[str] = (),
    after: str | Iterable[str] = (),
    context: Iterable[Json] = (),
    references: Iterable[str] = (),
    repeatable: bool = False,
    id: str = "",
) -> Step:
    """Return a step: `step("mail", "Write one mail", after="crm")`.

    Args:
        agent: The AgentID of the agent that does it.
        title: A short description, by which its result is found.
        items: What is to be done, one by one; empty: the title says it.
        after: The step, or the steps, whose results it needs: by id, by title, or by agent.
        context: Facts that the agent needs: JSON values.
        references: References that the agent may open.
        repeatable: Whether it may be run again although it may have had effects: reading is, sending a mail is not.
        id: Its SubTaskID; empty: "s1", "s2" and so on.

    Raises:
        ProtocolError: E1004, agent or title is empty or no text, or `items` is one text.
    """
    if isinstance(items, str):
        raise violation(ErrorCode.INVALID_TYPE, "items: a list of texts", items)
    return Step(
        agent=check_text("agent", agent, non_empty=True),
        title=check_text("title", title, non_empty=True),
        items=tuple(items),
        after=(after,) if isinstance(after, str) else tuple(after),
        context=tuple(context),
        references=tuple(references),
        repeatable=repeatable,
        id=id,
    )


class PlannedContexts(NamedTuple):
    """A plan as contexts."""

    contexts: tuple[AgentContext, ...]
    """One context for each subtask."""
    repeatable: frozenset[str]
    """The SubTaskIDs of the steps that are repeatable."""


def plan_contexts(plan: Iterable[AgentContext] | Iterable[Step]) -> PlannedContexts:
    """Return the contexts of a plan; contexts stay as they are, steps become contexts.

    Raises:
        ProtocolError: E1004, a step waits for itself or for a name that no other step, or more than one, has, or two
            steps have one id. `Plan.of` refuses cycles.
    """
    entries = list(plan)
    steps = [entry for entry in entries if isinstance(entry, Step)]
    contexts = [entry for entry in entries if isinstance(entry, AgentContext)]
    if len(steps) + len(contexts) != len(entries):
        wrong = next(entry for entry in entries if not isinstance(entry, (Step, AgentContext)))
        raise violation(ErrorCode.INVALID_TYPE, "a plan of steps or of AgentContexts", wrong)
    ids = _ids(steps)
    made = tuple(_context(place, steps, ids) for place in range(len(steps)))
    again = frozenset(own for own, each in zip(ids, steps, strict=True) if each.repeatable)
    return PlannedContexts((*contexts, *made), again)


def _ids(steps: Sequence[Step]) -> list[str]:
    """Return the SubTaskIDs: the given ones, else "s" and the place, with zeros so that they sort in order."""
    width = len(str(len(steps)))
    return [each.id or f"s{place:0{width}}" for place, each in enumerate(steps, 1)]


def _context(place: int, steps: Sequence[Step], ids: Sequence[str]) -> AgentContext:
    own = steps[place]
    return AgentContext(
        agent_id=own.agent,
        subtask_id=ids[place],
        subtask_name=own.title,
        dependencies=tuple(dict.fromkeys(_find(name, place, steps, ids) for name in own.after)),
        context=own.context,
        context_uri=own.references,
        todo_items=todo(*(own.items or (own.title,))),
    )


def _find(name: str, place: int, steps: Sequence[Step], ids: Sequence[str]) -> str:
    """Return the id of the one other step that `name` means: an id first, then a title or an agent."""
    others = [n for n in range(len(steps)) if n != place]
    found = [n for n in others if ids[n] == name] or [n for n in others if name in (steps[n].title, steps[n].agent)]
    if len(found) == 1:
        return ids[found[0]]
    title = steps[place].title
    if not found:
        known = [f"{steps[n].agent}: {steps[n].title}" for n in others]
        raise violation(ErrorCode.INVALID_TYPE, f"after of step {title!r} to name another step of {known}", name)
    several = [steps[n].title for n in found]
    raise violation(
        ErrorCode.INVALID_TYPE, f"after of step {title!r} to name one step, by its title of {several}", name
    )
