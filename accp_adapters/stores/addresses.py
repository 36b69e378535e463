"""The store at an address, for commands and configuration files; addresses without the passwords in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from accp_adapters.stores.sqlite import SqliteColdStore

if TYPE_CHECKING:
    from accp_adapters.stores.redis import RedisColdStore

__all__ = ["open_store", "without_password"]

_SQLITE: Final = "sqlite:"
_REDIS: Final = ("redis://", "rediss://", "unix://")
_PLAIN: Final = re.compile(r"([a-z][a-z0-9+.-]*://)(?:[^/?#@\s]*@)?([^@?#\s,]*)(?:\?[^@#]*)?", re.IGNORECASE)
"""An address in which user and password end where they seem to; any other may hold them anywhere."""


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


def without_password(url: str) -> str:
    """Return `url` without user, password and options, so that a log may show it.

    Of an address in which the password may stand anywhere, such as one with a slash in it, only the scheme is shown.
    """
    if found := _PLAIN.fullmatch(url):
        return found[1] + found[2]
    return f"{url.partition('://')[0] if '://' in url else ''}://…"
