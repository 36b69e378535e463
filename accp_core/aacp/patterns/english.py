"""What every table knows of English: parts of phrases, choices, politeness, and words that are never a value."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

__all__ = ["BETWEEN", "CHOICES", "ENDS", "ENGLISH_GRAMMAR", "GUARDS", "NO_NAMES", "PARTS", "POLITE", "REQUESTS"]

BETWEEN: Final = frozenset({",", ";", ":", ".", "!", "?", "(", ")", "-", "\u2013", "\u2014", "and", "this", "our"})
"""Words and marks between phrases."""
ENDS: Final = frozenset({".", "!", "?", ",", ":", ";"})
"""Marks after which a polite beginning or ending may come."""
REQUESTS: Final = (
    "(could|can|would|will) you [be able to]|would you mind|(can|could|may|might) (we|i)|is it possible to|"
    "(could|can) (somebody|someone)"
)
"""Beginnings of a question that asks for an action."""
POLITE: Final = (
    "(hi|hello|hey|dear|good morning|good afternoon) [there|team|all|colleagues]|(i|we) (need|want) you to|"
    "(i|we) would like you to|(i'd|we'd) like you to|go ahead|next|now|then|(many thanks|cheers)|"
    "thanks [in advance|a lot|so much]|thank you [very much|in advance]"
)
"""Beginnings and endings that say nothing about the action."""

_PERIOD: Final = (
    "[for|in|of|covering|during] [payroll] [(period|month) [of]] {period} ['s]|"
    "[for|in|of|covering] {period} payroll [run|period|cycle]|"
    "[for|in|of|covering|during] [payroll] (period|month) (ending|ended) {period:month_end}"
)
PARTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "fetch": (
            "(fetch|get|pull|retrieve|grab|load|collect|obtain|read|query|look up|extract|provide|gather|download|"
            "export|bring|fetching|getting|pulling|retrieving|exporting) [me|us] [up|out|together]|"
            "(send|give|show|bring|provide) (me|us|over)|(supply|provide|list|load|show)|"
            "[what] (i|we) (need|want|require) [to (have|get|see)]|"
            "(i'd|we'd|i would|we would) like [to (have|get|see)]|let (me|us) have|"
            "(can|could|may) (i|we) (have|get|see)"
        ),
        "make": (
            "create|generate|make|produce|prepare|build|draw up|put together|compile|creating|generating|making|"
            "producing|preparing"
        ),
        "log": (
            "log|record|audit log|logging|recording|(write|make|add|create|store|save|put|enter|writing|making|adding|"
            "append) [new|deterministic] (audit [log|trail]|log) (record|entry) [of|for|that|about]"
        ),
        "store": (
            "(write|make|add|create|store|save|put|enter|note|file|write up|writing|adding|storing|append) "
            "[record of|note of|entry for]"
        ),
        "audit_log": "[in|to|into|on] [our] audit (log|trail)|for audit [purposes]",
        "period": _PERIOD,
        "month": _PERIOD.replace("{period}", "{period:month}"),
        "in_json": (
            "[return|returned|output|formatted|return it|return them|return result] (as|in) json [array|format|file]|"
            "json [format|array]"
        ),
        "for_us": "for (me|us)",
        "status": "[with|has|set] [its] status [of|is|as|to] {status}|(as|marked|marked as) {status}",
        "actor": "[with] actor [is] {actor:code}|[performed|done|run|executed|processed|handled] by {actor:code}",
    }
)
"""Parts of phrases; `{status}` and `{actor}` are arguments."""
_STATUSES: Final = "approved error failed paid pending complete completed rejected processed success"
CHOICES: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        "status": {
            "ok": "ok|okay",
            "review_required": "review_required|review required|requires review|needs review",
            **{word: word for word in _STATUSES.split()},
        },
        "format": {
            "pdf": "pdf [format|file] [for distribution]",
            "xlsx": "(xlsx|excel) [format|file] [for finance]",
            "csv": "csv [format|file]",
        },
        "risk": {word: word for word in ("low", "medium", "high", "critical")},
    }
)
"""Kinds of values with names: a value and the phrases that mean it."""

_GRAMMAR: Final = """
a an the and or nor but if unless until when once while because so than then that this these those there here not no
never none nobody nothing neither without except excluding exclude only just instead rather either both all any every
each everyone everybody anyone someone some other others another same such own i you he she it we they me him her us
them my your his its our their who whom whose which what where why how is are was were be been being am do does did
done has have had having will would shall should can could may might must of in on at by for with about against
between into through during before after above below to from up down out off over under again further as per via
within since till ever yet still already also too very please thanks thank kindly today tomorrow yesterday now
immediately urgently asap eod fyi soon later monday tuesday wednesday thursday friday saturday sunday week weeks month
months year years day days
"""
ENGLISH_GRAMMAR: Final = frozenset(_GRAMMAR.split())
"""Words of grammar and of time, which are no value."""
_LINKS: Final = "a an the and of in on at by for with to from me us our"
GUARDS: Final = ENGLISH_GRAMMAR - frozenset(_LINKS.split())
"""Words that change what is asked: no threshold allows them to be left over."""
_TERMS: Final = """
gbp eur usd chf jpy cad aud po ref no id q1 q2 q3 q4 pdf xlsx json csv vpn crm invoice invoices payment payments
contract contracts clause clauses section sections review reviews report reports purchase order orders terms risk
status recommendation supplier vendor counterparty party amount log audit process pay schedule send flag issue block
sign approve reject fetch get create delete cancel add record write match against net nda msa sow sla dpa spa loi mou
hi hello hey dear good morning afternoon ask mark raise legal we got have statement work agreement
"""
NO_NAMES: Final = ENGLISH_GRAMMAR | frozenset(_TERMS.split())
"""Words that are no part of a company's name; the names of the months are none either."""
