"""How people say the steps of the invoice workflow."""

from __future__ import annotations

from typing import Final

from accp_core.aacp.patterns.common import AUDIT_LOG, LOG, STATUS, STORE
from accp_core.aacp.patterns.matching import Pattern
from accp_core.aacp.workflows import InvoiceEncoder

__all__ = ["INVOICE_PATTERNS"]

_INVOICE: Final = "[supplier|vendor|incoming|new|purchase] (invoice|bill)"
_MONEY: Final = (
    "[for|of|at|in|totalling|totaling|amounting to|worth|valued at] [amount [of|is]|total of|sum of|"
    "value of|value] {money}",
)
_TERMS: Final = (
    "[with|on|at|under] [payment] [terms] [of|are|is] {terms} [payment] [terms]",
    "[with|on|at|under] [payment] terms [of|are|is] {terms:days}",
    "(payable|due) (in|within) {terms:days}",
    "[with|on|at|under] {terms:days} [payment] terms",
)
_FROM: Final = (
    "[from|by] [our] [supplier|vendor] [is] {supplier} ['s]",
    "(of|issued by|sent by|received from) [our] [supplier|vendor] {supplier} ['s]",
)
_TO: Final = (
    "(to|for) [our] [supplier|vendor] {supplier}",
    "[(supplier|vendor|payee|beneficiary) [is]] {supplier}",
    "to be paid to {supplier}",
)
_ORDER: Final = (
    "[and|that|which] (match|matches|matched|matching) [it] [to|with|against] [our] [purchase order|po] "
    "[number|no|reference|ref] {purchase_order}",
    "[against|under|referencing|ref|reference|for|with|on|linked to|"
    "corresponding to] [our] [purchase order|po] [number|no|reference|ref] "
    "{purchase_order}",
    "it matches [purchase order|po] {purchase_order}",
)

_process_invoice = Pattern(
    step=InvoiceEncoder.process_invoice,
    needs=(
        (
            "(process|handle|enter|book|work through|processing|handling)",
            "[needs|requires|for] (processing|to be processed)",
            "validate and schedule payment of",
            "[is] to be processed",
        ),
        (_INVOICE,),
    ),
    may=(
        _FROM,
        _MONEY,
        _ORDER,
        _TERMS,
        ("we [have] (received|got)", "there is", "here is"),
        ("it", "process it"),
        ("[and] (validate|validate it) and schedule payment", "(including|with) validation and scheduling of payment"),
    ),
)
_schedule_payment = Pattern(
    step=InvoiceEncoder.schedule_payment,
    needs=(
        (
            "(schedule|arrange|set up|book|plan|organise|organize|scheduling|arranging|initiate|queue)",
            "schedule and confirm",
        ),
        (
            "[supplier|vendor|bank] (payment|transfer|bank transfer|wire transfer|wire) [of|for]",
            "{money} [supplier] (payment|transfer|bank transfer)",
            "{money} to be paid to {supplier}",
        ),
    ),
    may=(
        _TO,
        _MONEY,
        _TERMS,
        ("[and] confirm [it|payment|transfer]", "with confirmation", "[and] (request|get) confirmation"),
    ),
)
_LOGGED: Final = (
    "[that|processing of] [supplier|vendor] invoice [number|no|ref|reference] {invoice_ref}",
    "[that] {supplier} ['s] invoice [number|no|ref|reference] {invoice_ref}",
    "[that] {actor} (processed|handled|booked) [supplier] invoice [number|no] {invoice_ref}",
)
_LOG_DETAILS: Final = (
    _FROM,
    _MONEY,
    STATUS,
    ("[with] actor [is] {actor}", "[processed|handled|performed] by {actor}"),
    ("[was|is|has been] processed",),
)
_log_invoice = Pattern(step=InvoiceEncoder.log_invoice, needs=(LOG, _LOGGED), may=(AUDIT_LOG, *_LOG_DETAILS))
_store_invoice = Pattern(step=InvoiceEncoder.log_invoice, needs=(STORE, _LOGGED, AUDIT_LOG), may=_LOG_DETAILS)

INVOICE_PATTERNS: Final = (_process_invoice, _schedule_payment, _log_invoice, _store_invoice)
"""The patterns of `InvoiceEncoder`."""
