"""Whether stores and databases can be reached and written to; no password is shown."""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from accp_adapters.cli.checks.check import Check
from accp_adapters.stores.addresses import open_store
from accp_adapters.stores.passwords import credentials, without_password

__all__ = ["store"]

_SECONDS: Final = 5
_ADDRESSES: Final = "expected sqlite:PATH, redis://HOST, postgresql://HOST or nats://HOST"


def store(address: str) -> Check:
    """Return whether a store is reachable: a probe is written, read and deleted, in a session of its own.

    Args:
        address: `sqlite:PATH`, or a URL of Redis, PostgreSQL (checkpoints) or NATS (frame logs).
    """
    scheme = address.partition(":")[0]
    shown = address if scheme == "sqlite" else without_password(address)
    known = _CHECKS.get(scheme)
    if known is None:
        return Check(name="store", found=f"an address of the kind {scheme[:20]!r}", next_step=_ADDRESSES)
    look, next_step = known
    try:
        return look(address, shown)
    except ImportError as error:
        extra = {"nats": "nats", "tls": "nats"}.get(scheme, "redis" if "redis" in scheme else "all")
        return Check(name=shown, found=str(error), next_step=f"pip install 'accp-middleware[{extra}]'")
    # Each client has errors of its own, and a check reports every one.
    except Exception as error:
        return Check(name=shown, found=_reason(error, address, shown), next_step=next_step)


def _cold_store(address: str, shown: str) -> Check:
    opened = open_store(address)
    session, probe = f"accp-doctor-{secrets.token_hex(8)}", "a probe of accp doctor"
    try:
        opened.put(session, "cold.probe", probe)
        found = opened.get(session, "cold.probe")
    finally:
        with contextlib.suppress(Exception):
            opened.purge(session)
    if found != probe:
        raise OSError(f"expected the probe {probe!r} back, found {found!r}")
    return Check(name=shown, found="a probe was written, read and deleted")


def _sqlite(address: str, shown: str) -> Check:
    path = Path(address.partition(":")[2])
    if not path.exists():
        # Opening it would create it.
        if not path.absolute().parent.is_dir():
            raise OSError(f"expected a folder, found none: {path.absolute().parent}")
        return Check(name=shown, found="not there yet; it will be created at the first use")
    return _cold_store(address, shown)


def _redis(address: str, shown: str) -> Check:
    import redis

    reached = _cold_store(address, shown)
    with redis.Redis.from_url(address, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS) as client:
        policy = _eviction(client)
    if policy in ("", "noeviction"):
        return reached
    return Check(
        name=shown,
        found=f"{reached.found}; but maxmemory-policy is {policy}: references may be lost",
        next_step="set maxmemory-policy noeviction in the configuration of Redis",
    )


def _eviction(client: Any) -> str:
    """Return what Redis does when its memory is full; empty: it does not say, as many hosted ones."""
    try:
        return str(client.config_get("maxmemory-policy").get("maxmemory-policy", ""))
    except Exception:
        return ""


def _postgres(address: str, shown: str) -> Check:
    import psycopg

    with psycopg.connect(address, connect_timeout=_SECONDS) as connection:
        found = connection.execute("SELECT to_regclass('checkpoints') IS NOT NULL").fetchone()
    tables = "with" if found and found[0] else "without"
    return Check(name=shown, found=f"reachable, {tables} the tables of LangGraph's checkpoints")


def _nats(address: str, shown: str) -> Check:
    # While it connects for the first time, the client itself tries again for two minutes.
    return asyncio.run(asyncio.wait_for(_look_at_nats(address, shown), _SECONDS))


async def _look_at_nats(address: str, shown: str) -> Check:
    import nats

    async def ignore(error: Exception) -> None:
        """The error comes back from `connect`, too."""

    client = await nats.connect(
        address, connect_timeout=_SECONDS, max_reconnect_attempts=1, reconnect_time_wait=0, error_cb=ignore
    )
    try:
        info = await client.jetstream().account_info()
        return Check(name=shown, found=f"reachable, with JetStream ({info.streams} streams)")
    finally:
        await client.close()


def _reason(error: Exception, address: str, shown: str) -> str:
    """Return what went wrong on one line, without the words of a client that may repeat user or password."""
    text = " ".join(str(error).split())
    if shown != address:
        secrets = credentials(address)
        if secrets is None or any(secret in text for secret in secrets):
            text = f"{type(error).__name__}, whose words are not shown, since they may repeat a password"
        for user in set(_USER.findall(address)):
            text = text.replace(user, "…")
    return text[:300] or type(error).__name__


_USER: Final = re.compile(r"(?<=://)[^\s:/@]+(?=[^/?#\s]*@)")
_REDIS: Final = (_redis, "start Redis there, or check host, port, password and TLS of the URL")
_NATS: Final = (_nats, "start nats-server with --jetstream there, or check host, port and credentials of the URL")
_POSTGRES: Final = (_postgres, "start PostgreSQL there, or check the URL; the password may stand in PGPASSWORD")
_CHECKS: Final[dict[str, tuple[Callable[[str, str], Check], str]]] = {
    "sqlite": (_sqlite, "give the path of a file that this user may write, in a folder that exists"),
    **dict.fromkeys(("redis", "rediss", "unix"), _REDIS),
    **dict.fromkeys(("postgres", "postgresql"), _POSTGRES),
    **dict.fromkeys(("nats", "tls"), _NATS),
}
"""How the addresses of a scheme are looked at, and what to do where that fails."""
