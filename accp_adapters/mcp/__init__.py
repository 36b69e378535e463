"""MCP: one shim on JSON-RPC messages, `Encoder` for the server's side and `Decoder` for the client's."""

from accp_adapters.mcp.decoder import Decoder
from accp_adapters.mcp.encoder import Encoder
from accp_adapters.mcp.options import Options
from accp_adapters.mcp.protocol import EXTENSION

__all__ = ["EXTENSION", "Decoder", "Encoder", "Options"]
