"""ACI (draft-chang-agent-context-interaction-01): who gets to know what, and how it is judged what came of it."""

from typing import TYPE_CHECKING

from accp_core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from accp_core.aci.contexts import AgentContext, TaskContext, overall_status
    from accp_core.aci.delta import context_to_fields, diff_contexts, fields_to_context, patch_context
    from accp_core.aci.evaluation import (
        Claim,
        Evaluation,
        NotJudged,
        OpenItem,
        Verdict,
        evaluate,
        judge,
        verify,
        verify_by_rule,
    )
    from accp_core.aci.interaction import Delivery, Interaction, Mode
    from accp_core.aci.isolation import check_context_grant, isolate, scope_of, with_results
    from accp_core.aci.items import Goal, ItemState, KeyInformation, Outcome, Status, TodoItem, todo
    from accp_core.aci.json_names import JSON_NAMES
    from accp_core.aci.plan import Plan
    from accp_core.aci.progress import Progress, SubtaskState
    from accp_core.aci.replies import (
        ItemAnswer,
        Usage,
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
        failed_reply,
        offload_long,
        reply_from_value,
        reply_from_words,
        unread_reply,
        with_report,
    )
    from accp_core.aci.results import ItemResult, Results, SubtaskResult, result_texts
    from accp_core.aci.snapshot import interaction_from_json, interaction_to_json
    from accp_core.aci.steps import PlannedContexts, Step, plan_contexts, step
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "accp_core.aci.contexts": "AgentContext TaskContext overall_status",
            "accp_core.aci.delta": "context_to_fields diff_contexts fields_to_context patch_context",
            "accp_core.aci.evaluation": (
                "Claim Evaluation NotJudged OpenItem Verdict evaluate judge verify verify_by_rule"
            ),
            "accp_core.aci.interaction": "Delivery Interaction Mode",
            "accp_core.aci.isolation": "check_context_grant isolate scope_of with_results",
            "accp_core.aci.items": "Goal ItemState KeyInformation Outcome Status TodoItem todo",
            "accp_core.aci.json_names": "JSON_NAMES",
            "accp_core.aci.plan": "Plan",
            "accp_core.aci.progress": "Progress SubtaskState",
            "accp_core.aci.replies": (
                "ItemAnswer Usage brief read_answers read_structured read_verdict report_request with_answers"
            ),
            "accp_core.aci.reply": (
                "AcceptedReply AgentReply accept_reply failed_reply offload_long reply_from_value "
                "reply_from_words unread_reply with_report"
            ),
            "accp_core.aci.results": "ItemResult Results SubtaskResult result_texts",
            "accp_core.aci.snapshot": "interaction_from_json interaction_to_json",
            "accp_core.aci.steps": "PlannedContexts Step plan_contexts step",
        },
    )

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
    "ItemResult",
    "ItemState",
    "KeyInformation",
    "Mode",
    "NotJudged",
    "OpenItem",
    "Outcome",
    "Plan",
    "PlannedContexts",
    "Progress",
    "Results",
    "Status",
    "Step",
    "SubtaskResult",
    "SubtaskState",
    "TaskContext",
    "TodoItem",
    "Usage",
    "Verdict",
    "accept_reply",
    "brief",
    "check_context_grant",
    "context_to_fields",
    "diff_contexts",
    "evaluate",
    "failed_reply",
    "fields_to_context",
    "interaction_from_json",
    "interaction_to_json",
    "isolate",
    "judge",
    "offload_long",
    "overall_status",
    "patch_context",
    "plan_contexts",
    "read_answers",
    "read_structured",
    "read_verdict",
    "reply_from_value",
    "reply_from_words",
    "report_request",
    "result_texts",
    "scope_of",
    "step",
    "todo",
    "unread_reply",
    "verify",
    "verify_by_rule",
    "with_answers",
    "with_report",
    "with_results",
]
