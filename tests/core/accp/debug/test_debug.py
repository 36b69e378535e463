import json
import logging
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from accp_core import Envelope, Frame, Ref, parse_frame
from accp_core.accp import REMOVED, Intent, LiteralKey
from accp_core.accp.debug import (
    DEFAULT_REDACTION,
    LOGGER,
    DebugLog,
    Direction,
    FrameSeen,
    Redaction,
    describe,
    to_event,
)
from accp_core.accp.debug.description import MEANINGS, payload_differences
from accp_core.accp.profiles import BUILT_IN
from accp_core.accp.schema import Schema

TASK = parse_frame("@dev>done:schedule{task:impl_auth|stat:complete|prog:100|schema:TA}[mid:m1,seq:9,ts:1714000000]")
SEEN = FrameSeen(direction=Direction.SENT, session_id="s1", frame=TASK)


def said(**params: Any) -> str:
    text = describe(Frame(sender="a", intent=Intent.REQUEST, operation="op", params=params))
    return text.removeprefix("Request by a: op(").removesuffix(")")


def test_a_frame_is_described_in_words_with_full_keys_and_a_date() -> None:
    assert describe(TASK) == (
        'Complete by dev: schedule(task="impl_auth", status="complete", progress=100, schema="TA") '
        '[msg_id="m1", sequence=9, timestamp=1714000000, sent 2024-04-24T23:06:40Z]'
    )


def test_every_intent_has_a_meaning() -> None:
    assert set(MEANINGS) == set(Intent)


@pytest.mark.parametrize("text", ["@a>req:op{d:1}", "@a>req:op{d:1|schema:ZZ}", "@a>req:op{d:1|schema:[1]}"])
def test_without_a_known_schema_the_keys_of_all_frames_are_expanded(text: str) -> None:
    assert "op(data=1" in describe(parse_frame(text))


def test_a_key_that_stands_for_itself_is_not_expanded() -> None:
    frame = Frame(sender="a", intent=Intent.REQUEST, operation="op", params={LiteralKey("d"): 1})
    assert describe(frame) == "Request by a: op(d=1)"


def test_the_decoded_payload_is_shown_where_there_is_one() -> None:
    assert describe(TASK, payload={"priority": "medium"}).startswith('Complete by dev: schedule(priority="medium")')


def test_the_keys_of_a_registered_schema_are_expanded() -> None:
    schema = Schema(name="weather", code="WE", version=1, fields=("wind",), aliases={"w": "wind"})
    frame = parse_frame("@a>req:op{w:3|schema:WE}")
    assert describe(frame, registry=BUILT_IN.register(schema)) == 'Request by a: op(wind=3, schema="WE")'


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


def test_what_could_move_a_terminal_or_end_a_line_is_written_as_its_code_point() -> None:
    text = said(k="a\nb\x1b[31m\x9b\u202e\u2028\x7f", **{"k\n2": 1})
    assert text == r'k="a\nb\u001b[31m\u{9b}\u{202e}\u{2028}\u{7f}", k\u{a}2=1'


def test_a_value_nested_beyond_all_frames_is_cut() -> None:
    value: Any = []
    for _ in range(200):
        value = [value]
    assert "…" in said(k=value)


def test_parameters_beyond_the_64th_are_counted_only() -> None:
    assert said(**{f"k{number}": 1 for number in range(70)}).endswith("k63=1, … (6 more)")


def test_a_date_beyond_the_calendar_is_no_error() -> None:
    frame = replace(TASK, envelope=Envelope(timestamp=10**400))
    assert describe(frame).endswith(", sent at no date of the calendar]")


def test_a_frame_without_envelope_has_none_in_words() -> None:
    assert describe(replace(TASK, envelope=Envelope())).endswith('schema="TA")')


@pytest.mark.parametrize(
    "key",
    ["password", "DB_PASSWORD", "apiKey", "X-Api-Key", "access_token", "Set-Cookie", "\uff50assword", "pass\u200bword"],
)
def test_a_secret_is_hidden_by_its_key_however_it_is_spelled(key: str) -> None:
    assert DEFAULT_REDACTION.hides(key)


@pytest.mark.parametrize("key", ["tokens", "max_tokens", "passage", "", "name"])
def test_other_keys_are_shown(key: str) -> None:
    assert not DEFAULT_REDACTION.hides(key)


def test_keys_can_be_added_and_a_rule_can_hide_nothing() -> None:
    assert DEFAULT_REDACTION.adding("account").hides("account")
    assert DEFAULT_REDACTION.adding("account").hides("password")
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


def test_a_reference_that_stays_a_reference_is_not_left_out() -> None:
    frame = Frame(sender="a", intent=Intent.REQUEST, operation="op", params={"k": Ref("warm.x")})
    assert list(payload_differences(replace(SEEN, frame=frame, payload={"k": Ref("warm.x")}))) == []


@pytest.mark.parametrize("seen", [SEEN, replace(SEEN, frame=None, payload={"a": 1})])
def test_nothing_is_known_to_be_left_out_without_frame_or_payload(seen: FrameSeen) -> None:
    assert list(payload_differences(seen)) == []


def test_of_a_frame_in_pieces_neither_data_nor_omissions_are_shown() -> None:
    piece = parse_frame("@a>stream:frame{idx:0|tot:2|d:password...hunter2|schema:ST}")
    seen = replace(SEEN, frame=piece, payload={"password": SECRET, "priority": "medium"})
    assert describe(piece, payload=seen.payload) == (
        'Stream by a: frame(chunk_index=0, total_chunks=2, data="(part of a frame)", schema="ST")'
    )
    assert SECRET not in str(to_event(seen))
    assert list(payload_differences(seen)) == []


def test_a_message_that_came_in_pieces_is_shown_by_its_payload(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "accp"):
        DebugLog()(replace(SEEN, frame=None, payload={"task": "x", "token": SECRET}))
    expected = 'sent in s1: a message of several frames(task="x", token=[redacted])'
    assert [record.getMessage() for record in caplog.records] == [expected]


def test_the_log_is_silent_by_default(caplog: pytest.LogCaptureFixture) -> None:
    DebugLog()(SEEN)
    assert not caplog.records
    assert LOGGER.name == "accp"


def test_a_frame_is_one_record_with_a_structured_event(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "accp"):
        DebugLog()(replace(SEEN, payload={"deps": []}, tokens=34, notes=("part 1 of 2",)))
    (record,) = caplog.records
    event = vars(record)["accp"]
    assert record.levelname == "DEBUG"
    assert record.getMessage() == (
        "sent in s1: Complete by dev: schedule(deps=[]) "
        '[msg_id="m1", sequence=9, timestamp=1714000000, sent 2024-04-24T23:06:40Z]; '
        "34 tokens; deps: omitted, it equals the schema's default; part 1 of 2"
    )
    expected = {
        "direction": "sent",
        "session_id": "s1",
        "sender": "dev",
        "intent": "done",
        "operation": "schedule",
        "schema": "TA",
        "msg_id": "m1",
        "sequence": 9,
        "tokens": 34,
        "notes": ["part 1 of 2"],
        "code": None,
    }
    assert expected.items() <= event.items()
    assert json.loads(json.dumps(event)) == event


def test_a_text_that_is_no_frame_is_logged_without_itself(caplog: pytest.LogCaptureFixture) -> None:
    refused = replace(SEEN, direction=Direction.RECEIVED, frame=None, code="E1001", reason="expected ':'")
    with caplog.at_level(logging.DEBUG, "accp"):
        DebugLog()(refused)
        DebugLog()(replace(refused, code=None, reason="expired"))
    first, second = (record.getMessage() for record in caplog.records)
    assert first == "received in s1: no frame; refused: E1001 expected ':'"
    assert second == "received in s1: no frame; refused: silently expired"


def test_an_event_of_a_hostile_frame_is_bounded() -> None:
    params = {f"k{number}" * 100: "x" * 5_000 for number in range(100)}
    frame = Frame(sender="a", intent=Intent.REQUEST, operation="op", params=params)
    seen = replace(SEEN, frame=frame, payload=params, defaulted=frozenset(params), reason="x" * 10_000)
    assert len(str(to_event(seen))) < 64 * 2_000
