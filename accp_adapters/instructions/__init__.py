"""Instructions in English encoded as AACP packets by a chat model (AACP section 6.2)."""

from accp_adapters.instructions.chat_model import ModelInstructionEncoder

__all__ = ["ModelInstructionEncoder"]
