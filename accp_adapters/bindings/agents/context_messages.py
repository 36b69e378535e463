"""The messages by which contexts and texts travel in a session (ACI section 5.3, ACCP sections 4.1 and 5.4).

master → agent   req:execute{agent|subtask|…}            a context, its correlation_id names the delivery
agent → master   wait:fetch{number,ref,query,…}          it waits for a text, or for what a query finds in it
master → agent   req:fetch{delivery,number,text}         the text, or the code and the reason of a refusal
agent → master   done:execute{…}                         what the agent may change of the context
master → agent   qry:fetch{delivery,ref,query,…}         opens or queries a result that the agent stored
agent → master   done:fetch{text}                        the answer
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from accp_adapters.remote.reference_request import FETCH, ReferenceRequest
from accp_core.accp import Envelope, Intent, Message
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["TextAnswer", "TextWanted", "ask_message", "text_in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextWanted:
    """A text that the agent waits for."""

    number: int
    """Which one of the delivery it is, from 0."""
    request: ReferenceRequest

    def to_message(self) -> Message:
        """Return the message that says so; whoever sends it adds the correlation_id of the delivery."""
        payload = {"number": self.number, **self.request.payload}
        return Message(sender="", intent=Intent.WAITING, operation=FETCH, payload=payload)

    @classmethod
    def read(cls, message: Message) -> TextWanted | None:
        """Return what a message waits for, None for any other message.

        Raises:
            ProtocolError: E1004, it has no number.
        """
        if (message.intent, message.operation) != (Intent.WAITING, FETCH):
            return None
        return cls(number=read_number(message.payload), request=ReferenceRequest.from_payload(message.payload))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextAnswer:
    """The answer to a `TextWanted`: a text or a refusal."""

    delivery: str
    """The correlation_id of the delivery."""
    number: int
    text: str = ""
    refusal: ProtocolError | None = None
    """Why there is no text."""

    def to_message(self) -> Message:
        """Return the message that carries the answer."""
        said = {"text": self.text} if self.refusal is None else self.to_json_refusal(self.refusal)
        payload: dict[str, Any] = {"delivery": self.delivery, "number": self.number, **said}
        return Message(sender="", intent=Intent.REQUEST, operation=FETCH, payload=payload)

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
            return cls(delivery=delivery, number=number, text=text_in(payload))
        known = ErrorCode(code) if code in set(ErrorCode) else ErrorCode.INTERNAL_ERROR
        return cls(delivery=delivery, number=number, refusal=ProtocolError(str(payload.get("reason")), code=known))


def read_number(payload: Mapping[str, Any]) -> int:
    """Return the number of a text in a delivery.

    Raises:
        ProtocolError: E1004, there is none.
    """
    number = payload.get("number")
    if type(number) is not int or number < 0:
        raise ProtocolError(f"expected the number of a text, found {number!r}", code=ErrorCode.INVALID_TYPE)
    return number


def ask_message(request: ReferenceRequest, delivery: str) -> Message:
    """Return the message that opens or queries what the agent stored in a delivery."""
    payload = {"delivery": delivery, **request.payload}
    return Message(sender="", intent=Intent.QUERY, operation=FETCH, payload=payload, envelope=Envelope())


def text_in(payload: Mapping[str, Any]) -> str:
    """Return the text in a payload.

    Raises:
        ProtocolError: E1004, there is none.
    """
    text = payload.get("text")
    if not isinstance(text, str):
        raise ProtocolError(f"expected a text, found {text!r:.80}", code=ErrorCode.INVALID_TYPE)
    return text
