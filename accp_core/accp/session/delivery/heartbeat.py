"""When to send a `ping`, and when the peer counts as silent (ACCP section 11.2)."""

from __future__ import annotations

__all__ = ["Heartbeat"]


# "Heartbeat: ping/pong intent frames every 30 seconds" (section 11.2)
class Heartbeat:
    """The heartbeat of one session; all times are in seconds of the Unix epoch."""

    def __init__(self, interval: int | None) -> None:
        """Wait for the start; `interval` is the time between two pings in seconds, None: no heartbeat."""
        self._interval = interval
        self._started = False
        self._last_heard = 0
        self._last_ping = 0
        self._reported = False

    def start(self, now: int) -> None:
        """Start to count, at the first call only."""
        if not self._started:
            self._started, self._last_heard, self._last_ping = True, now, now

    def record_frame(self, now: int) -> None:
        """Remember that something was received from the peer."""
        self._last_heard, self._reported = now, False

    def next_deadline(self) -> int | None:
        """Return when to look at the heartbeat again, None where there is none."""
        if self._interval is None or not self._started:
            return None
        ping = self._last_ping + self._interval
        return ping if self._reported else min(ping, self._last_heard + 2 * self._interval)

    def take_ping(self, now: int) -> bool:
        """Return whether a `ping` is due, which is then counted as sent."""
        if self._interval is None or now < self._last_ping + self._interval:
            return False
        self._last_ping = now
        return True

    def take_silence(self, now: int) -> int | None:
        """Return when something was received last, where that is two intervals ago and was not reported; else None."""
        if self._interval is None or self._reported or now < self._last_heard + 2 * self._interval:
            return None
        self._reported = True
        return self._last_heard
