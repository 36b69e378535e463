"""The state of a session: hot, warm and cold tiers, checkpoints and deltas (ACCP section 5)."""

from accp_core.accp.state.checkpoint import CheckpointTrigger, take_checkpoint
from accp_core.accp.state.context_state import ContextState, Entry, StateLimits

__all__ = ["CheckpointTrigger", "ContextState", "Entry", "StateLimits", "take_checkpoint"]
