"""A snapshot: what it holds exactly, and what is refused as one, with its place."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_core.accp.frame import REMOVED, Envelope, Intent, Message, Ref
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.session.delivery import SequenceScope
from accp_core.accp.session.events import (
    CheckpointTaken,
    EventsDropped,
    RefsNeeded,
    SessionOptions,
    StreamChunkReceived,
)
from accp_core.accp.session.session import Session
from accp_core.accp.session.snapshots import MAX_SNAPSHOT_BYTES
from accp_core.accp.state.context_state import ColdKey, ContextState, Entry
from accp_core.errors import EncodeError
from accp_core.references import StoredText
from tests.core.accp.session.handover import hand_over
from tests.core.accp.session.test_resumption import CODEC, NOW, end


def restore(snapshot: bytes, **options: Any) -> Session:
    return Session.restore(snapshot, codec=CODEC, new_id=lambda: "x", options=SessionOptions(**options))


def changed(session: Session, change: Callable[[dict[str, Any]], object]) -> bytes:
    """Return a snapshot whose state somebody has changed."""
    data = json.loads(session.snapshot())
    change(data["state"])
    return json.dumps(data).encode()


def refusal(snapshot: bytes, **options: Any) -> str:
    with pytest.raises(ValueError, match=r"expected") as error:
        restore(snapshot, **options)
    return str(error.value)


VALUE = {
    "text": "a b", "halves": "\ud83d\ude00", "half": "\ud83d", "no": None, "yes": True, "one": 1, "float": -0.0,
    "1": [], "decimal": Decimal("1.50"), "ref": Ref("warm.a"), "list": [1, {"$k": (REMOVED, Ref("a"))}],
}  # fmt: skip


def test_values_keep_their_types() -> None:
    state = ContextState(session_id="s1", hot={"\ud83d\ude00": Entry(value=VALUE, tokens=1)}, context=VALUE)
    session = Session("s1", "me", codec=CODEC, new_id=lambda: "x", state=state)
    restored = hand_over(session).state
    assert repr(restored.context) == repr({**VALUE, "list": [1, {"$k": [REMOVED, Ref("a")]}]})
    assert repr(restored.hot) == repr({"\ud83d\ude00": Entry(value=dict(restored.context), tokens=1)})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"$ref": 1}, "expected the key of a reference, found 1"),
        ({"$decimal": 1}, "expected the digits of a decimal, found 1"),
        ({"$decimal": "x"}, "expected the digits of a decimal, found 'x'"),
        ({"$removed": False}, "expected true, found False"),
        ({"$text": "zz"}, "expected the hexadecimal digits of a text, found 'zz'"),
        ({"$text": 5}, "expected a text, found {'$text': 5}"),
        ({"$map": [["a", 1], ["a", 2]]}, "expected each key once, found 2"),
        ({"$map": [["a"]]}, "expected an array of 2, found ['a'], at parts.context.state.context[0]"),
        ({"$new": 1}, "expected one of $ref, $decimal, $removed, $text, $map alone, found '$new'"),
        ({"$ref": "a", "b": 1}, "expected one of $ref, $decimal, $removed, $text, $map alone, found '$ref'"),
        ([], "expected a map, found []"),
    ],
)
def test_a_value_that_nobody_wrote_is_refused(data: Any, reason: str) -> None:
    snapshot = changed(end("one"), lambda state: state["parts"]["context"]["state"].update(context=data))
    assert reason in refusal(snapshot)
    assert "parts.context.state.context" in refusal(snapshot)


@pytest.mark.parametrize(
    ("snapshot", "reason"),
    [
        (b"{", "Expecting property name"),
        (b"[]", "expected the snapshot of a session, found [], at the top"),
        (b"{}", "expected a snapshot of version 1, found None, at the top"),
        (b'{"accp_session":true}', "expected a snapshot of version 1, found True, at the top"),
        (b'{"accp_session":2}', "expected a snapshot of version 1, found 2, at the top"),
        (b'{"accp_session":1}', "expected the member 'agent_id', found none, at the top"),
        (b" " * (MAX_SNAPSHOT_BYTES + 1), f"expected a snapshot of at most {MAX_SNAPSHOT_BYTES} bytes, found 67108865"),
    ],
)
def test_what_is_no_snapshot_is_refused(snapshot: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        restore(snapshot)
    assert reason in str(error.value)


def put(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return what puts a value at a place of a snapshot."""

    def change(state: dict[str, Any]) -> None:
        *steps, last = path.split(".")
        for step in steps:
            state = state[step]
        state[last] = value

    return change


FRAMES = ["@one>ack:a{}[mid:a,seq:2]", "@one>ack:a{}[mid:b,seq:1]"]


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("more", 1, "expected no other member, found 'more', at the top"),
        ("parts", [], "expected an object, found [], at parts"),
        ("dropped", -1, "expected a whole number from 0, found -1, at dropped"),
        ("dropped", True, "expected a whole number from 0, found True, at dropped"),
        ("frames", {}, "expected an array, found {}, at frames"),
        ("frames", ["@one"], "E1001: expected '>', at position 4, at frames[0]"),
        ("events", [["new", {}]], "expected a name and a value, found ['new', {}], at events[0]"),
        ("events", [["opened", {}]], "expected the member 'chain', found none, at events[0][1]"),
        ("parts.link.state", "off", "expected one of untracked, up, resuming, down, broken, found 'off', at parts"),
        ("parts.link.state", {}, "expected one of untracked, up, resuming, down, broken, found {}, at parts.link."),
        ("parts.link.is_blocked", 0, "expected true or false, found 0, at parts.link.is_blocked"),
        ("parts.link.pings", [["x", 1]] * 2, "expected each key once, found 2, at parts.link.pings"),
        ("parts.link.pings", [[f"x{n}", n] for n in range(17)], "expected at most 16 entries, found 17, at parts.link"),
        ("parts.outbox.sent", FRAMES, "expected frames in the order of their numbers, found [2, 1], at parts.outbox"),
        ("parts.outbox.sent", FRAMES[:1], "expected frames up to number 0, found [2], at parts.outbox"),
        ("parts.inbox.seen", [["a", 1, "m1 m1"]], "expected at most 1024 ids, each once, found 2, at parts.inbox.seen"),
        ("parts.inbox.counts", [["", {"last": "x"}]], "expected a whole number, found 'x', at parts.inbox."),
        ("parts.inbox.counts", [["", {"held": [[7, FRAMES[0]]]}]], "expected the frame with number 7, found 2"),
        ("parts.chains.exchanges.live", ["a", "a"], "expected at most 1024 exchanges, each once, found 2, at parts.ch"),
        ("parts.negotiation.bases", [], "expected 1 to 4 registries, found 0, at parts.negotiation"),
        (
            "parts.negotiation.bases",
            [{"hash": "abcdef", "version": 1}],
            f"expected the hash '{BUILT_IN.hash}', found 'ab",
        ),
        ("parts.negotiation.bases", [{"hash": BUILT_IN.hash}], "expected a whole number as the version of a registry"),
        ("parts.now", "x" * 99, "expected a whole number from 0, found 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…, at"),
    ],
)
def test_a_state_that_does_not_fit_is_refused_with_its_place(path: str, value: Any, reason: str) -> None:
    assert reason in refusal(changed(end("one"), put(path, value)))


def test_a_snapshot_of_other_options_is_refused() -> None:
    session = end("one")
    assert "expected options with the scope 'received', found 'sender'" in refusal(
        session.snapshot(), scope=SequenceScope.SENDER
    )
    for number in range(5):
        session.receive(f"@two>ack:a{{}}[mid:m{number},seq:{number + 1}]", NOW)
    assert "expected at most 4 ids, each once, found 5, at parts.inbox.seen" in refusal(
        session.snapshot(), remembered=4
    )


def test_how_the_peer_counts_is_restored() -> None:
    before = end("one", scope=SequenceScope.RECOGNIZED)
    before.receive("@two>ack:a{}[mid:m1,seq:1]", NOW)
    before.send(Message(sender="", intent=Intent.ACKNOWLEDGE, operation="a"), NOW)
    for number in (3, 4):
        before = restore(before.snapshot(), scope=SequenceScope.RECOGNIZED)
        before.receive(f"@two>ack:a{{}}[mid:m{number},seq:{number}]", NOW)
        assert (before.is_shared, before.received) == (True, number)


def test_levels_without_end_are_refused_in_both_directions() -> None:
    deep: dict[str, Any] = {}
    for _ in range(150):
        deep = {"$map": [["k", deep]]}
    reason = refusal(changed(end("one"), put("parts.context.state.context", deep)))
    assert reason == "expected fewer levels in the snapshot of a session"
    assert "levels" in refusal(end("one").snapshot().replace(b'"now":0', b'"now":' + b"[" * 100_000))
    nested: list[Any] = []
    for _ in range(5_000):
        nested = [nested]
    state = ContextState(session_id="s1", context={"deep": nested})
    with pytest.raises(EncodeError, match="E1004: expected fewer levels in the state of a session"):
        Session("s1", "me", codec=CODEC, new_id=lambda: "x", state=state).snapshot()


def test_a_snapshot_that_could_not_be_read_is_not_written() -> None:
    state = ContextState(session_id="s1", context={"a": "x" * MAX_SNAPSHOT_BYTES})
    with pytest.raises(EncodeError, match=f"E2003: expected a snapshot of at most {MAX_SNAPSHOT_BYTES} bytes"):
        Session("s1", "me", codec=CODEC, new_id=lambda: "x", state=state).snapshot()


def test_what_waits_is_kept() -> None:
    session = end("one", waiting=1)
    stored = StoredText.of('"the text"')
    session.send(Message(sender="", intent=Intent.COMPRESS, operation="a", payload={}), NOW)
    assert isinstance(hand_over(session).handle_timer(NOW)[-1], CheckpointTaken)
    session.send(Message(sender="", intent=Intent.REQUEST, operation="a", payload={}), NOW)
    needed = session.receive(f"@two>ack:a{{t:[{stored.reference},$hot.one000002]}}[mid:m1,seq:1,ts:1]", NOW)
    assert RefsNeeded(keys=(ColdKey("s1", stored.key),)) in needed
    session.receive(f"@two>ack:a{{u:{stored.reference}}}[mid:m2,seq:2,ts:1]", NOW)
    session.send(Message(sender="", intent=Intent.REQUEST, operation="b", payload={}), NOW)
    session.send(Message(sender="", intent=Intent.REQUEST, operation="c", payload={}), NOW)
    restored = hand_over(session)
    assert restored.handle_timer(NOW)[0] == EventsDropped(count=1)


def test_a_stream_goes_on_behind_a_gap() -> None:
    session = end("one")
    first, last = (
        f"@two>stream:a{{idx:{index}|d:x|done:{done}|schema:ST}}[mid:m{index},seq:{seq},ts:1,cid:s]"
        for index, done, seq in ((0, "false", 2), (1, "true", 1))
    )
    assert session.receive(last, NOW) == []
    events = hand_over(session).receive(first, NOW)
    assert [each.message.payload["chunk_index"] for each in events if isinstance(each, StreamChunkReceived)] == [0, 1]


def test_a_registry_of_another_version_is_kept() -> None:
    codec = replace(CODEC, registry=replace(BUILT_IN, version=7))
    session = Session("s1", "me", codec=codec, new_id=lambda: "x")
    assert hand_over(session).codec.registry.version == 7
    session.register_schema("new", {"code": "NW", "version": 1, "fields": ["a"], "defaults": {"a": "x"}})
    assert hand_over(session).codec.registry.get("NW").defaults == {"a": "x"}
    spoiled = changed(session, lambda state: state["parts"]["negotiation"]["bases"][1].update(hash="000000"))
    assert "at parts.negotiation.bases[1]" in refusal(spoiled)


def places(data: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each value in a snapshot."""
    yield place
    steps = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, member in steps:
        yield from places(member, (*place, step))


def busy_session() -> Session:
    """Return a session with something in each of its parts."""
    session = end("one", reorder=4, registry_first=True)
    session.connected(NOW)
    session.register_schema("new", {"code": "NW", "version": 1, "fields": ["a"], "defaults": {"a": 1}})
    session.send(Message(sender="", intent=Intent.COMPRESS, operation="a", payload={}), NOW)
    payload = {"transaction_id": "t", "amount": 1.5}
    session.send(Message(sender="", intent=Intent.REQUEST, operation="a", payload=payload, schema="TX"), NOW)
    for text in (
        "@two>sync:registry{v:1|hash:abcdef}[mid:m1,seq:1,ts:1]",
        "@two>stream:frame{idx:1|d:x|schema:ST}[mid:m2,seq:2,ts:1,cid:s]",
        "@two>stream:a{idx:1|d:x|schema:ST}[mid:m3,seq:3,ts:1,cid:t]",
        "@two>ack:a{k:1}[mid:m9,seq:6,ts:1]",
        f"@two>ack:a{{t:[{StoredText.of('1').reference},$hot.one000003]}}[mid:m4,seq:4,ts:1]",
    ):
        session.receive(text, NOW)
    session.send(Message(sender="", intent=Intent.CANCEL, operation="a", envelope=Envelope(correlation_id="t")), NOW)
    return session


def test_whatever_one_value_is_replaced_by_a_snapshot_is_read_or_refused() -> None:
    snapshot = busy_session().snapshot()
    refused = 0
    values = (None, True, -1, 1.5, "x", [], {}, [[]], {"a": 1}, {"$ref": 1})
    for number, place in enumerate(places(json.loads(snapshot))):
        data: Any = {"whole": json.loads(snapshot)}
        inner, last = data, "whole"
        for step in place:
            inner, last = inner[last], step
        inner[last] = values[number % 10]
        try:
            restored = restore(json.dumps(data["whole"]).encode(), first=1, reorder=4, registry_first=True)
        except ValueError:
            refused += 1
        else:
            assert hand_over(restored).snapshot() == restored.snapshot()
    assert refused > 150
