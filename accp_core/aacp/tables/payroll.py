"""How people say the steps of the payroll workflow."""

from typing import Any, Final

__all__ = ["PAYROLL_SAYINGS"]

_CALCULATE: Final = "<calculate>|[then] (calculate|compute|calculating|computing)|<check>"
_MERGE_DETAILS: Final = [
    "<month>",
    "[with|by|using|under|apply|use] [payroll] rules [version] ({rules:identifier}|{rules:version})|"
    "[with|by|using|under|apply|use] version {rules:version} of payroll rules|"
    "[with|by|using|under|apply|use] {rules:identifier}",
    "<check>",
    "(carry|carrying) over [flags] {flags:identifier*}|(inherit|inheriting|keep|keeping) [flags] {flags:identifier*}",
    "(i|we) have [both] <staff_data> and <budget_data>",
    "[and] (apply|applying) pension contribution rates",
    "[and] (apply|applying) paye deductions",
    "[and] (flag|flagging) [any] anomalies",
]
_REVIEW: Final = "needs review|need review|needing review|requires review|require review|requiring review"
_REPORT_DETAILS: Final = (
    "[and] (compare|compared|comparing) [it|them] (with|to|against) [that of] {prev_period:month}|"
    "[with|include|including] comparison (to|with|against) {prev_period:month}|"
    "(previous|prior) (period|month) {prev_period:month}|(against|versus|vs) {prev_period:month}",
    "[as|in|to] [both] {formats:format*} [format|formats|file|files|form]|"
    "[and] (export|output|deliver|save|produce) [it] (as|in|to) [both] {formats:format*} [format|formats]",
    "[and] (highlight|highlighting) [anything|everything|items|what|records] [that] "
    f"({_REVIEW}|review required|for review|to review)|"
    f"[with|and] (anything|everything|items|records) [that|which] ({_REVIEW}) highlighted|"
    "[and] (highlight|highlighting) review_req [items|records|rows|entries]",
    "<for_us>",
)
PAYROLL_SAYINGS: Final[dict[str, Any]] = {
    "parts": {
        "people": "employees|employee|staff [members]|workers|workforce|people|colleagues",
        "active": "[all|every|each] [of] [our] [currently|current] active <people> ['s]",
        "salaries": (
            "[base] (salary|salaries|pay|wage|wages|compensation) "
            "[record|records|data|information|details|figures|info]"
        ),
        "budgets": "(budget|budgets) [allocation|allocations|data|figures|information|numbers]",
        "centres": "cost (centre|center|centres|centers)",
        "spend": "spend|spending|expenditure|what has been spent|how much has been spent",
        "spent": "(ytd|year to date) <spend>|<spend> [(so far|to date|year to date)]",
        "staff_data": (
            "(hr|employee|employees|payroll|pay|[employee] (salary|salaries)) [data|records|dataset|information]"
        ),
        "budget_data": "[cost centre|cost center|approved] (budgets|budget) [data|datasets|allocations]",
        "check": (
            "[then] (validate|check|validating|verify|checking|verifying) [it|them|totals|payroll|result|results] "
            "(against|with) [approved] [cost centre|cost center] (budgets|budget|budget_cc)"
        ),
        "calculate": (
            "[then] (calculate|compute|work out|run|calculating|computing) "
            "(payroll [calculation]|net pay|pay|net salaries) [for all employees]"
        ),
        "report": "[monthly] payroll report",
        "make_report": "<make>|(run|write up|write|do|output|running|writing)|(i|we) need",
        "reported": (
            "<report>|report for payroll (period|month|run) {period:month}|report (on|about) payroll|"
            "{formats:format*} <report>"
        ),
        "run": "[of|for|about] [completion of] [monthly] payroll run",
        "chain": "[with] chain [of agents] {chain:code*}|(via|through) {chain:code*}",
    },
    "choices": {
        "employment": {"active": "<active>"},
        "column": {
            "fields": (
                "departments|cost centres|base salary|changes made this month|"
                "any changes made this month|pension [contribution] rates"
            ),
        },
        "content": {
            "report": "summary page|department breakdown|anomaly flags|comparison (to|with) last month",
        },
        "attachment": {"pdf": "pdf", "xlsx": "xlsx|excel", "csv": "csv"},
        "recipient": {
            "fin_director": "fin_director|finance director|director of finance|fd",
            "hr_director": "hr_director|hr director|director of hr",
            "cfo": "cfo|chief financial officer",
            "ceo": "ceo|chief executive officer",
            "payroll_manager": "payroll_manager|payroll manager",
            "fin_team": "fin_team",
            "hr_team": "hr_team",
            "fin_director,hr_director": "finance and hr directors",
            "hr_director,fin_director": "hr and finance directors",
        },
        "message": {"review_required": "for review"},
    },
    "forms": {"version": [r"v?(\d{1,3})", r"payroll_v\1"]},
    "steps": {
        "fetch_employees": [
            {
                "needs": [
                    "<fetch>",
                    "[employee|employees|staff] ['s] <salaries>|{status:employment} <salaries>|"
                    "employee payroll (records|data)|[employee|staff] <salaries> [of|for|on|from] {status:employment}",
                ],
                "may": [
                    "<month>",
                    "<in_json>",
                    "[(i|we) need|of|for|on] {status:employment}|(of|for|on) [our] (employees|staff)",
                    "(with|including|include) [their] {_:column*}|their {_:column*}",
                    "from hrms",
                    "<for_us>",
                ],
            },
            {
                "needs": [
                    "employee <salaries>|{status:employment} <salaries>|<salaries> of {status:employment}",
                    "<month>",
                ],
                "may": ["<in_json>", "from hrms"],
            },
        ],
        "fetch_budgets": [
            {
                "needs": [
                    "<fetch>",
                    "[all] [approved] <centres> ['s] <budgets>|"
                    "[all] [approved|departmental] <budgets> (by|per|for|of|for each) [each|all|every] <centres>|"
                    "[all] [approved] <budgets> [and|with|plus] <spent> (by|per|for each|for all|for) [all|each|every] "
                    "<centres>",
                ],
                "may": [
                    "<month>",
                    "<in_json>",
                    "[and|with|plus|include|including|along with|together with] [approved budget and] <spent>",
                    "approved",
                    "<for_us>",
                ],
            }
        ],
        "merge_and_calculate": [
            {
                "needs": [
                    "(merge|combine|join|consolidate|merging|combining) [together]|(bring|put) together",
                    "[both|two|these] datasets|payroll data|<staff_data> (and|with) <budget_data> [together]",
                    _CALCULATE,
                ],
                "may": _MERGE_DETAILS,
            },
            {
                "needs": ["bring|put", "<staff_data> and <budget_data> together", _CALCULATE],
                "may": _MERGE_DETAILS,
            },
            {"needs": ["<calculate>", "(from|out of) <staff_data> and <budget_data>"], "may": _MERGE_DETAILS},
        ],
        "generate_report": [
            {"needs": ["<make_report>", "<reported>"], "may": ["<month>", *_REPORT_DETAILS]},
            # who names the template may say what it contains, and that the step before is done
            {
                "needs": ["<make_report>", "<reported>", "(using|with|from) [standard] payroll monthly template"],
                "may": [
                    "<month>",
                    *_REPORT_DETAILS,
                    "payroll [calculation] is (complete|completed|done|finished)",
                    "(include|including|with) {_:content*}",
                    "include {_:content}",
                ],
            },
        ],
        "log_run": [
            {"needs": ["<log>", "<run>"], "may": ["<audit_log>", "<month>", "<status>", "<actor>", "<chain>"]},
            {"needs": ["<store>", "<run>", "<audit_log>"], "may": ["<month>", "<status>", "<actor>", "<chain>"]},
            {
                "needs": [
                    "write [deterministic] audit record",
                    "[with] actor {actor:code}",
                    "[with] chain [of agents] {chain:code*}",
                ],
                "may": ["<month>", "<status>"],
            },
        ],
        "send_report": [
            {
                "needs": [
                    "(send|email|e mail|mail|forward|distribute|share|deliver|circulate|dispatch|submit|pass|sending|"
                    "emailing) [out|over|on]",
                    "<report>|{attachment} <report>|[pdf|{attachment}] [copy|version] of <report>",
                ],
                "may": [
                    "<month>",
                    "[to|with|on to] {to:recipient*}",
                    "[as|in|with] {attachment} [attachment|format|file]",
                    "[with] (message|note|flag) ({flag_msg:status}|{flag_msg:message}|{flag_msg:label})|"
                    "(marked|flagged|flag it|mark it) [as] ({flag_msg:status}|{flag_msg:message}|{flag_msg:label})",
                ],
            }
        ],
    },
}
"""The table of `PayrollEncoder`."""
