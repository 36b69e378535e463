"""Which log an address means, for commands and configuration files."""

from __future__ import annotations

from typing import Any

from accp_adapters.bindings.logs.frame_log import FrameLog
from accp_adapters.bindings.logs.memory import MemoryFrameLog
from accp_adapters.bindings.logs.sqlite import SqliteFrameLog

__all__ = ["open_log"]


def open_log(address: str, **options: Any) -> FrameLog:
    """Return the log at an address.

    Args:
        address: `memory`; `sqlite:PATH`; `redis://…`, `rediss://…` or `unix://…`; `nats://…` or `tls://…`.
        options: As those of `MemoryFrameLog`, `SqliteFrameLog`, `RedisFrameLog` or `NatsFrameLog`.

    Raises:
        ValueError: The address is none of these; the message does not repeat it, since it may hold a password.
        ImportError: The extra `redis` or `nats` is not installed.
    """
    scheme, _, rest = address.partition(":")
    if address == "memory":
        return MemoryFrameLog(**options)
    if scheme == "sqlite" and rest:
        return SqliteFrameLog(rest, **options)
    if scheme in ("redis", "rediss", "unix"):
        from accp_adapters.bindings.logs.redis import RedisFrameLog  # noqa: PLC0415  optional: the extra `redis`

        return RedisFrameLog(address, **options)
    if scheme in ("nats", "tls"):
        from accp_adapters.bindings.logs.nats import NatsFrameLog  # noqa: PLC0415  optional: the extra `nats`

        return NatsFrameLog(address, **options)
    raise ValueError("expected memory, sqlite:PATH, redis://HOST or nats://HOST as a log, found another address")
