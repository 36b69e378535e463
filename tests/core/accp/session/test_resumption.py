"""One session over one connection after the other: acknowledgement, the window, and what is sent again."""

from itertools import count
from typing import Any

import pytest

from accp_core import parse_frame
from accp_core.accp.budget import PRACTICAL_LIMITS, FrameLimits
from accp_core.accp.codec import Codec
from accp_core.accp.frame import Envelope, Intent, Message
from accp_core.accp.session.delivery import SPARE_FRAMES, TRANSITIONS, FrameText, LinkMove, LinkState, SequenceScope
from accp_core.accp.session.events import (
    Acknowledged,
    Event,
    FrameDropped,
    FrameRefused,
    MessageReceived,
    ResumeImpossible,
    SessionOptions,
    Writable,
)
from accp_core.accp.session.session import Session
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, LocalProtocolError, WindowFull

NOW = 1_714_000_000
CODEC = Codec(counter=len, limits=PRACTICAL_LIMITS)


def end(name: str, codec: Codec = CODEC, **options: Any) -> Session:
    numbers = count(1)
    chosen = SessionOptions(**{"first": 1, **options})
    return Session("s1", name, codec=codec, new_id=lambda: f"{name}{next(numbers):06x}", options=chosen)


def note(number: int, text: str = "") -> Message:
    payload = {"n": number, "text": text}
    return Message(sender="", intent=Intent.ACKNOWLEDGE, operation="note", payload=payload)


def only(events: list[Event], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


class Wire:
    """Two ends and what is on its way between them; a cut loses it."""

    def __init__(self, one: Session, other: Session) -> None:
        self.ends = {"one": one, "other": other}
        self.under_way: dict[str, list[str]] = {"one": [], "other": []}
        self.events: dict[str, list[Event]] = {"one": [], "other": []}

    def connect(self, *order: str) -> None:
        for name in order or ("one", "other"):
            self.put(name, self.ends[name].connected(NOW))

    def cut(self) -> None:
        for name, session in self.ends.items():
            session.disconnected(NOW)
            self.under_way[name].clear()

    def put(self, sender: str, texts: list[str]) -> None:
        self.under_way["other" if sender == "one" else "one"] += texts

    def send(self, name: str, number: int) -> bool:
        try:
            self.put(name, self.ends[name].send(note(number), NOW))
        except WindowFull:
            return False
        return True

    def deliver(self, name: str) -> None:
        if self.under_way[name]:
            self.events[name] += self.ends[name].receive(self.under_way[name].pop(0), NOW)
            self.put(name, self.ends[name].frames_to_send())

    def settle(self) -> None:
        for _ in range(2_000):
            if not any(self.under_way.values()):
                return
            for name in self.ends:
                self.deliver(name)
        raise AssertionError("they never fall silent")

    def numbers(self, name: str) -> list[object]:
        # A frame that is sent again behind a resume may arrive twice: its second copy is answered by E3002 (3.7).
        received = [event.message for event in only(self.events[name], MessageReceived)]
        return [message.payload["n"] for message in received if message.operation == "note"]

    def check_untroubled(self) -> None:
        for events in self.events.values():
            refused = [event for event in only(events, FrameRefused) if event.code != ErrorCode.DUPLICATE]
            assert refused + only(events, ResumeImpossible) == []


def wire(**options: Any) -> Wire:
    return Wire(end("one", **options), end("other", **options))


def test_an_end_that_was_never_told_of_connections_answers_one_that_resumes() -> None:
    one, other = end("one"), end("other")
    one.connected(NOW)
    texts = one.send(note(1), NOW) + one.send(note(2), NOW)
    other.receive(texts[0], NOW)
    (greeting,) = one.connected(NOW)
    other.receive(greeting, NOW)
    (refusal,) = other.frames_to_send()
    assert "code:E3003" in refusal
    one.receive(refusal, NOW)
    again = one.frames_to_send()
    assert again == [texts[1], greeting]
    events = [event for text in again for event in other.receive(text, NOW)]
    assert [event.message.payload["n"] for event in only(events, MessageReceived)] == [2]
    (pong,) = other.frames_to_send()
    assert only(one.receive(pong, NOW), Acknowledged)
    assert len(one._parts.outbox) == 0


def test_a_refusal_that_names_nothing_brings_everything_that_is_not_acknowledged() -> None:
    one = end("one")
    one.connected(NOW)
    texts = one.send(note(1), NOW)
    (greeting,) = one.connected(NOW)
    mid = parse_frame(greeting).envelope.msg_id
    one.receive(f"@x>fail:error{{code:E3003|msg:gap|retry:true|schema:ER}}[mid:x1,seq:1,ts:1,cid:{mid}]", NOW)
    assert one.frames_to_send() == [*texts, greeting]


@pytest.mark.requirement("11.2-4")
def test_a_pong_shows_that_nothing_is_missing() -> None:
    one = end("one")
    one.connected(NOW)
    one.send(note(1), NOW)
    one.disconnected(NOW)
    assert one.send(note(2), NOW) == []
    (greeting,) = one.connected(NOW)
    assert one.send(note(3), NOW) == []
    mid = parse_frame(greeting).envelope.msg_id
    events = one.receive(f"@x>pong:resume{{}}[mid:x1,seq:1,ts:1,cid:{mid}]", NOW)
    assert only(events, Acknowledged) == [Acknowledged(sequence=3)]
    assert [parse_frame(text).params["n"] for text in one.frames_to_send()] == [3]
    assert one.receive("@x>pong:resume{}[mid:x2,seq:2,ts:1,cid:unknown]", NOW) == []


@pytest.mark.requirement("11.2-3")
def test_the_first_connection_has_no_greeting_and_announces_the_registry_once() -> None:
    one, other = end("one", registry_first=True), end("other", registry_first=True)
    line = Wire(one, other)
    line.connect()
    assert [text.partition("{")[0] for text in line.under_way["other"]] == ["@one>sync:registry"]
    line.settle()
    for _ in range(3):
        line.cut()
        line.connect()
        assert [text.partition("{")[0] for text in line.under_way["other"]] == ["@one>ping:resume"]
        line.settle()
    assert line.send("one", 1)
    line.settle()
    assert line.numbers("other") == [1]
    line.check_untroubled()


def test_a_registry_that_was_lost_is_asked_for_and_nothing_is_refused() -> None:
    """ACCP 6.4 and 11.2: the server, which has no registry yet, answers the second connection by a `ping:resume`."""
    line = Wire(end("one", registry_first=True), end("other"))
    line.connect("one")
    line.cut()
    line.connect()
    line.settle()
    assert line.send("one", 1)
    line.settle()
    assert line.numbers("other") == [1]
    line.check_untroubled()


def test_every_frame_acknowledges_what_was_processed_once_connections_are_reported() -> None:
    one, other = end("one"), end("other")
    (text,) = one.send(note(1), NOW)
    assert parse_frame(text).envelope.extra == {}
    line = wire()
    line.connect()
    for number in range(3):
        line.send("one", number)
    line.settle()
    (text,) = line.ends["other"].send(note(9), NOW)
    assert isinstance(text, FrameText)
    assert text.envelope.extra == {"ack": "3"}
    assert line.ends["one"].receive(text, NOW)[0] == Acknowledged(sequence=3)
    assert other.send(note(1), NOW)


def test_a_full_window_refuses_messages_until_the_peer_acknowledges() -> None:
    line = wire(sent_frames=6)
    line.connect()
    taken = 0
    while line.send("one", taken):
        taken += 1
    size = line.ends["one"].size()
    assert not line.send("one", 99)
    assert line.ends["one"].size() == size
    line.settle()
    assert only(line.events["one"], Writable) == [Writable()]
    assert line.send("one", taken)
    line.settle()
    assert line.numbers("other") == list(range(taken + 1))
    line.check_untroubled()


def test_a_message_larger_than_the_window_is_refused_with_e2003() -> None:
    one = end("one", sent_characters=200)
    one.connected(NOW)
    with pytest.raises(EncodeError, match="E2003: expected a message of at most 200 characters"):
        one.send(note(1, "x" * 200), NOW)
    assert one.get_budget().frames == 0


def test_a_retry_waits_for_room_in_the_window() -> None:
    one = end("one", sent_frames=1, timeout=5, retries=1)
    one.connected(NOW)
    one.send(Message(sender="", intent=Intent.REQUEST, operation="op"), NOW)
    assert not [event for event in one.handle_timer(NOW + 5) if "Closed" in type(event).__name__]
    assert one.exchange("one000001").is_live
    assert one.get_timer() == NOW + 10


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_message_of_more_frames_than_the_window_and_its_spare_arrives_whole(is_cut: bool) -> None:
    small = Codec(counter=len, limits=FrameLimits(body_hard=130, total_hard=260))
    line = Wire(end("one", small, sent_frames=3), end("other", small, sent_frames=3))
    line.connect()
    line.settle()
    long = note(1, "x" * 90_000)
    frames = line.ends["one"].send(long, NOW)
    assert len(frames) > 1_030
    if is_cut:
        line.cut()
        line.connect()
    else:
        line.put("one", frames)
    line.settle()
    (received,) = only(line.events["other"], MessageReceived)
    assert received.message.payload == long.payload
    outbox = line.ends["one"]._parts.outbox
    line.ends["one"].send(note(2), NOW)
    assert outbox.spare <= 3 + SPARE_FRAMES + 2 * (len(outbox) + 1)


def test_without_connections_a_peer_may_ask_for_the_first_frame_of_a_message_of_any_length() -> None:
    small = Codec(counter=len, limits=FrameLimits(body_hard=130, total_hard=260))
    one, other = end("one", small, sent_frames=3), end("other", small, sent_frames=3)
    long = note(1, "x" * 2_000)
    frames = one.send(long, NOW)
    assert len(frames) > 10
    other.receive(frames[1], NOW)
    (refusal,) = other.frames_to_send()
    assert "code:E3003" in refusal
    assert not only(one.receive(refusal, NOW), ResumeImpossible)
    again = one.frames_to_send()
    assert again == frames
    (received,) = only([event for text in again for event in other.receive(text, NOW)], MessageReceived)
    assert received.message.payload == long.payload


@pytest.mark.parametrize("resuming", ["one", "other"])
def test_a_frame_that_is_not_kept_any_more_makes_resuming_impossible_and_both_ends_say_so(resuming: str) -> None:
    line = wire(sent_frames=3)
    line.connect()
    for number in range(3):
        line.send("one", number)
    line.cut()
    outbox = line.ends["one"]._parts.outbox
    outbox.spare = 0
    text = f"@one>ack:note{{}}[mid:x,seq:{outbox.last + 1}]"
    outbox.add(FrameText(text, Envelope(msg_id="x", sequence=outbox.last + 1)))
    line.ends["one"]._sender.last = outbox.last
    line.connect(resuming, "other" if resuming == "one" else "one")
    line.settle()
    for events in line.events.values():
        (impossible,) = only(events, ResumeImpossible)
        assert (impossible.expected, impossible.oldest) == (1, 2)
    for session in line.ends.values():
        with pytest.raises(LocalProtocolError, match="E3003"):
            session.send(note(1), NOW)
        assert session.connected(NOW) == []


def test_a_peer_that_acknowledges_what_was_never_sent_belongs_to_another_past() -> None:
    one = end("one")
    one.connected(NOW)
    events = one.receive("@x>ack:op{}[mid:x1,seq:1,ts:1,ack:7]", NOW)
    assert only(events, ResumeImpossible) == [ResumeImpossible(expected=8, oldest=1)]
    assert not only(one.receive("@x>ack:op{}[mid:x2,seq:2,ts:1,ack:9]", NOW), ResumeImpossible)


@pytest.mark.parametrize("value", ["x", "-1", "007", "9" * 30])
def test_a_field_of_the_same_name_that_is_no_number_means_nothing(value: str) -> None:
    one = end("one")
    one.connected(NOW)
    events = one.receive(f"@x>ack:op{{}}[mid:x1,seq:1,ts:1,ack:{value}]", NOW)
    assert [type(event) for event in events] == [MessageReceived]


def test_a_thousand_connections_on_which_nothing_arrives_do_not_end_a_session() -> None:
    line = wire(sent_frames=4)
    line.connect()
    line.send("one", 1)
    line.cut()
    for _ in range(1_100):
        line.connect()
        line.cut()
    assert line.ends["one"].size() < 600
    line.connect()
    line.settle()
    assert line.numbers("other") == [1]
    assert not only(line.events["one"] + line.events["other"], ResumeImpossible)


def test_one_lost_frame_is_sent_again_once_although_all_that_follow_are_refused() -> None:
    line = wire()
    line.connect()
    for number in range(30):
        line.send("one", number)
    line.under_way["other"].pop(4)
    line.settle()
    assert line.numbers("other") == list(range(30))
    assert line.ends["other"].get_budget().frames < 30 + 30


def test_frames_that_overtake_each_other_are_held_without_an_error_until_the_delay() -> None:
    one, other = end("one"), end("other", reorder=8, gap_delay=2)
    texts = [text for number in range(4) for text in one.send(note(number), NOW)]
    for text in reversed(texts[1:]):
        other.receive(text, NOW)
    assert other.frames_to_send() == []
    assert other.get_timer() == NOW + 2
    other.handle_timer(NOW + 1)
    assert other.frames_to_send() == []
    other.handle_timer(NOW + 2)
    (gap,) = other.frames_to_send()
    assert "expected:1" in gap
    assert len(only(other.receive(texts[0], NOW + 3), MessageReceived)) == 4
    assert other.handle_timer(NOW + 4) == []
    assert (other.frames_to_send(), other.get_timer()) == ([], None)


def test_a_first_greeting_names_the_first_frame_so_that_a_lost_one_is_noticed() -> None:
    one, other = end("one"), end("other", first=None)
    one.connected(NOW)
    lost = one.send(note(1), NOW)
    (greeting,) = one.connected(NOW)
    other.connected(NOW)
    dropped = other.receive(greeting, NOW)
    assert only(dropped, FrameDropped)
    texts = other.frames_to_send()
    events = [event for text in texts for event in one.receive(text, NOW)]
    assert not only(events, FrameRefused)
    assert one.frames_to_send()[:1] == lost


def test_senders_with_counts_of_their_own_cannot_resume() -> None:
    one = end("one", scope=SequenceScope.SENDER)
    with pytest.raises(ValueError, match="expected another scope than 'sender' to resume"):
        one.connected(NOW)


def test_the_heartbeat_waits_for_a_connection() -> None:
    one = end("one", heartbeat=30)
    one.connected(NOW)
    one.disconnected(NOW)
    one.handle_timer(NOW + 31)
    assert len(one._parts.outbox) == 0


def test_the_table_of_the_link_has_a_way_to_every_state_and_none_out_of_the_last() -> None:
    assert set(TRANSITIONS.values()) == set(LinkState) - {LinkState.UNTRACKED}
    assert not [pair for pair in TRANSITIONS if pair[0] is LinkState.BROKEN]
    assert {move for _, move in TRANSITIONS} == set(LinkMove)
