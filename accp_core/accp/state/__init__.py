"""The state of a session: hot, warm and cold tiers, checkpoints and deltas (ACCP section 5)."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_core.accp.state.checkpoint import CheckpointTrigger, take_checkpoint
    from accp_core.accp.state.context_state import ContextState, Entry, StateLimits
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_core.accp.state.checkpoint": "CheckpointTrigger take_checkpoint",
            "accp_core.accp.state.context_state": "ContextState Entry StateLimits",
        },
    )

__all__ = ["CheckpointTrigger", "ContextState", "Entry", "StateLimits", "take_checkpoint"]
