"""Where a session host keeps its sessions, so that another worker can go on with them (ACCP section 11)."""

from __future__ import annotations

from typing import Protocol

from accp_core.ports import ColdStore

__all__ = ["SessionStore"]


class SessionStore(ColdStore, Protocol):
    """A cold store that keeps sessions too: one text with a version for each, replaced by compare-and-set.

    Any number of workers share one. A method may block; the host calls it in a thread.
    """

    def load_session(self, name: str) -> tuple[int, str] | None:
        """Return the version and the data of the session `name`, None where there is none."""
        ...

    def save_session(self, name: str, version: int, data: str) -> bool:
        """Save `data` as version `version` if the stored version is the one before; return whether it was saved.

        Version 1 is saved where there is no session of that name.
        """
        ...

    def delete_session(self, name: str, version: int) -> None:
        """Delete the session `name` if its version is still `version`."""
        ...
