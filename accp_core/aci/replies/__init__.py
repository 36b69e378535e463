"""What an agent is asked, and what its answer says of each item: done, failed, or not understood (ACI section 5.2)."""

from accp_core.aci.replies.brief import HOW_TO_ANSWER, HOW_TO_ANSWER_ONE, brief
from accp_core.aci.replies.reading import NO_ANSWER, NO_EVIDENCE, read_answers, read_structured, with_answers
from accp_core.aci.replies.reporter import report_context, report_request
from accp_core.aci.replies.usage import NO_USAGE, Usage
from accp_core.aci.replies.verdict import NOT_JUDGED, read_verdict
from accp_core.aci.replies.wording import ItemAnswer, read_outcome, says_nothing

__all__ = [
    "HOW_TO_ANSWER",
    "HOW_TO_ANSWER_ONE",
    "NOT_JUDGED",
    "NO_ANSWER",
    "NO_EVIDENCE",
    "NO_USAGE",
    "ItemAnswer",
    "Usage",
    "brief",
    "read_answers",
    "read_outcome",
    "read_structured",
    "read_verdict",
    "report_context",
    "report_request",
    "says_nothing",
    "with_answers",
]
