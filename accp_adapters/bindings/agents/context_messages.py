"""The messages by which contexts and texts travel in a session (ACI section 5.3, ACCP sections 4.1 and 5.4).

master → agent   req:execute{agent|subtask|…}            a context, its correlation_id names the delivery
agent → master   wait:fetch{number,ref,query,…}          it waits for a text, or for what a query finds in it
master → agent   req:fetch{delivery,number,text,more}    the text, piece by piece, or the code of a refusal
agent → master   done:execute{…}                         what the agent may change of the context
master → agent   qry:fetch{delivery,ref,query,…}         opens or queries a result that the agent stored
agent → master   stream:fetch{data}                      the answer, piece by piece
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from accp_adapters.remote.reference_request import FETCH_OPERATION, ReferenceRequest
from accp_core.accp import Envelope, Intent, Message
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["TextAnswer", "TextWanted", "ask_message", "cut_pieces", "text_in"]

PIECE_CHARS: Final = 100_000
"""Characters of a text in one message, which fit into a frame in any encoding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWanted:
    """A text that the agent waits for."""

    number: int
    """Which one of the delivery it is, from 0."""
    request: ReferenceRequest

    def to_message(self) -> Message:
        """Return the message that says so; the sender adds the correlation_id of the delivery."""
        payload = {"number": self.number, **self.request.payload}
        return Message(sender="", intent=Intent.WAITING, operation=FETCH_OPERATION, payload=payload)

    @classmethod
    def read(cls, message: Message) -> TextWanted | None:
        """Return what a message waits for, None for any other message.

        Raises:
            ProtocolError: E1004, it has no number.
        """
        if (message.intent, message.operation) != (Intent.WAITING, FETCH_OPERATION):
            return None
        return cls(number=read_number(message.payload), request=ReferenceRequest.from_payload(message.payload))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnswer:
    """The answer to a `TextWanted`: a text or a refusal."""

    delivery: str
    """The correlation_id of the delivery."""
    number: int
    text: str = ""
    piece: int = 0
    """Which piece of the text it is, from 0."""
    has_more: bool = False
    """Whether another piece follows."""
    refusal: ProtocolError | None = None
    """Why there is no text."""

    def to_message(self) -> Message:
        """Return the message that carries the answer."""
        said = {"text": self.text} if self.refusal is None else self.to_json_refusal(self.refusal)
        payload: dict[str, Any] = {"delivery": self.delivery, "number": self.number, **said}
        if self.piece or self.has_more:
            payload |= {"piece": self.piece, "more": self.has_more}
        return Message(sender="", intent=Intent.REQUEST, operation=FETCH_OPERATION, payload=payload)

    def in_pieces(self) -> list[TextAnswer]:
        """Return the answers that carry the text in pieces, each short enough for a frame."""
        pieces = cut_pieces(self.text)
        last = len(pieces) - 1
        return [replace(self, text=text, piece=number, has_more=number < last) for number, text in enumerate(pieces)]

    @staticmethod
    def to_json_refusal(refusal: ProtocolError) -> dict[str, str]:
        """Return a refusal as a payload holds it."""
        return {"code": str(refusal.code), "reason": refusal.reason}

    @classmethod
    def read(cls, payload: Mapping[str, Any]) -> TextAnswer:
        """Return the answer in a payload.

        Raises:
            ProtocolError: E1004, there is neither a text nor a code, or it names no delivery.
        """
        code, delivery = payload.get("code"), payload.get("delivery")
        if not isinstance(delivery, str):
            raise ProtocolError(f"expected the id of a delivery, found {delivery!r}", code=ErrorCode.INVALID_TYPE)
        number = read_number(payload)
        if code is None:
            piece, more = read_number(payload, "piece", default=0), payload.get("more") is True
            return cls(delivery=delivery, number=number, text=text_in(payload, "text"), piece=piece, has_more=more)
        known = ErrorCode(code) if code in set(ErrorCode) else ErrorCode.INTERNAL_ERROR
        return cls(delivery=delivery, number=number, refusal=ProtocolError(str(payload.get("reason")), code=known))


def read_number(payload: Mapping[str, Any], key: str = "number", *, default: int | None = None) -> int:
    """Return the number of a text in a delivery, or of a piece of a text.

    Raises:
        ProtocolError: E1004, there is none.
    """
    number = payload.get(key, default)
    if type(number) is not int or number < 0:
        raise ProtocolError(f"expected the {key} of a text, found {number!r}", code=ErrorCode.INVALID_TYPE)
    return number


def ask_message(request: ReferenceRequest, delivery: str) -> Message:
    """Return the message that opens or queries what the agent stored in a delivery."""
    payload = {"delivery": delivery, **request.payload}
    return Message(sender="", intent=Intent.QUERY, operation=FETCH_OPERATION, payload=payload, envelope=Envelope())


def cut_pieces(text: str) -> list[str]:
    """Return a text in pieces, one empty piece for an empty text."""
    return [text[start : start + PIECE_CHARS] for start in range(0, len(text), PIECE_CHARS)] or [""]


def text_in(payload: Mapping[str, Any], key: str) -> str:
    """Return the text in a payload.

    Raises:
        ProtocolError: E1004, there is none.
    """
    text = payload.get(key)
    if not isinstance(text, str):
        raise ProtocolError(f"expected a text, found {text!r:.80}", code=ErrorCode.INVALID_TYPE)
    return text
