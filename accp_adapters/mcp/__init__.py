"""MCP: `wrap_server` and `wrap_transport` for the SDKs; `Encoder` and `Decoder` for any other message transport."""

from accp_adapters.mcp.decoder import Decoder, ViewInterceptor
from accp_adapters.mcp.encoder import Encoder, EncoderOptions
from accp_adapters.mcp.messages import EXTENSION
from accp_adapters.mcp.sdk import wrap_server, wrap_transport
from accp_core.compression import ResultLimits
from accp_core.projection import resolve

__all__ = [
    "EXTENSION", "Decoder", "Encoder", "EncoderOptions", "ResultLimits", "ViewInterceptor", "resolve", "wrap_server",
    "wrap_transport",
]  # fmt: skip
