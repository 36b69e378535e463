"""Floods: whatever a peer sends however often, a session keeps a bounded number of things (ACCP section 9, item 5)."""

from collections.abc import Callable

import pytest

from accp_core.accp.session.events import FrameRefused, SessionOptions
from accp_core.accp.session.exchanges import StreamLimits
from tests.conformance.agents import NOW, agent, codes, wire

SMALL = SessionOptions(
    reorder=8,
    remembered=16,
    senders=4,
    exchanges=16,
    backlog=8,
    sent_frames=16,
    streams=StreamLimits(ahead=8, characters=1_000, streams=4, pieces=16),
)
ROOM = 250
"""What a session of these options keeps at most: each bound once or twice."""

Flood = Callable[[int], str]

FLOODS: dict[str, Flood] = {
    "requests that nobody answers": lambda n: wire(mid=f"m{n}", seq=n),
    "requests of as many agents": lambda n: wire(mid=f"m{n}", seq=n, head=f"@b{n}>req:op"),
    "answers to nothing": lambda n: wire(mid=f"m{n}", seq=n, head="@b>done:op", more=f"cid:c{n}"),
    "cancels of nothing": lambda n: wire(mid=f"m{n}", seq=n, head="@b>cancel:op", more=f"cid:c{n}"),
    "heartbeats": lambda n: wire(mid=f"m{n}", seq=n, head="@b>ping:hb"),
    "one frame again and again": lambda n: wire(),
    "numbers that leap": lambda n: wire(mid=f"m{n}", seq=n * 1_000),
    "numbers just too high": lambda n: wire(mid=f"m{n}", seq=n + 1 if n > 1 else 1),
    "frames that expired": lambda n: wire(mid=f"m{n}", seq=n, more="ttl:1"),
    "texts that are no frames": lambda n: f"{n}",
    "unknown schemas": lambda n: wire(f"schema:Z{n}", mid=f"m{n}", seq=n),
    "references that nobody looks up": lambda n: wire(f"k:$cold.a{n}", mid=f"m{n}", seq=n),
    "references to nothing": lambda n: wire(f"k:$warm.a{n}", mid=f"m{n}", seq=n),
    "streams that begin": lambda n: wire(
        "idx:0|d:x|schema:ST", mid=f"m{n}", seq=n, more=f"cid:c{n}", head="@b>stream:infer"
    ),
    "streams that begin in the middle": lambda n: wire(
        "idx:5|d:x|schema:ST", mid=f"m{n}", seq=n, more=f"cid:c{n}", head="@b>stream:infer"
    ),
    "a stream without its first chunk": lambda n: wire(
        f"idx:{n}|d:x|schema:ST", mid=f"m{n}", seq=n, more="cid:c", head="@b>stream:infer"
    ),
    "a stream of a billion chunks": lambda n: wire(
        f"idx:{n * 1_000}|tot:1000000000|d:x|schema:ST", mid=f"m{n}", seq=n, more="cid:c", head="@b>stream:infer"
    ),
    "frames that begin in pieces": lambda n: wire(
        "idx:0|tot:9|d:x|schema:ST", mid=f"m{n}", seq=n, more=f"cid:c{n}", head="@b>stream:frame"
    ),
    "changes of the shared context": lambda n: wire(f"v:{n}|delta:{{k:{n}}}", mid=f"m{n}", seq=n, head="@b>sync:state"),
    "changes that are too early": lambda n: wire(
        f"v:{n * 9}|delta:{{k:{n}}}", mid=f"m{n}", seq=n, head="@b>sync:state"
    ),
    "hashes of registries": lambda n: wire(f"v:1|hash:{n:012x}", mid=f"m{n}", seq=n, head="@b>sync:registry"),
    "payments": lambda n: wire(f"txn:t{n}|amt:1.5|schema:TX", mid=f"m{n}", seq=n, head="@b>req:transaction"),
    "error frames": lambda n: wire(
        "code:E3003|retry:true|schema:ER", mid=f"m{n}", seq=n, more=f"cid:c{n}", head="@b>fail:error"
    ),
}


@pytest.mark.requirement("9-7")
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_a_flood_leaves_a_bounded_session_that_still_refuses_by_code(flood: Flood) -> None:
    session = agent("a", options=SMALL)
    for number in range(1, 400):
        events = session.receive(flood(number), NOW + 60)
        assert [event.cause for event in events if isinstance(event, FrameRefused)] == [None] * len(codes(events))
        assert len(session.frames_to_send()) <= 20
        session.texts_to_store()
    assert session.size() < ROOM
