"""What a session host asks of the store of its sessions (ACCP section 11 leaves it open).

A log keeps for each name a sequence of numbered texts, at most one snapshot that stands for all texts up to its number,
and at most one lease. Who holds the lease, and nobody else, may append: each lease has a token that is larger than all
before it, and a token that is not the last one is refused with `Fenced`, whatever its holder believes. So a worker that
was stopped for a while and goes on cannot write over what another one wrote in the meantime. Where nobody holds the
lease, whoever knows the number of the last text may append the next one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, Protocol

from accp_adapters.serving.admission import OutOfReach
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "MAX_LOG_TEXTS",
    "MAX_LOG_TEXT_BYTES",
    "Fence",
    "Fenced",
    "FrameLog",
    "LogError",
    "check_texts",
]

MAX_LOG_TEXTS: Final = 100_000
"""Texts of a log after its snapshot."""
MAX_LOG_TEXT_BYTES: Final = 1 << 20
"""Bytes of one text in UTF-8: what a NATS server accepts unless it is told otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """The right to append to one log, until the lease ends or is given back."""

    name: str
    """The name of the log."""
    owner: str
    """Who holds the lease."""
    token: int
    """Larger than that of every earlier lease of this name."""
    last: int
    """The number of the last text when the lease began; 0 where there is none."""


class LogError(OutOfReach):
    """The log cannot be used now (E3001)."""


class Fenced(LogError):
    """The lease was lost: another worker has the log, and nothing was written."""

    def __init__(self, fence: Fence) -> None:
        """Refuse what the holder of `fence` wanted to do."""
        reason = f"expected the holder of the lease of {fence.name!r}, found {fence.owner!r} of a lease that ended"
        super().__init__(reason)


class FrameLog(Protocol):
    """Logs by name, for any number of workers. A method raises `LogError` (E3001) where the store is unreachable."""

    async def lease(self, name: str, owner: str, seconds: float) -> Fence | None:
        """Take the lease of `name`, None where another worker holds it; its holder extends it by `renew`.

        Args:
            name: The name of the log; any text of at most 512 characters.
            owner: Who takes it, for messages.
            seconds: When it ends by itself.
        """
        ...

    async def renew(self, fence: Fence, seconds: float) -> None:
        """Let the lease end `seconds` from now.

        Raises:
            Fenced: It was lost.
        """
        ...

    async def release(self, fence: Fence) -> None:
        """End the lease now; nothing happens where it was lost."""
        ...

    async def append(self, fence: Fence, number: int, text: str) -> bool:
        """Append `text` as number `number`; return whether it was appended: False where another number is the next one.

        Raises:
            Fenced: The lease was lost.
            ProtocolError: E2003, the text or the log is larger than the store takes.
        """
        ...

    async def append_next(self, name: str, number: int, text: str) -> bool:
        """Append `text` as number `number` in one operation, without a lease (compare and append).

        Return whether it was appended: False where another number is the next one, or a worker holds the lease.

        Raises:
            ProtocolError: E2003, the text or the log is larger than the store takes.
        """
        ...

    def read(self, name: str, after: int) -> AsyncIterator[tuple[int, str]]:
        """Return the numbers and texts after number `after`, in order; the first may be a later one: see `save`."""
        ...

    async def save(self, fence: Fence, number: int, text: str) -> None:
        """Replace the snapshot by `text`, which stands for all texts of the log: `number` is that of the last one.

        The texts are removed, perhaps but for the last one.

        Raises:
            Fenced: The lease was lost.
            ProtocolError: E2003, the text is larger than the store takes.
        """
        ...

    async def snapshot(self, name: str) -> tuple[int, str] | None:
        """Return number and text of the snapshot, None where there is none."""
        ...

    async def delete(self, name: str) -> None:
        """Remove everything of `name`."""
        ...

    async def aclose(self) -> None:
        """Close the connections. Closing twice is allowed."""
        ...


def check_texts(count: int, text: str, size: int | None = None) -> None:
    """Refuse a text that is too long, and one too many.

    Args:
        count: How many texts there are after the snapshot, this one included.
        text: The text.
        size: Its bytes, where they are known.

    Raises:
        ProtocolError: E2003.
    """
    found = len(text.encode("utf-8", "surrogatepass")) if size is None else size
    if found > MAX_LOG_TEXT_BYTES:
        reason = f"expected a text of at most {MAX_LOG_TEXT_BYTES:,} bytes, found {found:,}"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    if count > MAX_LOG_TEXTS:
        reason = f"expected at most {MAX_LOG_TEXTS:,} texts after a snapshot, found another one"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
