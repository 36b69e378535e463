"""The texts that a cold store keeps for the sessions of a thread, read without changing them, and when each expires."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from accp_adapters.inspector.live.sources.sqlite_log import read_only, tables_of
from accp_adapters.replay import UnreadableRun
from accp_adapters.stores.texts import encode_name, unpack_text
from accp_core.strict_json import is_utf8

if TYPE_CHECKING:
    import redis

__all__ = ["ColdTexts", "KeptText", "open_texts"]

_SQLITE: Final = "sqlite:"
_REDIS: Final = ("redis://", "rediss://", "unix://")
_TEXT: Final = "SELECT text FROM cold WHERE session = ? AND key = ?"
_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class KeptText:
    """A text in a store."""

    text: str
    """The text."""
    seconds: float | None
    """Seconds until the store deletes it; None: it does not by itself."""


class ColdTexts(Protocol):
    """A cold store that is only read."""

    def find(self, sessions: Iterable[str], key: str) -> KeptText | None:
        """Return the text under a key of one of the sessions, None where none has it.

        Raises:
            ProtocolError: the store is unreachable, or holds something else.
            UnreadableRun: the file is no such store.
        """
        ...


def open_texts(address: str) -> ColdTexts:
    """Return the store at an address.

    Args:
        address: `sqlite:PATH`, the path of a file, `redis://…`, `rediss://…` or `unix://…`.

    Raises:
        UnreadableRun: it is no such store.
        ImportError: the extra `redis` is not installed.
    """
    if address.startswith(_REDIS):
        import redis  # noqa: PLC0415  optional: the extra `redis`

        return _RedisTexts(
            redis.Redis.from_url(address, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS), address
        )
    path = address.removeprefix(_SQLITE)
    if "cold" not in tables_of(path):
        raise UnreadableRun("expected the table 'cold' of a SqliteColdStore, found none", path=path)
    return _SqliteTexts(path)


@dataclass(frozen=True, slots=True)
class _SqliteTexts:
    path: str

    def find(self, sessions: Iterable[str], key: str) -> KeptText | None:
        """Return a text; this store deletes none by itself."""
        with read_only(self.path) as database:
            rows = (_row(database, session, key) for session in sessions)
            packed = next((row[0] for row in rows if row), None)
        return None if packed is None else KeptText(unpack_text(packed), None)


@dataclass(frozen=True, slots=True)
class _RedisTexts:
    client: redis.Redis
    address: str

    def find(self, sessions: Iterable[str], key: str) -> KeptText | None:
        """Return a text; a session expires as a whole."""
        from accp_adapters.stores.redis import redis_refusals, without_password  # noqa: PLC0415  as the client

        with redis_refusals(without_password(self.address), "get"):
            for session in sessions:
                name = encode_name(f"accp:{session}")
                packed: Any = self.client.hget(name, key)
                left: Any = self.client.pttl(name)
                if packed is not None:
                    return KeptText(unpack_text(packed), left / 1_000 if left >= 0 else None)
        return None


def _row(database: sqlite3.Connection, session: str, key: str) -> tuple[object] | None:
    names = (name if is_utf8(name) else encode_name(name) for name in (session, key))
    found: tuple[object] | None = database.execute(_TEXT, tuple(names)).fetchone()
    return found
