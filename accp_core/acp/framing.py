"""The framing of messages in byte streams and requests, for each binding (ACP transport 0.3, sections 4.2 to 7.2).

WebSocket      one text frame is one message; no framing needed
stdio, TCP     one JSON object per line, UTF-8, ended by LF            ByteLineReader
HTTP/SSE       data: {json} LF LF; comments keep the stream alive      KEEPALIVE
               POST /message:send {json}                               error_body
HTTP relay     the envelope is the body; the relay sets id, seq, ts    RELAY_FIELDS, SENT_AT
"""

from __future__ import annotations

from typing import Final

from accp_core.acp.document import MAX_ACP_BYTES, AcpError, write_object
from accp_core.acp.envelope import timestamp
from accp_core.errors import DecodeError

__all__ = ["KEEPALIVE", "ByteLineReader", "error_body"]

KEEPALIVE: Final = b": keepalive\n\n"
"""A comment that keeps an event stream open while there are no events."""

SENT_AT: Final = "sent_at"
"""The field for the sender's `ts` on a relay, which overwrites `ts`."""
RELAY_FIELDS: Final = frozenset({"id", "seq", "ts", SENT_AT})
"""The fields that a relay writes, and our field for the sender's time."""


class ByteLineReader:
    """Splits a byte stream into lines of bounded size, at LF only (sections 4.2 and 7.2)."""

    def __init__(self, limit: int = MAX_ACP_BYTES) -> None:
        """Read lines of at most `limit` bytes; blank lines are skipped."""
        self.limit = limit
        """Bytes of a line."""
        self._pieces: list[bytes] = []
        self._size = 0

    @property
    def waiting(self) -> int:
        """Bytes of the line that is not complete."""
        return self._size

    def feed(self, data: bytes) -> list[str]:
        """Return the lines that are complete after `data`, without line ends.

        The rest of the stream cannot be trusted after an error: the session ends.

        Raises:
            DecodeError: ERR_MSG_TOO_LARGE, a line is over the limit, complete or not; ERR_INVALID_REQUEST, a line is
                not UTF-8.
        """
        *ended, rest = data.split(b"\n")
        lines = []
        for piece in ended:
            self._take(piece)
            lines.append(self._line())
        self._take(rest)
        return [line for line in lines if line.strip()]

    def _take(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self.limit:
            raise self._refuse(f"expected a line of at most {self.limit} bytes, found more", AcpError.TOO_LARGE)
        self._pieces.append(piece)

    def _line(self) -> str:
        line, self._pieces, self._size = b"".join(self._pieces), [], 0
        try:
            return line.decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            raise self._refuse(f"expected UTF-8: {error.reason}", AcpError.INVALID_REQUEST) from None

    def _refuse(self, reason: str, code: AcpError) -> DecodeError:
        self._pieces, self._size = [], 0
        return DecodeError(reason, code=code, text="", position=0)


def error_body(code: AcpError, reason: str, *, now: float, failed_message_id: str | None = None) -> str:
    """Return the body of the response that refuses a request; its HTTP status is `code.status`.

    The reason is in `error` and in `message`, because clients read one or the other.

    Args:
        code: The error code.
        reason: What was expected and found.
        now: Seconds of the Unix epoch.
        failed_message_id: The message_id of the request, where it is known.
    """
    body = {"ok": False, "error_code": code.value, "error": reason, "message": reason, "ts": timestamp(now)}
    return write_object(body if failed_message_id is None else {**body, "failed_message_id": failed_message_id})
