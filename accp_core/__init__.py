"""The core of accp-middleware: frames, packing and views; standard library only, no I/O, no clock."""

from accp_core.accp import Codec, Envelope, Frame, Message, Ref, Session, parse_frame, serialize_frame
from accp_core.errors import DecodeError, EncodeError
from accp_core.view import View, preview, read, render, render_text

__all__ = [
    "Codec",
    "DecodeError",
    "EncodeError",
    "Envelope",
    "Frame",
    "Message",
    "Ref",
    "Session",
    "View",
    "parse_frame",
    "preview",
    "read",
    "render",
    "render_text",
    "serialize_frame",
]
