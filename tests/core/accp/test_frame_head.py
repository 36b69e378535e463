"""Sender and metadata of a frame, without its parameters."""

import pytest

from accp_core import parse_frame
from accp_core.accp import frame_head
from accp_core.accp.grammar import GrammarLimits
from accp_core.errors import DecodeError


@pytest.mark.parametrize(
    ("text", "code", "position"),
    [
        ("", "E1001", 0),
        ("@a>req:op{k:1", "E1001", 13),
        ("@a>req:op{}x", "E1001", 12),
        ("@a>req:op{}[mid:m1]x", "E1001", 19),
        ("@a>req:op{}[]", "E1001", 12),
        ("@a>zzz:op{}", "E1002", 3),
        ("@a>req:op{}[mid:m1,seq:01]", "E1004", 23),
        ("@a>req:op{k:a b}", "E1001", 13),
        ("@a>req:op{}[mid:m\u3000]", "E1001", 17),
    ],
)
def test_what_is_no_frame_is_refused_with_code_and_place(text: str, code: str, position: int) -> None:
    with pytest.raises(DecodeError) as refusal:
        frame_head(text)
    assert (refusal.value.code, refusal.value.position) == (code, position)


def test_a_long_text_is_refused_before_it_is_read() -> None:
    with pytest.raises(DecodeError, match="at most 20 bytes"):
        frame_head("@a>req:op{" + "x" * 20, limits=GrammarLimits(frame_bytes=20))


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        (GrammarLimits(msg_id_chars=1), "expected a msg_id of at most 1 characters, at position 19"),
        (GrammarLimits(members=4), "expected at most 4 members in a frame, at position 33"),
        (GrammarLimits(digits=1), None),
    ],
)
def test_usual_metadata_is_within_the_limits(limits: GrammarLimits, reason: str | None) -> None:
    text = "@a>req:op{k:1}[mid:m1,seq:2,ts:3,cid:c]"
    if reason is None:
        assert parse_frame(text, limits=limits).envelope.sequence == 2
        return
    with pytest.raises(DecodeError, match=reason):
        parse_frame(text, limits=limits)
