"""Sequence numbers as the draft's examples have them, and as peers may read the draft (sections 3.5, 3.7 and 10)."""

import threading
from collections.abc import Callable
from itertools import count, pairwise

import pytest

from tests.foreign.served import ask
from tests.foreign.wire import Frame, Server, open_web_socket, post
from tests.limits import PATIENCE

NOW = 1714000000
# The draft's folded lines are joined, and "..." has a value.
CHAT = "@user>req:chat{content:What_are_Q3_findings?|role:user|turn:1|schema:CH}[mid:c1,seq:1]"
TOOL = "@orchestrator>req:tool{tool:web_search|args:{q:ACCP,max:5}|schema:TC}[mid:m1,seq:1]"
PAY = "@payments>req:transaction{txn:txn_001|amt:142.5|acc:acct_9876|schema:TX}[mid:p1,seq:5]"
PLAN = "@planner>req:schedule{asgn:@dev|task:impl_auth|dead:sprint_14|pri:high|schema:TA}[mid:t1,seq:8]"
META = "@planner>req:schedule{task:a}[mid:49679033e07c,seq:3,ts:1714000000,cid:corr123,sid:abc-session]"


@pytest.mark.parametrize(("frame", "answered"), [(CHAT, 2), (TOOL, 2), (PAY, 6), (PLAN, 9), (META, 4)])
def test_the_examples_get_the_number_that_the_draft_gives_their_answer(
    server: tuple[str, int], frame: str, answered: int
) -> None:
    status, (answer,) = post(server, frame)
    assert (status, answer.intent, answer.seq) == (200, "done", answered)


STREAM = [
    "@streamer>stream:infer{idx:0|tot:3|d:Hello|schema:ST}[mid:m1,seq:1,cid:stream_abc]",
    "@streamer>stream:infer{idx:1|tot:3|d:_world|schema:ST}[mid:m2,seq:2,cid:stream_abc]",
    "@streamer>stream:infer{idx:2|tot:3|d:!|done:true|schema:ST}[mid:m3,seq:3,cid:stream_abc]",
]
TOLD = [
    "@agent_a>fail:error{code:E3001|msg:connection_timed_out|retry:true|schema:ER}[mid:abc,seq:4,ts:1714000001]",
    "@tool_agent>done:tool{tool:web_search|res:{hits:[...]}|stat:ok|schema:TC}[mid:m2,seq:2,cid:m1]",
    "@pay_agent>done:transaction{txn:txn_001|stat:settled|schema:TX}[mid:p2,seq:6,cid:p1]",
    "@dev>done:schedule{task:impl_auth|stat:complete|prog:100|schema:TA}[mid:t2,seq:9,cid:t1]",
]


@pytest.mark.parametrize("frames", [STREAM, *([frame] for frame in TOLD)])
def test_the_examples_that_ask_nothing_are_taken_without_a_word(server: tuple[str, int], frames: list[str]) -> None:
    for frame in frames:
        status, answers = post(server, frame)
        assert (status in (200, 204), answers) == (True, [])


@pytest.mark.requirement("3.5-3")
@pytest.mark.parametrize("numbers", [[(1, 2), (3, 4), (5, 6)], [(1, 2), (2, 3), (3, 4)], [(7, 8), (8, 9), (9, 10)]])
def test_a_peer_may_count_for_both_ends_or_for_itself(
    server: tuple[str, int], numbers: list[tuple[int, int]], request: pytest.FixtureRequest
) -> None:
    sid = f"s{abs(hash(request.node.name))}"
    for number, answered in numbers:
        frame = f"@ann>req:add{{n:{number}}}[mid:a{number},seq:{number},ts:{NOW},sid:{sid}]"
        status, (answer,) = post(server, frame)
        assert (status, answer.intent, answer.seq) == (200, "done", answered)


@pytest.mark.requirement("3.7-4")
def test_another_number_is_refused_at_once_with_what_was_expected(server: tuple[str, int]) -> None:
    post(server, f"@eve>req:add{{n:1}}[mid:e1,seq:1,ts:{NOW},sid:gap]")
    status, (answer,) = post(server, f"@eve>req:add{{n:2}}[mid:e9,seq:9,ts:{NOW},sid:gap]")
    assert (status, answer.intent, answer.meta["cid"]) == (400, "fail", "e9")
    assert "code:E3003" in answer.body and "expected_sequence_2" in answer.body


@pytest.mark.parametrize("first", [0, 1, 100])
def test_over_a_web_socket_any_first_number_is_taken(server: tuple[str, int], first: int) -> None:
    with open_web_socket(server) as socket:
        socket.send(f"@ben>sync:registry{{v:3|hash:a7f2c1}}[mid:b0,seq:{first},ts:{NOW}]")
        number = _after_registry(socket.frame, first)
        socket.send(f"@ben>req:add{{n:1}}[mid:b1,seq:{number + 1},ts:{NOW}]")
        answer = socket.frame()
        while answer.meta.get("cid") != "b1":
            answer = socket.frame()
        assert answer.intent == "done"
        socket.send(f"@ben>req:add{{n:2}}[mid:b2,seq:{answer.seq + 7},ts:{NOW}]")
        refused = socket.frame()
    assert (refused.intent, refused.meta["cid"]) == ("fail", "b2")
    assert "code:E3003" in refused.body and "expected" in refused.body


def _after_registry(receive: Callable[[], Frame], first: int) -> int:
    """Return the number of the last frame of the server's registry, which counts on from ours."""
    for number in count(first + 1):
        frame = receive()
        assert frame.seq == number
        if "|done:true" in frame.body:
            return number
    raise AssertionError("expected a last frame")


class Peer:
    """Answers requests; numbers by one of the readings."""

    def __init__(self, reading: str, *, says_registry: bool) -> None:
        self.reading, self.says_registry = reading, says_registry
        self.sent = {"own": 0, "from 100": 99}.get(reading, 0)

    def answer(self, frame: Frame) -> list[str]:
        if frame.intent == "sync" and self.says_registry:
            return [f"@peer>sync:registry{{{frame.body}}}[{self.meta(frame)}]"]
        return [f"@peer>done:tool{{res:ok}}[{self.meta(frame)}]"] if frame.intent == "req" else []

    def meta(self, frame: Frame) -> str:
        self.sent = frame.seq + 1 if self.reading == "shared" else self.sent + (5 if self.reading == "leaps" else 1)
        return f"mid:x{self.sent},seq:{self.sent},ts:{NOW},cid:{frame.meta['mid']}"


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize("says_registry", [True, False])
@pytest.mark.parametrize("reading", ["shared", "own", "from 100"])
def test_our_client_understands_a_server_that_counts(reading: str, says_registry: bool, scheme: str) -> None:
    server = Server(Peer(reading, says_registry=says_registry).answer)
    assert ask(f"{scheme}://127.0.0.1:{server.port}", 3) == ["done {'res': 'ok'}"] * 3
    numbers = [frame.seq for frame in server.received if frame.intent in ("sync", "req")]
    steps = {later - earlier for earlier, later in pairwise(numbers[1:])}
    assert steps == {2 if reading == "shared" else 1}
    server.close()


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_our_client_says_at_once_which_number_it_expected(scheme: str) -> None:
    server = Server(Peer("leaps", says_registry=False).answer)
    first, second = ask(f"{scheme}://127.0.0.1:{server.port}", 2)
    assert first == "done {'res': 'ok'}"
    assert second.startswith("E3003") and "expected sequence 6, found 10" in second
    refusals = [frame for frame in server.received if frame.intent == "fail"]
    assert refusals and "code:E3003" in refusals[0].body
    server.close()


def test_our_client_does_not_wait_for_ever_for_a_registry_over_http() -> None:
    peer, forgotten = Peer("own", says_registry=False), threading.Event()

    def answer(frame: Frame) -> list[str]:
        if frame.intent == "sync":
            forgotten.wait(PATIENCE)
        return peer.answer(frame)

    server = Server(answer)
    assert ask(f"http://127.0.0.1:{server.port}", 2) == ["done {'res': 'ok'}"] * 2
    forgotten.set()
    server.close()


def test_a_refused_frame_counts_where_its_metadata_can_be_read(server: tuple[str, int]) -> None:
    """ACCP 3.7: it was received, so the next number is no gap, whatever was wrong with the rest."""
    bodies = ["req:add{n:1}", "zap:add{n:1}", "req:add{n:[1}", "req:add{n:007}", "req:add{n:2}", "req:add{n:=A1+B2}"]
    found = []
    for number, body in enumerate(bodies, 3):
        status, (answer,) = post(server, f"@joe>{body}[mid:j{number},seq:{number},ts:{NOW},sid:counts]")
        found.append((status, answer.intent, answer.meta["cid"]))
    assert [each[1] for each in found] == ["done", "fail", "fail", "fail", "done", "done"]
    assert [each[2] for each in found] == [f"j{number}" for number in range(3, 9)]
