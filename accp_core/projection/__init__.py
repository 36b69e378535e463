"""What a model is sent of a conversation: pure functions over neutral records of the messages; adapters convert."""

from accp_core.projection.conversations import ProjectedConversations
from accp_core.projection.other_agents import attribute
from accp_core.projection.projector import ProjectionRules, Projector
from accp_core.projection.prompt import ProjectedPrompt, PromptProjector
from accp_core.projection.record import CallRecord, MessageRecord, Projected, Role, is_program
from accp_core.projection.repeats import Repeats, Shortened
from accp_core.projection.results import compress_blocks, share_batch
from accp_core.projection.tool_forms import (
    FILE_READERS,
    Resolve,
    ResultForm,
    ToolForm,
    ToolForms,
    check_tool_forms,
    resolve,
)

__all__ = [
    "FILE_READERS",
    "CallRecord",
    "MessageRecord",
    "Projected",
    "ProjectedConversations",
    "ProjectedPrompt",
    "ProjectionRules",
    "Projector",
    "PromptProjector",
    "Repeats",
    "Resolve",
    "ResultForm",
    "Role",
    "Shortened",
    "ToolForm",
    "ToolForms",
    "attribute",
    "check_tool_forms",
    "compress_blocks",
    "is_program",
    "resolve",
    "share_batch",
]
