"""What a model is sent of a conversation: pure functions over neutral records of the messages; adapters convert."""

from accp_core.compression import compress_blocks, share_batch
from accp_core.projection.projector import ProjectionRules, Projector
from accp_core.projection.prompt import ProjectedConversations, ProjectedPrompt, PromptProjector
from accp_core.projection.records import (
    FILE_READERS,
    CallRecord,
    MessageRecord,
    Projected,
    Resolve,
    ResultForm,
    Role,
    ToolForm,
    ToolForms,
    Unit,
    attribute,
    check_tool_forms,
    is_program,
    resolve,
)  # fmt: skip
from accp_core.projection.repeats import Repeats, Shortened

__all__ = [
    "FILE_READERS", "CallRecord", "MessageRecord", "Projected", "ProjectedConversations", "ProjectedPrompt",
    "ProjectionRules", "Projector", "PromptProjector", "Repeats", "Resolve", "ResultForm", "Role", "Shortened",
    "ToolForm", "ToolForms", "Unit", "attribute", "check_tool_forms", "compress_blocks", "is_program", "resolve",
    "share_batch",
]  # fmt: skip
