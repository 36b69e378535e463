"""What one match reads is what the rules read (ACCP section 3.1): values, errors and positions are the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.accp.frame import Frame
from accp_core.accp.grammar import DEFAULT_LIMITS, USUAL_DIGITS, GrammarLimits
from accp_core.accp.parser import parse_frame
from accp_core.errors import DecodeError

BY_RULE = GrammarLimits(digits=2 * USUAL_DIGITS - 1)
"""Limits that allow fewer digits than a usual number may have, so that no value is read by one match."""

VALUES = [
    "word",
    "true",
    "null",
    "0",
    "-0",
    "-17",
    "007",
    "1.50",
    "-0.0",
    "1.2.3",
    "2026-11-23",
    "12%QoQ",
    "-12%QoQ",
    "+3.2%",
    "1e5",
    "-",
    '""',
    '"two_words"',
    '"50%25"',
    '"open',
    '"a"b"',
    "=null",
    r"a\:b",
    r"12\:30",
    "中文",
    "~",
    "$warm.x",
    "@dev",
    "{}",
    "[]",
    "{a:1,b:x,c:true}",
    "{a:1,}",
    "{a:1,a:2}",
    "{a:1|b:2}",
    "{_x64_:1,a_b:2,_:3}",
    "{a:{b:1},c:[1,2]}",
    "[1,x,true]",
    "[1,]",
    "[,1]",
    "[1|2]",
    "[rev:1,2]",
    "[true:1]",
    "[{a:1},{a:2}]",
    '[{a:-1.50,b:"x_y",c:1.},{a:"",b:-12%QoQ,c:true}]',
    "[{a:1,a:2},{b:3}]",
    "[{a:1},{_x62_:2}]",
    "[{a:1},{a:007}]",
    "[{a:1},{}]",
    "[{a:1},x]",
    "[{a:1},]",
    "[{a:1}{a:2}]",
    "[[[[{a:1}]]]]",
    "[[[[[{a:1}]]]]]",
    "[[1,2],[3]]",
]


def outcome(text: str, limits: GrammarLimits) -> Frame | tuple[str, str, int]:
    """Return the frame, or code, reason and position of its refusal."""
    try:
        return parse_frame(text, limits=limits)
    except DecodeError as error:
        return error.code, error.reason, error.position


@pytest.mark.parametrize("pattern", ["@a>req:op{{k:{}}}", "@a>req:op{{k:{{m:{}}}}}", "@a>req:op{{k:[x,{}]|k2:1}}"])
@pytest.mark.parametrize("value", VALUES)
def test_a_value_is_read_alike_in_each_place(value: str, pattern: str) -> None:
    text = pattern.format(value)
    one, other = outcome(text, DEFAULT_LIMITS), outcome(text, BY_RULE)
    assert repr(one) == repr(other)


@given(st.text('ax1_-.{}[]:,|"=%~$@\\', max_size=24))
def test_any_text_is_read_alike(text: str) -> None:
    frame = f"@a>req:op{{k:{text}}}"
    assert repr(outcome(frame, DEFAULT_LIMITS)) == repr(outcome(frame, BY_RULE))


@pytest.mark.parametrize("value", ["{a:1,b:2,c:3}", "[1,2,3]"])
def test_the_members_of_a_map_and_of_an_array_count(value: str) -> None:
    text = f"@a>req:op{{k:{value}}}"
    assert parse_frame(text, limits=GrammarLimits(members=4)).params
    with pytest.raises(DecodeError, match="at most 3 members") as refused:
        parse_frame(text, limits=GrammarLimits(members=3))
    assert (refused.value.code, refused.value.position) == ("E1001", text.index("3" if value[0] == "[" else "c"))


def test_the_maps_of_an_array_and_their_pairs_count() -> None:
    text = "@a>req:op{k:[{a:1},{b:2}]}"
    assert parse_frame(text, limits=GrammarLimits(members=5)).params == {"k": [{"a": 1}, {"b": 2}]}
    with pytest.raises(DecodeError, match="at most 4 members") as refused:
        parse_frame(text, limits=GrammarLimits(members=4))
    assert (refused.value.code, refused.value.position) == ("E1001", text.index("b:2"))
