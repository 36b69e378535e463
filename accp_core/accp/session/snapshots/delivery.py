"""What is sent and received, and over which connection, as data (ACCP section 3.7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from accp_core.accp.grammar import GrammarLimits
from accp_core.accp.parser import frame_head
from accp_core.accp.session.delivery import (
    SPARE_FRAMES,
    FrameText,
    Inbox,
    LinkState,
    Outbox,
    PendingRequest,
    SequenceCount,
)
from accp_core.accp.session.parts import Arrival
from accp_core.accp.session.snapshots.shapes import (
    COUNT,
    FLAG,
    INTEGER,
    FieldShape,
    Reading,
    array,
    attributes,
    choice,
    expect,
    optional,
    record,
    row,
    table,
)
from accp_core.accp.session.snapshots.values import MESSAGE, TEXT

__all__ = ["ARRIVAL", "FRAME_TEXT", "HEARTBEAT", "INBOX", "LINK", "OUTBOX", "PENDING"]

# Frames of ours were within the limits when they were made, which another process may have set otherwise.
_ANY_LENGTH: Final = GrammarLimits(frame_bytes=1 << 40, members=1 << 40, msg_id_chars=1 << 40)


def _read_frame_text(data: Any, old: Any, reading: Reading) -> FrameText:
    text = TEXT.read(data, old, reading)
    return FrameText(text, frame_head(text, limits=_ANY_LENGTH).envelope)


def _read_arrival(data: Any, old: Any, reading: Reading) -> Arrival:
    text = TEXT.read(data, old, reading)
    return Arrival(reading.codec.read(text), text)


FRAME_TEXT: Final = FieldShape(str.__str__, _read_frame_text)
"""A frame of ours; its metadata is read from its text."""
ARRIVAL: Final = FieldShape(lambda arrival: arrival.text, _read_arrival)
"""A frame of a peer; it is parsed again."""


def _write_seen(seen: dict[str, tuple[str, int]]) -> list[list[Any]]:
    """Return sender, first number and ids of each run of frames with consecutive numbers; no id has a blank."""
    runs = groupby(enumerate(seen.items()), key=lambda each: (each[1][1][0], each[1][1][1] - each[0]))
    return [_write_run(sender, [entry for _, entry in run]) for (sender, _), run in runs]


def _write_run(sender: str, entries: list[tuple[str, tuple[str, int]]]) -> list[Any]:
    return [sender, entries[0][1][1], " ".join(mid for mid, _ in entries)]


_RUNS: Final = array(row(TEXT, COUNT, TEXT))


def _read_seen(data: Any, old: Any, reading: Reading) -> Any:
    pairs = list(_ids(_RUNS.read(data, None, reading)))
    kept = old.copy()
    kept.update(pairs)
    expect(len(kept) == len(pairs) <= old.limit, f"at most {old.limit} ids, each once", len(pairs))
    return kept


def _ids(runs: list[tuple[str, int, str]]) -> Iterator[tuple[str, tuple[str, int]]]:
    for sender, first, mids in runs:
        for number, mid in enumerate(mids.split(" "), first):
            yield mid, (sender, number)


def _check_inbox(inbox: Inbox[Arrival]) -> None:
    for count in inbox._counts.values():
        for number, arrival in count.held.items():
            expect(number == arrival.envelope.sequence, f"the frame with number {number}", arrival.envelope.sequence)


INBOX: Final = attributes(
    _check_inbox,
    _seen=FieldShape(_write_seen, _read_seen),
    _counts=table(TEXT, record(SequenceCount, last=optional(INTEGER), forgotten=INTEGER, held=table(COUNT, ARRIVAL))),
)


def _check_outbox(outbox: Outbox) -> None:
    numbers = [text.envelope.sequence or 0 for text in outbox._sent]
    expect(numbers == sorted(set(numbers)), "frames in the order of their numbers", numbers)
    expect(max(numbers, default=0) <= outbox.last, f"frames up to number {outbox.last}", numbers)
    outbox._characters = sum(map(len, outbox._sent))
    # What a connection reserved is kept until it comes again.
    outbox.reserve(min(outbox.spare, outbox._limits[0] + SPARE_FRAMES))


OUTBOX: Final = attributes(_check_outbox, spare=COUNT, _sent=array(FRAME_TEXT, deque), last=COUNT, acknowledged=COUNT)
LINK: Final = attributes(
    state=choice(LinkState),
    greeting=COUNT,
    peer_greeting=COUNT,
    next=COUNT,
    resent=row(COUNT, COUNT),
    pings=table(TEXT, COUNT),
    is_blocked=FLAG,
)
HEARTBEAT: Final = attributes(_started=FLAG, _last_heard=COUNT, _last_ping=COUNT, _reported=FLAG)
PENDING: Final = attributes(
    _requests=table(TEXT, record(PendingRequest, message=MESSAGE, deadline=optional(COUNT), retries=COUNT))
)
