"""What the draft demands and a peer can see, each on HTTP and on WebSocket; the matrix is printed at the end."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest

from tests.foreign.grammar import read_payload
from tests.foreign.served import serving
from tests.foreign.wire import Frame, open_web_socket, post, read_frame

NOW = 1714000000
HANDLER = """
import asyncio

async def words():
    for word in ("one", "two", "three"):
        yield word

async def answer(request):
    payload = dict(request.message.payload)
    if request.message.operation == "infer":
        return words()
    if request.message.operation == "slow":
        await asyncio.sleep(600)
    if payload.get("tool_name") == "broken":
        raise RuntimeError("no")
    return payload
"""
_NAMES = count(1)
_ANSWERS = ("done", "fail", "pong")


class Peer:
    """One session: it numbers its frames from 1 and never repeats an id."""

    def __init__(self, address: tuple[str, int], carrier: str, stack: ExitStack) -> None:
        self.address, self.sid, self.seq = address, f"s{next(_NAMES)}", 0
        self.web_socket = stack.enter_context(open_web_socket(address)) if carrier == "ws" else None
        self.status, self.heard = 0, 0
        if self.web_socket:
            self.registry = self.ask("sync:registry{v:1|hash:a7f2c1}")

    def meta(self, more: str = "") -> str:
        self.seq += 1
        return f"[mid:m{self.seq},seq:{self.seq},ts:{NOW},sid:{self.sid}{more}]"

    def ask(self, what: str, more: str = "") -> list[Frame]:
        return self.send(f"@ann>{what}{self.meta(more)}")

    def send(self, text: str) -> list[Frame]:
        """Return what answers a frame: all frames of an HTTP response, or those up to one that ends something."""
        if not self.web_socket:
            self.status, frames = post(self.address, text)
            return frames
        self.web_socket.send(text)
        frames = [self.frame()]
        while frames[-1].intent not in _ANSWERS and "|done:true" not in frames[-1].body:
            frames.append(self.frame())
        return frames

    def frame(self) -> Frame:
        """Return the next frame of the WebSocket, whose number follows the one before (3.7)."""
        assert self.web_socket
        frame = self.web_socket.frame()
        assert not self.heard or frame.seq == self.heard + 1
        self.heard = frame.seq
        return frame

    def tell(self, text: str) -> list[Frame]:
        """Return what answers a frame that may have no answer: what comes before the answer to a ping."""
        if not self.web_socket:
            return self.send(text)
        self.web_socket.send(text)
        return self.ask("ping:hb{}")[:-1]

    def refusal(self, text: str) -> str:
        """Return the code of the error frame that refuses a text."""
        (frame,) = self.send(text)
        assert (frame.intent, frame.operation) == ("fail", "error") and "|schema:ER" in frame.body
        assert self.web_socket or self.status == 400
        return str(read_payload(frame.body)["code"])


def envelope(peer: Peer) -> None:
    for frame in [*peer.ask("req:add{n:1}", ",cid:job"), *peer.ask("req:infer{}", ",cid:job")]:
        assert (frame.meta["cid"], frame.meta["sid"]) == ("job", peer.sid)
        assert re.fullmatch("[0-9a-f]{12}", frame.meta["mid"]) and frame.seq > 0
        assert re.fullmatch("[0-9]{10}", frame.meta["ts"])


def missing_fields(peer: Peer) -> None:
    assert peer.refusal("@ann>req:add{n:1}[seq:2,ts:1714000000]") == "E1001"
    assert peer.refusal("@ann>req:add{n:1}[mid:x1,ts:1714000000]") == "E1001"


def expired(peer: Peer) -> None:
    assert peer.tell(f"@ann>req:add{{n:1}}{peer.meta(',ttl:5')}") == []
    assert peer.ask("req:add{n:2}")[-1].intent == "done"


def written(peer: Peer) -> None:
    (answer,) = peer.ask("req:add{n:1.5|big:10000000000000000000000.5|m:{b:1,a:2}|empty:~|yes:true|g:+3.2%|l:[1,2]}")
    assert answer.body == "n:1.5|big:10000000000000000000000.5|m:{a:2,b:1}|empty:~|yes:true|g:+3.2%|l:[1,2]"


def abbreviated(peer: Peer) -> None:
    (answer,) = peer.ask("req:add{priority:high|data:x}")
    assert read_payload(answer.body) == {"pri": "high", "d": "x"}


def duplicate(peer: Peer) -> None:
    text = f"@ann>req:add{{n:1}}{peer.meta()}"
    assert peer.send(text)[-1].intent == "done"
    assert peer.refusal(text) == "E3002"


def gap(peer: Peer) -> None:
    peer.ask("req:add{n:1}")
    assert peer.refusal(f"@ann>req:add{{n:2}}[mid:g,seq:{peer.seq + 5},ts:{NOW},sid:{peer.sid}]") == "E3003"


def retried(peer: Peer) -> None:
    failed = peer.ask("req:tool{tool:broken|schema:TC}", ",cid:job")[-1]
    again = peer.ask("req:tool{tool:broken|schema:TC}", ",cid:job")[-1]
    assert (failed.intent, again.intent, again.meta["cid"]) == ("fail", "fail", "job")
    assert read_payload(again.body)["code"] == "E4002"


def cancelled(peer: Peer) -> None:
    assert peer.tell(f"@ann>cancel:slow{{}}{peer.meta(',cid:gone')}") == []
    late = f"@ann>done:slow{{n:1}}{peer.meta(',cid:gone')}"
    assert peer.tell(late) == []
    assert peer.ask("req:add{n:1}")[-1].intent == "done"


def checkpoint(peer: Peer) -> None:
    peer.tell(f"@ann>comp:state{{phase:planning}}{peer.meta()}")
    (answer,) = peer.ask("req:add{k:$warm.ckpt_1.phase}")
    assert read_payload(answer.body) == {"k": "planning"}


def defaults(peer: Peer) -> None:
    (answer,) = peer.ask("req:execute{schema:TA|assignee:bob|task:auth}")
    assert read_payload(answer.body) == {"asgn": "bob", "task": "auth", "schema": "TA"}


def registry(peer: Peer) -> None:
    frames = peer.registry if peer.web_socket else peer.ask("sync:registry{v:1|hash:a7f2c1}")
    text = "".join(read_payload(frame.body)["d"] for frame in frames)
    offer = read_payload(read_frame(f"{text}[mid:x,seq:1]").body)
    (frame,) = [peer.ask(f"sync:registry{{v:1|hash:{offer['hash']}}}") for _ in (1,) if not peer.web_socket] or [[]]
    assert frame == [] and len(offer["schemas"]) == 7


def tampered(peer: Peer) -> None:
    offer = "v:9|hash:beef00|schemas:{weather:{code:WE,version:1,fields:[wind],defaults:{}}}"
    assert peer.refusal(f"@ann>sync:registry{{{offer}}}{peer.meta()}") == "E5001"


def told(peer: Peer) -> None:
    assert peer.tell(f"@ann>sync:state{{v:1|delta:{{kept:7,gone:1}}}}{peer.meta()}") == []
    assert peer.tell(f"@ann>sync:state{{v:2|delta:{{gone:~}}}}{peer.meta()}") == []
    (answer,) = peer.ask("req:add{k:$ctx.kept}")
    assert read_payload(answer.body) == {"k": 7}
    assert peer.refusal(f"@ann>req:add{{k:$ctx.gone}}{peer.meta()}") == "E2001"
    # A version that is not the next one: the context is asked for again.
    (asked,) = peer.tell(f"@ann>sync:state{{v:7|delta:{{kept:1}}}}{peer.meta()}")
    assert (asked.intent, asked.operation, read_payload(asked.body)) == ("qry", "state", {"v": 2})


def crowded(peer: Peer) -> None:
    members = ",".join(["1"] * 10_001)
    assert peer.refusal(f"@ann>req:add{{k:[{members}]}}{peer.meta()}") == "E1001"
    assert peer.ask("req:add{n:1}")[-1].intent == "done"


def malformed(peer: Peer) -> None:
    for body in ("{k:}", "{k:1", "{k:a b}", "{k:007}", "{k:[1,]}", "{a:1|a:2}", "{k:[[[[[[1]]]]]]}"):
        assert peer.refusal(f"@ann>req:add{body}{peer.meta()}") == "E1001"
        peer.seq -= body in ("{k:1", "{k:a b}")  # where the metadata ends in the body, or nothing can be read
    assert peer.refusal(f"@ann>shout:add{{}}{peer.meta()}") == "E1002"
    assert peer.ask("req:add{n:1}")[-1].intent == "done"


def foreign_reference(peer: Peer) -> None:
    text = f"@ann>req:add{{k:$cold.other.05736180442795560163228944101}}{peer.meta()}"
    assert peer.refusal(text) == "E5002"


def tool(peer: Peer) -> None:
    (answer,) = peer.ask("req:tool{tool:find|args:{q:ACCP,max:5}|schema:TC}")
    assert answer.meta["cid"] == f"m{peer.seq}" and read_payload(answer.body)["args"] == {"max": 5, "q": "ACCP"}
    (failed,) = peer.ask("req:tool{tool:broken|schema:TC}")
    assert failed.meta["cid"] == f"m{peer.seq}" and read_payload(failed.body)["code"] == "E4002"
    assert (failed.intent, read_payload(failed.body)["schema"]) == ("fail", "ER")


def transaction(peer: Peer) -> None:
    (paid,) = peer.ask("req:transaction{txn:t1|amt:142.5|acc:a9|schema:TX}")
    assert "amt:142.5" in paid.body and read_payload(paid.body)["txn"] == "t1"
    retries = [peer.ask("req:transaction{txn:t3|amt:1|schema:TX}", ",cid:pay")[-1].intent for _ in range(2)]
    assert retries == ["done", "done"]
    other = f"@ann>req:transaction{{txn:t4|amt:1|schema:TX}}{peer.meta(',cid:pay')}"
    assert peer.refusal(other) == "E5001"
    assert peer.refusal(f"@ann>req:transaction{{txn:t2|amt:text|schema:TX}}{peer.meta()}") == "E1004"


def streamed(peer: Peer) -> None:
    frames = peer.ask("req:infer{}")
    chunks = [read_payload(frame.body) for frame in frames]
    assert {frame.meta["cid"] for frame in frames} == {f"m{peer.seq}"} and {frame.intent for frame in frames} == {
        "stream"
    }
    assert [chunk["idx"] for chunk in chunks] == [0, 1, 2, 3] and chunks[-1]["done"] is True
    assert [chunk["d"] for chunk in chunks[:3]] == ["one", "two", "three"]


def reordered(peer: Peer) -> None:
    data = ["\\@ann\\>req\\:add\\{n\\:", "7\\}"]
    peer.tell(f"@ann>stream:frame{{idx:1|tot:2|d:{data[1]}|done:true|schema:ST}}{peer.meta(',cid:cut')}")
    (answer,) = peer.send(f"@ann>stream:frame{{idx:0|tot:2|d:{data[0]}|schema:ST}}{peer.meta(',cid:cut')}")
    assert (answer.intent, answer.meta["cid"], read_payload(answer.body)) == ("done", "cut", {"n": 7})


def heartbeat(peer: Peer) -> None:
    (pong,) = peer.ask("ping:hb{}")
    assert (pong.intent, pong.meta["cid"]) == ("pong", f"m{peer.seq}")


CASES: dict[str, tuple[str, Callable[[Peer], None]]] = {
    "3.1.1": ("decimals, sorted keys, no scientific notation, no whitespace", written),
    "3.3": ("keys are abbreviated", abbreviated),
    "3.5": ("every frame has mid, seq and ts", envelope),
    "3.5, missing": ("frames without mid or seq are rejected", missing_fields),
    "3.5, ttl": ("expired frames are rejected, without a word (3.7, item 5)", expired),
    "3.7, item 1": ("a duplicate gets E3002", duplicate),
    "3.7, item 2": ("a gap gets E3003", gap),
    "3.7, item 3": ("a retry has the same cid and a new mid", retried),
    "3.7, item 4": ("a cancel stops its chain", cancelled),
    "5.2": ("a checkpoint is taken", checkpoint),
    "5.4": ("deltas are applied to the shared context, a gap is asked for", told),
    "6.3": ("defaults are filled in, and left out", defaults),
    "6.4": ("registries are exchanged", registry),
    "9, item 2": ("malformed frames are rejected whole; depth is limited (item 5)", malformed),
    "9, item 3": ("cold references are scoped to the session", foreign_reference),
    "9, item 4": ("a registry of another hash is refused", tampered),
    "9, item 5": ("the members of a frame are limited", crowded),
    "10.2": ("answers of tools have a cid, errors E4002 with ER", tool),
    "10.3": ("amounts are decimals, the id stays", transaction),
    "10.4": ("a stream has one cid and a final chunk", streamed),
    "10.4, order": ("chunks are reordered by chunk_index", reordered),
    "11.2": ("ping gets pong", heartbeat),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    with serving(tmp_path_factory.mktemp("served"), handler=HANDLER) as address:
        yield address


@pytest.mark.requirement("3.1.1-1", "3.1.1-2", "3.3-1", "3.3-3", "3.3-6", "8.1-1", cases="3.1.1-")
@pytest.mark.requirement("3.3-2", "8.1-3", cases="3.3-")
@pytest.mark.requirement("3.3-5", "8.2-3", cases="6.3-")
@pytest.mark.requirement("3.5-1", "3.5-2", "3.5-4", "3.5-5", "3.5-7", cases="3.5-")
@pytest.mark.requirement("3.5-9", "3.7-7", cases="3.5, ttl-")
@pytest.mark.requirement("3.5-10", cases="3.5, missing-")
@pytest.mark.requirement("3.7-1", "3.7-2", cases="3.7, item 1-")
@pytest.mark.requirement("3.7-3", "3.7-4", cases="3.7, item 2-")
@pytest.mark.requirement("3.7-6", cases="3.7, item 4-")
@pytest.mark.requirement("8.1-1", "8.1-2", "9-2", "9-3", "9-6", cases="9, item 2-")
@pytest.mark.requirement("8.2-1", "8.2-2", cases="5.2-")
@pytest.mark.requirement("8.3-1", cases="5.4-")
@pytest.mark.requirement("8.3-2", cases="6.4-")
@pytest.mark.requirement("8.3-4", "10.4-1", "10.4-2", cases="10.4-")
@pytest.mark.requirement("9-4", cases="9, item 3-")
@pytest.mark.requirement("9-5", cases="9, item 4-")
@pytest.mark.requirement("9-7", cases="9, item 5-")
@pytest.mark.requirement("10.2-1", "10.2-2", cases="10.2-")
@pytest.mark.requirement("10.3-1", "10.3-2", "10.3-4", cases="10.3-")
@pytest.mark.requirement("10.4-3", cases="10.4, order-")
@pytest.mark.parametrize("carrier", ["http", "ws"])
@pytest.mark.parametrize("section", CASES)
def test_a_demand_of_the_draft_holds(
    section: str, carrier: str, server: tuple[str, int], record_property: Callable[[str, object], None]
) -> None:
    demand, check = CASES[section]
    record_property("demand", (section, demand, carrier))
    with ExitStack() as stack:
        check(Peer(server, carrier, stack))
