"""Logs of sessions: what a worker must find to go on where another one stopped."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_adapters.bindings.logs.addresses import open_log
    from accp_adapters.bindings.logs.frame_log import Fence, Fenced, FrameLog, LogError
    from accp_adapters.bindings.logs.memory import MemoryFrameLog
    from accp_adapters.bindings.logs.nats import NatsFrameLog
    from accp_adapters.bindings.logs.redis import RedisFrameLog
    from accp_adapters.bindings.logs.sqlite import SqliteFrameLog
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_adapters.bindings.logs.addresses": "open_log",
            "accp_adapters.bindings.logs.frame_log": "Fence Fenced FrameLog LogError",
            "accp_adapters.bindings.logs.memory": "MemoryFrameLog",
            "accp_adapters.bindings.logs.sqlite": "SqliteFrameLog",
            "accp_adapters.bindings.logs.nats": "NatsFrameLog",
            "accp_adapters.bindings.logs.redis": "RedisFrameLog",
        },
    )

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
