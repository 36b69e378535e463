"""What was instructed, as lines that can be replayed (AACP sections 1, 8 and 15).

A line is one JSON object: when, which run, the packet as it was sent, how it went and the SHA-256 of what came back.
The packet is the canonical record; the result itself is data and stays where it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Final

from accp_core.aacp.packet import Packet
from accp_core.aacp.validation import validate
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, ProtocolError

__all__ = ["AuditRecord", "Replayed", "digest_of", "read_record", "replay_records", "write_record"]

KINDS: Final = {"at": int, "run": str, "packet": str, "status": str, "result": str}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """One packet that was sent, and what became of it."""

    at: int
    """When, in seconds of the Unix epoch."""
    run: str
    """Which run of a workflow it belongs to."""
    packet: str
    """The text as it was sent."""
    status: str = "ok"
    """How it went: "ok", or a word for what went wrong."""
    result: str = ""
    """`digest_of` the result; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One record, done again."""

    record: AuditRecord
    result: str
    """`digest_of` the result of this time; empty where there is none."""
    reason: str = ""
    """Why there is none."""

    @property
    def same(self) -> bool:
        """Whether it came to the same as before."""
        return self.result == self.record.result and not self.reason


def digest_of(result: str) -> str:
    """Return the SHA-256 of the text of a result, in hex."""
    return sha256(result.encode("utf-8", "surrogatepass")).hexdigest()


def write_record(record: AuditRecord) -> str:
    """Return the line of a record, without a line end."""
    return json.dumps(asdict(record), separators=(",", ":"))


def read_record(line: str) -> AuditRecord:
    """Return the record of a line; members that this version does not know are passed over.

    Raises: DecodeError E1001 when it is none, such as a line that was not written to its end.
    """
    try:
        data = json.loads(line)
        members = {name: data[name] for name in KINDS if name in data}
        wrong = [name for name, value in members.items() if type(value) is not KINDS[name]]
        if not wrong:
            return AuditRecord(**members)
    except (ValueError, TypeError, RecursionError) as error:
        raise DecodeError(f"no audit record: {error}", code=ErrorCode.PARSE_ERROR, text=line, position=0) from None
    raise DecodeError(
        f"no audit record: {', '.join(wrong)} of another type", code=ErrorCode.PARSE_ERROR, text=line, position=0
    )


def replay_records(records: Iterable[AuditRecord], perform: Callable[[Packet], str]) -> Iterator[Replayed]:
    """Do every packet again, in order, and yield whether its result is what it was.

    `perform` returns the text of the result, of which only the digest is compared. A packet that is not valid is not
    performed. What `perform` raises as ProtocolError is the reason of that record; anything else is raised.
    """
    for record in records:
        try:
            packet = validate(record.packet).check()
            yield Replayed(record=record, result=digest_of(perform(packet)))
        except ProtocolError as error:
            yield Replayed(record=record, result="", reason=error.reason)
