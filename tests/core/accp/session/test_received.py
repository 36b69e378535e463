"""The number of the frame that was processed last (ACCP section 3.7)."""

from accp_core.accp import Codec, Message, Session
from accp_core.accp.frame import Intent


def test_it_follows_the_frames_that_are_processed_in_order() -> None:
    ids, codec = iter("abcdefgh"), Codec(counter=len)
    ann, bob = (Session("s", name, codec=codec, new_id=lambda: next(ids)) for name in ("ann", "bob"))
    message = Message(sender="", intent=Intent.REQUEST, operation="add")
    frames = [frame for _ in range(3) for frame in ann.send(message, 1)]
    seen = [bob.received]
    for frame in (frames[0], frames[2], frames[1]):
        bob.receive(frame, 1)
        seen.append(bob.received)
    assert seen == [0, 1, 1, 2]
