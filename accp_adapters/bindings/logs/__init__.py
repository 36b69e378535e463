"""Logs of sessions: what a worker must find to go on where another one stopped."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from accp_adapters.bindings.logs.addresses import open_log
from accp_adapters.bindings.logs.frame_log import Fence, Fenced, FrameLog, LogError
from accp_adapters.bindings.logs.memory import MemoryFrameLog
from accp_adapters.bindings.logs.sqlite import SqliteFrameLog

if TYPE_CHECKING:
    from accp_adapters.bindings.logs.nats import NatsFrameLog
    from accp_adapters.bindings.logs.redis import RedisFrameLog

__all__ = [
    "Fence",
    "Fenced",
    "FrameLog",
    "LogError",
    "MemoryFrameLog",
    "NatsFrameLog",
    "RedisFrameLog",
    "SqliteFrameLog",
    "open_log",
]

_LAZY = {"NatsFrameLog": "nats", "RedisFrameLog": "redis"}


def __getattr__(name: str) -> Any:
    """Import what needs the extra `nats` or `redis` on its first use."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
