"""Checkpoints that a peer with the draft alone causes and refers to (sections 5.1 and 5.2)."""

import pytest

from tests.foreign.grammar import read_payload
from tests.foreign.wire import open_web_socket, post

NOW = 1714000000


# "A checkpoint MUST be triggered when ... An agent completes a task ("done" intent) ... A handoff between agents occurs
# ("esc" intent) ... An agent explicitly requests compression ("comp" intent)"
@pytest.mark.requirement("5.2-1", cases="done]")
@pytest.mark.requirement("5.2-3", cases="esc]")
@pytest.mark.requirement("5.2-5", cases="comp]")
@pytest.mark.parametrize("intent", ["comp", "done", "esc"])
def test_a_checkpoint_is_taken_and_its_facts_have_keys(server: tuple[str, int], intent: str) -> None:
    meta = f"ts:{NOW},sid:after-{intent}"
    status, frames = post(server, f"@ann>{intent}:state{{status:complete|left:3}}[mid:a1,seq:1,{meta},cid:job]")
    assert status in (200, 204) and frames == []
    asked = "a:$warm.ckpt_1.status|b:$warm.ckpt_1.left|c:$warm.ckpt_1.summary"
    status, (answer,) = post(server, f"@ann>req:tell{{{asked}}}[mid:a2,seq:2,{meta}]")
    found = read_payload(answer.body)
    assert (status, answer.intent, found["a"], found["b"]) == (200, "done", "complete", 3)
    assert "status=complete" in found["c"]


# "Accumulated hot state exceeds 400 tokens"
@pytest.mark.requirement("5.2-2")
def test_a_checkpoint_is_taken_when_hot_state_is_large(server: tuple[str, int]) -> None:
    words = "|".join(f"k{number}:value\\:{number}" for number in range(150))
    post(server, f"@ben>ack:state{{{words}}}[mid:b1,seq:1,ts:{NOW}]")
    status, (answer,) = post(server, f"@ben>req:tell{{k:$warm.ckpt_1.k149}}[mid:b2,seq:2,ts:{NOW}]")
    assert (status, read_payload(answer.body)) == (200, {"k": "value:149"})


def test_our_answer_completes_a_task_over_a_web_socket(server: tuple[str, int]) -> None:
    with open_web_socket(server) as socket:
        socket.send(f"@cat>sync:registry{{v:1|hash:a7f2c1}}[mid:c0,seq:1,ts:{NOW}]")
        frame = socket.frame()
        while "|done:true" not in frame.body:
            frame = socket.frame()
        socket.send(f"@cat>req:plan{{status:open}}[mid:c1,seq:{frame.seq + 1},ts:{NOW}]")
        answer = socket.frame()
        socket.send(f"@cat>req:tell{{k:$warm.ckpt_1.status}}[mid:c2,seq:{answer.seq + 1},ts:{NOW}]")
        assert read_payload(socket.frame().body) == {"k": "open"}
