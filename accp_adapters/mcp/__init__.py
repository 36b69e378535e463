"""MCP: `wrap_server` and `wrap_transport` for the SDKs; `Encoder` and `Decoder` for any other message transport."""

from accp_adapters.mcp.decoder import Decoder, ViewInterceptor
from accp_adapters.mcp.encoder import Encoder
from accp_adapters.mcp.messages import EXTENSION
from accp_adapters.mcp.options import EncoderOptions
from accp_adapters.mcp.server import wrap_server
from accp_adapters.mcp.transports import wrap_transport

__all__ = ["EXTENSION", "Decoder", "Encoder", "EncoderOptions", "ViewInterceptor", "wrap_server", "wrap_transport"]
