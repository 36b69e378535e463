"""What waits in a session for its caller or for the cold store, as data (ACCP sections 3.7 and 5.1)."""

from __future__ import annotations

from collections import deque
from typing import Final

from accp_core.accp.session.events import CheckpointTaken, ExchangeClosed, ExchangeOpened
from accp_core.accp.session.receiver import IncomingFrame
from accp_core.accp.session.snapshots.delivery import ARRIVAL
from accp_core.accp.session.snapshots.shapes import (
    COUNT,
    FLAG,
    array,
    attributes,
    choice,
    optional,
    record,
    table,
    variant,
)
from accp_core.accp.session.snapshots.values import COLD_KEY, MESSAGE, REF, STORED_TEXT, TEXT, VALUE
from accp_core.accp.state.checkpoint import Checkpoint, CheckpointTrigger, Fact

__all__ = ["EVENT", "RECEIVER"]

_CHECKPOINT: Final = record(
    Checkpoint,
    id=TEXT,
    trigger=choice(CheckpointTrigger),
    summary=TEXT,
    by_rule=FLAG,
    facts=array(record(Fact, entity=TEXT, relation=TEXT, value=TEXT), tuple),
    stored=array(STORED_TEXT, tuple),
    tokens=COUNT,
)
EVENT: Final = variant(
    {
        "opened": (ExchangeOpened, record(ExchangeOpened, chain=TEXT)),
        "closed": (ExchangeClosed, record(ExchangeClosed, chain=TEXT, code=optional(TEXT), cancelled=FLAG)),
        "checkpoint": (CheckpointTaken, record(CheckpointTaken, checkpoint=_CHECKPOINT)),
    }
)
"""The events to which calls that return frames lead; any other event is returned by the call that leads to it."""

_INCOMING: Final = record(
    IncomingFrame,
    arrival=ARRIVAL,
    chunks=array(MESSAGE, tuple),
    resolved=table(REF, VALUE),
    missing=table(REF, COLD_KEY),
)
RECEIVER: Final = attributes(gap_at=optional(COUNT), _ready=array(ARRIVAL, deque), _blocked=optional(_INCOMING))
