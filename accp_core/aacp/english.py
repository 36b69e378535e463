"""A packet in words, for those who audit it (AACP section 8)."""

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
    """Return the packet in one English sentence: every field, values as they stand, unknown words as they are."""
    action = f"{TASKS.get(packet.task, packet.task)} ({DOMAINS.get(packet.domain, packet.domain)})"
    fields = canonical(packet).fields
    told = [f"{LABELS.get(key, key)} {value!r}" for key, value in fields.items() if key not in _OWN_WORDS]
    return f"{'; '.join([f'{action}: ' + told[0] if told else action, *told[1:], *_closing(packet)])}."


_OWN_WORDS: Final = frozenset({RETURN, PRIORITY, VERSION_KEY})


def _closing(packet: Packet) -> list[str]:
    """Return what is said of the required fields, where they are there."""
    said = []
    if packet.return_agent:
        said.append(f"answer to {packet.return_agent!r}")
    if PRIORITY in packet.fields:
        said.append(f"{PRIORITIES.get(packet.priority, packet.priority)} priority")
    if packet.version:
        said.append(f"AACP {packet.version}")
    return said
