"""What a requirement is, and a family of them: one specification and what it asks for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TypeAlias

from tests.conformance.seen_by_peers import SEEN_BY_PEERS, UNSEEN

__all__ = ["Family", "Force", "Requirement", "Rule", "rules"]


class Force(StrEnum):
    """The key words of RFC 2119 that the drafts use, and plain sentences that describe a rule."""

    MUST = "MUST"
    MUST_NOT = "MUST NOT"
    SHOULD = "SHOULD"
    SHOULD_NOT = "SHOULD NOT"
    MAY = "MAY"
    STATES = "states"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One thing that a specification asks for."""

    id: str
    """The section and a number in it, such as "3.7-1"; ids of other families than ACCP begin as "aci:5.2-1"."""
    force: Force
    """How strongly."""
    level: int
    """The lowest conformance level that includes it; 0 where the specification has no levels."""
    text: str
    """The specification's words."""
    tests: tuple[str, ...] = ()
    """What shows it; below `tests/`, a trailing `*` means all that begin so."""
    divergence: str | None = None
    """Where we do something else, and why."""
    deferred: str | None = None
    """Why nothing shows it yet."""
    unseen: str | None = None
    """Why no peer can see whether it holds."""

    @property
    def section(self) -> str:
        """The section that says it."""
        return self.id.rpartition("-")[0].rpartition(":")[2]


Rule: TypeAlias = Callable[..., Requirement]
"""Called with id, level, text and optionally a divergence or why it is deferred."""


def rules(shown_by: Mapping[str, tuple[str, ...]], prefix: str = "") -> dict[Force, Rule]:
    """Return for each force the function that makes a requirement, with the tests that `shown_by` names."""

    def rule(
        force: Force, id: str, level: int, text: str, divergence: str | None = None, deferred: str | None = None
    ) -> Requirement:
        name = prefix + id
        return Requirement(
            id=name,
            force=force,
            level=level,
            text=text,
            tests=shown_by.get(name, ()) + SEEN_BY_PEERS.get(name, ()),
            divergence=divergence,
            deferred=deferred,
            unseen=UNSEEN.get(name),
        )

    return {force: partial(rule, force) for force in Force}


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A specification: its requirements, and the tables in which they are printed."""

    name: str
    """The word for it: "ACCP", "ACCP bindings", "AACP", "ACI" or "ACP"."""
    titles: Mapping[int, str]
    """Level to the title of its table; `{0: "…"}` where the specification has no levels."""
    sections: frozenset[str]
    """The sections that require something."""
    requirements: tuple[Requirement, ...]
    """Everything it asks for."""
    shown_by: Mapping[str, tuple[str, ...]]
    """Requirement to tests, as the family's data has them."""

    def up_to(self, level: int) -> Iterable[Requirement]:
        """Return the requirements of `level` and of those below."""
        return (requirement for requirement in self.requirements if requirement.level <= level)
