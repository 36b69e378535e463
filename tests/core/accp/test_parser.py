"""Reading frames: what the vectors do not say, and every branch once."""

import random
import re
import string
from typing import Any, Final

import pytest

from accp_core import DecodeError, Envelope, Frame, Ref, parse_frame
from accp_core.accp import GrammarLimits, Intent, frame_head


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


# Sender and metadata of a frame, without its parameters.


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


# Frames drawn from the ABNF of section 3.1: each is read, and none is changed.

DELIMITERS: Final = "@>:{}[]|$,~\\"
SAFE: Final = [chr(code) for code in range(0x21, 0x7F) if chr(code) not in DELIMITERS]
OWN: Final = re.compile(r'".*"|=([\[{].*|-?\d+(\.\d+)?([eE][-+]?\d+)?)')
"""What stands for another value: our forms of strings, of JSON and of decimals."""
NAMES: Final = string.ascii_letters + string.digits + "_"


class Stranger:
    """Writes frames by the grammar, and knows their values."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)

    def name(self) -> str:
        return "".join(self.dice.choices(NAMES, k=self.dice.randint(1, 8)))

    def text(self) -> tuple[str, Any]:
        first = self.dice.choice(["", "", "=", '"', '="', "=-", '"%'])
        chosen = [self.dice.choice([*SAFE, *DELIMITERS, '"', "%", "="]) for _ in range(self.dice.randint(1, 8))]
        value = first + "".join(chosen)
        if OWN.fullmatch(value):
            return self.text()
        return "".join(f"\\{each}" if each in DELIMITERS else each for each in value), value

    def value(self, depth: int = 0) -> tuple[str, Any]:
        kind = self.dice.choice(["text"] * 6 + ["int", "bool", "null", "ref"] + ["list", "map"] * (depth < 3))
        if kind == "text":
            return self.text()
        if kind == "int":
            number = self.dice.randint(-(10**12), 10**12)
            return f"{number}", number
        if kind == "bool":
            return self.dice.choice([("true", True), ("false", False)])
        if kind == "null":
            return "~", None
        if kind == "ref":
            key = self.name()
            return f"${key}", Ref(key)
        members = [self.value(depth + 1) for _ in range(self.dice.randint(0, 3))]
        if kind == "list":
            return f"[{','.join(text for text, _ in members)}]", [value for _, value in members]
        named = {f"{self.name()}{index}": member for index, member in enumerate(members)}
        written = ",".join(f"{name}:{text}" for name, (text, _) in named.items())
        return f"{{{written}}}", {name: value for name, (_, value) in named.items()}

    def frame(self) -> tuple[str, dict[str, Any]]:
        params = {f"{self.name()}{index}": self.value() for index in range(self.dice.randint(0, 4))}
        written = "|".join(f"{name}:{text}" for name, (text, _) in params.items())
        text = f"@{self.name()}>req:{self.name()}{{{written}}}[mid:{self.name()},seq:{self.dice.randint(0, 999)}]"
        return text, {name: value for name, (_, value) in params.items()}


@pytest.mark.parametrize("seed", range(4))
def test_frames_of_the_grammar_are_read_as_they_are(seed: int) -> None:
    """ACCP 3.1: "string = 1*( safe-char / escaped-char )"."""
    stranger = Stranger(seed)
    for _ in range(5_000):
        text, params = stranger.frame()
        assert plain(parse_frame(text, strict=True).params) == plain(params)


def plain(value: Any) -> Any:
    """Return a value in which what has no escape and reads as a number is one, as the grammar has it."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return f"{value}" if isinstance(value, int | float | str) else value


@pytest.mark.parametrize(
    "text", ["=A1+B2", '"hello', "=5", "=true", '="x"', '"%zz"', '"a"b"', "=", '"', "=nullable", "=1.5.2"]
)
def test_a_string_that_begins_like_one_of_our_forms_is_a_string(text: str) -> None:
    assert parse_frame(f"@a>req:op{{k:{text}}}", strict=True).params == {"k": text}


@pytest.mark.parametrize(
    ("text", "value"), [('"5"', "5"), ('"a_b"', "a b"), ("=null", None), ("=0.12345678", 0.12345678), (r"=\[1\]", [1])]
)
def test_our_own_forms_are_read_as_what_they_stand_for(text: str, value: object) -> None:
    assert parse_frame(f"@a>req:op{{k:{text}}}", strict=True).params == {"k": value}


@pytest.mark.parametrize("size", range(32_764, 32_772))
def test_a_long_string_with_an_escape_in_any_place(size: int) -> None:
    text = "a" * size + "\\," + "b" * 40_000
    assert parse_frame(f"@a>req:do{{x:{text}|y:1}}").params == {"x": text.replace("\\", ""), "y": 1}
