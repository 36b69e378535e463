"""Tokens of frames and their limits; here a character is a token."""

from accp_core.accp import Codec, Envelope, Frame, Intent
from accp_core.accp.budget import (
    DRAFT_LIMITS,
    PLACEHOLDER_ENVELOPE,
    FrameLimits,
    FrameTokens,
    estimate_parts,
    with_placeholders,
)

CODEC = Codec(counter=len)
FRAME = Frame(sender="a", intent=Intent.REQUEST, operation="op", params={"k": "}[", "m": {"n": [1]}})


def test_the_draft_limits_are_those_of_table_3() -> None:
    assert (DRAFT_LIMITS.header_soft, DRAFT_LIMITS.header_hard) == (5, 10)
    assert (DRAFT_LIMITS.body_soft, DRAFT_LIMITS.body_hard) == (50, 200)
    assert (DRAFT_LIMITS.metadata_soft, DRAFT_LIMITS.metadata_hard) == (10, 30)
    assert (DRAFT_LIMITS.total_soft, DRAFT_LIMITS.total_hard) == (65, 240)


def test_a_text_is_counted_part_by_part() -> None:
    tokens = estimate_parts(r"@a>req:op{k:\}\[|m:{n:[1]}}", r"[mid:\}\[a]", len)
    assert tokens == FrameTokens(header=6, body=21, metadata=11, total=38)
    assert estimate_parts("@a>req:op{}", "", len) == FrameTokens(header=6, body=5, metadata=0, total=11)


def test_an_envelope_that_is_not_there_yet_is_counted_in() -> None:
    full = Frame(sender="a", intent=Intent.REQUEST, operation="op", params=FRAME.params, envelope=PLACEHOLDER_ENVELOPE)
    assert CODEC.count(FRAME) == CODEC.count(full)
    assert CODEC.count(FRAME).metadata == len("[mid:1a2b3c4d5e6f,seq:1000000,ts:1714000000]")


def test_what_an_envelope_has_stays() -> None:
    envelope = Envelope(msg_id="m1", sequence=2, timestamp=3, correlation_id="c")
    frame = Frame(sender="a", intent=Intent.REQUEST, operation="op", envelope=envelope)
    assert with_placeholders(frame) is frame
    half = Frame(sender="a", intent=Intent.REQUEST, operation="op", envelope=Envelope(msg_id="m1"))
    assert with_placeholders(half).envelope.msg_id == "m1"
    assert with_placeholders(half).envelope.sequence == PLACEHOLDER_ENVELOPE.sequence


def test_body_and_total_must_fit_and_the_rest_is_telemetry() -> None:
    assert DRAFT_LIMITS.fits(FrameTokens(header=11, body=200, metadata=31, total=240))
    assert not DRAFT_LIMITS.fits(FrameTokens(header=1, body=201, metadata=0, total=202))
    assert not DRAFT_LIMITS.fits(FrameTokens(header=11, body=200, metadata=31, total=241))


def test_every_limit_that_was_passed_is_noted_once() -> None:
    limits = FrameLimits()
    assert limits.notes(FrameTokens(header=5, body=50, metadata=10, total=65)) == ()
    assert limits.notes(FrameTokens(header=5, body=51, metadata=31, total=65)) == (
        "body: 51 tokens, soft limit 50",
        "metadata: 31 tokens, hard limit 30",
    )
