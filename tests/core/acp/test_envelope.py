"""Envelopes: limits, roles, what cannot be written, any text at all."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core import acp
from accp_core.acp.envelope import MAX_ACP_BYTES, timestamp
from accp_core.errors import DecodeError, EncodeError

HELLO = acp.AcpMessage(parts=(acp.TextPart(content="hi"),))

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
EXTRA = st.dictionaries(st.text().map(lambda name: f"x{name}"), JSON, max_size=2)
PARTS = (
    st.builds(acp.TextPart, content=st.text(), extra=EXTRA)
    | st.builds(acp.FilePart, url=st.text(min_size=1), media_type=st.text(), filename=st.text(), extra=EXTRA)
    | st.builds(acp.DataPart, content=JSON, media_type=st.text(), extra=EXTRA)
    | st.builds(acp.OpaquePart, raw=EXTRA.map(lambda extra: {"type": "xtype", **extra}))
)
OPTIONAL = st.none() | st.text()
MESSAGES = st.builds(
    acp.AcpMessage,
    parts=st.lists(PARTS, min_size=1, max_size=3).map(tuple),
    message_id=OPTIONAL,
    sender=st.text(),
    role=st.sampled_from(["user", "agent"]),
    ts=OPTIONAL | st.integers(),
    server_seq=st.none() | st.integers(min_value=0),
    task_id=OPTIONAL,
    correlation_id=OPTIONAL,
    identity=JSON,
    is_reply=st.just(False),
    extra=EXTRA,
)


@pytest.mark.requirement("acp:1-2")
@pytest.mark.slow
@given(MESSAGES | st.builds(replace, MESSAGES, correlation_id=st.text(), is_reply=st.just(True)))
def test_an_envelope_comes_back_from_its_text(envelope: acp.AcpEnvelope) -> None:
    text = acp.serialize_envelope(envelope)
    assert acp.parse_envelope(text) == envelope
    assert "\n" not in text


@given(st.text() | JSON.map(json.dumps) | MESSAGES.map(lambda message: acp.serialize_envelope(message)[1:]))
def test_any_text_is_an_envelope_or_refused(text: str) -> None:
    try:
        acp.parse_envelope(text)
    except DecodeError as error:
        assert error.code == "ERR_INVALID_REQUEST"
        assert 0 <= error.position <= len(text)


def test_a_message_without_a_role_is_a_users() -> None:
    assert acp.parse_envelope('{"type":"acp.message","text":"a"}') == acp.AcpMessage(parts=(acp.TextPart(content="a"),))


def test_a_message_is_bounded_in_bytes_in_both_directions() -> None:
    long = replace(HELLO, parts=(acp.TextPart(content="é" * (MAX_ACP_BYTES // 2)),))
    with pytest.raises(EncodeError) as unsent:
        acp.serialize_envelope(long)
    text = acp.serialize_envelope(long, limit=2 * MAX_ACP_BYTES)
    with pytest.raises(DecodeError) as refused:
        acp.parse_envelope(text)
    assert unsent.value.code == refused.value.code == "ERR_MSG_TOO_LARGE"
    assert acp.parse_envelope(text, limit=2 * MAX_ACP_BYTES) == long


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 100_000, '{"type":"x","n":' + "9" * 5_000 + "}"])
def test_what_nests_or_counts_too_far_is_refused(text: str) -> None:
    with pytest.raises(DecodeError, match="ERR_INVALID_REQUEST"):
        acp.parse_envelope(text)


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (replace(HELLO, extra={"role": "agent"}), "extra: expected unknown fields, found role"),
        (replace(HELLO, parts=(acp.TextPart(content="\ud800\udc00"),)), "which JSON reads as one"),
        (replace(HELLO, parts=()), "parts: expected 1 to 10000 parts, found list of 0"),
        (replace(HELLO, parts=HELLO.parts * 10_001), "parts: expected 1 to 10000 parts, found list of 10001"),
        (replace(HELLO, parts=(acp.FilePart(url=""),)), "expected a file part with a url"),
        (replace(HELLO, role="boss"), "role: expected user or agent, found 'boss'"),
        (replace(HELLO, extra={"x": float("nan")}), "not JSON"),
        (replace(HELLO, extra={"x": object()}), "not JSON"),  # type: ignore[dict-item]  # what a caller may do
    ],
)
def test_what_no_text_says_is_not_written(message: acp.AcpMessage, reason: str) -> None:
    with pytest.raises(EncodeError, match=reason):
        acp.serialize_envelope(message)


def test_half_a_pair_is_in_no_text() -> None:
    with pytest.raises(DecodeError, match="half of a surrogate pair") as refusal:
        acp.parse_envelope('{"type":"x","a":"\ud800"}')
    assert refusal.value.position == 17


def test_an_unknown_message_is_written_as_it_came() -> None:
    raw: dict[str, Any] = {"b": 1, "type": "task.updated", "a": [2]}
    assert (
        acp.serialize_envelope(acp.UnknownMessage(type="task.updated", raw=raw))
        == '{"b":1,"type":"task.updated","a":[2]}'
    )


def test_a_time_is_that_of_the_caller() -> None:
    assert timestamp(1773975060.9) == "2026-03-20T02:51:00Z"


def test_an_answer_that_refuses_says_why_in_every_place() -> None:
    told = {"ok": False, "error_code": "ERR_NOT_FOUND", "error": "no peer", "message": "no peer"}
    when = {"ts": "1970-01-01T00:00:00Z"}
    assert json.loads(acp.error_body(acp.AcpError.NOT_FOUND, "no peer", now=0)) == told | when
    assert json.loads(acp.error_body(acp.AcpError.NOT_FOUND, "no peer", now=0, failed_message_id="m")) == (
        told | when | {"failed_message_id": "m"}
    )
