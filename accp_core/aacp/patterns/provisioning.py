"""How people say the steps of the provisioning workflow."""

from __future__ import annotations

from typing import Final

from accp_core.aacp.patterns.common import AUDIT_LOG, LOG, STORE
from accp_core.aacp.patterns.matching import Pattern
from accp_core.aacp.steps import WorkflowStep
from accp_core.aacp.workflows import ITEncoder

__all__ = ["PROVISIONING_PATTERNS"]

_CREATE: Final = (
    "(create|set up|build|make|add|provision|configure|sort out|arrange|organise|organize|issue|register|"
    "creating|setting up|making|adding|provisioning)",
)
_GRANT: Final = ("(give|grant|provide|allow|assign|giving|granting|get|enable|activate|enabling|activating)",)
_WANT: Final = (
    "(i|we) need",
    "(i'd|we'd|i would|we would) like",
    "(is|are) (needed|required)",
    "[will] (needed|required|needs|requires|need|require|wanted)",
    "(can|could|may) (we|i) (have|get)",
)
_NEW: Final = "[our] [new] [user|employee|starter|joiner|hire|colleague|member of staff|team member]"
_FOR: Final = (
    f"[for|to] {_NEW} {{username}} [with|access to]",
    "[for|with] [new] [user|employee] (username|user name|user id|login) {username:login}",
)
_PERSON: Final = (*_FOR, f"[for|of] {_NEW} {{username}} ['s]")
_ALSO: Final = (
    ("(set it up|sort it out|arrange it|created|in place|to be created)",),
    ("we have [new] (joiner|starter|employee|hire|colleague)", "[we have] new (starter|joiner|hire)"),
)


def _steps(
    step: WorkflowStep, objects: tuple[str, ...], *, wants: tuple[str, ...] = (), may: tuple[tuple[str, ...], ...] = ()
) -> tuple[Pattern, ...]:
    """Return the patterns of something that is made for a user, or that somebody wants for one.

    "Set up j.smith's mailbox" makes one; "I need j.smith's mailbox" asks for one that is there, so a possessive and
    "of" belong to the first only.
    """
    return (
        Pattern(step=step, needs=(_CREATE, objects), may=(_PERSON, *_ALSO, *may)),
        Pattern(step=step, needs=((*_WANT, *wants), objects), may=(_FOR, *_ALSO, *may)),
    )


_ad_accounts = _steps(
    ITEncoder.create_ad_account,
    (
        "[new] (active directory|ad|directory|it|network|domain|windows) [user|login] (account|accounts|user)",
        "[new] [it] user account",
        "[user|account] {username} in (active directory|ad)",
    ),
    wants=("open",),
    may=(
        ("(with|including|incl) email , (department|dept) , (group|grp) [,] and password reset",),
        ("in (active directory|ad)",),
    ),
)
_mailboxes = _steps(
    ITEncoder.provision_email,
    (
        "[new] [(m365|microsoft 365|office 365|o365|outlook|exchange [online]|email|e mail|mail|work|corporate|"
        "company)] (mailbox|inbox) [account]",
        "[new] [(m365|microsoft 365|office 365|o365|outlook|exchange [online]|work|corporate|company)] "
        "(email|e mail|mail) [account|access]",
        "with email",
    ),
    wants=(*_GRANT, "set {username} up [with]", "new"),
    may=(
        ("(with|including|incl) (licence|license) , signature [,] and (distribution lists|distribution list|dl)",),
        ("(in|on) (m365|microsoft 365|office 365|exchange [online]|outlook)",),
    ),
)
_vpn = _steps(
    ITEncoder.provision_vpn,
    (
        "[new] [remote [access]] vpn (access|profile|account|connection|login)",
        "[access] [to|with|for|on] [our] vpn",
        "use vpn",
    ),
    wants=(*_GRANT, "let {username} (use|have)", "connect", "set {username} up [with]"),
    may=(("[with|including|using] (mfa|multi factor authentication)", "[with] profile and mfa"),),
)
_crm = _steps(
    ITEncoder.provision_crm,
    (
        "[new] (salesforce|crm) [crm] (user|account|access|login|profile|licence|seat) [account]",
        "(in|to|on|into|access to|access in|with) [our] (salesforce|crm)",
        "user in (salesforce|crm)",
    ),
    wants=(*_GRANT, "set {username} up"),
    may=(("(with|including|incl) profile , team , manager [,] and view",),),
)
_badges = _steps(
    ITEncoder.provision_badge,
    (
        "[new] [building|office|door|entry|access|security|staff|employee|id] badge [access]",
        "[new] (building|office|door|entry|security) [access] (card|pass)",
        "[new] access (card|pass)",
        "[new] [building|office] keycard",
        "(building|door|office) access",
    ),
    wants=(*_GRANT, "set {username} up [with]"),
    may=(("[access] (to|for|covering|on|with access to) [zone|zones] {zones}",),),
)
_DONE: Final = "[been|was|were|is|are|successfully] (provisioned|set up|created|completed|done)"
_PROVISIONING: Final = (
    "[of|for|about] [successful] [user|account|accounts] (provisioning|onboarding) [of accounts]",
    "that (provisioning|onboarding) [is|was|has been] (complete|completed|done|finished)",
    f"that (provisioning|onboarding) (of|for) {_NEW} {{username}} (is|was|has been) (complete|completed|done|finished)",
    f"[that] [all] [new] [user] accounts [have|has] {_DONE}",
    f"[that] [all] [new] [user] accounts for {_NEW} {{username}} [have|has] {_DONE}",
    f"[that] {_NEW} {{username}} ['s] [user] accounts [have|has] {_DONE}",
    f"[that] {_NEW} {{username}} (has been|was|is) (provisioned|set up|onboarded)",
)
_LOG_DETAILS: Final = (
    (*_PERSON, f"[that] {_NEW} {{username}} ['s]"),
    ("[with] status [of|is] ok", "as ok"),
    ("[with] actor {actor}", "[performed|done|carried out] by {actor}"),
    ("[on|in|for|to|across] [systems] {systems}",),
)
_logs = (
    Pattern(step=ITEncoder.log_provisioning, needs=(LOG, _PROVISIONING), may=(AUDIT_LOG, *_LOG_DETAILS)),
    Pattern(step=ITEncoder.log_provisioning, needs=(STORE, _PROVISIONING, AUDIT_LOG), may=_LOG_DETAILS),
    Pattern(
        step=ITEncoder.log_provisioning,
        needs=(LOG, ("[that] {actor} (provisioned|set up|created) {systems} (for|accounts for) {username}",)),
        may=(AUDIT_LOG,),
    ),
)

PROVISIONING_PATTERNS: Final = (*_ad_accounts, *_mailboxes, *_vpn, *_crm, *_badges, *_logs)
"""The patterns of `ITEncoder`."""
