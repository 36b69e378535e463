"""The check of a value against the schema of somebody else: what it finds, and that its work is bounded."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from accp_adapters.mcp.shim.tools import schema_check
from accp_adapters.mcp.shim.tools.schema_check import find_violation, violates
from tests.work import count_calls

ROWS: Any = [{"id": number, "tags": ["a", "b"]} for number in range(300)]
ROW: Any = {
    "type": "object",
    "properties": {"id": {"$ref": "#/$defs/id"}, "tags": {"items": {"enum": ["a", "b"]}, "uniqueItems": True}},
    "required": ["id"],
    "additionalProperties": False,
}
SCHEMA: Any = {"$defs": {"id": {"type": "integer"}}, "type": "array", "items": ROW}


def nested(levels: int, keyword: str) -> Any:
    schema: Any = {"type": "object"}
    for _ in range(levels):
        schema = {"anyOf": [schema, {"not": schema}], keyword: schema}
    return schema


def doubled(levels: int) -> Any:
    steps = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"$defs": {**steps, f"d{levels}": True}, "$ref": "#/$defs/d0"}


EVIL = "(a+)+$"
NAME = "a" * 60 + "!"
MANY: Any = list(range(6_000))
HOSTILE: dict[str, tuple[Any, Any]] = {
    "properties at 16 levels": (nested(16, "unevaluatedProperties"), {"a": 1}),
    "items at 16 levels": (nested(16, "unevaluatedItems"), [1]),
    "references": (doubled(40), {}),
    "different objects": ({"uniqueItems": True}, [{"a": number} for number in range(4_000)]),
    "a pattern": ({"pattern": EVIL}, NAME),
    "a pattern of names": ({"patternProperties": {EVIL: {"type": "null"}}}, {NAME: 1}),
    "a pattern of other names": ({"patternProperties": {EVIL: {}}, "additionalProperties": False}, {NAME: 1}),
    "a pattern of evaluated names": ({"patternProperties": {EVIL: {}}, "unevaluatedProperties": False}, {NAME: 1}),
    "values of a list": ({"items": {"enum": MANY}}, [MANY[-1]] * 3_000),
    "errors with all of the value": ({"anyOf": [{"type": "null"}] * 1_500}, MANY),
    "refusals of all of the value": ({"anyOf": [False] * 4_000}, MANY),
    "names for each row": ({"items": {"properties": {f"p{n}": {} for n in range(2_000)}}}, [{}] * 9_000),
    "anchors": ({"$defs": {"a": [{}] * 2_000, "f": {"$anchor": "f"}}, "items": {"$ref": "#f"}}, [1] * 3_000),
    "ids": ({"$defs": {"a": [{}] * 2_000, "f": {"$id": "x:y"}}, "items": {"$ref": "x:y"}}, [1] * 3_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_the_work_of_a_check_is_bounded(name: str) -> None:
    schema, value = HOSTILE[name]
    assert count_calls(lambda: find_violation(schema, value)) < 60 * schema_check._MAX_STEPS
    assert not violates(schema, value)


def test_what_takes_too_many_steps_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    schema_check._say_too_much.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert [violates(doubled(40), {}) for _ in range(2)] == [False, False]
    assert [each.message for each in caplog.records] == [
        "a schema of a tool takes more than 50000 steps to check: such values pass unchecked"
    ]


def test_rows_of_an_ordinary_schema_are_checked_to_the_last_one() -> None:
    assert find_violation(SCHEMA, ROWS) is None
    assert find_violation(SCHEMA, [*ROWS, {"id": "x"}]) == (
        "expected the argument '300.id' to meet type: integer, found 'x'"
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({}, "expected the argument '0' to have 'id', found []"),
        ({"id": 1, "x": 2}, "expected no 'x' in the argument '0', found ['id', 'x']"),
        ({"id": 1, "tags": ["c"]}, "expected the argument '0.tags.0' to meet enum: ['a', 'b'], found 'c'"),
        ({"id": 1, "tags": ["a", "a"]}, "expected the argument '0.tags' to meet uniqueItems: True, found ['a', 'a']"),
    ],
)
def test_a_violation_is_named(row: Any, said: str) -> None:
    assert find_violation(SCHEMA, [row]) == said


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": 1}, 2),
        ({"enum": [1, None]}, 0),
        ({"additionalProperties": {"type": "null"}}, {"a": 1}),
        ({"$defs": {"a": {"type": "null"}}, "$ref": "#/$defs/a"}, 1),
    ],
)
def test_a_violation_is_found(schema: Any, value: Any) -> None:
    assert violates(schema, value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": 1}, 1.0),
        ({"uniqueItems": True}, [1, True]),
        ({"uniqueItems": False}, ["a", "a"]),
        ({"$ref": "http://127.0.0.1:1/x"}, 1),
        ({"enum": 5}, 1),
        ({"type": "null"}, "x" * 70_000),
    ],
)
def test_what_is_valid_or_not_checked_is_no_violation(schema: Any, value: Any) -> None:
    assert not violates(schema, value)
