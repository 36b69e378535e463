"""Once and in order; sent again; streams; all of it bounded."""

import pytest

from accp_core.accp.frame import Envelope, Frame, Intent, Message
from accp_core.accp.session.delivery import FrameText, Inbox, Outbox, PendingRequests, SequenceScope, has_expired
from accp_core.errors import ProtocolError
from tests.core.accp.refusals import code_of

MESSAGE = Message(sender="me", intent=Intent.REQUEST, operation="op")


def inbox(scope: str = "received", *, remembered: int = 100, reorder: int = 0, senders: int = 4) -> Inbox:
    return Inbox(SequenceScope(scope), remembered=remembered, reorder=reorder, senders=senders)


def frame(mid: str | None, number: int | None, sender: str = "a") -> Frame:
    envelope = Envelope(msg_id=mid, sequence=number)
    return Frame(sender=sender, intent=Intent.REQUEST, operation="op", envelope=envelope)


def refused(code: str, box: Inbox, one: Frame) -> None:
    assert code_of(box.admit, one) == code


@pytest.mark.requirement("3.5-8", "3.5-9")
@pytest.mark.parametrize(
    ("ts", "ttl", "now", "expired"),
    [(0, 40, 40, False), (0, 40, 41, True), (0, 0, 99, False), (0, None, 99, False), (None, 40, 99, False)],
)
def test_a_frame_expires_after_the_last_second_of_its_ttl(
    ts: int | None, ttl: int | None, now: int, expired: bool
) -> None:
    assert has_expired(Envelope(timestamp=ts, ttl=ttl), now) is expired


def test_a_first_frame_that_was_lost_is_noticed_where_its_number_is_known() -> None:
    box = Inbox(SequenceScope.RECEIVED, remembered=9, reorder=0, senders=1, first=1)
    assert box.expected("a") == 1
    refused("E3003", box, frame("m2", 2))
    assert box.admit(frame("m1", 1))


@pytest.mark.requirement("3.7-2", "aacp:15-6")
def test_an_id_that_was_seen_is_refused_with_e3002_even_with_a_new_number() -> None:
    box = inbox()
    box.admit(frame("m", 1))
    refused("E3002", box, frame("m", 1))
    refused("E3002", box, frame("m", 2))


@pytest.mark.requirement("3.7-4")
def test_a_number_that_is_not_the_next_is_refused_with_e3003_and_not_remembered() -> None:
    box = inbox()
    box.admit(frame("m1", 1))
    for number in (0, 1, 3):
        refused("E3003", box, frame("x", number))
    assert box.admit(frame("x", 2))


@pytest.mark.requirement("3.7-1")
def test_an_id_that_is_forgotten_is_refused_by_its_number_with_e3002() -> None:
    box = inbox(remembered=3)
    for number in range(10):
        box.admit(frame(f"m{number}", number))
    for number in range(10):
        refused("E3002", box, frame(f"m{number}", number))
    refused("E3003", box, frame("new", 8))


@pytest.mark.requirement("3.7-3")
def test_frames_that_come_early_are_held_and_released_in_order() -> None:
    box = inbox(reorder=3)
    box.admit(frame("m1", 1))
    assert box.admit(frame("m4", 4)) is None
    assert box.admit(frame("m3", 3)) is None
    refused("E3002", box, frame("m3", 3))
    refused("E3003", box, frame("x", 3))
    refused("E3003", box, frame("m5", 5))
    assert len(box) == 4
    assert box.admit(frame("m2", 2)) == (frame("m2", 2), frame("m3", 3), frame("m4", 4))
    assert box.expected("a") == 5


@pytest.mark.requirement("3.7-7")
def test_an_expired_frame_in_its_turn_is_counted_and_one_out_of_turn_is_not() -> None:
    box = inbox(reorder=2)
    assert box.skip(frame("m5", 5)) == ()
    assert box.expected("a") == 6
    assert box.skip(frame("m5", 6)) == ()
    assert box.skip(frame("m8", 8)) == ()
    assert box.expected("a") == 6
    assert box.admit(frame("m7", 7)) is None
    assert box.skip(frame("m6", 6)) == (frame("m7", 7),)


def test_each_sender_has_its_own_numbers_in_that_scope() -> None:
    box = inbox("sender", senders=2)
    for sender, number in (("a", 5), ("b", 1), ("a", 6)):
        assert box.admit(frame(f"{sender}{number}", number, sender))
    refused("E3002", box, frame("a5", 2, "b"))
    refused("E2003", box, frame("c1", 1, "c"))
    assert box.skip(frame("c1", 1, "c")) == ()


@pytest.mark.parametrize(
    ("received", "answered", "following", "scope"), [(1, 2, 3, "shared"), (1, 2, 2, "received"), (7, 8, 8, "received")]
)
def test_the_number_after_ours_says_how_the_peer_counts(
    received: int, answered: int, following: int, scope: str
) -> None:
    box = inbox("recognized")
    assert box.admit(frame("m1", received)) and box.last_shared() == received
    box.count_sent(answered)
    refused("E3003", box, frame("m9", 19))
    assert box.scope == "recognized"
    assert box.admit(frame("m2", following))
    assert (box.scope, box.last_shared()) == (scope, following if scope == "shared" else 0)


@pytest.mark.parametrize(("sent", "first", "scope"), [(2, 3, "shared"), (2, 1, "received"), (2, 100, "received")])
def test_the_first_answer_says_how_the_peer_counts(sent: int, first: int, scope: str) -> None:
    box = inbox("recognized")
    box.count_sent(sent)
    assert box.skip(frame("m1", first)) == () and box.scope == scope
    assert box.expected("") == first + 1


def test_ids_of_each_sender_are_forgotten_by_its_own_numbers() -> None:
    box = inbox("sender", remembered=2)
    for sender, number in (("a", 50), ("b", 1), ("a", 51), ("b", 2)):
        box.admit(frame(f"{sender}{number}", number, sender))
    refused("E3002", box, frame("a50", 50, "a"))
    refused("E3002", box, frame("b1", 1, "b"))
    assert box.admit(frame("b3", 3, "b"))


def test_what_is_sent_counts_only_where_both_directions_share_their_numbers() -> None:
    shared, own = inbox("shared"), inbox()
    for box in (shared, own):
        box.count_sent(4)
        box.admit(frame("m5", 5))
        box.count_sent(3)
    assert (shared.last_shared(), own.last_shared()) == (5, 0)
    assert inbox("shared").last_shared() == 0
    refused("E3003", shared, frame("m9", 9))


@pytest.mark.requirement("3.5-10")
def test_a_frame_without_id_or_number_is_refused_with_e1001() -> None:
    refused("E1001", inbox(), frame(None, 1))
    refused("E1001", inbox(), frame("m", None))


@pytest.mark.requirement("3.7-1")
def test_what_an_inbox_keeps_is_bounded() -> None:
    box = inbox("sender", remembered=10, reorder=5, senders=3)
    for number in range(3_000):
        for sender in "abcde":
            for ahead in (3, 0):
                try:
                    box.admit(frame(f"{sender}{number + ahead}", number + ahead, sender))
                except ProtocolError:
                    continue
    assert len(box) <= 10 + 3 + 3 * 5


def sent(number: int, text: str = "") -> FrameText:
    return FrameText(text or f"frame {number}", Envelope(msg_id=f"m{number}", sequence=number))


def test_frames_are_sent_again_from_the_one_that_is_missing() -> None:
    box = Outbox(frames=3, characters=100)
    assert box.since(1) == ()
    for number in range(1, 6):
        box.add(sent(number))
    assert box.since(4) == ("frame 4", "frame 5")
    assert box.since(3) == ("frame 3", "frame 4", "frame 5")
    assert box.since(2) == ()
    assert box.since(9) == ()
    assert (box.oldest, box.number_of("m4"), box.number_of("m1"), box.number_of(None)) == (3, 4, None, None)


def test_what_is_kept_of_sent_frames_is_bounded_by_its_characters_too() -> None:
    box = Outbox(frames=100, characters=10)
    for number in range(5):
        box.add(sent(number, "x" * 4))
    assert len(box) == 2
    box.add(sent(9, "x" * 11))
    assert (len(box), box.oldest) == (0, 10)


def test_half_of_a_window_has_room_for_a_message_of_any_length() -> None:
    box = Outbox(frames=8, characters=100)
    for number in range(1, 6):
        assert (box.has_room(99), box.is_half_full(len(box))) == (True, False)
        box.add(sent(number))
    assert (box.has_room(99), box.has_room(3), box.is_half_full(len(box))) == (False, True, True)


def test_half_of_the_characters_of_a_window_ask_for_an_acknowledgement() -> None:
    box = Outbox(frames=8, characters=10)
    box.add(sent(1, "x" * 6))
    assert (box.is_half_full(1), box.is_half_full(0)) == (True, False)


def test_what_is_acknowledged_makes_room_in_the_window_and_only_forward() -> None:
    box = Outbox(frames=2, characters=100)
    box.reserve(2)
    assert box.has_room(99)
    for number in range(1, 4):
        assert box.has_room() == (number < 3)
        box.add(sent(number))
    assert box.is_full()
    assert [box.acknowledge(number) for number in (0, 2, 2, 1, 4)] == [False, True, False, False, False]
    assert (box.oldest, box.acknowledged, box.has_room(), box.has_room(2)) == (3, 2, True, True)
    box.add(sent(4, "x" * 99))
    assert not box.has_room()
    for number in range(5, 9):
        box.add(sent(number))
    assert (len(box), box.oldest) == (4, 5)


def test_the_spare_frames_of_a_long_message_are_given_back_once_the_window_holds_the_rest() -> None:
    box = Outbox(frames=2, characters=10)
    box.reserve(3)
    box.make_room(50)
    assert box.spare == 100
    for number in range(1, 51):
        box.add(sent(number, "x" * (1 if number < 50 else 9)))
    sizes = {number: box.acknowledge(number) and box.spare for number in (1, 47, 48, 50)}
    assert sizes == {1: 100, 47: 100, 48: 3, 50: 3}
    box.reserve(1)
    assert box.spare == 3
    box.keep(40)
    for number in range(51, 53):
        box.add(sent(number, "x" * 9))
    assert (box.spare, box.acknowledge(51), box.spare) == (38, True, 3)


def test_long_characters_that_wait_keep_the_spare_frames() -> None:
    box = Outbox(frames=2, characters=10)
    box.make_room(3)
    for number in range(1, 4):
        box.add(sent(number, "x" * 6))
    assert (box.acknowledge(1), box.spare, len(box)) == (True, 6, 2)
    assert (box.acknowledge(2), box.spare) == (True, 0)


def requests(timeout: int | None = 10, retries: int = 0) -> PendingRequests:
    return PendingRequests(timeout=timeout, retries=retries, delay=2)


def test_a_request_without_an_answer_is_given_up_at_its_deadline() -> None:
    box = requests()
    assert box.next_deadline() is None
    box.start("c", MESSAGE, 100)
    box.start("d", MESSAGE, 103)
    assert box.next_deadline() == 110
    assert box.take_due(109) == ([], [])
    assert box.take_due(110) == ([], ["c"])
    assert len(box) == 1


def test_a_sign_of_life_moves_the_deadline_and_waiting_takes_it_away() -> None:
    box = requests()
    box.start("c", MESSAGE, 100)
    box.extend("c", 105)
    assert box.next_deadline() == 115
    box.extend("c", 106, waiting=True)
    assert box.next_deadline() is None
    assert box.take_due(999) == ([], [])
    box.extend("unknown", 106)
    box.finish("c", 107)
    assert len(box) == 0


def test_a_request_may_wait_for_ever() -> None:
    box = requests(timeout=None)
    box.start("c", MESSAGE, 100)
    assert box.next_deadline() is None


@pytest.mark.requirement("3.7-5")
def test_a_request_is_sent_again_as_often_as_it_may_be() -> None:
    box = requests(retries=2)
    box.start("c", MESSAGE, 0)
    for now in (10, 20):
        assert box.take_due(now) == ([("c", MESSAGE)], [])
        box.start("c", MESSAGE, now)
    assert box.take_due(30) == ([], ["c"])


@pytest.mark.requirement("3.7-5")
def test_after_a_retryable_error_a_request_is_sent_again_soon() -> None:
    box = requests(retries=1)
    box.start("c", MESSAGE, 0)
    box.finish("c", 5, retryable=True)
    assert box.next_deadline() == 7
    assert box.take_due(7) == ([("c", MESSAGE)], [])
    box.start("c", MESSAGE, 7)
    box.finish("c", 8, retryable=True)
    assert len(box) == 0
    box.finish("c", 9)
