"""How people say the steps of the payroll workflow."""

from __future__ import annotations

from typing import Final

from accp_core.aacp.patterns.common import AUDIT_LOG, FETCH, FOR_US, IN_JSON, LOG, MAKE, PERIOD, STATUS, STORE
from accp_core.aacp.patterns.matching import Pattern
from accp_core.aacp.workflows import PayrollEncoder

__all__ = ["PAYROLL_PATTERNS"]

_ACTIVE: Final = "[all|every|each] [currently|current] active (employees|employee|staff|workers|workforce|people) ['s]"
_SALARIES: Final = (
    "[base] (salary|salaries|pay|wage|wages|compensation) [(record|records|data|information|details|figures|info)]"
)
_REPORT: Final = "[monthly] payroll report"
_BUDGETS: Final = "(budget|budgets) [allocation|allocations|data|figures|information|numbers]"
_CENTRES: Final = "cost (centre|center|centres|centers)"

_fetch_employees = Pattern(
    step=PayrollEncoder.fetch_employees,
    needs=(
        FETCH,
        (
            f"[employee|employees|staff] ['s] {_SALARIES}",
            f"{_ACTIVE} {_SALARIES}",
            "employee payroll (records|data)",
            f"[employee|staff] {_SALARIES} [of|for|on|from] {_ACTIVE}",
        ),
    ),
    may=(
        PERIOD,
        IN_JSON,
        (f"[(i|we) need|of|for|on] {_ACTIVE}", "(of|for|on) [our] (employees|staff)"),
        (
            "[with|including|include] their departments , cost centres , base salary , any changes made this month "
            "[,] and pension contribution rates",
        ),
        ("from hrms",),
        FOR_US,
    ),
)
_fetch_budgets = Pattern(
    step=PayrollEncoder.fetch_budgets,
    needs=(
        FETCH,
        (
            f"[all] [approved] {_CENTRES} ['s] {_BUDGETS}",
            f"[all] [approved|departmental] {_BUDGETS} (by|per|for|of) [each|all|every] {_CENTRES}",
            f"[all] [approved] {_BUDGETS} [and|with|plus] [(year to date|ytd)] "
            f"(spend|spending) [so far|to date] (by|per|for each|for all|for) [all|each|every] {_CENTRES}",
        ),
    ),
    may=(
        PERIOD,
        IN_JSON,
        (
            "[and|with|plus|include|including|along with|together with] [approved budget and] (ytd|year to date) "
            "(spend|spending|expenditure)",
            "[and|with|plus|include|including] (spend|spending) (to date|so far|year to date)",
        ),
        ("approved",),
        FOR_US,
    ),
)
_EMPLOYEES: Final = "(hr|employee|employees|payroll|[employee] (salary|salaries)) [data|records|dataset|information]"
_DATASETS: Final = (
    "[both|two] datasets",
    "payroll data",
    f"{_EMPLOYEES} (and|with) [cost centre|cost center|approved] (budgets|budget) [data|datasets|allocations]",
)
_CHECK: Final = (
    "[then] (validate|check|validating|verify|checking|verifying) [it|them|totals|payroll|result|results] "
    "against [approved] [cost centre|cost center] (budgets|budget|budget_cc)"
)
_merge_and_calculate = Pattern(
    step=PayrollEncoder.merge_and_calculate,
    needs=(
        ("(merge|combine|join|consolidate|merging|combining) [together]",),
        _DATASETS,
        (
            "[then] (calculate|compute|work out|run|calculating|computing) "
            "[payroll [calculation]|net pay|pay|net salaries] [for all employees]",
            _CHECK,
        ),
    ),
    may=(
        PERIOD,
        (
            "[with|by|using|apply|under|use] [payroll] rules {rules}",
            "[with|by|using|apply|use] rules {rules}",
            "[with|by|using|under|apply|use] payroll rules [version] {rules:version}",
            "[with|by|using|under|apply|use] version {rules:version} of payroll rules",
            "[with|by|using|under|apply|use] {rules}",
            "[with|by|using|under|apply|use] rules [version] {rules:version}",
        ),
        (_CHECK,),
        ("(carry|carrying) over [flags] {flags}", "(inherit|inheriting|keep|keeping) [flags] {flags}"),
    ),
)
_merge_as_the_draft = Pattern(
    step=PayrollEncoder.merge_and_calculate,
    needs=(
        (
            "i have both employee salary data and budget allocations . merge these datasets , apply pension "
            "contribution rates , calculate net pay for all employees , apply paye deductions , validate totals "
            "against approved budgets , and flag any anomalies",
        ),
        ("use payroll rules version {rules:version}",),
    ),
)
_generate_report = Pattern(
    step=PayrollEncoder.generate_report,
    needs=(
        (MAKE, "(run|write up|write|compile|do|output|running|writing)", "(i|we) need"),
        (
            _REPORT,
            "report for payroll (period|month|run) {period}",
            "report (on|about) payroll",
            "{formats} [monthly] payroll report",
        ),
    ),
    may=(
        PERIOD,
        (
            "[and] (compare|compared|comparing) [it|them] (with|to|against) [that of] {prev_period:period}",
            "[with|include|including] comparison (to|with|against) {prev_period:period}",
            "(previous|prior) (period|month) {prev_period:period}",
            "(against|versus|vs) {prev_period:period}",
        ),
        (
            "[as|in|to] [both] {formats} [format|formats|file|files|form]",
            "[and] (export|output|deliver|save) [it] (as|in|to) [both] {formats} [format|formats]",
        ),
        (
            "[and] (highlight|highlighting) [anything|everything|items|what|records] [that] "
            "((needs|need|needing|require|requires|requiring) review|review required|for review|to review)",
            "[with|and] (anything|everything|items|records) [that|which] "
            "(needs|need|needing|require|requires|requiring) review highlighted",
            "[and] (highlight|highlighting) review_req [items|records|rows|entries]",
        ),
        FOR_US,
    ),
)
_report_as_the_draft = Pattern(
    step=PayrollEncoder.generate_report,
    needs=(
        (
            "payroll calculation is complete . generate monthly payroll report using standard payroll monthly "
            "template . include summary page , department breakdown , anomaly flags , and produce it in both pdf "
            "format for distribution and excel format for finance . include comparison to last month",
        ),
    ),
)
_RUN: Final = ("[of|for|about] [completion of] [monthly] payroll run",)
_RUN_DETAILS: Final = (
    PERIOD,
    STATUS,
    ("[with] actor {actor}", "[performed|done|run|executed] by {actor}"),
    ("[with] chain [of agents] {chain}", "(via|through) {chain}"),
)
_log_run = Pattern(step=PayrollEncoder.log_run, needs=(LOG, _RUN), may=(AUDIT_LOG, *_RUN_DETAILS))
_store_run = Pattern(step=PayrollEncoder.log_run, needs=(STORE, _RUN, AUDIT_LOG), may=_RUN_DETAILS)
_write_record = Pattern(
    step=PayrollEncoder.log_run,
    needs=(("write [deterministic] audit record",), ("[with] actor {actor}",), ("[with] chain [of agents] {chain}",)),
    may=(PERIOD, STATUS),
)
_send_report = Pattern(
    step=PayrollEncoder.send_report,
    needs=(
        (
            "(send|email|e mail|mail|forward|distribute|share|deliver|circulate|dispatch|submit|sending|emailing) "
            "[out|over]",
        ),
        (_REPORT, "{attachment} " + _REPORT, "[(pdf|{attachment})] [copy|version] of " + _REPORT),
    ),
    may=(
        PERIOD,
        ("[to|with] {to}",),
        ("[as|in|with] {attachment} [attachment|format|file]",),
        (
            "[with] (message|note|flag) {flag_msg}",
            "(marked|flagged|flag it|mark it) [as] {flag_msg}",
        ),
    ),
)

PAYROLL_PATTERNS: Final = (
    _fetch_employees,
    _fetch_budgets,
    _merge_and_calculate,
    _merge_as_the_draft,
    _generate_report,
    _report_as_the_draft,
    _log_run,
    _store_run,
    _write_record,
    _send_report,
)
"""The patterns of `PayrollEncoder`."""
