"""The texts that a cold store keeps for the sessions of a thread, read without changing them, and when each expires."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from accp_adapters.inspector.live.sources.sqlite_log import read_only, tables_of
from accp_adapters.replay import UnreadableRun
from accp_adapters.replay.formats.checkpoints.postgres_url import connected, is_postgres
from accp_adapters.stores.passwords import without_password
from accp_adapters.stores.texts import MAX_TEXT_BYTES, encode_name, namespace_label, read_item, unpack_text
from accp_core.references import find_references, key_of
from accp_core.strict_json import is_utf8

if TYPE_CHECKING:
    import redis

__all__ = ["ColdTexts", "KeptText", "open_texts"]

_SQLITE: Final = "sqlite:"
_REDIS: Final = ("redis://", "rediss://", "unix://")
_TEXT: Final = "SELECT text FROM cold WHERE session = ? AND key BETWEEN ? AND ?"
_SECONDS: Final = 5.0
_KEY_CHARS: Final = len(key_of(""))
_MAX_CHARS: Final = 2 * MAX_TEXT_BYTES
"""Characters of an item, whose text is written as JSON."""
_ITEM: Final = """
    SELECT substr(value, 1, ?), (julianday(expires_at) - julianday('now')) * 86400
    FROM store WHERE prefix = ? AND key BETWEEN ? AND ?
"""
"""A text in LangGraph's `SqliteStore`."""
_POSTGRES_ITEM: Final = """
    SELECT left(value::text, %s), extract(epoch FROM expires_at - now())::float
    FROM store WHERE prefix = %s AND key BETWEEN %s AND %s
"""
"""The same in its `PostgresStore`."""


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
        """Return the text under a key, whole or short, of one of the sessions, None where none has it.

        Raises:
            ProtocolError: the store is unreachable, or holds something else.
            UnreadableRun: the file is no such store.
        """
        ...


def open_texts(address: str) -> ColdTexts:
    """Return the store at an address.

    Args:
        address: `sqlite:PATH` or the path of a file, of a `SqliteColdStore` or of LangGraph's `SqliteStore`;
            `redis://…`, `rediss://…` or `unix://…`; `postgresql://…`, of LangGraph's `PostgresStore`.

    Raises:
        UnreadableRun: it is no such store.
        ImportError: the extra `redis` is not installed.
    """
    if address.startswith(_REDIS):
        import redis  # noqa: PLC0415  optional: the extra `redis`

        return _RedisTexts(
            redis.Redis.from_url(address, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS), address
        )
    if is_postgres(address):
        items = _PostgresItems(address)
        items.find([""], "")  # refuses an address without such a store now, and not when a page is opened
        return items
    path = address.removeprefix(_SQLITE)
    tables = tables_of(path)
    if "cold" in tables:
        return _SqliteTexts(path)
    if "store" in tables:
        return _SqliteItems(path)
    reason = "expected the table 'cold' of a SqliteColdStore or 'store' of LangGraph's SqliteStore, found none"
    raise UnreadableRun(reason, path=path)


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
        from accp_adapters.stores.redis import redis_refusals  # noqa: PLC0415  as the client

        with redis_refusals(without_password(self.address), "get"):
            for session in sessions:
                name = encode_name(f"accp:{session}")
                packed: Any = self.client.hget(name, self._whole_key(name, key))
                left: Any = self.client.pttl(name)
                if packed is not None:
                    return KeptText(unpack_text(packed), left / 1_000 if left >= 0 else None)
        return None

    def _whole_key(self, name: bytes, key: str) -> str:
        first, last = _bounds(key)
        keys: Any = () if first == last else self.client.hkeys(name)
        return next((each for each in map(bytes.decode, keys) if first <= each <= last), key)


@dataclass(frozen=True, slots=True)
class _SqliteItems:
    path: str

    def find(self, sessions: Iterable[str], key: str) -> KeptText | None:
        """Return a text of a `BaseStore` in SQLite."""
        with read_only(self.path) as database:
            return _first_item(
                database.execute(_ITEM, (_MAX_CHARS, _prefix(session), *_bounds(key))).fetchone()
                for session in sessions
            )


@dataclass(frozen=True, slots=True)
class _PostgresItems:
    address: str

    def find(self, sessions: Iterable[str], key: str) -> KeptText | None:
        """Return a text of a `BaseStore` in PostgreSQL."""
        with connected(self.address) as connection:
            return _first_item(
                connection.execute(_POSTGRES_ITEM, (_MAX_CHARS, _prefix(session), *_bounds(key))).fetchone()
                for session in sessions
            )


def _bounds(key: str) -> tuple[str, str]:
    """Return the first and the last whole key that a key, whole or short, may mean."""
    return key, key.ljust(_KEY_CHARS, "9") if key in find_references(key) else key


def _prefix(session: str) -> str:
    return f"accp.{namespace_label(session)}"


def _first_item(rows: Iterable[tuple[Any, float | None] | None]) -> KeptText | None:
    """Return the first text that there is; what the store has forgotten, or is to forget now, is none.

    Raises:
        ProtocolError: E2001, the item is not one of `AccpMiddleware`, or a later version wrote it.
    """
    for value, seconds in filter(None, rows):
        if seconds is not None and seconds <= 0:
            continue
        return KeptText(read_item(_json_of(value)), seconds)
    return None


def _json_of(text: Any) -> object:
    """Return the JSON of a text; what is none as it is."""
    try:
        return json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return text


def _row(database: sqlite3.Connection, session: str, key: str) -> tuple[object] | None:
    names = (name if is_utf8(name) else encode_name(name) for name in (session, *_bounds(key)))
    found: tuple[object] | None = database.execute(_TEXT, tuple(names)).fetchone()
    return found
