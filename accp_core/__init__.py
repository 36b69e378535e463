"""The core of accp-middleware: frames, views and compression; standard library only, no I/O, no clock."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_core.accp import Codec, Envelope, Frame, Message, Ref, Session, parse_frame, serialize_frame
    from accp_core.compression import Compressed, ResultLimits, compress
    from accp_core.errors import DecodeError, EncodeError
    from accp_core.previews import preview
    from accp_core.view import View, read, render, render_text
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_core.accp": "Codec Envelope Frame Message Ref Session parse_frame serialize_frame",
            "accp_core.compression": "Compressed ResultLimits compress",
            "accp_core.errors": "DecodeError EncodeError",
            "accp_core.previews": "preview",
            "accp_core.view": "View read render render_text",
        },
    )

__all__ = [
    "Codec",
    "Compressed",
    "DecodeError",
    "EncodeError",
    "Envelope",
    "Frame",
    "Message",
    "Ref",
    "ResultLimits",
    "Session",
    "View",
    "compress",
    "parse_frame",
    "preview",
    "read",
    "render",
    "render_text",
    "serialize_frame",
]
