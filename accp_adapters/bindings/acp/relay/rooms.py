"""The rooms of a relay: bounded, deleted when they are not used (ACP transport 0.3, sections 5.3 and 5.5)."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final

from accp_adapters.bindings.acp.relay.limits import RelayLimits
from accp_adapters.bindings.acp.sessions.signal import Signal
from accp_adapters.serving.rates import RateLimit
from accp_adapters.serving.shares import Shares, TooMany
from accp_core.bounded import BoundedDict
from accp_core.strict_json import compact_json

__all__ = ["Room", "RoomRefused", "Rooms"]

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{6,64}")
_MAX_AGENTS: Final = 64
_ENTRY_BYTES: Final = 500
"""About the memory of a message beside its text."""


class RoomRefused(Exception):
    """A request that a relay refuses; `error` and `status` are those of the answer."""

    def __init__(self, error: str, status: int) -> None:
        """Refuse with `error`."""
        super().__init__(error)
        self.error = error
        self.status = status


@dataclass(frozen=True, slots=True)
class _Entry:
    id: str
    text: bytes
    milliseconds: int

    @property
    def size(self) -> int:
        """Its bytes, and those of what belongs to it."""
        return len(self.text) + _ENTRY_BYTES + len(self.id)


class Room:
    """The messages of one session, numbered from 1."""

    def __init__(self, session_id: str, owner: str, now: float, *, messages: int) -> None:
        """Open a room for the address `owner` at `now`, in seconds of the Unix epoch."""
        self.session_id = session_id
        self.owner = owner
        """The address from which it was made."""
        self.agents: BoundedDict[str, bool] = BoundedDict(_MAX_AGENTS)
        """The names of who has joined."""
        self.polled: BoundedDict[str, float] = BoundedDict(_MAX_AGENTS)
        """When each connection has polled last, by the name that it gives itself; empty: those that give none."""
        self.changed = Signal()
        """Notified when there is a new message."""
        self.last = 0
        """The number of the last message."""
        self.size = 0
        """Bytes of the messages that are kept."""
        self.used = now
        """When it was used last."""
        self.created = now
        """When it was made."""
        self._entries: deque[_Entry] = deque()
        self._known: BoundedDict[str, int] = BoundedDict(messages)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def is_joined(self) -> bool:
        """Whether an agent has joined the room or sent a message in it."""
        return bool(self.agents) or self.last > 0

    def number_of(self, entry_id: str) -> int | None:
        """Return the number of a message that was added, None for an unknown one."""
        return self._known.get(entry_id)

    def append(self, entry: Mapping[str, Any], entry_id: str, now: float) -> int:
        """Add a message and return its number; the relay's own members replace those of the sender."""
        self.last += 1
        milliseconds = int(now * 1000)
        text = compact_json({**entry, "id": entry_id, "seq": self.last, "ts": milliseconds}).encode()
        self._entries.append(_Entry(entry_id, text, milliseconds))
        self._known.put(entry_id, self.last)
        self.size += self._entries[-1].size
        self.changed.notify()
        return self.last

    def drop_oldest(self) -> None:
        """Forget the oldest message."""
        self.size -= self._entries.popleft().size

    def drop_before(self, milliseconds: int) -> None:
        """Forget the messages that are older."""
        while self._entries and self._entries[0].milliseconds < milliseconds:
            self.drop_oldest()

    def after(
        self, after_id: str | None, since: float | None, limit: int, max_bytes: int
    ) -> tuple[list[bytes], str | None]:
        """Return the texts after a message, or from a time on, and the id of the last of them.

        They are at most `limit`, and of at most `max_bytes` together, but for the first one. An id that is not
        known any more counts as none: everything that is kept is returned.
        """
        number = self._known.get(after_id or "", 0)
        first = max(0, number - (self.last - len(self._entries)))
        found = [self._entries[index] for index in range(first, len(self._entries))]
        if since is not None and after_id is None:
            found = [entry for entry in found if entry.milliseconds > since]
        sizes = accumulate(len(entry.text) for entry in found[:limit])
        fitting = found[: max(1, sum(size <= max_bytes for size in sizes))]
        return [entry.text for entry in fitting], fitting[-1].id if fitting else after_id

    def status(self, now: float) -> dict[str, Any]:
        """Return what `GET /acp/T/status` says."""
        return {
            "agents": list(self.agents),
            "messages": len(self._entries),
            "server_seq": self.last,
            "created": int(self.created * 1000),
            "last_active": int(self.used * 1000),
            "idle_s": round(now - self.used, 3),
        }


class Rooms:
    """The rooms by their tokens."""

    def __init__(self, limits: RelayLimits, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Start without rooms; `clock` returns seconds, by which the rate of each room is measured."""
        self._limits = limits
        self._rooms: dict[str, Room] = {}
        self._shares = Shares(limits.rooms, limits.rooms_each)
        self._rate = RateLimit(limits.rate, 2 * limits.rate, clock=clock)

    def __len__(self) -> int:
        return len(self._rooms)

    def create(self, token: str, owner: str, now: float, new_token: Callable[[], str]) -> tuple[str, bool]:
        """Return the token of a room and whether it was there; a token of another form is replaced by a new one.

        For one room too many of the address `owner`, the oldest one that nobody has joined gives way.

        Raises:
            RoomRefused: There are too many rooms (503).
        """
        self._expire(now)
        if token in self._rooms:
            self._rooms[token].used = now
            return token, True
        token = token if _TOKEN.fullmatch(token) else new_token()
        try:
            gives_way = self._shares.admit(owner, token, lambda name: self._rooms[name].is_joined)
        except TooMany:
            raise RoomRefused("too_many_sessions", 503) from None
        for each in gives_way:
            del self._rooms[each]
        limits = self._limits
        self._rooms[token] = Room(new_token(), owner, now, messages=limits.messages)
        return token, False

    def get(self, token: str, now: float) -> Room:
        """Return a room.

        Raises:
            RoomRefused: There is none of that token (403).
        """
        self._expire(now)
        room = self._rooms.get(token)
        if room is None:
            raise RoomRefused("invalid_token", 403)
        room.used = now
        room.drop_before(int((now - self._limits.ttl_seconds) * 1000))
        return room

    def delete(self, token: str) -> None:
        """Forget a room, if it is there."""
        room = self._rooms.pop(token, None)
        if room is not None:
            self._shares.remove(room.owner, token)

    def add(self, room: Room, entry: Mapping[str, Any], now: float, new_id: str) -> tuple[str, int, bool]:
        """Add a message to a room; return its id, its number, and whether it is new.

        Raises:
            RoomRefused: The room gets too many (429), or there is no memory for it (503).
        """
        given = entry.get("id")
        entry_id = given if isinstance(given, str) and 0 < len(given) <= 200 else new_id
        if (known := room.number_of(entry_id)) is not None:
            return entry_id, known, False
        if self._rate.take(room.session_id):
            raise RoomRefused("rate_limited", 429)
        sizes = {each: each.size for each in self._rooms.values()}
        own = sum(size for each, size in sizes.items() if each.owner == room.owner)
        if sum(sizes.values()) > self._limits.total_bytes or own > self._limits.address_bytes:
            raise RoomRefused("out_of_memory", 503)
        number = room.append(entry, entry_id, now)
        while len(room) > self._limits.messages or (room.size > self._limits.room_bytes and len(room) > 1):
            room.drop_oldest()
        return entry_id, number, True

    def _expire(self, now: float) -> None:
        for token in [token for token, room in self._rooms.items() if self._is_over(room, now)]:
            self.delete(token)

    def _is_over(self, room: Room, now: float) -> bool:
        is_missed = not room.is_joined and now - room.created > self._limits.join_seconds
        return is_missed or now - room.used > self._limits.ttl_seconds
