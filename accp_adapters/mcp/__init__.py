"""MCP: `wrap_server` and `wrap_transport` for the SDKs; `Encoder` and `Decoder` for any other message transport."""

from accp_adapters.mcp.client import wrap_transport
from accp_adapters.mcp.langchain import ViewInterceptor
from accp_adapters.mcp.server import wrap_server
from accp_adapters.mcp.shim.decoder import Decoder
from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.options import EncoderOptions
from accp_adapters.mcp.shim.protocol import EXTENSION

__all__ = ["EXTENSION", "Decoder", "Encoder", "EncoderOptions", "ViewInterceptor", "wrap_server", "wrap_transport"]
