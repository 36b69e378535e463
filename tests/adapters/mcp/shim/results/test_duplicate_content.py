"""What a result says twice, and how one is written from the other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.mcp.shim.results.duplicate_content import DuplicateContent, find_duplicate, is_plain_text
from accp_core.packing.expansion import Expansion, ExpansionError
from tests.adapters.mcp.messages import Json, served

ITEMS = [{"a": 1}, {"a": "ü"}]


def texts(*said: str) -> list[Json]:
    return [{"type": "text", "text": each} for each in said]


@pytest.mark.parametrize(
    ("content", "structured", "copy"),
    [
        (texts('{"a": 1}'), {"a": 1}, DuplicateContent(at=0, count=1, each=False, style="")),
        (texts('{"a":"ü"}'), {"a": "ü"}, DuplicateContent(at=0, count=1, each=False, style="0u")),
        (texts("said"), {"result": "said"}, DuplicateContent(at=0, count=1, each=False, style=None, key="result")),
        (texts("5"), {"result": 5}, DuplicateContent(at=0, count=1, each=False, style="0", key="result")),
        (texts("5"), {"result": "5"}, DuplicateContent(at=0, count=1, each=False, style=None, key="result")),
        (
            texts('{"a": 1}', '{"a": "ü"}'),
            {"result": ITEMS},
            DuplicateContent(at=0, count=2, each=True, style="u", key="result"),
        ),
        (
            texts("x", "y", "more"),
            {"content": ["x", "y"]},
            DuplicateContent(at=0, count=2, each=True, style=None, key="content"),
        ),
    ],
)
def test_texts_are_told_from_structured_content(content: list[Json], structured: Json, copy: DuplicateContent) -> None:
    found = find_duplicate({"content": content, "structuredContent": structured})
    assert found == (copy, structured)
    assert copy.write(structured) == content[: copy.count]
    assert copy.read(content) == structured
    assert DuplicateContent.from_json(json.loads(json.dumps(copy.to_json()))) == copy


def test_words_may_stand_before_and_behind_a_copy() -> None:
    content = texts("Found one:", '{"a": 1}', "That is all.")
    found = find_duplicate({"content": content, "structuredContent": {"a": 1}})
    assert found == (DuplicateContent(at=1, count=1, each=False, style=""), {"a": 1})


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (texts('{"a": 1}'), {"a": 1}),
        (texts('{"a": 1}', '{"a": "\\u00fc"}'), ITEMS),
        ([{"type": "image"}, *texts("[1]"), {"type": "image"}], [1]),
    ],
)
def test_texts_alone_are_the_value_that_they_write(content: list[Json], value: Any) -> None:
    found = find_duplicate({"content": content})
    assert found is not None
    assert found[1] == value
    assert not found[0].structured


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


@pytest.mark.parametrize("value", [5, {"other": "said"}, {"result": 5}])
def test_a_copy_is_not_written_from_another_value(value: Any) -> None:
    copy = DuplicateContent(at=0, count=1, each=False, style=None, key="result")
    with pytest.raises((TypeError, KeyError)):
        copy.write(value)
    with pytest.raises(TypeError, match="expected a list of 2"):
        DuplicateContent(at=0, count=2, each=True, style=None).write("no list")


@pytest.mark.parametrize(
    "note", [{}, {"at": -1}, {"at": True}, {"at": 0, "each": 0}, {"at": 0, "style": "z"}, {"at": 0, "key": 5}]
)
def test_a_note_that_is_none_is_refused(note: Json) -> None:
    with pytest.raises(ValueError, match="expected"):
        DuplicateContent.from_json(note)


def test_a_bare_block_is_text_and_nothing_else() -> None:
    assert is_plain_text({"type": "text", "text": ""})
    assert not any(
        map(is_plain_text, [{"type": "text", "text": "", "x": 1}, {"type": "text"}, {"type": "a", "text": ""}, 5])
    )


def test_what_sdks_write_is_a_copy() -> None:
    for value in ({"a": 1}, [1, 2], "text", 5, None, True):
        assert find_duplicate(served(value)) is not None


def test_texts_are_counted_before_they_are_written() -> None:
    duplicate = DuplicateContent(at=0, count=2, each=True, style="4")
    assert duplicate.write([[1], [2]], Expansion(18)) == texts("[\n    1\n]", "[\n    2\n]")
    with pytest.raises(ExpansionError):
        duplicate.write([[1], [2]], Expansion(17))
    words = DuplicateContent(at=0, count=1, each=False, style=None)
    assert words.write("words", Expansion(0)) == texts("words")
