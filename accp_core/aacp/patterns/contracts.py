"""How people say the steps of the contract workflow."""

from __future__ import annotations

from typing import Final

from accp_core.aacp.patterns.common import AUDIT_LOG, LOG, STORE
from accp_core.aacp.patterns.matching import Pattern
from accp_core.aacp.workflows import ContractEncoder

__all__ = ["CONTRACT_PATTERNS"]

_CONTRACT: Final = (
    "[of|in|from|for|on|within|under] {contract_type} [contract|agreement]",
    "[of|in|from|for|on|within|under] {party} ['s] {contract_type} [contract|agreement]",
    "(contract type|type) [is] {contract_type}",
)
_WITH: Final = (
    "(with|from|of|by|for) [counterparty|party] {party} ['s]",
    "[counterparty|party] [is] {party}",
    "between us and {party}",
)


def _risk(name: str) -> tuple[str, ...]:
    """Return the phrases of a level of risk, which is the argument `name`."""
    return (
        f"[with|at|as|of|and|is|found|it is|it's|rated|considered] {{{name}:risk}} risk [level|rating]",
        f"[with|at|and] risk [level|rating] [is|of|as] {{{name}:risk}}",
    )


_FOR_REVIEW: Final = ("for [legal|contract] review",)
_REVIEW_DETAILS: Final = (
    _WITH,
    _risk("risk_level"),
    ("(with|including|include) clause review , risk assessment [,] and [signing|signature|sign] recommendation",),
    ("to legal",),
)
_request_review = Pattern(
    step=ContractEncoder.request_review,
    needs=(
        (
            "(review|look over|go over|reviewing|check over|assess)",
            "(request|start|arrange|do|carry out|perform|kick off|initiate|run|conduct|begin|order|open|need|i need|"
            "we need|requesting|starting) [legal|contract] review [of|for]",
            "(get|ask|have) (legal|legal team|our lawyers) [to] review",
            "(needs|requires|need) [legal|contract] (review|reviewing)",
            "[legal|contract] review [is] (needed|required|requested) [of|for]",
            "have look (over|at)",
        ),
        _CONTRACT,
    ),
    may=_REVIEW_DETAILS,
)
_send_for_review = Pattern(
    step=ContractEncoder.request_review,
    needs=(("(flag|send|submit|put forward|put|pass)",), _CONTRACT, _FOR_REVIEW),
    may=_REVIEW_DETAILS,
)
_have_reviewed = Pattern(
    step=ContractEncoder.request_review,
    needs=(("(have|get|i want|we want|i need|we need)",), _CONTRACT, ("reviewed [by (legal|legal team)]",)),
    may=_REVIEW_DETAILS,
)
_NUMBER: Final = (
    "section {clause_ref:section}",
    "clause {clause_ref:clause}",
    "{clause_ref:section_sign}",
)
_flag_clause = Pattern(
    step=ContractEncoder.flag_clause,
    needs=(
        ("(flag|mark|raise|flagging|marking|raising|escalate) [it] [up]",),
        tuple(f"[in|legal clause] {phrase} [of|in|from]" for phrase in _NUMBER),
        _CONTRACT,
    ),
    may=(
        _WITH,
        _risk("risk"),
        (
            "[for|because of|over|due to|on account of|regarding|about|as|there is|concerning|having|"
            "contains|has|imposes] "
            "[issue [is|of]] {issue} [issue|concern|problem]",
        ),
        ("[and] (block|blocks|blocking) {block_action}",),
        (
            "for [senior|legal] review",
            "legal clause for review",
            "[and] (requires|needs|request|get|escalate for) senior review",
        ),
        ("it",),
    ),
)
_REVIEW: Final = (
    "[that] [outcome|result] [of] [legal|contract] review [of|for]",
    "[that] [outcome|result] [of] {party} ['s] {contract_type} [contract|legal] review",
    "[that] [outcome|result] [of] {contract_type} [contract|legal] review [of|for|with]",
)
_LOG_DETAILS: Final = (
    _CONTRACT,
    _WITH,
    _risk("risk"),
    (
        "[with|and] recommendation [is|of|as|to] {recommendation}",
        "[and] [we] (recommend|recommends|recommended|recommending) {recommendation}",
        "[with|and] (status|outcome|result|decision) [is|of] {recommendation}",
    ),
    ("[with] actor [is] {actor}", "by {actor}"),
)
_log_review = Pattern(step=ContractEncoder.log_review, needs=(LOG, _REVIEW), may=(AUDIT_LOG, *_LOG_DETAILS))
_store_review = Pattern(step=ContractEncoder.log_review, needs=(STORE, _REVIEW, AUDIT_LOG), may=_LOG_DETAILS)

CONTRACT_PATTERNS: Final = (
    _request_review,
    _send_for_review,
    _have_reviewed,
    _flag_clause,
    _log_review,
    _store_review,
)
"""The patterns of `ContractEncoder`."""
