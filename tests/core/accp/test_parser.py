"""Reading frames: what the vectors do not say, and every branch once."""

from typing import Any

import pytest

from accp_core import DecodeError, Envelope, Frame, Ref, parse_frame
from accp_core.accp import GrammarLimits, Intent


def refusal(text: str, **options: Any) -> tuple[str, int]:
    with pytest.raises(DecodeError) as caught:
        parse_frame(text, **options)
    return caught.value.code, caught.value.position


def read(value: str, **options: Any) -> object:
    return parse_frame(f"@a>req:op{{k:{value}}}", **options).params["k"]


@pytest.mark.requirement("3.5-6")
def test_a_whole_frame_is_read() -> None:
    text = r"@a>done:op{k:1|l:[1.5,true,~,$warm.x,{b:\@c}]|m:\"|n:" + '"a_b"|o:=null}[mid:m1,seq:2,x:y]'
    text = text.replace(r"|m:\"", "")
    assert parse_frame(text, strict=True) == Frame(
        sender="a",
        intent=Intent.COMPLETE,
        operation="op",
        params={"k": 1, "l": [1.5, True, None, Ref("warm.x"), {"b": "@c"}], "n": "a b", "o": None},
        envelope=Envelope(msg_id="m1", sequence=2, extra={"x": "y"}),
    )


class TestLimits:
    def test_bytes_are_counted_and_not_characters(self) -> None:
        text = "@a>req:op{k:é}"
        assert parse_frame(text, limits=GrammarLimits(frame_bytes=15)).params == {"k": "é"}
        assert refusal(text, limits=GrammarLimits(frame_bytes=14)) == ("E1001", 0)

    def test_a_frame_may_be_a_mebibyte(self) -> None:
        room = (1 << 20) - len("@a>req:op{k:}")
        assert read("a" * room) == "a" * room
        assert refusal("@a>req:op{k:" + "a" * (room + 1) + "}") == ("E1001", 0)

    def test_digits_are_counted(self) -> None:
        assert read("-1.23", limits=GrammarLimits(digits=3)) == -1.23
        assert refusal("@a>req:op{k:1.234}", limits=GrammarLimits(digits=3)) == ("E1001", 12)
        assert refusal("@a>req:op{k:=1.234}", limits=GrammarLimits(digits=3)) == ("E1001", 12)

    def test_depth_is_counted(self) -> None:
        assert read("[{a:1}]", limits=GrammarLimits(depth=2)) == [{"a": 1}]
        assert refusal("@a>req:op{k:[{a:[]}]}", limits=GrammarLimits(depth=2)) == ("E1001", 16)
        assert refusal("@a>req:op{k:[{a:{}}]}", limits=GrammarLimits(depth=2)) == ("E1001", 16)
        assert refusal("@a>req:op{k:[[a:1]]}", limits=GrammarLimits(depth=2)) == ("E1001", 14)

    def test_json_depth_is_counted(self) -> None:
        literal = r"=\[\[\]\]"
        assert read(literal, limits=GrammarLimits(json_depth=2)) == [[]]
        assert refusal(f"@a>req:op{{k:{literal}}}", limits=GrammarLimits(json_depth=1)) == ("E1001", 12)

    def test_members_are_counted_wherever_they_stand(self) -> None:
        text = "@a>req:op{k:[1,a:2]|l:{b:3}}[mid:c]"
        assert parse_frame(text, limits=GrammarLimits(members=7)).params["l"] == {"b": 3}
        assert refusal(text, limits=GrammarLimits(members=6)) == ("E1001", text.index("mid"))
        assert refusal(text, limits=GrammarLimits(members=3)) == ("E1001", text.index("a:2"))
        assert refusal(text, limits=GrammarLimits(members=1)) == ("E1001", text.index("1,a"))

    def test_the_characters_of_a_msg_id_are_counted(self) -> None:
        assert parse_frame(r"@a>req:op{}[mid:a\:b]", limits=GrammarLimits(msg_id_chars=3)).envelope.msg_id == "a:b"
        assert refusal(r"@a>req:op{}[mid:a\:b]", limits=GrammarLimits(msg_id_chars=2)) == ("E1001", 16)


LARGE = 500_000


@pytest.mark.requirement("9-6", "9-7")
@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("9" * 10_000_000, 0),
        ("@a>req:op{k:" + "9" * LARGE + "}", 12),
        ("@a>req:op{k:0." + "0" * LARGE + "}", 12),
        ("@a>req:op{}[seq:" + "9" * LARGE + "]", 16),
        ("@a>req:op{k:" + "[" * LARGE, 17),
        ("@a>req:op{k:" + "{a:" * 300_000, 27),
        ("@a>req:op{k:[" + "a:" * LARGE + "1]}", 16),
        ("@a>req:op{k:=" + r"\[" * LARGE + "}", 12),
        ("@a>req:op{k:=" + r"\{" * LARGE + r"\}" * 10 + "}", 12),
        ("@a>req:op{k:=1e" + "9" * LARGE + "}", 12),
        ("@a>req:op{k:[" + "1," * LARGE + "1]}", 20_011),
        ('@a>req:op{k:"' + "a" * LARGE, LARGE + 13),
        ("@a>req:op{" + "_x" * LARGE + ":~x}", 1_000_012),
        ("@" + "a" * LARGE, LARGE + 1),
        (r"@a>req:op{k:" + r"\," * LARGE, 1_000_012),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else "",
)
def test_a_hostile_text_is_refused(text: str, position: int) -> None:
    assert refusal(text) == ("E1001", position)
