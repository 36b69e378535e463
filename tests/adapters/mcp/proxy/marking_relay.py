"""A shim whose changes are easy to see, for tests of the code that passes messages to it."""

from __future__ import annotations

from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.proxy.relay import Relay
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.mcp.shim.router import ShimRouter

__all__ = ["Marks", "marking", "own", "passed", "seen"]


class Marks:
    """A shim that changes messages with `mark`, fails at `fail`, and returns what is not JSON for `halves`."""

    def from_client(self, message: JsonObject) -> JsonObject:
        """Do what `from_server` does."""
        return self.from_server(message)

    def from_server(self, message: JsonObject) -> JsonObject:
        """Return a marked message."""
        if "fail" in message:
            raise RuntimeError("no")
        if "halves" in message:
            return {"halves": "\ud83d\ude00"}
        return {**message, "marked": True} if "mark" in message else message


def own(message: JsonObject) -> JsonObject | None:
    """Answer the method `ours`."""
    return {"id": message["id"], "result": "ours"} if message.get("method") == "ours" else None


def marking() -> Relay:
    """Return a relay that marks."""
    return Relay(ShimRouter(Marks(), own))


def passed(relay: Relay, line: bytes) -> tuple[bytes, bool]:
    """Return what becomes of a client's line, and whether the client gets it."""
    relayed = relay.from_client(Message(line))
    return relayed.message.data, relayed.to_client


def seen(relay: Relay, line: bytes) -> bytes:
    """Return what becomes of a server's line."""
    return relay.from_server(Message(line)).message.data
