"""A frame that is too big, cut into the chunks of a stream (ACCP sections 3.4 and 10.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from accp_core.accp.frame import Frame, Value
from accp_core.accp.keys import SCHEMA_KEY, KeyTable
from accp_core.accp.message import Message
from accp_core.accp.vocabulary import FRAME_OPERATION, Intent
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["chunk_frame", "cut", "is_piece", "swap"]


_DELIMITERS: Final = "@>:{}[]|$,~\\"
_STAND_INS: Final = "&<=()!?^#;`'"
_SWAPPED: Final = str.maketrans(_DELIMITERS + _STAND_INS, _STAND_INS + _DELIMITERS)


def swap(text: str) -> str:
    """Return `text` with each delimiter and its stand-in exchanged; doing it twice changes nothing.

    A frame is full of delimiters, and in the data of a chunk each would need a backslash: a quarter more tokens
    instead of a twentieth.
    """
    return text.translate(_SWAPPED)


def is_piece(message: Message) -> bool:
    """Return whether `message` is a piece of a frame that was cut, and not of a stream of its sender's own."""
    return message.schema == "ST" and message.intent is Intent.STREAM and message.operation == FRAME_OPERATION


def chunk_frame(frame: Frame, keys: KeyTable, piece: str, index: int, total: int) -> Frame:
    """Return one chunk of `frame`."""
    payload: dict[str, Value] = {"chunk_index": index, "total_chunks": total, "data": piece}
    if index + 1 == total:
        payload["is_final"] = True
    params = {keys.to_wire(key): value for key, value in payload.items()}
    return replace(frame, intent=Intent.STREAM, operation=FRAME_OPERATION, params={**params, SCHEMA_KEY: "ST"})


def cut(text: str, fits: Callable[[str], bool], guess: int) -> list[str]:
    """Return `text` in pieces that fit, each nearly as long as can be; `guess` is about their length.

    Raises: EncodeError E2003 when not even one character fits.
    """
    pieces, position = [], 0
    while position < len(text):
        guess = longest(text, position, guess, fits)
        pieces.append(text[position : position + guess])
        position += guess
    return pieces


def longest(text: str, position: int, guess: int, fits: Callable[[str], bool]) -> int:
    """Return how many characters from `position` on fit; up to one in 32 less, because asking is dear."""
    rest = len(text) - position
    low, high, length = 0, rest, min(guess, rest)
    while high - low > low // 32:
        if fits(text[position : position + length]):
            low = length
        else:
            high = length - 1
        length = min(high, low * 5 // 4 + 1) if high == rest else (low + high + 1) // 2
    if low == 0:
        raise EncodeError("the frame cannot be cut small enough", code=ErrorCode.BUDGET_EXCEEDED)
    return low
