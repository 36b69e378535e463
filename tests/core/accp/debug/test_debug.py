import json
import logging
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_core import Envelope, Frame, Ref, parse_frame
from accp_core.accp import REMOVED, Intent
from accp_core.accp.debug import (
    LOGGER,
    MEANINGS,
    DebugLog,
    Direction,
    FrameSeen,
    Redaction,
    describe,
    payload_differences,
)

TASK = parse_frame("@dev>done:schedule{task:impl_auth|stat:complete|prog:100|schema:TA}[mid:m1,seq:9,ts:1714000000]")
SEEN = FrameSeen(direction=Direction.SENT, session_id="s1", frame=TASK)


def said(**params: Any) -> str:
    text = describe(Frame(sender="a", intent=Intent.REQUEST, operation="op", params=params))
    return text.removeprefix("Request by a: op(").removesuffix(")")


def test_every_intent_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Intent)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (142.5, "142.5"),
        (Decimal("1.10"), "1.10"),
        (Ref("warm.x"), "$warm.x"),
        (REMOVED, "(removed)"),
        ([1, {"a b": [], "c": "d"}], '[1, {a b: [], c: "d"}]'),
        ("naïve 中", '"naïve 中"'),
        ('{"a":1}', "JSON {a: 1}"),
        ("{no json", '"{no json"'),
        ("@a>req:op{b:1}[mid:x,seq:1]", "frame a>req:op{b: 1}"),
        ("@team", '"@team"'),
        ("[" * 5_000, f'"{"[" * 399}… (4,602 characters more)'),
    ],
)
def test_a_value_is_written_for_people(value: Any, text: str) -> None:
    assert said(k=value) == f"k={text}"


def test_a_value_nested_beyond_all_frames_is_cut() -> None:
    value: Any = []
    for _ in range(200):
        value = [value]
    assert "…" in said(k=value)


def test_a_date_beyond_the_calendar_is_no_error() -> None:
    frame = replace(TASK, envelope=Envelope(timestamp=10**400))
    assert describe(frame).endswith(", sent at no date of the calendar]")


def test_a_rule_can_hide_nothing() -> None:
    assert not Redaction.of("").hides("password")


SECRET = "hunter2"
HIDING = [
    {"password": SECRET},
    {"password": {"a": [SECRET]}},
    {"args": {"headers": [{"Authorization": SECRET}]}},
    {"body": json.dumps({"login": {"password": SECRET}})},
    {"body": json.dumps([json.dumps({"token": SECRET})])},
    {"delta": {"api_key": SECRET}},
]


@pytest.mark.requirement("9-1")
@pytest.mark.parametrize("params", HIDING, ids=str)
@pytest.mark.parametrize("payload", [True, False])
def test_no_secret_reaches_the_record(params: dict[str, Any], payload: bool, caplog: pytest.LogCaptureFixture) -> None:
    frame = Frame(
        sender="a", intent=Intent.REQUEST, operation="op", params=params, envelope=Envelope(extra={"token": SECRET})
    )
    with caplog.at_level(logging.DEBUG, "accp"):
        DebugLog()(replace(SEEN, frame=frame, payload=params if payload else None))
    (record,) = caplog.records
    assert SECRET not in str(vars(record))
    assert "[redacted]" in record.getMessage()


@pytest.mark.requirement("9-1")
def test_what_the_frame_does_not_hold_is_said_with_the_reason() -> None:
    payload = {"task": "impl_auth", "status": "a long report", "progress": 100, "priority": "medium", "deps": []}
    frame = replace(TASK, params={**TASK.params, "stat": Ref("cold.abc")})
    sent = replace(SEEN, frame=frame, payload=payload)
    received = replace(sent, direction=Direction.RECEIVED, defaulted=frozenset({"priority", "deps"}))
    assert list(payload_differences(sent)) == [
        "status: externalised, the frame has the reference $cold.abc",
        "priority: omitted, it equals the schema's default",
        "deps: omitted, it equals the schema's default",
    ]
    assert list(payload_differences(received)) == [
        "status: resolved, the frame has the reference $cold.abc",
        "priority: filled in, the frame leaves it to the schema's default",
        "deps: filled in, the frame leaves it to the schema's default",
    ]


def test_the_log_is_silent_by_default(caplog: pytest.LogCaptureFixture) -> None:
    DebugLog()(SEEN)
    assert not caplog.records
    assert LOGGER.name == "accp"
