"""Frames of ACCP and requests of MCP, ready to be sent."""

from typing import Any, Final

from accp_core.accp import Codec, Message, Session, SessionOptions
from accp_core.accp.frame import Intent

__all__ = ["CLIENT", "frame_of", "request"]

CLIENT: Final = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
"""The params of `initialize`."""
_FREE: Final = Codec(counter=lambda _: 1)
"""Sends a text of any length in one frame."""


def frame_of(agent: str, session: str, text: str) -> bytes:
    """Return the first frame of a session: a request with a text of any length."""
    options = SessionOptions(name_session=True)
    end = Session(session, agent, codec=_FREE, new_id=lambda: "m1", options=options)
    (frame,) = end.send(Message(sender="", intent=Intent.REQUEST, operation="add", payload={"text": text}), 1_000)
    return frame.encode()


def request(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    """Return a request of MCP."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
