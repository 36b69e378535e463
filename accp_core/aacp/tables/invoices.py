"""How people say the steps of the invoice workflow."""

from typing import Any, Final

__all__ = ["INVOICE_SAYINGS"]

_LOG_DETAILS: Final = ["<from>", "<money>", "<status>", "<actor>", "[was|is|has been] processed"]
INVOICE_SAYINGS: Final[dict[str, Any]] = {
    "parts": {
        "bill": "[supplier|vendor|incoming|new|purchase] (invoice|bill)",
        "who": "[our] [supplier|vendor]",
        "money": (
            "[for|of|at|in|over|totalling|totaling|amounting to|worth|valued at] [amount [of|is]|total of|sum of|"
            "value of|value] {amount,currency:money}"
        ),
        "net": "{terms:net}|net {terms:days} [days|day]",
        "in_days": "{terms:days} (days|day)|{terms:days_word}",
        "terms": (
            "[with|on|at|under] [payment] [terms] [of|are|is] <net> [payment] [terms]|"
            "[with|on|at|under] [payment] terms [of|are|is] <in_days>|(payable|due) (in|within) <in_days>|"
            "[with|on|at|under] <in_days> [payment] terms"
        ),
        "from": (
            "[from|by] <who> [is] {supplier:company} ['s]|"
            "(of|issued by|sent by|received from) <who> {supplier:company} ['s]"
        ),
        "po": "{purchase_order:order}|po [number|no|reference|ref] {purchase_order:order_number}",
        "order": (
            "[and|that|which|it] (match|matches|matched|matching|belongs) [it] [to|with|against] [our] "
            "[purchase order|po] [number|no|reference|ref] <po>|"
            "[against|under|referencing|ref|reference|for|with|on|linked to|corresponding to] [our] "
            "[purchase order|po] [number|no|reference|ref] <po>"
        ),
        "number": "[number|no|ref|reference] {invoice_ref:reference}",
        "logged": (
            "[that|processing of] [supplier|vendor] invoice <number>|[that] {supplier:company} ['s] invoice <number>|"
            "[that] {actor:code} (processed|handled|booked) [supplier] invoice [number|no] {invoice_ref:reference}|"
            "{invoice_ref:reference} , invoice"
        ),
        "pay": "payment|transfer|bank transfer|wire transfer|wire",
    },
    "forms": {
        "net": [r"net(\d{1,3})", r"net\1"],
        "days": [r"(\d{1,3})", r"net\1"],
        "days_word": [r"(\d{1,3})-day", r"net\1"],
        "order": [r"PO[-_]?[A-Z]{0,4}\d[A-Z0-9]*(?:[-/][A-Z0-9]+)*", r"\g<0>"],
        "order_number": [r"(\d+)", r"PO-\1"],
    },
    "steps": {
        "process_invoice": [
            {
                "needs": [
                    "(process|handle|enter|book|work through|take care of|deal with|processing|handling)|"
                    "[needs|requires|for] (processing|to be processed)|validate and schedule payment of|"
                    "[is] to be processed|to process",
                    "<bill>",
                ],
                "may": [
                    "<from>",
                    "<money>",
                    "<order>",
                    "<terms>",
                    "(i|we) [have] (received|got)|there is|here is",
                    "it|process it",
                    "[and] (validate|validate it) and schedule payment|"
                    "(including|with) validation and scheduling of payment",
                ],
            }
        ],
        "schedule_payment": [
            {
                "needs": [
                    "(schedule|arrange|set up|book|plan|organise|organize|line up|scheduling|arranging|initiate|queue) "
                    "[and confirm]",
                    "[supplier|vendor|bank] (<pay>) [of|for]|{amount,currency:money} [supplier] (<pay>)|"
                    "{amount,currency:money} to be paid to {supplier:company}|"
                    "{amount,currency:money} (to|for) <who> {supplier:company} by bank transfer",
                ],
                "may": [
                    "(to|for) <who> {supplier:company}|[(supplier|vendor|payee|beneficiary) [is]] {supplier:company}|"
                    "to be paid to {supplier:company}",
                    "<money>",
                    "<terms>",
                    "[and] confirm [it|payment|transfer]|with confirmation|[and] (request|get) confirmation",
                ],
            }
        ],
        "log_invoice": [
            {"needs": ["<log>", "<logged>"], "may": ["<audit_log>", *_LOG_DETAILS]},
            {"needs": ["<store>", "<logged>", "<audit_log>"], "may": _LOG_DETAILS},
        ],
    },
}
"""The table of `InvoiceEncoder`."""
