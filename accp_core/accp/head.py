"""Sender and metadata of a frame, for those who only route, store or count it (ACCP section 3.5)."""

from accp_core.accp.frame import Envelope, Frame
from accp_core.accp.grammar import DEFAULT_LIMITS, HIDDEN, GrammarLimits, metadata_start
from accp_core.accp.parse_state import ParseState, check_characters, refusal
from accp_core.accp.parser import parse_header, parse_metadata, read_envelope, read_intent, read_usual_envelope

__all__ = ["frame_envelope", "frame_head"]


def frame_head(text: str, *, limits: GrammarLimits = DEFAULT_LIMITS) -> Frame:
    """Return a frame without its parameters, which are not read: they may be malformed.

    Args:
        text: One line without its line end.
        limits: How much a frame may hold.

    Raises:
        DecodeError: with the first position that cannot be read: E1001, E1002 and E1004 as `parse_frame`, for the
            header and the metadata.
    """
    sender, intent, operation, envelope = _read(text, limits)
    known = read_intent(text, len(sender) + 2, intent)
    return Frame(sender=sender, intent=known, operation=operation, envelope=envelope)


def frame_envelope(text: str, *, limits: GrammarLimits = DEFAULT_LIMITS) -> tuple[str, Envelope]:
    """Return sender and metadata of a frame, whatever its intent and its parameters are.

    Raises:
        DecodeError: as `frame_head`, but not E1002.
    """
    sender, _, _, envelope = _read(text, limits)
    return sender, envelope


def _read(text: str, limits: GrammarLimits) -> tuple[str, str, str, Envelope]:
    check_characters(text, limits)
    start, (sender, intent, operation) = parse_header(text)
    state = ParseState(True, False, float, limits, HIDDEN)
    position = max(start, metadata_start(text))
    envelope = read_usual_envelope(text, position, state)
    if envelope is None:
        end, fields = parse_metadata(text, position, state)
        if end != len(text) or not text.endswith(("}", "]")):
            raise refusal(text, end, "expected the end of the frame")
        envelope = read_envelope(text, fields, state)
    return sender, intent, operation, envelope
