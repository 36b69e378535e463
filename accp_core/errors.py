"""The exceptions of all families.

    ProtocolError                      .code
    ├── DecodeError (ValueError)       .text .position      the text is no frame, packet, envelope or view
    ├── EncodeError (ValueError)                            the value cannot be carried
    ├── LocalProtocolError                                  we may not send this now
    └── RemoteProtocolError            .reply               the text to answer with, None where silence is demanded

Codes are those of ACCP Table 6; an exception is not a code, it carries one.
"""

__all__ = ["DecodeError", "EncodeError", "LocalProtocolError", "ProtocolError", "RemoteProtocolError"]


class ProtocolError(Exception):
    """Something that the protocol does not allow; `code` is the ACCP error code (Table 6), such as "E1001"."""

    def __init__(self, reason: str, *, code: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.reason = reason
        self.code = code


class DecodeError(ProtocolError, ValueError):
    """The text is malformed and was refused whole (ACCP section 9, item 2)."""

    def __init__(self, reason: str, *, code: str, text: str, position: int) -> None:
        super().__init__(f"{reason}, at position {position}", code=code)
        self.text = text
        self.position = position


class EncodeError(ProtocolError, ValueError):
    """The value cannot be carried, so nothing was written."""


class LocalProtocolError(ProtocolError):
    """We may not send this now."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol; `reply` is the text to answer with, None where the draft demands silence."""

    def __init__(self, reason: str, *, code: str, reply: str | None) -> None:
        super().__init__(reason, code=code)
        self.reply = reply
