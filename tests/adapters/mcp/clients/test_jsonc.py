"""JSON with comments: the values and their places, and where what is malformed is refused."""

from __future__ import annotations

import pytest

from accp_adapters.mcp.clients.entries import entries
from accp_adapters.mcp.clients.jsonc import edited, parse_jsonc
from accp_core.errors import DecodeError


def test_every_value_knows_its_place() -> None:
    text = '\ufeff// a\n{"x": /* b */ [1, "}", null,], "y": {"z": -1.5e3,}, }\r\n'
    root = parse_jsonc(text)
    assert root.value == {"x": [1, "}", None], "y": {"z": -1500.0}}
    brace = root.members["x"].node.items[1]
    assert text[brace.start : brace.end] == '"}"'
    member = root.members["y"]
    assert text[member.start : member.name_end] == '"y"'
    assert edited(text, [(brace.start, brace.end, "0"), (member.start, member.name_end, '"w"')]) == text.replace(
        '"}"', "0"
    ).replace('"y"', '"w"')


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ('{"a" 1}', 5),
        ('{"a": 1 "b": 2}', 8),
        ('{"a": 1, "a": 2}', 9),
        ("{a: 1}", 1),
        ("[1 2]", 3),
        ("[1", 2),
        ('{"a": nul}', 6),
        ("[01]", 1),
        ('["\n"]', 1),
        ('["\\x"]', 1),
        ("[1, /* no end", 4),
        ("{} {}", 3),
        ("[,]", 1),
        ("[" * 200, 101),
        ('{"mcpServers": []}', 15),
        ('{"servers": {"git": "uvx"}}', 20),
        ("[]", 0),
    ],
)
def test_what_is_not_understood_is_refused_with_its_position(text: str, position: int) -> None:
    with pytest.raises(DecodeError) as refused:
        entries(text)
    assert (refused.value.code, refused.value.position) == ("E1001", position)
