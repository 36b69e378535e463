"""Instructions in English encoded as AACP packets by a chat model, also asynchronously (AACP section 6)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from accp_adapters.instructions.async_fallback import AsyncFallbackEncoder

if TYPE_CHECKING:
    from accp_adapters.instructions.chat_model import AsyncModelInstructionEncoder, ModelInstructionEncoder

__all__ = ["AsyncFallbackEncoder", "AsyncModelInstructionEncoder", "ModelInstructionEncoder"]


def __getattr__(name: str) -> Any:
    """Import the encoders of chat models on first use: they need the extra `langgraph`."""
    if name not in ("AsyncModelInstructionEncoder", "ModelInstructionEncoder"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("accp_adapters.instructions.chat_model"), name)
