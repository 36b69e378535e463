"""Logs of sessions: what a worker must find to go on where another one stopped."""

from accp_adapters.bindings.logs.frame_log import Fence, Fenced, FrameLog
from accp_adapters.bindings.logs.memory import MemoryFrameLog

__all__ = ["Fence", "Fenced", "FrameLog", "MemoryFrameLog"]
