"""ACI (draft-chang-agent-context-interaction-01): who gets to know what, and how it is judged what came of it."""

from accp_core.aci.answer import Answer, brief, read_answer, with_answers
from accp_core.aci.contexts import AgentContext, TaskContext, overall_status
from accp_core.aci.delta import change, changed, from_fields, to_fields
from accp_core.aci.evaluation import Claim, Evaluation, OpenItem, evaluate, judge, says_something, verify
from accp_core.aci.interaction import Delivery, Interaction, Mode
from accp_core.aci.isolation import Offloaded, check_grant, isolate, offload, scope_of, with_results
from accp_core.aci.items import Goal, ItemState, KeyInformation, Status, TodoItem, todo
from accp_core.aci.json_names import JSON_NAMES
from accp_core.aci.plan import Plan
from accp_core.aci.progress import Progress, SubtaskState
from accp_core.aci.reply import AcceptedReply, AgentReply, accept_reply, offload_long, reply_from_words
from accp_core.aci.snapshot import load, save

__all__ = [
    "JSON_NAMES",
    "AcceptedReply",
    "AgentContext",
    "AgentReply",
    "Answer",
    "Claim",
    "Delivery",
    "Evaluation",
    "Goal",
    "Interaction",
    "ItemState",
    "KeyInformation",
    "Mode",
    "Offloaded",
    "OpenItem",
    "Plan",
    "Progress",
    "Status",
    "SubtaskState",
    "TaskContext",
    "TodoItem",
    "accept_reply",
    "brief",
    "change",
    "changed",
    "check_grant",
    "evaluate",
    "from_fields",
    "isolate",
    "judge",
    "load",
    "offload",
    "offload_long",
    "overall_status",
    "read_answer",
    "reply_from_words",
    "save",
    "says_something",
    "scope_of",
    "to_fields",
    "todo",
    "verify",
    "with_answers",
    "with_results",
]
