"""What a model is sent of a conversation: pure functions over the messages before each one."""

from accp_core.projection.repeats import Repeats, Shortened

__all__ = ["Repeats", "Shortened"]
