"""Any text is read as a frame or refused at a place in it, and what is read is written so that it reads the same."""

from decimal import Decimal
from typing import Any, Final

from accp_core import DecodeError, EncodeError, Frame, parse_frame, serialize_frame
from accp_core.accp.debug import describe
from tests.conformance.vectors import exact
from tests.harness.fuzz.choices import choose

__all__ = ["check", "check_all"]

MODES: Final[tuple[dict[str, Any], ...]] = ({"strict": True}, {}, {"compat": True}, {"decimal_type": Decimal})


def check(data: bytes) -> None:
    """Hold one input to the invariant in one mode."""
    check_mode(data, choose(data, MODES))


def check_all(data: bytes) -> None:
    """Hold one input to the invariant in every mode."""
    for mode in MODES:
        check_mode(data, mode)


def check_mode(data: bytes, mode: dict[str, Any]) -> None:
    """Hold one input to the invariant in a mode of the parser."""
    text = data.decode("utf-8", "surrogateescape")
    try:
        frame = parse_frame(text, **mode)
    except DecodeError as refusal:
        assert refusal.code in {"E1001", "E1002", "E1004"}, refusal
        assert 0 <= refusal.position <= len(text), refusal
    else:
        check_written(frame, mode.get("decimal_type", float))


def check_written(frame: Frame, decimal_type: type) -> None:
    """Hold what was read to the second half."""
    assert "\n" not in describe(frame)
    for ascii_only in (True, False):
        try:
            text = serialize_frame(frame, ascii_only=ascii_only)
        except EncodeError as refusal:
            assert_grown(refusal, frame, ascii_only)
            continue
        again = parse_frame(text, strict=True, decimal_type=decimal_type)
        assert exact(again) == exact(frame), text
        assert serialize_frame(again, ascii_only=ascii_only) == text


def assert_grown(refusal: EncodeError, frame: Frame, ascii_only: bool) -> None:
    """Allow what is known to be readable and not writable.

    An envelope beyond ASCII, hidden characters in it, a reference below the fifth level, a text that grows too long.
    """
    fields = [str(value) for value in (*frame.envelope.extra.values(), *envelope_texts(frame))]
    beyond = (ascii_only and not "".join(fields).isascii()) or refusal.reason.endswith("found Ref")
    assert beyond or refusal.code == "E1001" or not all(map(str.isprintable, fields)), refusal


def envelope_texts(frame: Frame) -> list[str]:
    """Return the strings of the envelope."""
    envelope = frame.envelope
    texts = (envelope.msg_id, envelope.correlation_id, envelope.causation_id, envelope.session_id)
    return [text for text in texts if text is not None]
