"""ACI (draft-chang-agent-context-interaction-01): who gets to know what, and how it is judged what came of it."""

from accp_core.aci.contexts import JSON_NAMES, AgentContext, TaskContext, overall_status
from accp_core.aci.evaluation import (
    Claim,
    Evaluation,
    NotJudged,
    OpenItem,
    Verdict,
    check_context_grant,
    evaluate,
    isolate,
    judge,
    scope_of,
    verify,
    verify_by_rule,
    with_results,
)
from accp_core.aci.interaction import Delivery, Interaction, Mode, interaction_from_json, interaction_to_json
from accp_core.aci.items import Goal, ItemState, KeyInformation, Outcome, Status, TodoItem, Usage, todo
from accp_core.aci.plan import Plan, PlannedContexts, Progress, Step, SubtaskState, plan_contexts, step
from accp_core.aci.replies import (
    ItemAnswer,
    brief,
    read_answers,
    read_structured,
    read_verdict,
    report_request,
    with_answers,
)
from accp_core.aci.reply import (
    AcceptedReply,
    AgentReply,
    accept_reply,
    context_to_fields,
    diff_contexts,
    failed_reply,
    fields_to_context,
    offload_long,
    patch_context,
    reply_from_value,
    reply_from_words,
    unread_reply,
    with_report,
)
from accp_core.aci.results import ItemResult, Results, SubtaskResult, result_texts

__all__ = [
    "JSON_NAMES", "AcceptedReply", "AgentContext", "AgentReply", "Claim", "Delivery", "Evaluation", "Goal",
    "Interaction", "ItemAnswer", "ItemResult", "ItemState", "KeyInformation", "Mode", "NotJudged", "OpenItem",
    "Outcome", "Plan", "PlannedContexts", "Progress", "Results", "Status", "Step", "SubtaskResult", "SubtaskState",
    "TaskContext", "TodoItem", "Usage", "Verdict", "accept_reply", "brief", "check_context_grant",
    "context_to_fields", "diff_contexts", "evaluate", "failed_reply", "fields_to_context", "interaction_from_json",
    "interaction_to_json", "isolate", "judge", "offload_long", "overall_status", "patch_context", "plan_contexts",
    "read_answers", "read_structured", "read_verdict", "reply_from_value", "reply_from_words", "report_request",
    "result_texts", "scope_of", "step", "todo", "unread_reply", "verify", "verify_by_rule", "with_answers",
    "with_report", "with_results",
]  # fmt: skip
