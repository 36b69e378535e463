"""A shim whose changes are easy to see, for tests of the code that passes messages to it."""

from __future__ import annotations

from accp_adapters.mcp.proxy.relay import JsonRpcMessage, Relay

__all__ = ["Marks", "marking", "own"]


class Marks:
    """A shim that changes messages with `mark`, fails at `fail`, and returns what is not JSON for `halves`."""

    def from_client(self, message: JsonRpcMessage) -> JsonRpcMessage:
        """Do what `from_server` does."""
        return self.from_server(message)

    def from_server(self, message: JsonRpcMessage) -> JsonRpcMessage:
        """Return a marked message."""
        if "fail" in message:
            raise RuntimeError("no")
        if "halves" in message:
            return {"halves": "\ud83d\ude00"}
        return {**message, "marked": True} if "mark" in message else message


def own(message: JsonRpcMessage) -> JsonRpcMessage | None:
    """Answer the method `ours`."""
    return {"id": message["id"], "result": "ours"} if message.get("method") == "ours" else None


def marking() -> Relay:
    """Return a relay that marks."""
    return Relay(Marks(), own)
