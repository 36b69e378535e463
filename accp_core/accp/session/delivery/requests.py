"""Our requests that have no answer yet: when each is sent again or given up (ACCP section 3.7, item 3)."""

from __future__ import annotations

from dataclasses import dataclass

from accp_core.accp.message import Message

__all__ = ["PendingRequest", "PendingRequests"]


@dataclass(slots=True)
class PendingRequest:
    """A request of ours without an answer."""

    message: Message
    deadline: int | None
    """When to act if nothing arrives; None while the peer itself waits for something."""
    retries: int
    """How often it may still be sent again."""


class PendingRequests:
    """Our requests that have no answer yet; the limit of open exchanges bounds their number."""

    def __init__(self, *, timeout: int | None, retries: int, delay: int) -> None:
        """Start without requests.

        Args:
            timeout: Seconds to wait for an answer; None: without end.
            retries: How often a request is sent again.
            delay: Seconds between a retryable error and the retry.
        """
        self._timeout = timeout
        self._retries = retries
        self._delay = delay
        self._requests: dict[str, PendingRequest] = {}

    def __len__(self) -> int:
        return len(self._requests)

    def next_deadline(self) -> int | None:
        """Return the time at which the next request is due, None where none has a deadline."""
        deadlines = (request.deadline for request in self._requests.values())
        return min((deadline for deadline in deadlines if deadline is not None), default=None)

    def start(self, chain: str, message: Message, now: int) -> None:
        """Wait for the answer to a request that is sent now, or sent again."""
        known = self._requests.get(chain)
        retries = known.retries if known else self._retries
        self._requests[chain] = PendingRequest(message, self._deadline(now), retries)

    def extend(self, chain: str, now: int, *, waiting: bool = False) -> None:
        """Set the deadline again, as the peer is at work; without a deadline where the peer is `waiting` itself."""
        if chain in self._requests:
            self._requests[chain].deadline = None if waiting else self._deadline(now)

    def finish(self, chain: str, now: int, *, retryable: bool = False) -> None:
        """Drop a request that was answered, or schedule its retry after a `retryable` error."""
        request = self._requests.get(chain)
        if request is not None and retryable and request.retries > 0:
            request.deadline = now + self._delay
        else:
            self._requests.pop(chain, None)

    # "Frames with retryable error codes MAY be retransmitted with the same "correlation_id" and a new "msg_id" and
    # "seq"." (section 3.7, item 3)
    def take_due(self, now: int) -> tuple[list[tuple[str, Message]], list[str]]:
        """Return the chains and requests to send again, and the chains to give up."""
        retries: list[tuple[str, Message]] = []
        expired: list[str] = []
        for chain, request in list(self._requests.items()):
            if request.deadline is None or now < request.deadline:
                continue
            if request.retries > 0:
                request.retries -= 1
                retries.append((chain, request.message))
            else:
                del self._requests[chain]
                expired.append(chain)
        return retries, expired

    def _deadline(self, now: int) -> int | None:
        return None if self._timeout is None else now + self._timeout
