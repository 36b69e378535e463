"""What a server writes for a peer that knows the draft's grammar alone (section 3.1.1)."""

from pathlib import Path

from tests.foreign.served import serving
from tests.foreign.wire import post

SENT = "@ann>req:add{n:0.12345678|m:{k:-2.50000049}|name:caf%C3%A9}[mid:a1,seq:1,ts:1714000000]".replace("%C3%A9", "é")


def test_a_peer_that_agreed_to_nothing_gets_ascii_and_six_places(tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        _, (answer,) = post(address, SENT)
        _, (whole,) = post(address, SENT.replace("mid:a1", "mid:a1,sid:s1"), "accp-resume: 1")
    assert "n:0.123457" in answer.body and "m:{k:-2.5}" in answer.body
    assert answer.body.isascii()
    assert "n:=0.12345678" in whole.body and "name:café" in whole.body
