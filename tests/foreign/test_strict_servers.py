"""Our client at servers that know the draft alone, and take it by the letter (sections 3.7, 6.4, 11.1 and 11.2)."""

import threading
from itertools import pairwise

import pytest

from tests.foreign.served import ask
from tests.foreign.wire import Frame, Server

NOW = 1714000000


class Strict:
    """Refuses every number that is not the next one, counting for both ends or for each."""

    def __init__(self, reading: str, *, registry: bool = True, cid: bool = True, stream: bool = False) -> None:
        self.reading, self.registry, self.cid, self.stream = reading, registry, cid, stream
        self.received = self.sent = 0
        self.refused: list[Frame] = []
        self._lock = threading.Lock()

    def answer(self, frame: Frame) -> list[str]:
        with self._lock:
            expected = (max(self.received, self.sent) if self.reading == "shared" else self.received) + 1
            if self.received and frame.seq != expected:
                self.refused.append(frame)
                return [self.frame("fail:error{code:E3003|msg:gap|retry:true|schema:ER}", frame)]
            self.received = frame.seq
            if frame.intent == "sync":
                return [self.frame("sync:registry{v:1|hash:a7f2c1}", frame)] if self.registry else []
            if frame.intent != "req":
                return []
            if not self.stream:
                return [self.frame("done:tool{res:ok}", frame)]
            ends = ["idx:0|tot:3|d:Hello", "idx:1|tot:3|d:_world", "idx:2|tot:3|d:!|done:true"]
            return [self.frame(f"stream:infer{{{chunk}|schema:ST}}", frame) for chunk in ends]

    def frame(self, what: str, answered: Frame) -> str:
        self.sent = (max(self.received, self.sent) if self.reading == "shared" else self.sent) + 1
        cid = f",cid:{answered.meta['mid']}" if self.cid else ""
        return f"@peer>{what}[mid:p{self.sent},seq:{self.sent},ts:{NOW}{cid}]"


@pytest.mark.requirement("3.7-3")
@pytest.mark.parametrize("empty", ["204 No Content", "200 OK"])
@pytest.mark.parametrize("registry", [True, False])
@pytest.mark.parametrize("reading", ["own", "shared"])
def test_one_frame_follows_the_answer_to_the_one_before(reading: str, registry: bool, empty: str) -> None:
    """ACCP 3.7: "Frames MUST be processed in ascending "seq" order", whatever registry the server has."""
    strict = Strict(reading, registry=registry)
    server = Server(strict.answer, empty=empty)
    assert ask(f"http://127.0.0.1:{server.port}", 3) == ["done {'res': 'ok'}"] * 3
    assert strict.refused == []
    numbers = [frame.seq for frame in server.received]
    assert all(later > earlier for earlier, later in pairwise(numbers))
    assert [frame.intent for frame in server.received].count("req") == 3
    server.close()


@pytest.mark.requirement("11.1-5")
@pytest.mark.parametrize(
    ("piece", "end", "cid"),
    [(0, "", True), (1, "", True), (7, "\r\n", True), (50, "\n", True), (0, "", False), (1, "\r\n", False)],
)
def test_a_stream_is_read_by_its_grammar(piece: int, end: str, cid: bool) -> None:
    """ACCP 11.1: "one ST-schema frame per chunk"; proxies cut chunks anywhere."""
    server = Server(Strict("own", stream=True, cid=cid).answer, piece=piece, end=end)
    (found,) = ask(f"http://127.0.0.1:{server.port}", 1)
    assert found.startswith("done {'data': 'Hello_world!'")
    server.close()


@pytest.mark.parametrize(
    ("scheme", "stream", "end"), [("http", False, ""), ("ws", False, ""), ("ws", False, "\r\n"), ("ws", True, "\n")]
)
def test_the_only_answer_that_is_awaited_needs_no_correlation_id(scheme: str, stream: bool, end: str) -> None:
    """ACCP 3.5: the correlation_id of an answer SHOULD be there."""
    server = Server(Strict("own", cid=False, stream=stream).answer, end=end)
    expected = "done {'data': 'Hello_world!'" if stream else "done {'res': 'ok'}"
    assert [each[: len(expected)] for each in ask(f"{scheme}://127.0.0.1:{server.port}", 2)] == [expected] * 2
    server.close()


def test_after_a_lost_connection_a_session_begins_as_the_draft_has_it() -> None:
    """ACCP 11.2: "Session established by the first sync:registry frame"; nothing is resumed that was not offered."""
    strict = Strict("own")

    def answer(frame: Frame) -> list[str]:
        if (frame.intent, frame.seq) == ("sync", 1):  # a session of its own
            strict.received = strict.sent = 0
        return strict.answer(frame)

    server = Server(answer, lasts=1)
    found = ask(f"ws://127.0.0.1:{server.port}", 3)
    assert found.count("done {'res': 'ok'}") >= 2
    assert {(frame.intent, frame.operation, frame.seq) for frame in server.first} == {("sync", "registry", 1)}
    server.close()
