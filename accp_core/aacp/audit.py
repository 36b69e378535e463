"""The record of what was instructed, as lines that can be replayed (AACP sections 1, 8 and 15).

A line is one JSON object: the time, the run, the packet as it was sent, its status and the SHA-256 of its result. The
packet is the canonical record; the result itself is not in the log.

`explain` says a packet in an English sentence, for people who audit it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from accp_core.aacp.instruction import validate
from accp_core.aacp.packet import PRIORITIES, PRIORITY, RETURN, VERSION_KEY, Packet, canonical
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError
from accp_core.strict_json import compact_json, read_json

__all__ = ["AuditRecord", "ReplayedRecord", "digest_of", "explain", "read_record", "replay_records", "write_record"]


_TYPES: Final = {"at": int, "run": str, "packet": str, "status": str, "result": str}
_REQUIRED: Final = ("at", "run", "packet")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One packet that was sent, and its outcome."""

    at: int
    """When it was sent, in seconds of the Unix epoch."""
    run: str
    """Identifies the run of a workflow that it belongs to."""
    packet: str
    """The text as it was sent."""
    status: str = "ok"
    """"ok", or a word for what went wrong."""
    result: str = ""
    """The `digest_of` its result; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedRecord:
    """One record that was performed again."""

    record: AuditRecord
    """The record."""
    result: str
    """The `digest_of` the new result; empty where there is none."""
    reason: str = ""
    """Why there is no new result."""

    @property
    def same(self) -> bool:
        """Whether the new result is that of the record."""
        return self.result == self.record.result and not self.reason


def digest_of(result: str) -> str:
    """Return the SHA-256 of the text of a result, in hexadecimal digits."""
    return sha256(result.encode("utf-8", "surrogatepass")).hexdigest()


def write_record(record: AuditRecord) -> str:
    """Return the line of a record, without a line end.

    Raises:
        EncodeError: E1004, a text of the record holds two halves of a surrogate pair side by side.
    """
    return compact_json(asdict(record))


def read_record(line: str) -> AuditRecord:
    """Return the record of a line; unknown members are ignored.

    Raises:
        DecodeError: E1001, the line is no record, such as one that was not written to its end.
    """
    try:
        data = read_json(line)
    except (ValueError, RecursionError) as error:
        raise _no_record(line, str(error)) from None
    if not isinstance(data, dict):
        raise _no_record(line, f"expected an object, found {type(data).__name__}")
    members = {name: data[name] for name in _TYPES if name in data}
    if missing := [name for name in _REQUIRED if name not in members]:
        found = ", ".join(repr(name)[:40] for name in list(data)[:8]) or "no members"
        raise _no_record(line, f"expected the members {', '.join(missing)}, found {found}")
    for name, value in members.items():
        if type(value) is not _TYPES[name]:
            raise _no_record(line, f"{name}: expected {_TYPES[name].__name__}, found {value!r:.40}")
    return AuditRecord(**members)


def _no_record(line: str, reason: str) -> DecodeError:
    return DecodeError(f"expected an audit record: {reason}", code=ErrorCode.PARSE_ERROR, text=line, position=0)


def replay_records(records: Iterable[AuditRecord], perform: Callable[[Packet], str]) -> Iterator[ReplayedRecord]:
    """Perform every packet again, in order, and yield whether its result is the same.

    Args:
        records: The records, in the order of the log.
        perform: Returns the text of a packet's result. Its ProtocolError becomes the reason of the record; any other
            exception is raised. A packet that is not valid is not performed.
    """
    for record in records:
        try:
            packet = validate(record.packet).check()
            yield ReplayedRecord(record=record, result=digest_of(perform(packet)))
        except ProtocolError as error:
            yield ReplayedRecord(record=record, result="", reason=error.reason)


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
    clauses = [f"{LABELS.get(key, key)} {value!r}" for key, value in fields.items() if key not in _STAMPED]
    beginning = f"{action}: {clauses[0]}" if clauses else action
    return f"{'; '.join([beginning, *clauses[1:], *_required_clauses(packet)])}."


_STAMPED: Final = frozenset({RETURN, PRIORITY, VERSION_KEY})


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
