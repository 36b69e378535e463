"""A shim whose work is easily seen, for tests of what carries messages to it."""

from __future__ import annotations

from accp_adapters.mcp.proxy.relay import Message, Relay

__all__ = ["Marks", "marking", "own"]


class Marks:
    """A shim that changes what says `mark`, and fails at what says `fail`."""

    def c2s(self, message: Message) -> Message:
        """Do as `s2c` does."""
        return self.s2c(message)

    def s2c(self, message: Message) -> Message:
        """Mark what asks for it."""
        if "fail" in message:
            raise RuntimeError("no")
        return {**message, "marked": True} if "mark" in message else message


def own(message: Message) -> Message | None:
    """Answer the method `ours`."""
    return {"id": message["id"], "result": "ours"} if message.get("method") == "ours" else None


def marking() -> Relay:
    """Return a relay that marks."""
    return Relay(Marks(), own)
