"""What telemetry tells of one step of an agent: sizes, names and keys, and no text."""

from __future__ import annotations

from dataclasses import dataclass

from accp_adapters.telemetry import Rewriting

__all__ = ["Counted", "Told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """What the programs of a service count with one adapter."""

    service: str
    """The service; empty: it has no name."""
    adapter: str
    """The adapter; empty: none is named."""
    sums: tuple[tuple[str, int], ...]
    """Counter and sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One span of telemetry."""

    name: str
    """Its name."""
    agent: str
    """The agent; where none is named, the service."""
    calls_model: bool = False
    """Whether it is a model call of an agent with the middleware."""
    rewritten: tuple[Rewriting, ...] = ()
    """The messages that this model call is the first to be sent in another form."""
    opened: tuple[str, ...] = ()
    """Keys of the references that were opened."""
    refused: str = ""
    """The code with which a query was refused; empty: none was."""
    error: str = ""
    """The class of the exception that ended it; empty: none did."""
    seconds: float | None = None
    """How long it took; None: not recorded."""
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value of its attributes."""

    @property
    def before(self) -> int:
        """Tokens of the messages as they were."""
        return sum(each.tokens_before for each in self.rewritten)

    @property
    def after(self) -> int:
        """Tokens of the messages as they were sent."""
        return sum(each.tokens_after for each in self.rewritten)
