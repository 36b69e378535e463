"""The compression service that gateways such as LiteLLM call: `POST /v1/compress`, `GET /v1/retrieve/{hash}`."""

from accp_adapters.extras import needs

with needs("bindings"):
    from accp_adapters.gateway.app import GATEWAY_LIMITS, GATEWAY_POLICY, compress_app
    from accp_adapters.gateway.compression import RETRIEVE_TOOL, Compression, compress_messages
    from accp_adapters.gateway.kept_texts import KeptTexts

__all__ = [
    "GATEWAY_LIMITS", "GATEWAY_POLICY", "RETRIEVE_TOOL", "Compression", "KeptTexts", "compress_app",
    "compress_messages",
]  # fmt: skip
