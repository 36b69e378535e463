"""What a result says twice, and how one is written from the other."""

from __future__ import annotations

import pytest

from accp_adapters.mcp.messages import DuplicateContent, find_duplicate
from accp_core.packing.expansion import Expansion, ExpansionError
from tests.adapters.mcp.messages import Json


def texts(*said: str) -> list[Json]:
    return [{"type": "text", "text": each} for each in said]


@pytest.mark.parametrize(
    "result",
    [
        {},
        {"content": 5},
        {"content": []},
        {"content": texts("prose")},
        {"content": texts('{"a": 1}', "prose")},
        {"content": texts('{"a": 1}', '{"a":1}')},
        {"content": texts('{"a": 1, "a": 1}')},
        {"content": [], "structuredContent": {"a": 1}},
        {"content": texts("other"), "structuredContent": {"a": 1}},
        {"content": texts("x"), "structuredContent": {"result": ["x", "y"]}},
        {"content": texts('{"a": 1}'), "structuredContent": {"a": True}},
        {"content": texts('{"a": 1, "b": 2}'), "structuredContent": {"b": 2, "a": 1}},
        {"content": texts('{"a": 1}', '{"a": "\\u00fc"}', '{"a": "ü"}')},
        {"content": [{"type": "text", "text": "5", "annotations": {}}], "structuredContent": {"result": 5}},
    ],
)
def test_what_says_something_else_is_no_copy(result: Json) -> None:
    assert find_duplicate(result) is None


@pytest.mark.parametrize(
    "note", [{}, {"at": -1}, {"at": True}, {"at": 0, "each": 0}, {"at": 0, "style": "z"}, {"at": 0, "key": 5}]
)
def test_a_note_that_is_none_is_refused(note: Json) -> None:
    with pytest.raises(ValueError, match="expected"):
        DuplicateContent.from_json(note)


def test_texts_are_counted_before_they_are_written() -> None:
    duplicate = DuplicateContent(at=0, count=2, each=True, style="4")
    assert duplicate.write([[1], [2]], Expansion(18)) == texts("[\n    1\n]", "[\n    2\n]")
    with pytest.raises(ExpansionError):
        duplicate.write([[1], [2]], Expansion(17))
    words = DuplicateContent(at=0, count=1, each=False, style=None)
    assert words.write("words", Expansion(0)) == texts("words")
