"""How a frame over its limits is cut into the chunks of a stream (ACCP sections 3.4 and 10.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from accp_core.accp.codec.settings import CodecSettings
from accp_core.accp.frame import Envelope, Frame, Value
from accp_core.accp.keys import SCHEMA_KEY, KeyTable
from accp_core.accp.message import Message
from accp_core.accp.vocabulary import FRAME_OPERATION, Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, ProtocolError

__all__ = ["cut_text", "is_frame_chunk", "join_chunks", "split_frame"]

_QUOTED_STARTS: Final = frozenset('"=')
_MAX_INDEX: Final = 999_999
"""Chunks are counted with this index before their number is known."""


def is_frame_chunk(message: Message) -> bool:
    """Return whether `message` is a chunk of a frame that was cut, and not of a stream of the sender's own data."""
    return message.schema == "ST" and message.intent is Intent.STREAM and message.operation == FRAME_OPERATION


# "Frames exceeding the hard limit SHOULD be split into a frame sequence" (section 3.4)
def split_frame(frame: Frame, settings: CodecSettings) -> tuple[Frame, ...]:
    """Return the chunks of `frame`, which share its envelope and whose data is its text without the envelope.

    Their correlation_id is that of the frame, or else a digest of its text.

    Raises:
        EncodeError: E2003, the limits have no room for a chunk of one character.
    """
    text = settings.write(replace(frame, envelope=Envelope()))
    envelope = frame.envelope
    if envelope.correlation_id is None:
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        envelope = replace(envelope, correlation_id=digest)
    whole = replace(frame, envelope=envelope)
    keys = settings.registry.get("ST").keys

    def fits(data: str) -> bool:
        chunk = _make_chunk(whole, keys, data, _MAX_INDEX, _MAX_INDEX + 1)
        return settings.limits.fits(settings.count(chunk))

    pieces = cut_text(text, fits, 2 * settings.limits.body_hard)
    return tuple(_make_chunk(whole, keys, data, index, len(pieces)) for index, data in enumerate(pieces))


def join_chunks(chunks: Sequence[Message]) -> str:
    """Return the text of the frame that was cut into `chunks`, without metadata.

    Raises:
        ProtocolError: E1001, the data of a chunk is not text.
    """
    data = [chunk.payload.get("data") for chunk in chunks]
    texts = [text for text in data if isinstance(text, str)]
    if not texts or len(texts) < len(data):
        raise ProtocolError("expected text as the data of each chunk", code=ErrorCode.PARSE_ERROR)
    return "".join(texts)


def _make_chunk(frame: Frame, keys: KeyTable, data: str, index: int, total: int) -> Frame:
    payload: dict[str, Value] = {"chunk_index": index, "total_chunks": total, "data": data}
    if index + 1 == total:
        payload["is_final"] = True
    params = {keys.to_wire(key): value for key, value in payload.items()}
    return replace(frame, intent=Intent.STREAM, operation=FRAME_OPERATION, params={**params, SCHEMA_KEY: "ST"})


def cut_text(text: str, fits: Callable[[str], bool], guess: int) -> list[str]:
    """Return `text` in pieces that fit, each nearly as long as possible.

    Args:
        text: The text to cut.
        fits: Returns whether a piece fits.
        guess: About how many characters a piece may have.

    Raises:
        EncodeError: E2003, not even one character fits.
    """
    pieces, position = [], 0
    while position < len(text):
        guess = _fitting_length(text, position, guess, fits)
        # A piece that begins so would be written in the quoted form, which the draft alone does not have.
        guess -= guess > 1 and text[position + guess : position + guess + 1] in _QUOTED_STARTS
        pieces.append(text[position : position + guess])
        position += guess
    return pieces


def _fitting_length(text: str, position: int, guess: int, fits: Callable[[str], bool]) -> int:
    """Return how many characters from `position` on fit; up to one in 32 fewer, because `fits` is expensive."""
    rest = len(text) - position
    low, high, length = 0, rest, min(guess, rest)
    while high - low > low // 32:
        if fits(text[position : position + length]):
            low = length
        else:
            high = length - 1
        length = min(high, low * 5 // 4 + 1) if high == rest else (low + high + 1) // 2
    if low == 0:
        raise EncodeError("expected limits with room for a chunk, found none", code=ErrorCode.BUDGET_EXCEEDED)
    return low
