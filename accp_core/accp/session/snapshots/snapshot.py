"""A whole session as bytes: JSON with a version (the form is ours; ACCP has none)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.snapshots.chains import CHAINS
from accp_core.accp.session.snapshots.context import CONTEXT, NEGOTIATION, TRANSACTIONS
from accp_core.accp.session.snapshots.delivery import FRAME_TEXT, HEARTBEAT, INBOX, LINK, OUTBOX
from accp_core.accp.session.snapshots.shapes import (
    COUNT,
    FieldShape,
    Reading,
    array,
    attributes,
    choice,
    expect,
    record,
)
from accp_core.accp.session.snapshots.values import STORED_TEXT, TEXT
from accp_core.accp.session.snapshots.waiting import EVENT, RECEIVER
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError
from accp_core.strict_json import compact_json, read_json

__all__ = ["MAX_SNAPSHOT_BYTES", "Snapshot", "read_snapshot", "write_snapshot"]

VERSION: Final = 1
"""The version of the form; a process refuses one that it does not know."""
MAX_SNAPSHOT_BYTES: Final = 1 << 26
"""Bytes of a snapshot, in both directions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The identity of a session, and its state as data, which is not checked yet."""

    session_id: str
    agent_id: str
    scope: SequenceScope
    state: Any

    def fill(self, session: Any, reading: Reading) -> None:
        """Put the state into a fresh session.

        Raises:
            ValueError: the state does not fit, with its place; the session may be half filled.
        """
        found = reading.options.scope
        try:
            is_recognized = found is SequenceScope.RECOGNIZED and self.scope is not SequenceScope.SENDER
            expect(is_recognized or found is self.scope, f"options with the scope {self.scope.value!r}", found.value)
            _SESSION.read(self.state, session, reading)
        except RecursionError:
            raise ValueError("expected fewer levels in the snapshot of a session") from None
        parts = session._parts
        parts.inbox.scope, parts.inbox.sent = self.scope, session._sender.last
        parts.use_registry(parts.negotiation.registry)


_SESSION: Final = attributes(
    _parts=attributes(
        now=COUNT,
        link=LINK,
        inbox=INBOX,
        outbox=OUTBOX,
        chains=CHAINS,
        negotiation=NEGOTIATION,
        transactions=TRANSACTIONS,
        context=CONTEXT,
    ),
    _sender=attributes(last=COUNT, frames=COUNT, tokens=COUNT),
    _receiver=RECEIVER,
    _heartbeat=HEARTBEAT,
    _events=array(EVENT, deque),
    _dropped=COUNT,
    _frames=array(FRAME_TEXT),
    _stored=array(STORED_TEXT),
)
_SNAPSHOT: Final = record(
    Snapshot,
    session_id=TEXT,
    agent_id=TEXT,
    scope=choice(SequenceScope),
    state=FieldShape(_SESSION.write, lambda data, _old, _reading: data),
)


def write_snapshot(session_id: str, agent_id: str, scope: SequenceScope, session: object) -> bytes:
    """Return a session as bytes.

    Raises:
        EncodeError: E1004, a value of its state is no JSON value or nested too deep; E2003, the bytes would be more
            than `MAX_SNAPSHOT_BYTES`.
    """
    try:
        state = Snapshot(session_id=session_id, agent_id=agent_id, scope=scope, state=session)
        data = compact_json({"accp_session": VERSION, **_SNAPSHOT.write(state)}).encode()
    except RecursionError:
        raise EncodeError("expected fewer levels in the state of a session", code=ErrorCode.INVALID_TYPE) from None
    if len(data) > MAX_SNAPSHOT_BYTES:
        reason = f"expected a snapshot of at most {MAX_SNAPSHOT_BYTES} bytes, found {len(data)}"
        raise EncodeError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    return data


def read_snapshot(data: bytes, reading: Reading) -> Snapshot:
    """Return what `write_snapshot` wrote.

    Raises:
        ValueError: it is something else, or of another version.
    """
    expect(len(data) <= MAX_SNAPSHOT_BYTES, f"a snapshot of at most {MAX_SNAPSHOT_BYTES} bytes", len(data))
    found = read_json(data.decode())
    expect(isinstance(found, dict), "the snapshot of a session", found)
    version = found.pop("accp_session", None)
    expect(type(version) is int and version == VERSION, f"a snapshot of version {VERSION}", version)
    snapshot: Snapshot = _SNAPSHOT.read(found, None, reading)
    return snapshot
