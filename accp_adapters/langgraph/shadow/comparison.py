"""How often the projection changed the next action, beside how often the model itself did, and the verdict."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from accp_adapters.policy import Policy
from accp_adapters.statistics import Difference, difference, mcnemar

__all__ = ["Outcomes", "Shadow", "ShadowCount"]

_MAX_OUTCOMES: Final = 4_096
"""Comparisons of one policy and tool that are kept; the oldest are given up."""
_MAX_KEYS: Final = 200
_TAIL: Final = 0.001
"""Of the interval: it is looked at several times, and together these looks are to be wrong in under 1 %."""
_OTHERS: Final = "(others)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadow:
    """Which calls of the model are made again with the unprojected prompt, and what follows from it."""

    rate: float = 0.02
    """The share of the calls with a projected prompt that are compared; each costs two calls more, unprojected."""
    timeout: float = 60.0
    """Seconds that both calls together may take."""
    margin: float = 5.0
    """Points of 100 calls by which the projection may change the next action more often than the model itself does."""
    min_calls: int = 50
    """Comparisons before the first verdict; the next verdicts come at twice as many each."""
    fall_back: Policy | str | None = None
    """The policy of threads that begin after a verdict against the policy; None: the verdict is reported only."""

    def __post_init__(self) -> None:
        """Refuse values without a meaning (ValueError)."""
        if not 0 <= self.rate <= 1:
            raise ValueError(f"expected rate to be from 0 to 1, found {self.rate!r}")
        for name in ("timeout", "min_calls"):
            if getattr(self, name) <= 0:
                raise ValueError(f"expected {name} to be more than 0, found {getattr(self, name)!r}")

    def chooses(self, parts: Iterable[object]) -> bool:
        """Return whether the call that `parts` name is compared: the same call always is, or never."""
        digest = hashlib.sha256("\x1f".join(map(str, parts)).encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") < self.rate * 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowCount:
    """How often the next action changed, for one policy and one tool whose result was projected."""

    policy: str
    """The name of the policy."""
    tool: str
    """The tool or agent that the newest projected message comes from; "": all of them together."""
    compared: int
    """Calls that were compared."""
    changed: int
    """Those whose next action was another one with the unprojected prompt."""
    noise: int
    """Those whose next action was another one when the unprojected prompt was sent again."""
    difference: Difference
    """Changed minus noise in points of 100 calls, with an interval of 99.8 %."""


@dataclass(slots=True)
class Outcomes:
    """The outcomes of comparisons, by policy and tool: pairs of noise and change, and nothing of the data."""

    margin: float
    """As in `Shadow`."""
    next_look: int
    """At how many comparisons the verdict is made."""
    compared: int = 0
    """Comparisons so far."""
    harmful: bool = False
    """Whether a verdict was against the policy; it stays."""
    by_tool: dict[tuple[str, str], deque[tuple[bool, bool]]] = field(default_factory=dict)
    """Policy and tool to (noise, changed) of each comparison."""

    def add(self, policy: str, tool: str, *, noise: bool, changed: bool) -> None:
        """Add one comparison; where it is time, make the verdict."""
        if (policy, tool) not in self.by_tool and len(self.by_tool) >= _MAX_KEYS:
            tool = _OTHERS
        self.by_tool.setdefault((policy, tool), deque(maxlen=_MAX_OUTCOMES)).append((noise, changed))
        self.compared += 1
        if self.compared >= self.next_look:
            self.next_look = 2 * self.compared
            pairs = [pair for each in list(self.by_tool.values()) for pair in list(each)]
            # The exact test is quick, and says nearly always that there is nothing to draw.
            self.harmful = self.harmful or (mcnemar(pairs) < 2 * _TAIL and _interval(pairs).low > self.margin)

    def counts(self) -> tuple[ShadowCount, ...]:
        """Return the counts of each policy as a whole, then of its tools."""
        rows = [(policy, tool, list(pairs)) for (policy, tool), pairs in list(self.by_tool.items())]
        wholes = {
            policy: [pair for each, _, pairs in rows if each == policy for pair in pairs] for policy, _, _ in rows
        }
        return tuple(
            ShadowCount(
                policy=policy,
                tool=tool,
                compared=len(pairs),
                changed=sum(changed for _, changed in pairs),
                noise=sum(noise for noise, _ in pairs),
                difference=_interval(pairs),
            )
            for policy, tool, pairs in (*((policy, "", pairs) for policy, pairs in wholes.items()), *rows)
        )


def _interval(pairs: Sequence[tuple[bool, bool]]) -> Difference:
    return difference({str(number): [pair] for number, pair in enumerate(pairs)}, tail=_TAIL)
