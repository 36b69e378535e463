"""The words that patterns know: kinds of contracts, formats, roles, statuses, and words that are never a name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from accp_core.aacp.patterns.values import MONTHS

__all__ = [
    "ATTACHMENTS",
    "BLOCKS",
    "BOTH_DIRECTORS",
    "CONTRACT_TYPES",
    "FORMATS",
    "GUARD_WORDS",
    "ISSUE_WORDS",
    "MESSAGES",
    "NO_NAMES",
    "RECIPIENTS",
    "RECOMMENDATIONS",
    "RISKS",
    "STATUSES",
    "STOP_WORDS",
    "SYSTEMS",
    "ZONES",
]


def _same(words: str) -> dict[str, str]:
    return {word: word for word in words.split()}


def _table(rows: Mapping[str, str]) -> Mapping[str, str]:
    """Return phrase to value of rows of value to phrases, which have "," between them."""
    return MappingProxyType({phrase.strip(): value for value, text in rows.items() for phrase in text.split(",")})


CONTRACT_TYPES: Final = _table(
    {
        "NDA": "nda, non disclosure agreement, nondisclosure agreement, confidentiality agreement",
        "MSA": "msa, master service agreement, master services agreement",
        "SOW": "sow, statement of work",
        "SLA": "sla, service level agreement",
        "DPA": "dpa, data processing agreement, data protection agreement",
        "SPA": "spa, share purchase agreement",
        "LOI": "loi, letter of intent",
        "MOU": "mou, memorandum of understanding",
    }
)
"""Kind of contract to `type`."""
RISKS: Final = MappingProxyType(_same("low medium high critical"))
"""Level of risk."""
FORMATS: Final = _table({"pdf": "pdf, pdf format", "xlsx": "xlsx, excel, excel format, xlsx format", "csv": "csv"})
"""Format of a document."""
ATTACHMENTS: Final = _table({"pdf": "pdf", "xlsx": "xlsx, excel", "csv": "csv"})
"""Format of an attached document."""
STATUSES: Final = _table(
    {
        "ok": "ok, okay",
        "review_required": "review_required, review required, requires review, needs review",
        "approved": "approved",
        "error": "error",
        "failed": "failed",
        "paid": "paid",
        "pending": "pending",
        "complete": "complete",
        "completed": "completed",
        "rejected": "rejected",
        "processed": "processed",
        "success": "success",
    }
)
"""Status of something that is logged."""
MESSAGES: Final = MappingProxyType({**STATUSES, "for review": "review_required"})
"""Message that goes with a report."""
RECOMMENDATIONS: Final = _table(
    {
        "negotiate": "negotiate, negotiation, to negotiate",
        "approve": "approve, approval, to approve",
        "reject": "reject, rejection, to reject",
        "sign": "sign, signing, signature, to sign",
        "escalate": "escalate, escalation, to escalate",
    }
)
"""Outcome of a review."""
BLOCKS: Final = _table({"signature": "signature, signing, signatures", "payment": "payment, payments"})
"""What a clause blocks."""
SYSTEMS: Final = _table({"AD": "ad, active directory", "M365": "m365", "VPN": "vpn", "CRM": "crm", "BADGE": "badge"})
"""Systems with accounts."""
ZONES: Final = _table(
    {
        "main_entrance": "main_entrance, main entrance, front entrance",
        "office_floor": "office_floor, office floor",
        "lab": "lab, laboratory",
        "server_room": "server_room, server room",
        "warehouse": "warehouse",
        "car_park": "car_park, car park",
        "data_centre": "data_centre, data centre, data center",
    }
)
"""Zones of a building."""
RECIPIENTS: Final = _table(
    {
        "fin_director": "fin_director, finance director, director of finance, fd",
        "hr_director": "hr_director, hr director, director of hr",
        "cfo": "cfo, chief financial officer",
        "ceo": "ceo, chief executive officer",
        "payroll_manager": "payroll_manager, payroll manager",
        "fin_team": "fin_team",
        "hr_team": "hr_team",
    }
)
"""Roles that receive a report."""
BOTH_DIRECTORS: Final = MappingProxyType(
    {
        "finance and hr directors": ("fin_director", "hr_director"),
        "hr and finance directors": ("hr_director", "fin_director"),
    }
)
"""Two roles in one phrase."""
_ISSUES: Final = """
ip intellectual property rights right restriction restrictions restricted liability unlimited limited uncapped cap
limitation of indemnity indemnities indemnification termination notice period payment terms term confidentiality non
compete competition solicitation exclusivity data protection privacy processing governing law jurisdiction auto
automatic renewal warranty warranties assignment penalty penalties late fee fees price pricing increase audit
subcontracting insurance force majeure arbitration dispute resolution retention ownership licence license scope broad
narrow overly missing cross border transfer export control service credits
"""
ISSUE_WORDS: Final = frozenset(_ISSUES.split())
"""Words of the name of an issue in a contract."""

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
STOP_WORDS: Final = frozenset(_GRAMMAR.split())
"""Words of grammar and of time."""
_LINKS: Final = "a an the and of in on at by for with to from me us our"
GUARD_WORDS: Final = STOP_WORDS - frozenset(_LINKS.split())
"""Words that change what is asked: no threshold allows them to be left over."""
_TERMS: Final = """
gbp eur usd chf jpy cad aud po ref no id q1 q2 q3 q4 pdf xlsx json csv vpn crm invoice invoices payment payments
contract contracts clause clauses section sections review reviews report reports purchase order orders terms risk
status recommendation supplier vendor counterparty party amount log audit process pay schedule send flag issue block
sign approve reject fetch get create delete cancel add record write match against net
"""
NO_NAMES: Final = STOP_WORDS | frozenset(MONTHS) | frozenset(CONTRACT_TYPES) | frozenset(_TERMS.split())
"""Words that are no part of a company's name."""
