"""The exceptions of all families.

    ProtocolError                      .code .reason
    ├── DecodeError (ValueError)       .text .position      a text is no frame, packet, envelope or view
    ├── EncodeError (ValueError)                            a value cannot be written
    │   └── WouldRound                                      a decimal has more than six places
    ├── LocalProtocolError                                  our side may not do this now
    │   └── WindowFull                                      the peer has to acknowledge frames first
    └── RemoteProtocolError            .reply               the peer broke the protocol

`code` is a code of `accp_core.error_codes` or of `accp_core.acp.envelope`. The type tells who is at fault, the code
tells the peer what is wrong.
"""

__all__ = [
    "DecodeError", "EncodeError", "LocalProtocolError", "ProtocolError", "RemoteProtocolError", "WindowFull",
    "WouldRound",
]  # fmt: skip


class ProtocolError(Exception):
    """The protocol does not allow something; `str(error)` begins with the code."""

    def __init__(self, reason: str, *, code: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.reason = reason
        """What was expected and found, without the code."""
        self.code = code
        """The error code for the peer, such as "E1001"."""


class DecodeError(ProtocolError, ValueError):
    """A text is malformed and was refused whole: nothing of it is used (ACCP section 9, item 2)."""

    def __init__(self, reason: str, *, code: str, text: str, position: int) -> None:
        super().__init__(f"{reason}, at position {position}", code=code)
        self.text = text
        """The text."""
        self.position = position
        """Where the first error is, in characters from 0."""


class EncodeError(ProtocolError, ValueError):
    """A value cannot be written; nothing of it was."""


class WouldRound(EncodeError):
    """A decimal has more places than the peer is known to read; nothing was written."""


class LocalProtocolError(ProtocolError):
    """Our side may not do this now; nothing was sent or changed."""


class WindowFull(LocalProtocolError):
    """The peer has to acknowledge frames before another one is sent; nothing was sent or changed."""


class RemoteProtocolError(ProtocolError):
    """The peer broke the protocol."""

    def __init__(self, reason: str, *, code: str, reply: str | None) -> None:
        super().__init__(reason, code=code)
        self.reply = reply
        """The text to answer with; None where the draft requires no answer."""
