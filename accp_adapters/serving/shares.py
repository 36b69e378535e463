"""What owners keep here, and what gives way where there is no room: of whoever has most, never of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Arrivals", "Places", "Shares", "TooMany", "Unread"]


class TooMany(ProtocolError):
    """A limit is reached; the same may be accepted later (E2003)."""

    def __init__(self, reason: str, *, is_own: bool, retry_after: float = 1.0) -> None:
        """Refuse, and say why.

        Args:
            reason: The reason.
            is_own: Whether it is the principal's own limit (429), not the limit of all (503).
            retry_after: When to try again, in seconds from now.
        """
        super().__init__(reason, code=ErrorCode.BUDGET_EXCEEDED)
        self.is_own: Final = is_own
        self.retry_after: Final = retry_after


class Shares:
    """The names of what is kept, by their owners; the names of one owner are in the order of their last use."""

    def __init__(self, total: int, each: int) -> None:
        """Keep names of the size `total` at most, and `each` of one owner."""
        self._total, self._each = total, each
        self._sizes: Final[dict[str, dict[str, int]]] = {}
        self._owned: Final[dict[str, int]] = {}

    def __len__(self) -> int:
        """Return the size of all that is kept: how many, where each has the size 1."""
        return sum(self._owned.values())

    def admit(
        self, owner: str, name: str, is_busy: Callable[[str], bool] = lambda _: False, *, size: int = 1
    ) -> list[str]:
        """Keep `name`, of `size`, as the one that `owner` has used last.

        Args:
            owner: Whose it is.
            name: A name that no other owner has.
            is_busy: Returns whether a name should not give way now.
            size: What it counts.

        Returns:
            The names that give way, and are forgotten: the least recently used ones of `owner` where it has its share,
            of the owner who has most where there is too much in all.

        Raises:
            TooMany: E2003, `owner` is the one who has to give way, and all that it has is busy.
        """
        given_up = list[tuple[str, str, int]]()
        try:
            while gives_way := self._least_used(owner, name, size, is_busy):
                given_up.append((*gives_way, self._sizes[gives_way[0]][gives_way[1]]))
                self.remove(*gives_way)
        except TooMany:
            for each in reversed(given_up):
                self._put_back(*each)
            raise
        self.remove(owner, name)
        self._sizes.setdefault(owner, {})[name] = size
        self._owned[owner] = self._owned.get(owner, 0) + size
        return [each for _, each, _ in given_up]

    def _put_back(self, owner: str, name: str, size: int) -> None:
        """Keep a name again that was the least recently used one of `owner`."""
        self._sizes[owner] = {name: size, **self._sizes.get(owner, {})}
        self._owned[owner] = self._owned.get(owner, 0) + size

    def remove(self, owner: str, name: str) -> None:
        """Forget a name, if it is kept."""
        mine = self._sizes.get(owner, {})
        if name in mine:
            self._owned[owner] -= mine.pop(name)
            if not mine:
                del self._sizes[owner], self._owned[owner]

    def _least_used(self, owner: str, name: str, size: int, is_busy: Callable[[str], bool]) -> tuple[str, str] | None:
        """Return who gives way, and with what, for `name` of `owner`, which is to have `size`."""
        more = size - self._sizes.get(owner, {}).get(name, 0)
        own = self._owned.get(owner, 0) + more
        if more <= 0 or (own <= self._each and len(self) + more <= self._total):
            return None
        most = owner
        if own <= self._each:
            most = max(self._owned, key=lambda each: (own if each == owner else self._owned[each], each == owner))
        names = [each for each in self._sizes.get(most, {}) if each != name]
        free = next((each for each in names if not is_busy(each)), None)
        if free is None and most == owner:
            count = len(names)
            raise TooMany(f"expected at most {count} at once of {owner!r:.80}, found all of them in use", is_own=True)
        return most, free if free is not None else names[0]


class Places:
    """The places for requests and connections."""

    def __init__(self, places: int, each: int) -> None:
        """Have `places`, and at most `each` for one principal."""
        self._places, self._each = places, each
        self._taken: dict[str, int] = {}

    def __len__(self) -> int:
        """Return how many places are in use."""
        return sum(self._taken.values())

    @contextmanager
    def take(self, name: str) -> Iterator[None]:
        """Take a place for principal `name` until the end of the block.

        Raises:
            TooMany: There is none.
        """
        taken = self._taken.get(name, 0)
        if taken >= self._each:
            raise TooMany(f"expected at most {self._each} requests and connections", is_own=True)
        if len(self) >= self._places:
            raise TooMany("expected fewer requests and connections of all", is_own=False)
        self._taken[name] = taken + 1
        try:
            yield
        finally:
            self._taken[name] -= 1
            if not self._taken[name]:
                del self._taken[name]


class Arrivals:
    """Connections from which no complete request has come: too many cut the oldest of the address that has most."""

    def __init__(self, total: int = 512, each: int = 128) -> None:
        """Have `total` connections at most, and `each` of one address."""
        self._total, self._each = total, each
        self._waiting: Final[dict[str, dict[object, Callable[[], None]]]] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return sum(map(len, self._waiting.values()))

    def enter(self, address: str, connection: object, cut: Callable[[], None]) -> None:
        """Wait for a connection; where there are too many then, one is cut.

        Args:
            address: Where it comes from.
            connection: The connection, hashable, for which nobody waits.
            cut: Ends it.
        """
        mine = self._waiting.setdefault(address, {})
        mine[connection] = cut
        if len(mine) <= self._each:
            if len(self) <= self._total:
                return
            address = max(self._waiting, key=lambda each: len(self._waiting[each]))
        oldest, cut = next(iter(self._waiting[address].items()))
        self.leave(address, oldest)
        cut()

    def leave(self, address: str, connection: object) -> None:
        """Wait no longer for a connection, if it was waited for."""
        mine = self._waiting.get(address, {})
        mine.pop(connection, None)
        if not mine:
            self._waiting.pop(address, None)


class Unread:
    """Bytes that have come and were not taken yet; too many cut the oldest connection of the address that has most."""

    def __init__(self, total: int = 64 << 20) -> None:
        """Have `total` bytes at most."""
        self._shares: Final = Shares(total, total)
        self._cuts: Final[dict[str, Callable[[], None]]] = {}

    def count(self, address: str, connection: object, size: int, cut: Callable[[], None]) -> None:
        """Count `size` bytes of a connection, none where all is taken; where there are too many then, one is cut.

        Args:
            address: Where it comes from.
            connection: The connection.
            size: Its bytes.
            cut: Ends it.
        """
        name = str(id(connection))
        if not size:
            self._shares.remove(address, name)
            self._cuts.pop(name, None)
            return
        self._cuts[name] = cut
        try:
            given_up = self._shares.admit(address, name, size=size)
        except TooMany:  # it has most, alone
            given_up = [name]
        for each in given_up:
            self._cuts.pop(each)()
