"""What was encoded before: wordings and their packets (AACP section 6.3)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final, Protocol

__all__ = ["Entry", "InstructionRegistry", "Registry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One wording and its packet."""

    pattern: str
    """Which instructions get this packet, see `Instruction.pattern`."""
    key: str
    """The very instruction that it was made for, see `Instruction.key`."""
    packet: str
    """The text of a packet that is valid."""
    source: str
    """Where the packet comes from: "model", or the name of what was imported."""
    english: str = ""
    """The instruction, where whoever keeps the registry wants it kept; nothing needs it."""
    times_seen: int = 1
    """How often it was asked for, the first time included."""


class Registry(Protocol):
    """Where a `FallbackEncoder` finds entries and keeps new ones."""

    def get_or_create(self, pattern: str, make: Callable[[], Entry], /) -> Entry:
        """Return the entry of `pattern`, seen once more; where there is none, what `make` returns, kept from now on.

        Callers of one pattern wait for the first of them, in all threads and processes that share the registry, and
        `make` runs once. What it raises is raised and nothing is kept.
        """
        ...


class InstructionRegistry:
    """A registry in memory for one thread; `SqliteInstructionRegistry` is for several, for processes and for good."""

    def __init__(self, entries: Iterable[Entry] = (), *, most: int = 10_000) -> None:
        """Keep at most `most` entries; those not asked for longest go first."""
        self._entries: Final[OrderedDict[str, Entry]] = OrderedDict()
        self._most = most
        self.add(entries)

    def get_or_create(self, pattern: str, make: Callable[[], Entry], /) -> Entry:
        """Return the entry of `pattern`, seen once more, or a new one; see `Registry`."""
        known = self._entries.get(pattern)
        entry = replace(known, times_seen=known.times_seen + 1) if known else make()
        self._keep(pattern, entry)
        return entry

    def add(self, entries: Iterable[Entry]) -> int:
        """Keep entries whose wording is not known yet; return how many were new."""
        before = len(self)
        for entry in entries:
            self._keep(entry.pattern, self._entries.get(entry.pattern, entry))
        return len(self) - before

    def entries(self) -> list[Entry]:
        """Return all entries, the one that was asked for last at the end."""
        return list(self._entries.values())

    def forget(self, pattern: str) -> bool:
        """Remove the entry of `pattern`; return whether there was one."""
        return self._entries.pop(pattern, None) is not None

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def _keep(self, pattern: str, entry: Entry) -> None:
        self._entries[pattern] = entry
        self._entries.move_to_end(pattern)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)
