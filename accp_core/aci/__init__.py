"""ACI (draft-chang-agent-context-interaction-01): who gets to know what, and how it is judged what came of it."""

from accp_core.aci.answer import ItemAnswer, brief, read_answers, with_answers
from accp_core.aci.contexts import AgentContext, TaskContext, overall_status
from accp_core.aci.delta import context_to_fields, diff_contexts, fields_to_context, patch_context
from accp_core.aci.evaluation import Claim, Evaluation, OpenItem, evaluate, judge, verify, verify_by_rule
from accp_core.aci.interaction import Delivery, Interaction, Mode
from accp_core.aci.isolation import check_context_grant, isolate, scope_of, with_results
from accp_core.aci.items import Goal, ItemState, KeyInformation, Status, TodoItem, todo
from accp_core.aci.json_names import JSON_NAMES
from accp_core.aci.plan import Plan
from accp_core.aci.progress import Progress, SubtaskState
from accp_core.aci.reply import AcceptedReply, AgentReply, accept_reply, offload_long, reply_from_words
from accp_core.aci.snapshot import interaction_from_json, interaction_to_json

__all__ = [
    "JSON_NAMES",
    "AcceptedReply",
    "AgentContext",
    "AgentReply",
    "Claim",
    "Delivery",
    "Evaluation",
    "Goal",
    "Interaction",
    "ItemAnswer",
    "ItemState",
    "KeyInformation",
    "Mode",
    "OpenItem",
    "Plan",
    "Progress",
    "Status",
    "SubtaskState",
    "TaskContext",
    "TodoItem",
    "accept_reply",
    "brief",
    "check_context_grant",
    "context_to_fields",
    "diff_contexts",
    "evaluate",
    "fields_to_context",
    "interaction_from_json",
    "interaction_to_json",
    "isolate",
    "judge",
    "offload_long",
    "overall_status",
    "patch_context",
    "read_answers",
    "reply_from_words",
    "scope_of",
    "todo",
    "verify",
    "verify_by_rule",
    "with_answers",
    "with_results",
]
