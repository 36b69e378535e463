"""The store at an address, for commands and configuration files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from accp_adapters.stores.sqlite import SqliteColdStore

if TYPE_CHECKING:
    from accp_adapters.stores.redis import RedisColdStore

__all__ = ["open_store"]

_SQLITE: Final = "sqlite:"
_REDIS: Final = ("redis://", "rediss://", "unix://")


def open_store(address: str, *, ttl: float | None = None) -> SqliteColdStore | RedisColdStore:
    """Return the store at `address`: of texts, and of the sessions of a `SessionHost`.

    Args:
        address: `sqlite:PATH`, or a URL of `RedisColdStore`.
        ttl: Minutes after which Redis deletes the texts of a session that stores none; None: never.

    Raises:
        ValueError: The address is neither; the message does not repeat it, since it may hold a password.
        sqlite3.Error: The file cannot be opened.
        ImportError: The extra `redis` is not installed.
    """
    if address.startswith(_SQLITE) and address != _SQLITE:
        return SqliteColdStore(address.removeprefix(_SQLITE))
    if address.startswith(_REDIS):
        from accp_adapters.stores.redis import RedisColdStore  # noqa: PLC0415  optional: the extra `redis`

        return RedisColdStore(address, ttl=ttl)
    raise ValueError("expected sqlite:PATH or redis://HOST, found another address")
