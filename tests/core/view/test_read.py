"""A view read back, whatever its text: the vectors of `tests/vectors/view` pin what each construct means."""

import json

import pytest

from accp_core import DecodeError, read, render, render_text
from accp_core.view.read_value import MAX_READ_DEPTH


def reads(text: str) -> bool:
    """Return whether `text` is read; it must be refused with a place inside it otherwise."""
    try:
        read(text)
    except DecodeError as refusal:
        assert refusal.code == "E1001"
        assert refusal.text == text
        assert 0 <= refusal.position <= len(text)
        return False
    return True


DEEP = {
    "arrays": "[",
    "JSON arrays": '["',
    "maps": "{a ",
    "maps over lines": "{\na ",
    "pairs": "a {\n",
    "arrays of one map": "[{\na ",
    "counted lines": "[1]:\n",
    "tables in a line": "[:a: ",
    "keyed tables in a line": "{:a: k ",
    "tables in a header": "[1] (a=[:",
    "nested headers": "[1] a{",
    "headers of nested rows": "[1] [",
    "headers of nested rows in a row": "[:a[",
    "repeated values": "&1 ",
    "documents": "!json ",
    "constants": "[:(a=",
}


@pytest.mark.parametrize("depth", [MAX_READ_DEPTH + 1, 100_000])
@pytest.mark.parametrize("opening", DEEP.values(), ids=DEEP)
def test_a_text_that_only_opens_is_refused(opening: str, depth: int) -> None:
    assert not reads(opening * depth)


@pytest.mark.parametrize("depth", [60, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ("[x, ", "]"), ("{a ", "}"), ("[:a: ", "]")])
def test_nesting_is_read_up_to_a_limit(opening: str, closing: str, depth: int) -> None:
    assert reads(opening * depth + "1" + closing * depth) == (depth == 60)


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n"])
@pytest.mark.parametrize(
    "value", [{"a": 1, "b": "x"}, [{"id": 1, "n": "a"}, {"id": 2, "n": "b"}], {"a": "1\n2\n3\n4"}], ids=repr
)
def test_line_breaks_behind_a_view_are_no_part_of_it(value: object, end: str) -> None:
    assert read(render(value, counter=len) + end) == value
    shown = render_text(json.dumps(value) + end, counter=len)
    assert shown.text.endswith(end)
    assert read(shown.text) == value


@pytest.mark.parametrize(
    "text",
    [
        "[3] (a=[1] b={x {y 1}}) c\n1\n2\n3",
        "a &1 [1, {x 2}]\nb *1\nc [*1, *1]",
        "a [:(b=[1]) c: 1; 2]\nd {:key: (e={x 1}) f: g 1; h 2}",
        "[2] (a=!json [1]) b\n1\n2",
    ],
)
def test_no_container_stands_in_two_places(text: str) -> None:
    """Otherwise a change in one place would appear in another."""
    found, level = [], [read(text)]
    while level:
        containers = [value for value in level if isinstance(value, (dict, list))]
        found += containers
        level = [member for each in containers for member in (each.values() if isinstance(each, dict) else each)]
    assert len(set(map(id, found))) == len(found)
