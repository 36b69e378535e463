"""What `accp mcp` says on standard error: at the start what it does, at the end what it saved."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from accp_adapters.cli.sources import say

if TYPE_CHECKING:
    from accp_adapters.mcp.savings.meter import Meter

__all__ = ["Terminated", "metering", "server_name"]

_LAUNCHERS: Final = frozenset({"bunx", "cmd", "node", "npx", "python", "python3", "uv", "uvx"})
_POLICIES: Final = {
    "always": "results become views for every host where that saves tokens (--policy never switches it off)",
    "negotiate": "results become frames for clients that ask for them; no host of today does (--policy always)",
    "never": "results stay as they are",
}


class Terminated(BaseException):
    """A signal ends this process, once what must be kept is kept."""

    def __init__(self, number: int) -> None:
        """End by the signal `number`."""
        super().__init__(number)
        self.number: Final = number


def server_name(name: str, command: Sequence[str], url: str) -> str:
    """Return the name that the user gave a server, or one from its command or URL."""
    if name or url:
        return name or _host(url) or "server"
    first = PurePath(command[0]).stem
    arguments = [PurePath(word).name for word in command[1:] if not word.startswith("-")]
    return arguments[0] if first in _LAUNCHERS and arguments else first


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # it is refused where it is opened
        return None


@contextmanager
def metering(server: str, policy: str, *, state_dir: Path | None, quiet: bool) -> Iterator[Meter]:
    """Say what is done for a server, count it, and say at the end what that saved.

    Args:
        server: The name of the server.
        policy: As in `EncoderOptions`.
        state_dir: The folder of our state; None: where the user's state is kept.
        quiet: Whether nothing is said.

    Raises:
        Terminated: SIGTERM ended the block; the counts are kept.
    """
    from accp_adapters.cli.commands.mcp.install import machine_of
    from accp_adapters.mcp.savings.counts import total_of
    from accp_adapters.mcp.savings.ledger import Ledger
    from accp_adapters.mcp.savings.meter import Meter
    from accp_adapters.tokens import count_o200k

    _, state = machine_of(state_dir)
    meter = Meter(server, count_o200k, Ledger(state))
    if not quiet:
        say(f"accp mcp: {server}: {_POLICIES[policy]}")
    try:
        with _terminated():
            yield meter
    finally:
        counts = meter.close()
        if not quiet:
            said = [f"{kind}: {each.describe()}" for kind, each in sorted(counts.items())]
            said += [total_of(counts.values())] if len(counts) > 1 else []
            say(f"accp mcp: {server}: {'; '.join(said) or 'no results'}")


@contextmanager
def _terminated() -> Iterator[None]:
    """Raise `Terminated` in the block for SIGTERM, which would end the process there."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _: object) -> None:
        raise Terminated(number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
