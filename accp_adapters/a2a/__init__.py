"""A2A: frames between agents that both know them, plain A2A with all others (ACCP section 11.4)."""

from accp_adapters.extras import needs

with needs("a2a"):
    from accp_adapters.a2a.bounded import BoundedRequests
    from accp_adapters.a2a.client import AccpClientInterceptor
    from accp_adapters.a2a.contexts import ContextExecutor, GrantedTexts, RemoteAgent
    from accp_adapters.a2a.extension import EXTENSION, VIEWS, declare, error_code, is_declared
    from accp_adapters.a2a.frames import decode, encode
    from accp_adapters.a2a.server import AccpRequestHandler
    from accp_adapters.a2a.task_frames import frames_to_task, task_to_frames
    from accp_adapters.a2a.view import TaskView, task_view

__all__ = [
    "EXTENSION", "VIEWS", "AccpClientInterceptor", "AccpRequestHandler", "BoundedRequests", "ContextExecutor",
    "GrantedTexts", "RemoteAgent", "TaskView", "declare", "decode", "encode", "error_code", "frames_to_task",
    "is_declared", "task_to_frames", "task_view",
]  # fmt: skip
