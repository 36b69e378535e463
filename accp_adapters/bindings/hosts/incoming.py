"""A received frame of a session, and what answers it."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256

from accp_core.accp.message import Message

__all__ = ["Incoming", "digest_of"]


@dataclass(slots=True, kw_only=True)
class Incoming:
    """A received frame and what answers it."""

    digest: str
    """Of its text: the same frame again gets the same answer."""
    size: int = 0
    """Its characters, which count as long as its request is kept."""
    frames: list[str] = field(default_factory=list)
    """What was answered so far."""
    is_held: bool = False
    """Whether it waits for an earlier frame, also after E3003 has named that one."""
    number: int = 0
    """The sequence number of a frame that waits."""
    request: Message | None = None
    """The request that a handler answers; None where there is nothing to answer any more."""
    worker: str = ""
    """The worker that handles it."""
    runs: int = 0
    """How many workers began to handle it."""
    sent: int = 0
    """How many messages of a handler answer it."""

    def characters(self) -> int:
        """Return how long its request, as long as that is open, and what was answered are."""
        return sum(map(len, self.frames)) + (0 if self.request is None else self.size)

    @property
    def is_open(self) -> bool:
        """Whether more will be answered."""
        return self.is_held or self.request is not None


def digest_of(text: str) -> str:
    """Return by what a text is recognized when it comes again."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
