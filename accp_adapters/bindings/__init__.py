"""Sessions over a network: ACCP over HTTP and WebSocket, ACP bindings A to E, and the host of the sessions."""

from typing import TYPE_CHECKING

from accp_adapters.extras import needs

with needs("bindings"):
    from accp_adapters.bindings.accp.app import accp_app
    from accp_adapters.bindings.acp.app import acp_app
    from accp_adapters.bindings.acp.connect import acp_connect
    from accp_adapters.bindings.acp.stdio import serve_stdio
    from accp_adapters.bindings.acp.tcp import serve_tcp
    from accp_adapters.bindings.clients import connect
    from accp_adapters.bindings.hosts import Answer, HostLimits, Request, SessionHost
    from accp_adapters.bindings.identity import Principal
    from accp_adapters.bindings.logs import FrameLog, MemoryFrameLog, SqliteFrameLog, open_log
    from accp_adapters.serving.limits import ServerLimits
from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_adapters.bindings.logs import NatsFrameLog, RedisFrameLog
else:
    __getattr__, __dir__ = lazy_exports(__name__, {"accp_adapters.bindings.logs": "NatsFrameLog RedisFrameLog"})

__all__ = [
    "Answer",
    "FrameLog",
    "HostLimits",
    "MemoryFrameLog",
    "NatsFrameLog",
    "Principal",
    "RedisFrameLog",
    "Request",
    "ServerLimits",
    "SessionHost",
    "SqliteFrameLog",
    "accp_app",
    "acp_app",
    "acp_connect",
    "connect",
    "open_log",
    "serve_stdio",
    "serve_tcp",
]
