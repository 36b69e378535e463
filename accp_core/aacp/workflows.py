"""The four workflows of the draft: payroll, provisioning, invoices, contracts (AACP section 6.1).

Their packets are those of the reference package, except for its version. Arguments that it accepts and ignores are
used here where a packet can hold them (`fields`, `period`, `prev_period`, `department`), and refused where none can
(the licence and the team of an account). A mailbox names its user instead of an e-mail address: personal data must not
be in a packet (section 15), so `email` takes the address of that data. `fields=None` leaves the list of fields out,
where the receiving agent has defaults of its own (section 4.2).
"""

from __future__ import annotations

from functools import partial
from typing import Final

from accp_core.aacp.steps import Workflow, WorkflowEncoder, WorkflowRun, WorkflowStep

__all__ = ["WORKFLOWS", "ContractEncoder", "ITEncoder", "InvoiceEncoder", "PayrollEncoder"]


class PayrollEncoder(WorkflowEncoder, name="payroll"):
    """A payroll run in six hops."""

    step = partial(WorkflowStep, domain="HR", return_agent="HR-Agent")

    fetch_employees = step(
        task="FETCH",
        priority="1",
        fields={
            "res": "emp_salary",
            "period": "{period}",
            "filter": "status={status}",
            "fields": "{fields}",
            "fmt": "json",
        },
        defaults={"fields": None, "status": "active"},
        phrases=(
            "(fetch|pull) employee (salary|payroll|pay) (records|data|details) for {period:period} [as json]",
            "(fetch|pull) employee (salaries|pay) for {period:period} [as json]",
            "(fetch|pull) (salary|pay) (records|data|details) (of|for) [all] {status=active} employees for "
            "{period:period} [as json]",
            "(fetch|pull) [all] {status=active} (employees|employee) salary (records|data) for "
            "{period:period} [as json]",
        ),
    )
    fetch_budgets = step(
        task="FETCH",
        domain="FIN",
        priority="1",
        fields={"res": "budget_cc", "period": "{period}", "fields": "{fields}", "fmt": "json"},
        defaults={"fields": ("cc_id", "approved_budget", "ytd_spend")},
        phrases=(
            "(fetch|pull) [all] [approved] cost (centre|center) (budgets|budget data|budget figures) for "
            "{period:period} [as json]",
            "(fetch|pull) [approved] (budgets|budget data) (for|of|by) [each|all] cost "
            "(centre|center|centres|centers) for {period:period} [as json]",
        ),
    )
    merge_and_calculate = step(
        task="MERGE",
        priority="1",
        fields={"rules": "{rules}", "validate": "budget_cc", "period": "{period}", "flags_inherit": "{flags}"},
        defaults={"period": None, "flags": None, "rules": "payroll_v2"},
        phrases=(
            "merge [both|two] datasets and calculate [net] (pay|payroll) [for {period:period}]",
            "merge (salary|hr|employee) (data|records) with [cost centre] (budgets|budget data) and "
            "calculate [net] (pay|payroll) [for {period:period}] [with rules {rules}]",
        ),
    )
    generate_report = step(
        task="REPORT",
        fields={"fmt": "{formats}", "highlight": "REVIEW_REQ", "period": "{period}", "src_prev": "{prev_period}"},
        defaults={"period": None, "prev_period": None, "formats": ("pdf", "xlsx")},
        phrases=(
            "(generate|create|produce|make|build|prepare|write|run) [monthly] payroll report [for "
            "{period:period}] [(as|in) {formats=pdf/xlsx/csv} [format]]",
            "(generate|create|produce|make|build|prepare|write|run) [monthly] payroll report for "
            "{period:period} compared (to|with) {prev_period:period}",
        ),
    )
    log_run = step(
        task="LOG",
        return_agent="AUD-Agent",
        fields={"period": "{period}", "status": "{status}", "actor": "{actor}", "chain": "{chain}"},
        defaults={
            "period": None,
            "actor": "HR-Agent",
            "chain": ("HRMS", "FIN", "PAY", "RPT"),
            "status": "review_required",
        },
        phrases=(
            "log [monthly] payroll run [for {period:period}] [as {status=review_required/ok}] [with actor {actor}]",
            "write audit record (for|of) [monthly] payroll run [for {period:period}]",
        ),
    )
    send_report = step(
        task="SEND",
        fields={
            "to": "{to}",
            "subj": "payroll_{period!snake}_REVIEW_REQ",
            "att": "rpt://payroll/{period}:{attachment}",
            "flag_msg": "{flag_msg}",
        },
        defaults={"to": ("fin_director", "hr_director"), "flag_msg": "review_required", "attachment": "pdf"},
        phrases=(
            "(send|email|forward) payroll report for {period:period} [to "
            "{to=cfo/ceo/fin_director/hr_director/payroll_manager}] [as {attachment=pdf/xlsx/csv}]",
        ),
    )
    full_run = WorkflowRun(
        (fetch_employees, "period fields"),
        (fetch_budgets, "period fields"),
        (merge_and_calculate, "flags"),
        (generate_report, "prev_period"),
        (log_run, ""),
        (send_report, "period"),
        order="period prev_period flags fields",
    )


class ITEncoder(WorkflowEncoder, name="it"):
    """The accounts for a new employee in six hops."""

    step = partial(WorkflowStep, domain="IT", return_agent="IT-Agent")

    create_ad_account = step(
        task="BUILD",
        priority="1",
        fields={
            "res": "ad_account",
            "filter": "usr={username}[,dept={department}]",
            "fields": "{fields}",
            "fmt": "json",
        },
        defaults={"department": None, "fields": ("email", "dept", "grp", "pwd_reset")},
        phrases=("(create|build|provision|set up) (ad|active directory) [user] account for [user] {username}",),
    )
    provision_email = step(
        task="PROC",
        priority="1",
        fields={"res": "m365_mailbox", "filter": "usr={username}", "data_ptr": "{email}", "fields": "{fields}"},
        defaults={"email": None, "fields": ("licence", "sig", "dl")},
        pointers=("email",),
        phrases=(
            "(create|provision|set up) [m365|outlook|email] mailbox for [user] {username:user}",
            "give [user] {username:user} [m365|outlook|email] mailbox",
        ),
    )
    provision_vpn = step(
        task="PROC",
        fields={"res": "vpn_access", "filter": "usr={username}", "fields": "{fields}"},
        defaults={"fields": ("profile", "mfa")},
        phrases=(
            "give [user] {username:user} vpn access",
            "(provision|enable|set up|grant) vpn [access] for [user] {username:user}",
        ),
    )
    provision_crm = step(
        task="PROC",
        fields={"res": "salesforce_user", "filter": "usr={username}", "fields": "{fields}"},
        defaults={"fields": ("profile", "team", "mgr", "view")},
        phrases=(
            "give [user] {username:user} (crm|salesforce) access",
            "give [user] {username:user} access to (crm|salesforce)",
            "(provision|enable|set up|grant) (crm|salesforce) access for [user] {username:user}",
            "add [user] {username:user} to (crm|salesforce)",
        ),
    )
    provision_badge = step(
        task="PROC",
        fields={"res": "badge_access", "filter": "usr={username}", "fields": "{zones}"},
        defaults={"zones": ("main_entrance", "office_floor")},
        phrases=(
            "(create|provision|issue|activate) [building|office|access|door] badge for [user] {username:user}",
            "give [user] {username:user} [building|office|access|door] badge",
        ),
    )
    log_provisioning = step(
        task="LOG",
        return_agent="AUD-Agent",
        priority="3",
        fields={"filter": "usr={username}", "status": "ok", "actor": "{actor}", "chain": "{systems}"},
        defaults={"systems": ("AD", "M365", "VPN", "CRM", "BADGE"), "actor": "IT-Agent"},
        phrases=("log provisioning (of|for) [user] {username} [with actor {actor}]",),
    )
    full_onboarding = WorkflowRun(
        (create_ad_account, "username department fields"),
        (provision_email, "username email fields"),
        (provision_vpn, "username fields"),
        (provision_crm, "username fields"),
        (provision_badge, "username"),
        (log_provisioning, "username"),
        order="username email department fields",
    )


class InvoiceEncoder(WorkflowEncoder, name="invoice"):
    """A supplier's invoice in three hops."""

    step = partial(WorkflowStep, domain="FIN", return_agent="FIN-Agent")

    process_invoice = step(
        task="PROC",
        fields={
            "res": "invoice",
            "sup": "{supplier}",
            "amt": "{amount}",
            "ccy": "{currency}",
            "match": "{purchase_order}",
            "terms": "{terms}",
            "req": "validate,schedule_pay",
        },
        defaults={"terms": "net30"},
        phrases=(
            "process [supplier] invoice from {supplier:company} for {amount,currency:money} "
            "[(against|with|matching)] [purchase order] {purchase_order:order}",
        ),
    )
    schedule_payment = step(
        task="PROC",
        fields={
            "res": "bank_transfer",
            "sup": "{supplier}",
            "amt": "{amount}",
            "ccy": "{currency}",
            "terms": "{terms}",
            "req": "schedule,confirm",
        },
        defaults={"terms": "net30"},
        phrases=(
            "(schedule|arrange) (payment|bank transfer|transfer) of {amount,currency:money} to {supplier:company}",
        ),
    )
    log_invoice = step(
        task="LOG",
        return_agent="AUD-Agent",
        priority="3",
        fields={
            "filter": "inv={invoice_ref}",
            "sup": "{supplier}",
            "amt": "{amount}",
            "ccy": "{currency}",
            "status": "{status}",
            "actor": "{actor}",
        },
        defaults={"status": "ok", "actor": "FIN-Agent"},
        phrases=(
            "log invoice {invoice_ref} from {supplier:company} for {amount,currency:money} [as "
            "{status=ok/paid}] [with actor {actor}]",
        ),
    )


class ContractEncoder(WorkflowEncoder, name="contract"):
    """The review of a contract in three hops."""

    step = partial(WorkflowStep, domain="LEGAL", return_agent="LEG-Agent")

    request_review = step(
        task="FLAG",
        priority="1",
        fields={
            "type": "{contract_type}",
            "party": "{party}",
            "risk": "{risk_level}",
            "req": "clause_review,risk_assess,sign_recommend",
        },
        defaults={"risk_level": "medium"},
        phrases=(
            "review {contract_type=nda/sla/msa/sow/dpa} with {party:company} [with {risk_level=low/medium/high} risk]",
        ),
    )
    flag_clause = step(
        task="FLAG",
        priority="1",
        fields={
            "type": "{contract_type}",
            "party": "{party}",
            "clause": "{clause_ref}",
            "issue": "{issue}",
            "risk": "{risk}",
            "block": "{block_action}",
            "req": "senior_review",
        },
        defaults={"risk": "high", "block_action": "signature"},
        phrases=(
            "flag (clause|section) {clause_ref:section} of {contract_type=nda/sla/msa/sow/dpa} with "
            "{party:company} for {issue:identifier} [with {risk=low/medium/high} risk]",
        ),
    )
    log_review = step(
        task="LOG",
        return_agent="AUD-Agent",
        fields={
            "type": "{contract_type}",
            "party": "{party}",
            "risk": "{risk}",
            "status": "{recommendation}",
            "actor": "{actor}",
        },
        defaults={"actor": "LEG-Agent"},
        phrases=(
            "log review of {contract_type=nda/sla/msa/sow/dpa} with {party:company} with "
            "{risk=low/medium/high} risk and recommendation {recommendation=approve/negotiate/reject}",
        ),
    )


WORKFLOWS: Final[tuple[Workflow, ...]] = (
    PayrollEncoder.workflow,
    ITEncoder.workflow,
    InvoiceEncoder.workflow,
    ContractEncoder.workflow,
)
"""The workflows of the draft as data."""
