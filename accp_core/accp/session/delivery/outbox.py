"""The frames that the peer has not acknowledged, which may have to be sent again (ACCP section 3.7)."""

from __future__ import annotations

from collections import deque
from typing import Final

from accp_core.accp.frame import Envelope

__all__ = ["SPARE_FRAMES", "FrameText", "Outbox"]

SPARE_FRAMES: Final = 1_024
"""Frames beyond the window, such as a `ping:resume` for each connection that was lost before anything was heard."""


class FrameText(str):
    """The text of a sent frame, with its metadata: whoever stores or routes the frame need not parse it again."""

    __slots__ = ("envelope",)
    envelope: Envelope
    """The metadata; msg_id, sequence and timestamp are set."""

    def __new__(cls, text: str, envelope: Envelope) -> FrameText:
        """Return `text` with its `envelope`."""
        frame = super().__new__(cls, text)
        frame.envelope = envelope
        return frame


class Outbox:
    """The frames that were sent last, in order and without gaps."""

    def __init__(self, *, frames: int, characters: int) -> None:
        """Start empty.

        Args:
            frames: The window: frames that are kept, or may be unacknowledged.
            characters: Characters that these may have together.
        """
        self._limits = frames, characters
        self.spare = 0
        """Frames beyond the window, for those that may not wait, such as `pong`. The oldest frame is dropped for one
        beyond them; a session whose peer misses it cannot be resumed."""
        self._reserved = 0
        """The spare frames that are never given back."""
        self._sent: deque[FrameText] = deque()
        self._characters = 0
        self.last = 0
        """The number of the last frame."""
        self.acknowledged = 0
        """The peer has processed every frame up to this number."""

    def __len__(self) -> int:
        return len(self._sent)

    @property
    def oldest(self) -> int:
        """The number of the first frame that is kept; of the next frame where none is."""
        return _number(self._sent[0]) if self._sent else self.last + 1

    def has_room(self, frames: int = 1) -> bool:
        """Return whether a message of so many frames may be sent now.

        Half of the window has room for any number of them, because only beyond a half the peer is asked for an
        acknowledgement, and without one a longer message would wait for ever.
        """
        window, characters = self._limits
        needed = min(frames, max(1, window // 2))
        return not self._sent or (len(self._sent) + needed <= window and self._characters < characters)

    def is_half_full(self, frames: int) -> bool:
        """Return whether so many frames, or the characters of all that are kept, pass half of the window."""
        window, characters = self._limits
        return frames > window // 2 or (frames > 0 and self._characters > characters // 2)

    def is_full(self) -> bool:
        """Return whether half of the spare frames are used: the rest is for answers, which cannot be avoided."""
        return len(self._sent) >= self._limits[0] + self.spare // 2

    def reserve(self, frames: int) -> None:
        """Have at least so many spare frames as long as the session lasts."""
        self._reserved = max(self._reserved, frames)
        self.spare = max(self.spare, frames)

    def make_room(self, frames: int) -> None:
        """Keep all frames of a message of so many, however many they are: their characters are bounded."""
        self.spare = max(self.spare, 2 * (len(self._sent) + frames))

    def keep(self, frames: int) -> None:
        """Keep at least so many frames: a peer may ask for each frame of a message while the message is on its way."""
        self.spare = max(self.spare, frames - self._limits[0])

    def add(self, text: FrameText) -> None:
        """Keep the text of a frame."""
        number = _number(text)
        self._sent.append(text)
        self._characters += len(text)
        self.last = number
        frames, characters = self._limits
        while len(self._sent) > frames + self.spare or self._characters > characters * (2 if self.spare else 1):
            self._drop()

    def acknowledge(self, number: int) -> bool:
        """Drop the frames up to `number`, which the peer has processed; return whether this is news."""
        if not self.acknowledged < number <= self.last:
            return False
        self.acknowledged = number
        while self._sent and _number(self._sent[0]) <= number:
            self._drop()
        self._give_back()
        return True

    def number_of(self, msg_id: str | None) -> int | None:
        """Return the sequence number of a kept frame."""
        return next((_number(text) for text in reversed(self._sent) if text.envelope.msg_id == msg_id), None)

    def since(self, number: int) -> tuple[FrameText, ...]:
        """Return the texts from sequence number `number` on, none where that one is not kept any more."""
        if number < self.oldest:
            return ()
        return tuple(text for text in self._sent if _number(text) >= number)

    def _give_back(self) -> None:
        """Give back what long messages needed, once the window alone has room for what is left of them."""
        frames, characters = self._limits
        if len(self._sent) <= frames and self._characters <= characters:
            self.spare = self._reserved

    def _drop(self) -> None:
        self._characters -= len(self._sent.popleft())


def _number(text: FrameText) -> int:
    return text.envelope.sequence or 0
