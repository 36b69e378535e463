"""A packet as an English sentence, for people who audit it (AACP section 8)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from accp_core.aacp.packet import Packet, canonical
from accp_core.aacp.vocabulary import PRIORITIES, PRIORITY, RETURN, VERSION_KEY

__all__ = ["explain"]

TASKS: Final = MappingProxyType(
    {
        "FETCH": "Fetch",
        "PROC": "Process",
        "FLAG": "Flag for review",
        "RESOLVE": "Resolve",
        "LOG": "Write to the audit log",
        "SEND": "Send",
        "BUILD": "Build",
        "MERGE": "Merge",
        "CALC": "Calculate",
        "REPORT": "Report",
        "ACK": "Acknowledge",
        "SYNC": "Synchronise",
    }
)
DOMAINS: Final = MappingProxyType(
    {
        "HR": "human resources",
        "FIN": "finance",
        "SALES": "sales",
        "LEGAL": "legal",
        "IT": "information technology",
        "CS": "customer service",
        "MKT": "marketing",
    }
)
LABELS: Final = MappingProxyType(
    {
        "res": "resource",
        "period": "period",
        "filter": "where",
        "fields": "fields",
        "fmt": "format",
        "src": "source",
        "src_prev": "source of the period before",
        "rules": "by the rules",
        "validate": "checked against",
        "tmpl": "template",
        "data_ptr": "data at",
        "amt": "amount",
        "ccy": "currency",
        "sup": "supplier",
        "match": "matched with",
        "terms": "terms",
        "type": "type of document",
        "party": "counterparty",
        "clause": "clause",
        "issue": "issue",
        "risk": "risk",
        "block": "blocks",
        "flags": "flags",
        "flags_inherit": "flags taken over",
        "req": "required",
        "highlight": "highlight",
        "status": "status",
        "to": "to",
        "subj": "subject",
        "att": "attachment",
        "flag_msg": "message with the flag",
        "sentiment": "sentiment",
        "tone": "tone",
        "prog": "progress",
        "actor": "by",
        "chain": "chain of agents",
        "ltv": "lifetime value",
        "loyalty": "loyalty",
        "urgency": "urgency",
    }
)


# "Decoders MAY expand packets into structured English for audit purposes or debugging. For audit purposes, the AACP
# packet itself is the canonical record. Decoded output is advisory." (section 8)
def explain(packet: Packet) -> str:
    """Return one English sentence with every field of the packet; values and unknown words are unchanged."""
    action = f"{TASKS.get(packet.task, packet.task)} ({DOMAINS.get(packet.domain, packet.domain)})"
    fields = canonical(packet).fields
    clauses = [f"{LABELS.get(key, key)} {value!r}" for key, value in fields.items() if key not in _REQUIRED]
    beginning = f"{action}: {clauses[0]}" if clauses else action
    return f"{'; '.join([beginning, *clauses[1:], *_required_clauses(packet)])}."


_REQUIRED: Final = frozenset({RETURN, PRIORITY, VERSION_KEY})


def _required_clauses(packet: Packet) -> list[str]:
    """Return the clauses for agent, priority and version, where the packet has them."""
    clauses = []
    if packet.return_agent:
        clauses.append(f"answer to {packet.return_agent!r}")
    if PRIORITY in packet.fields:
        clauses.append(f"{PRIORITIES.get(packet.priority, packet.priority)} priority")
    if packet.version:
        clauses.append(f"AACP {packet.version}")
    return clauses
