"""How a source is made up, written down as a short text; whatever the layout, restoring is exact or refused."""

import re

import pytest

from accp_core import DecodeError, View
from accp_core.view.layout import CUT_LINE, replace_cut_lines, restore
from accp_core.view.notation import NOTATION


@pytest.mark.parametrize(
    ("text", "layout", "source"),
    [
        ("", "t:0", ""),
        ("a b", "os1;3.0:3", '{"a": "b"}'),
        ("a b", "o:3", '{"a":"b"}'),
        ("a é", "o!ffff;u;0.0:3", '{"a":"\\u00e9"}'),
        ("a é", "o:3", '{"a":"é"}'),
        ("a b", "on1+1t,s1,n1+0s;1.0,1.1,0.2:3", '{\n\t"a": "b"\n}'),
        ("[2] a\n1\n2", "nn1;5.0:9", '{"a":1}\n{"a":2}'),
        ("a b", "p:3", "{'a': 'b'}"),
        ("a [b, {c 1}]", "y:12", "a:\n- b\n- c: 1"),
        ('"""\na b\n"""', "q( os1;3.0:3 )", repr('{"a": "b"}')),
        ('"""\nit\'s\n"""', "q( t:4 )", '"it\'s"'),
        ('"""\n\n"""', "q( )", "''"),
        ('""""\na = """\n"""\nb\n"""" ', "q( t:13 ) t:1", repr('a = """\n"""\nb') + " "),
        ('"""\nx\na b\n', "q( t:2 os1;3.0:3 t:1 )'", '\'x\\n{"a": "b"}\\n'),
        ('"""\nit\'s', 'q( t:4 )"', "\"it's"),
        ('"""\nit\'s', "q( t:4 )'", "'it\\'s"),
        ('"""\na\n"""b', "q( t:1 ) t:1", "'a'b"),
        (f'"""\n[1]{CUT_LINE}', f"q( o:{3 + len(CUT_LINE)}<2 )'", "'[1"),
        ("x[]y", "t:1 o:2 t:1", "x[]y"),
        (f"prose{CUT_LINE}", f"t:{5 + len(CUT_LINE)}", f"prose{CUT_LINE}"),
        (f"a b{CUT_LINE}, more", f"os1;3.0:{3 + len(CUT_LINE)}<9 t:6", '{"a": "b", more'),
        (f"[1, 2]{CUT_LINE}", f"nn1;1.0:{6 + len(CUT_LINE)}<0", ""),
    ],
)
def test_a_text_and_its_layout_give_the_source(text: str, layout: str, source: str) -> None:
    assert View(text=text, layout=f"{NOTATION} {layout}", tokens_before=1, tokens_after=1).restore() == source


@pytest.mark.parametrize("layout", ["j:3", "v2 j:3", "v4 j:3", "AS-IS", "", " v3 j:3"])
def test_a_view_in_another_notation_is_refused_by_its_version(layout: str) -> None:
    reason = f"expected a view in the notation 'v3', found {layout.split(' ')[0]!r}: another version wrote it"
    with pytest.raises(DecodeError, match=re.escape(reason)) as refusal:
        restore("[1]", layout)
    assert (refusal.value.code, refusal.value.text, refusal.value.position) == ("E1001", "[1]", 0)


@pytest.mark.parametrize(
    ("text", "layout", "position"),
    [
        ("[1]", "", 0),
        ("[1]", "o:3 ", 3),
        ("[1]", "o", 0),
        ("[1]", "o3", 0),
        ("[1]", "x:3", 0),
        ("[1]", "o9:3", 0),
        ("[1]", "os1;9.0:3", 0),
        ("[1]", "os1;0.1:3", 0),
        ("[1]", "os1;x:3", 0),
        ("[1]", "on1+1:3", 0),
        ("[1]", "o!2f;x;0.0:3", 0),
        ("[1]", "o!2f;u;0.0:3", 0),
        ("[1]", "o!zz;:3", 0),
        ("[1]", "j:3", 0),
        ("[1]", "j2u:3", 0),
        ("[1]", "ou2:3", 0),
        ("[1]", "q:3", 0),
        ("[1]", "o:4", 0),
        ("[1]", "t:1 o:3", 1),
        ("[1]", "o:2", None),
        ("[1]", "t:2", 2),
        ("[1]", f"t:{'9' * 5000}", 0),
        ("[1]", "t:\u0663", 0),
        ("[1]", "t:-3", 0),
        ("[1]x", "o:3", 3),
        ("a", "o:1", 0),
        ("[1", "o:2", 2),
        ('{"a":1}', "n:7", 0),
        ("1", "n:1", 0),
        ("xxxxxxxxx", "q( t:9 )", 0),
        ("xxx", "q( o:3 )", 0),
        ('"""\nx\n""" ', "q( t:1 )", 9),
        ('"""\na\n"""', "q( o:1 )", 0),
        ('"""\na\n"""', "q( t:1", 5),
        ('"""\na', "q( t:1 )", 5),
        ('"""\na', "q( t:1 )x", 5),
        ("a", ")", 0),
        ('"""\na\n"""', "qt:9", 0),
        ("[1]", "o:3<3", 0),
        ("1", "y:1", 0),
        (f"[1]{CUT_LINE}", f"o:{3 + len(CUT_LINE)}<4", 0),
        (f"[1]{CUT_LINE}", f"t:{3 + len(CUT_LINE)}<2", 0),
        (f"[1]{CUT_LINE}", f"o:{3 + len(CUT_LINE)}<2<2", 0),
        (f"[1]{CUT_LINE}", f"o:{3 + len(CUT_LINE)}<", 0),
    ],
)
def test_what_does_not_belong_together_is_refused(text: str, layout: str, position: int | None) -> None:
    with pytest.raises(DecodeError) as refusal:
        restore(text, f"{NOTATION} {layout}")
    assert refusal.value.code == "E1001"
    assert 0 <= refusal.value.position <= len(text)
    assert position is None or refusal.value.position == position


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        (f"a\n[1{CUT_LINE}b", f"t:2 o:{2 + len(CUT_LINE)}<2 t:1"),
        (f'"""\na\n"""[1{CUT_LINE}', f"q( t:1 ) o:{2 + len(CUT_LINE)}<2"),
        (f'"""\na[1{CUT_LINE}', f"q( t:1 )' o:{2 + len(CUT_LINE)}<2"),
        (f'"""\n"""\na[1{CUT_LINE}\n"""', f"q( q( t:1 )' o:{2 + len(CUT_LINE)}<2 )"),
        (f'""""\n"""\n""""[1{CUT_LINE}', f"q( t:3 ) o:{2 + len(CUT_LINE)}<2"),
        (f"[1{CUT_LINE}[2{CUT_LINE}", f"o:{2 + len(CUT_LINE)}<2 o:{2 + len(CUT_LINE)}<2"),
    ],
)
def test_the_lines_about_a_cut_are_found_by_the_layout(text: str, layout: str) -> None:
    assert replace_cut_lines(text, f"{NOTATION} {layout}", "[gone]") == text.replace(CUT_LINE, "\n[gone]")


def test_a_line_of_the_source_that_looks_like_one_about_a_cut_stays() -> None:
    text = f"a{CUT_LINE}[1{CUT_LINE}"
    layout = f"t:{1 + len(CUT_LINE)} o:{2 + len(CUT_LINE)}<2"
    assert replace_cut_lines(text, f"{NOTATION} {layout}", "[gone]") == f"a{CUT_LINE}[1\n[gone]"
