"""When and where to connect again: with growing delays, then over a relay (ACP transport 0.3, sections 3.3 and 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from accp_core.acp.link import Binding, Link

__all__ = ["Attempt", "next_attempt", "next_delay", "retry_delay"]

RETRY_DELAYS: Final = (2.0, 4.0)
"""Seconds before the second and the third attempt."""
MAX_DELAY: Final = 60.0
"""Seconds between two attempts over a relay, at most."""


# "The reference relay auto-falls back to Binding C after 3 failed P2P attempts." (section 5.1)
def retry_delay(failures: int) -> float | None:
    """Return the seconds to wait after this number of failures, None to use a relay instead.

    Raises:
        ValueError: nothing has failed.
    """
    if failures < 1:
        raise ValueError(f"expected at least one failure, found {failures!r}")
    return RETRY_DELAYS[failures - 1] if failures <= len(RETRY_DELAYS) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The next attempt to connect."""

    link: Link
    """Where to connect."""
    delay: float
    """Seconds to wait before."""


def next_delay(failures: int, *, chance: Callable[[], float]) -> float:
    """Return the seconds to wait before the next attempt; raises and takes `chance` as `next_attempt`."""
    delay = retry_delay(failures)
    if delay is None:
        delay = min(MAX_DELAY, RETRY_DELAYS[0] * 2.0 ** min(failures - len(RETRY_DELAYS) - 1, 10))
    return delay * (0.5 + chance() / 2)


def next_attempt(link: Link, failures: int, *, chance: Callable[[], float], relay: Link | None = None) -> Attempt:
    """Return where and when to connect after `failures` attempts in a row have failed.

    Args:
        link: The link of the peer.
        failures: How many attempts have failed since the last connection.
        chance: Returns a random number from 0 to 1, such as `random.random`: a delay is half to all of its length, so
            that peers that were cut off together do not come back together.
        relay: A link on the relay to use after three failures; its token is replaced by that of `link`. None: `link`
            is tried on and on.

    Raises:
        ValueError: nothing has failed.
    """
    delay = next_delay(failures, chance=chance)
    if retry_delay(failures) is None and relay is not None and link.binding is Binding.WS_P2P:
        link = link.by_relay(relay.host, relay.port, tls=relay.tls)
    return Attempt(link=link, delay=delay)
