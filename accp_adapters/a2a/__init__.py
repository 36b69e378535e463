"""A2A: frames between agents that both know them, plain A2A with all others (ACCP section 11.4)."""

from accp_adapters.extras import needs

with needs("a2a"):
    from accp_adapters.a2a.client import AccpClientInterceptor
    from accp_adapters.a2a.server import AccpRequestHandler
    from accp_adapters.a2a.teams.a2a_wire import A2aWire
    from accp_adapters.a2a.teams.executor import ContextExecutor
    from accp_adapters.a2a.teams.reference_messages import declare_queries
    from accp_adapters.a2a.view import TaskView, task_view
    from accp_adapters.a2a.wire.errors import error_code
    from accp_adapters.a2a.wire.events import decode, encode
    from accp_adapters.a2a.wire.extension import EXTENSION, declare, is_declared
    from accp_adapters.a2a.wire.task_frames import frames_to_task, task_to_frames
from accp_adapters.remote import GrantedReferences, RemoteAgent

__all__ = [
    "EXTENSION",
    "A2aWire",
    "AccpClientInterceptor",
    "AccpRequestHandler",
    "ContextExecutor",
    "GrantedReferences",
    "RemoteAgent",
    "TaskView",
    "declare",
    "declare_queries",
    "decode",
    "encode",
    "error_code",
    "frames_to_task",
    "is_declared",
    "task_to_frames",
    "task_view",
]
