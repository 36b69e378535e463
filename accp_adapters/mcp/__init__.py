"""MCP: `wrap_server` and `wrap_transport` for the SDKs; `Encoder` and `Decoder` for any other message transport."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_adapters.mcp.client import wrap_transport
    from accp_adapters.mcp.langchain import ViewInterceptor
    from accp_adapters.mcp.server import wrap_server
    from accp_adapters.mcp.shim.decoder import Decoder
    from accp_adapters.mcp.shim.encoder import Encoder
    from accp_adapters.mcp.shim.options import EncoderOptions
    from accp_adapters.mcp.shim.protocol import EXTENSION
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_adapters.mcp.client": "wrap_transport",
            "accp_adapters.mcp.langchain": "ViewInterceptor",
            "accp_adapters.mcp.server": "wrap_server",
            "accp_adapters.mcp.shim.decoder": "Decoder",
            "accp_adapters.mcp.shim.encoder": "Encoder",
            "accp_adapters.mcp.shim.options": "EncoderOptions",
            "accp_adapters.mcp.shim.protocol": "EXTENSION",
        },
    )

__all__ = ["EXTENSION", "Decoder", "Encoder", "EncoderOptions", "ViewInterceptor", "wrap_server", "wrap_transport"]
