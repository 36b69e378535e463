"""What a refused view or layout is told: the code, the place and the words (ACCP 9, item 2: refused whole)."""

import pytest

from accp_core import DecodeError, read
from accp_core.packing.expansion import ExpansionLimits
from accp_core.view.layout import CUT_LINE, restore
from accp_core.view.notation import NOTATION

TIGHT = ExpansionLimits(times=1)
CUT = f"[1]{CUT_LINE}"

VIEWS = [
    ("", 0, "expected a key, a blank and a value"),
    ("{1} key: a\nx", 11, "expected a key, a blank and a value"),
    ('a "x', 2, "expected a JSON string"),
    ("a [1, 2", 7, "expected ',' or ']'"),
    ("a {b 1", 6, "expected ',' or '}'"),
    ("[1] a[b]\n[;]", 10, "expected a value without blanks around it"),
    # Blanks and control characters that no view has: the text behind the view is another's
    ("[2] a b\n1 x\n2 null \n", 18, "expected no tab, and no blank at the end of a line, found ' '"),
    ("a  b", 2, "expected a value without blanks around it"),
    ("a [ b, c]", 3, "expected a value without blanks around it"),
    ("a 1\tb", 3, "expected no tab, and no blank at the end of a line, found '\\t'"),
    ("a 1\r\nb 2\r\n", 3, "expected no control character, found '\\r'"),
    ('a """\none\x00\n"""', 9, "expected no control character, found '\\x00'"),
    ("[1]:\n[1]x", 8, "expected the end of the line"),
    ("[1]:\n1\n2", 7, "expected the end of the text, found another line"),
    ("[2]:\nxy", 5, "expected another line, found the end of the text"),
    ('a """\none', 0, 'expected a line \'"""\' at the end of a text block, found the end of the text'),
    ("a 1\na 2", 4, "expected each key once, found 'a' again"),
    ("a {b 1, b 2}", 11, "expected each key once, found 'b' again"),
    ("a " + "[" * 201, 201, "expected at most 200 levels, found more"),
    # Values beside each other are not nested.
    ("a [[[1], " + "[" * 198, 206, "expected at most 200 levels, found more"),
    ("a {\nb {\nc {\nd 1\n}\ne " + "[" * 198, 217, "expected at most 200 levels, found more"),
    ("a 1e999", 7, "expected a number that a float can hold, found '1e999'"),
    # Headers
    ("[1] ?\n1", 4, "expected the name of a column"),
    ("[1] a{[b]}\n1", 9, "expected the name of a column"),
    ("[1] a a\n1 2", 6, "expected each column once, found 'a' again"),
    ("{1} key: a b==c\n1", 12, "expected the end of the header"),
    ("[1] (a 1) b\n1", 6, "expected '='"),
    ("[1] a{b c\n1 2", 9, "expected '}'"),
    ("[1] (a=1)\nx", 9, "expected a column with cells"),
    ("[1] a]\n1", 5, "expected the end of the header"),
    ("[1] b (a=${b}${c})\n1", 9, "expected a text with one '${name}' of a value"),
    ("[1] " + "[" * 61, 64, "expected at most 60 nested headers"),
    # Headers beside each other are not nested.
    ("[1] a{b{c} " + "a{" * 59, 129, "expected at most 60 nested headers"),
    # Only the rows of a map of maps have a key.
    ("a [:k==key m: 1]", 5, "expected ': '"),
    ("{:a: 1}", 2, "expected 'key: '"),
    # Rows
    ("[1] a b\n1", 9, "expected ' '"),
    ("[1] a, b\n1 2", 12, "expected ', '"),
    ("[1] a? b\na=1", 12, "expected another cell"),
    ('[:a? b: a="x"X 1]', 13, "expected ' '"),
    ('[1] a\n"x" y', 9, "expected the end of the row"),
    ("{2} key: a\nx 1\nx 2", 15, "expected each key once"),
    # Repeated values, documents and addresses
    ("a &x 1", 2, "expected the number of a repeated value"),
    ("a *1", 4, "expected a value &1 for *1, found none"),
    ("&1 [*1]", 7, "expected *1 outside the value &1, found it inside"),
    ("[2] (a={x &1 foo}) b\n1\n2", 24, "expected &1 once, found it again"),
    ("!json9 1", 5, "expected the code of a style of JSON, found '9'"),
    ("[!js 1]", 1, "expected '!json' and the code of a style"),
    ("a=${b}/c", 8, "expected a string or a whole number 'b' for ${b}, found None"),
]


@pytest.mark.parametrize(("text", "position", "reason"), VIEWS)
def test_a_refused_view_is_told_what_was_expected_and_where(text: str, position: int, reason: str) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(text)
    assert (refusal.value.code, refusal.value.text, refusal.value.position) == ("E1001", text, position)
    assert str(refusal.value) == f"E1001: {reason}, at position {position}"


LAYOUTS = [
    ("[1]", "?:3", 0, "expected a part of a layout, found '?:3'"),
    (CUT, f"t:{len(CUT)}<2", 0, f"expected a part of a layout, found 't:{len(CUT)}<2'"),
    ("[1]", "o:4", 0, "expected 4 characters for 'o:4', found 3"),
    ("[1]x", "o:3", 3, "expected a text of 3 characters for the layout, found 4"),
    ("[1]", "o:3<2", 0, f"expected {CUT_LINE!r} behind 'o:3<2', found '[1]'"),
    (CUT, f"o:{len(CUT)}<4", 0, "expected at least 4 characters before the cut, found 3"),
    ("x7", "t:1 n:1", 1, "expected an array for JSON Lines, found 'int'"),
    ("xxx", "q( t:3 )", 0, "expected '\"\"\"\\n', found 'xxx'"),
    ('"""\na\n"""', "q( t:1", 5, "expected ')' behind the parts of a literal, found the end of the layout"),
]


@pytest.mark.parametrize(("text", "layout", "position", "reason"), LAYOUTS)
def test_a_refused_layout_is_told_what_was_expected_and_where(
    text: str, layout: str, position: int, reason: str
) -> None:
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"{NOTATION} {layout}")
    assert (refusal.value.code, refusal.value.text, refusal.value.position) == ("E1001", text, position)
    assert str(refusal.value) == f"E1001: {reason}, at position {position}"


SIGNS = [
    (f"a &1 {'y' * 40}\nb [*1, *1]", "*1", 49, 41, 0),
    (f"[3] (a={'y' * 40}) b\n1\n2\n3", "the rows of this table", 55, 135, 0),
    (f"{{2}} key: a==key b\n{'y' * 40}0 1\n{'y' * 40}1 1", "a==key", 9, 85, 0),
    (f"a {'y' * 40}\nb=${{a}}/z", "${a}", 45, 42, 0),
    ("[1] a? b\nx", "?", 5, 2, 0),
    ("!json [x, y z]", "!json", 0, 12, 0),
]


@pytest.mark.parametrize(("text", "sign", "position", "size", "left"), SIGNS)
def test_a_view_that_expands_too_much_is_told_what_expands(
    text: str, sign: str, position: int, size: int, left: int
) -> None:
    with pytest.raises(DecodeError) as refusal:
        read(text, limits=TIGHT)
    words = f"expected a result within the limits, found {sign!r}, which adds {size} to at most {left}"
    assert refusal.value.text == text
    assert str(refusal.value) == f"E2003: {words}, at position {position}"


PARTS = [
    (f"a {'é' * 100}", "o!ffff;u;0.0:102", 0, 108, 102),
    (f'"""\n{chr(1) * 100}\n"""', "q( t:100 )", 108, 402, 108),
    (f"x{'y' * 40}\na é", "t:42 o:3", 42, 9, 3),
    (f'"""\nit\'s {chr(1) * 9}\n"""z', "q( t:14 ) t:1", 22, 43, 23),
]


@pytest.mark.parametrize(("text", "layout", "position", "size", "left"), PARTS)
def test_a_source_that_would_be_too_large_is_told_its_part(
    text: str, layout: str, position: int, size: int, left: int
) -> None:
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"{NOTATION} {layout}", limits=TIGHT)
    words = f"expected a result within the limits, found 'this part', which adds {size} to at most {left}"
    assert refusal.value.text == text
    assert str(refusal.value) == f"E2003: {words}, at position {position}"
