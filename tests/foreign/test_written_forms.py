"""What a server writes for a peer that knows the draft's grammar alone (section 3.1.1)."""

from pathlib import Path

from tests.foreign.served import serving
from tests.foreign.wire import post

SENT = "@ann>req:add{n:0.12345678|m:{k:-2.50000049}|name:caf%C3%A9}[mid:a1,seq:1,ts:1714000000]".replace("%C3%A9", "é")


def test_six_places_and_ascii_can_be_chosen(tmp_path: Path) -> None:
    with serving(tmp_path, "--ascii", "--decimal", "round6") as address:
        _, (answer,) = post(address, SENT)
    assert "n:0.123457" in answer.body and "m:{k:-2.5}" in answer.body
    assert answer.body.isascii()


def test_without_the_options_nothing_is_lost(tmp_path: Path) -> None:
    with serving(tmp_path) as address:
        _, (answer,) = post(address, SENT)
    assert "n:=0.12345678" in answer.body and "name:café" in answer.body
