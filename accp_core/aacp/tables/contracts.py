"""How people say the steps of the contract workflow."""

from typing import Any, Final

__all__ = ["CONTRACT_SAYINGS"]


def _risk(name: str) -> str:
    """Return the phrases of a level of risk, which is the argument `name`."""
    return (
        f"[with|at|as|of|and|is|found|it is|it's|rated|considered] {{{name}:risk}} risk [level|rating]|"
        f"[with|at|and] risk [level|rating] [is|of|as] {{{name}:risk}}"
    )


_REVIEW_DETAILS: Final = [
    "<with>",
    _risk("risk_level"),
    "(with|including|include) clause review , risk assessment [,] and [signing|signature|sign] recommendation",
    "to legal",
]
_LOG_DETAILS: Final = [
    "<contract>",
    "<with>",
    _risk("risk"),
    "[with|and] recommendation [is|of|as|to] {recommendation}|"
    "[and] [we] (recommend|recommends|recommended|recommending) {recommendation}|"
    "[with|and] (status|outcome|result|decision) [is|of] {recommendation}",
    "<actor>|by {actor:code}",
]
_FLAG_DETAILS: Final = [
    "<with>",
    _risk("risk"),
    "[and] (block|blocks|blocking) {block_action:block}",
    "for [senior|legal] review|legal clause for review|[and] (requires|needs|request|get|escalate for) senior review",
    "it",
]
_BECAUSE: Final = (
    "for|because of|over|due to|on account of|regarding|about|as|there is|concerning|having|contains|has|imposes"
)
_NAMES: Final = """
ip intellectual property rights right restriction restrictions restricted liability unlimited limited uncapped cap
limitation of indemnity indemnities indemnification termination notice period payment terms term confidentiality non
compete competition solicitation exclusivity data protection privacy processing governing law jurisdiction auto
automatic renewal warranty warranties assignment penalty penalties late fee fees price pricing increase audit
subcontracting insurance force majeure arbitration dispute resolution retention ownership licence license scope broad
narrow overly missing cross border transfer export control service credits acceptance criteria sub processors
processor subprocessors delivery dates change control benchmarking exit
"""
CONTRACT_SAYINGS: Final[dict[str, Any]] = {
    "parts": {
        "contract": (
            "[of|in|from|for|on|within|under] {contract_type} [contract|agreement]|"
            "[of|in|from|for|on|within|under] {party:company} ['s] {contract_type} [contract|agreement]|"
            "(contract type|type) [is] {contract_type}"
        ),
        "with": (
            "(with|from|of|by|for) [counterparty|party] {party:company} ['s]|[counterparty|party] [is] {party:company}|"
            "between us and {party:company}"
        ),
        "lawyers": "legal|legal team|our lawyers|legal department",
        "where": (
            "[in|legal clause] (section {clause_ref:section}|clause {clause_ref:clause}|{clause_ref:section_sign}) "
            "[of|in|from]"
        ),
        "issue": "{issue}|{issue:identifier}",
        "review": (
            "[that] [outcome|result] [of] [legal|contract] review [of|for]|"
            "[that] [outcome|result] [of] {party:company} ['s] {contract_type} [contract|legal] review|"
            "[that] [outcome|result] [of] {contract_type} [contract|legal] review [of|for|with]|"
            "that we [have] reviewed"
        ),
    },
    "choices": {
        "contract_type": {
            "NDA": "nda|non disclosure agreement|nondisclosure agreement|confidentiality agreement",
            "MSA": "msa|master service agreement|master services agreement",
            "SOW": "sow|statement of work",
            "SLA": "sla|service level agreement",
            "DPA": "dpa|data processing agreement|data protection agreement",
            "SPA": "spa|share purchase agreement",
            "LOI": "loi|letter of intent",
            "MOU": "mou|memorandum of understanding",
        },
        "recommendation": {
            "negotiate": "negotiate|negotiation|to negotiate",
            "approve": "approve|approval|to approve",
            "reject": "reject|rejection|to reject",
            "sign": "sign|signing|signature|to sign",
            "escalate": "escalate|escalation|to escalate",
        },
        "block": {"signature": "signature|signing|signatures", "payment": "payment|payments"},
    },
    "forms": {
        "section": [r"s?\.?(\d{1,3}(?:\.\d{1,3})*[a-z]?)", r"s\1"],
        "clause": [r"s?\.?\d{1,3}(?:\.\d{1,3})*[a-z]?", r"\g<0>"],
        "section_sign": [r"[s\u00a7]\.?(\d{1,3}(?:\.\d{1,3})*[a-z]?)", r"s\1"],
    },
    "vocabularies": {"issue": _NAMES},
    "steps": {
        "request_review": [
            {
                "needs": [
                    "(review|look over|go over|reviewing|check over|assess)|"
                    "(request|start|arrange|do|carry out|perform|kick off|initiate|run|conduct|begin|order|open|need|"
                    "i need|we need|requesting|starting) [legal|contract] review [of|for]|"
                    "(get|ask|have) (<lawyers>) [to] (review|check|look at|look over|go over|take look at)|"
                    "(needs|requires|need) [legal|contract] (review|reviewing)|"
                    "[legal|contract] review [is] (needed|required|requested) [of|for]|(have|take) look (over|at)",
                    "<contract>",
                ],
                "may": _REVIEW_DETAILS,
            },
            {
                "needs": [
                    "(flag|send|submit|put forward|put|pass) [up]",
                    "<contract>",
                    "[up] for [legal|contract] review",
                ],
                "may": _REVIEW_DETAILS,
            },
            {
                "needs": [
                    "(have|get|i want|we want|i need|we need)",
                    "<contract>",
                    "(reviewed|checked) [by (<lawyers>)]",
                ],
                "may": _REVIEW_DETAILS,
            },
        ],
        "flag_clause": [
            {
                "needs": ["(flag|mark|flagging|marking|escalate) [it] [up]", "<where>", "<contract>"],
                "may": [*_FLAG_DETAILS, f"[{_BECAUSE}] [its] [issue [is|of]] <issue> [issue|concern|problem]"],
            },
            # "raise the cap in section 7" is no flag
            {
                "needs": ["(raise|raising) [it] [up]", "<where>", "<contract>"],
                "may": [
                    *_FLAG_DETAILS,
                    f"({_BECAUSE}|issue|issue of) [its] <issue> [issue|concern|problem]|{{issue:identifier}}",
                ],
            },
        ],
        "log_review": [
            {"needs": ["<log>", "<review>"], "may": ["<audit_log>", *_LOG_DETAILS]},
            {"needs": ["<store>", "<review>", "<audit_log>"], "may": _LOG_DETAILS},
        ],
    },
}
"""The table of `ContractEncoder`."""
