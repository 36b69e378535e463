"""What one step of a session leads to: events, frames and texts to store (ACCP section 3.7)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from accp_core.accp.session.delivery import FrameText
from accp_core.accp.session.events import Event
from accp_core.references import StoredText

__all__ = ["NO_EFFECTS", "Effects"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What one step leads to, each part in its order; `+` adds what the next step leads to.

    The parts of a session return their effects and keep none: only the session collects them for its caller.
    """

    events: tuple[Event, ...] = ()
    """Events to report."""
    frames: tuple[FrameText, ...] = ()
    """Serialized frames to send."""
    stored: tuple[StoredText, ...] = ()
    """Texts that must be in the store before any of the frames is sent."""

    def __add__(self, later: Effects) -> Effects:
        # Most steps lead to nothing; a sum for each of them would cost a few percent of a session's time.
        if later is NO_EFFECTS:
            return self
        if self is NO_EFFECTS:
            return later
        return Effects(
            events=self.events + later.events,
            frames=self.frames + later.frames,
            stored=self.stored + later.stored,
        )

    @staticmethod
    def all(steps: Iterable[Effects]) -> Effects:
        """Return what all steps lead to, in their order."""
        return sum(steps, start=NO_EFFECTS)


NO_EFFECTS: Final = Effects()
"""Nothing to report, to send or to store."""
