"""How a source is made up, written down as a short text; whatever the layout, restoring is exact or refused."""

import json

import pytest

from accp_core import DecodeError, View
from accp_core.view.layout import AS_IS, Segment, fence, find_documents, restore, write_layout


def test_a_layout_names_each_part_and_its_length() -> None:
    segments = [Segment("t", "Result: "), Segment("j2u", "a 1"), Segment("qt", fence("x\ny")), Segment("t", "\n")]
    assert write_layout(segments) == "t:8 j2u:3 qt:11 t:1"
    text = "".join(segment.text for segment in segments)
    assert restore(text, write_layout(segments)) == 'Result: {\n  "a": 1\n}' + repr("x\ny") + "\n"


@pytest.mark.parametrize(
    ("text", "layout", "source"),
    [
        ("anything", AS_IS, "anything"),
        ("", "t:0", ""),
        ("a b", "j:3", '{"a": "b"}'),
        ("a b", "j0:3", '{"a":"b"}'),
        ("a é", "j0:3", '{"a":"\\u00e9"}'),
        ("a é", "j0u:3", '{"a":"é"}'),
        ("a b", "jt:3", '{\n\t"a": "b"\n}'),
        ("[2] a\n1\n2", "l0:9", '{"a":1}\n{"a":2}'),
        ("a b", "p:3", "{'a': 'b'}"),
        ('"""\na b\n"""', "qj:11", repr('{"a": "b"}')),
        ('"""\nit\'s\n"""', "qt:12", '"it\'s"'),
        ("x[]y", "t:1 j:2 t:1", "x[]y"),
    ],
)
def test_a_text_and_its_layout_give_the_source(text: str, layout: str, source: str) -> None:
    assert View(text=text, layout=layout, tokens_before=1, tokens_after=1).restore() == source


@pytest.mark.parametrize(
    ("text", "layout", "position"),
    [
        ("[1]", "", 0),
        ("[1]", "j:3 ", 3),
        ("[1]", "j", 0),
        ("[1]", "j3", 0),
        ("[1]", "x:3", 0),
        ("[1]", "j9:3", 0),
        ("[1]", "ju2:3", 0),
        ("[1]", "q:3", 0),
        ("[1]", "j:4", 0),
        ("[1]", "t:1 j:3", 1),
        ("[1]", "j:2", None),
        ("[1]", "t:2", 2),
        ("[1]", f"t:{'9' * 5000}", 0),
        ("[1]", "t:\u0663", 0),
        ("[1]", "t:-3", 0),
        ("[1]x", "j:3", 3),
        ("a", "j:1", 0),
        ("[1", "j:2", 2),
        ('{"a":1}', "l:7", 0),
        ("1", "l0:1", 0),
        ("xxxxxxxxx", "qt:9", 0),
        ("xxx", "qj:3", 0),
        ('"""\nx\n""" ', "qt:10", 0),
        ('"""\na\n"""', "qj:9", 0),
        ("[1]", "AS-IS", 0),
    ],
)
def test_what_does_not_belong_together_is_refused(text: str, layout: str, position: int | None) -> None:
    with pytest.raises(DecodeError) as refusal:
        restore(text, layout)
    assert refusal.value.code == "E1001"
    assert 0 <= refusal.value.position <= len(text)
    assert position is None or refusal.value.position == position


@pytest.mark.parametrize(
    ("source", "forms"),
    [
        ("", []),
        ("prose", []),
        ('{"a": 1}', ["j"]),
        (' {"a":1,"b":2}\n', ["j0"]),
        ('{"a":1}\n{"a":2}', ["l0"]),
        ("{'a': 1}", ["p"]),
        ("Result(text='one\\ntwo\\nthree\\n')", ["qt"]),
        (f"Result(text={json.dumps({'a': [1, 2, 3]}, indent=2)!r})", ["qj2"]),
        (f"Result(text={json.dumps([], indent=2)!r}, more='one\\ntwo\\nthree\\n')", ["qt"]),
        ('first:\n{"a": 1, "b": "c d"}\nsecond: [{"a": 1, "b": 2}]', ["j", "j"]),
        ('first:\n{"a": 1, "b": "c d"', []),
        ('first:\n{"a": 1, "b" : "c d"}\n', []),
    ],
)
def test_documents_are_found_with_the_style_of_each(source: str, forms: list[str]) -> None:
    documents = find_documents(source)
    assert [document.form for document in documents] == forms
    assert all(0 <= document.start < document.end <= len(source) for document in documents)


def test_a_text_full_of_openings_is_left_in_time_that_grows_with_its_length() -> None:
    assert find_documents('{"a":[\n' * 20_000) == []
    assert find_documents("x\n" + "[[[[[[[[[[[[[[[[[[[[\n" * 20_000) == []
