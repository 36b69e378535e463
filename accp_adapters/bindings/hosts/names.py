"""Which session a frame is of: its id among those of its principal (ACCP section 9).

Sessions of two principals are different ones, also with the same id: no answer tells which ids others use. The name
of a session is that of its log, and the namespace of its texts in the cold store.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from accp_adapters.bindings.identity import Principal
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = [
    "MAX_SESSION_ID",
    "check_session_id",
    "connection_name",
    "foreign_session",
    "is_named",
    "owner_of",
    "sender_name",
    "session_name",
]

MAX_SESSION_ID: Final = 64
"""Characters of a session id, as many as of a msg_id: each frame names it."""
_NAMED: Final = "s"
_UNNAMED: Final = "n"


def session_name(principal: Principal, session_id: str) -> str:
    """Return the name of the session that the frames of a principal name."""
    return f"{_NAMED}/{_owner(principal)}/{session_id}"


def sender_name(principal: Principal, sender: str) -> str:
    """Return the name of the session of frames without a session id: a principal has one for each sender."""
    return f"{_UNNAMED}/{_owner(principal)}/{sender}"


def connection_name(principal: Principal, connection: str) -> str:
    """Return the name of the session of one connection, whose frames have no session id."""
    return f"{_UNNAMED}/{_owner(principal)}//{connection}"


def is_named(name: str) -> bool:
    """Return whether the frames of a session name it, so that the answers do."""
    return name.startswith(f"{_NAMED}/")


def owner_of(name: str) -> str:
    """Return whose session a name is of: the principal, as the name writes it."""
    return name.split("/", 2)[1]


def _owner(principal: Principal) -> str:
    """Return the name of a principal without a slash, which stands behind it."""
    return quote(principal.name, safe="", errors="surrogatepass")


def check_session_id(session_id: str) -> None:
    """Refuse a session id that no answer could carry.

    Raises:
        ProtocolError: E1001.
    """
    if len(session_id) > MAX_SESSION_ID:
        reason = (
            f"expected a session id of at most {MAX_SESSION_ID} characters, found {len(session_id)}: {session_id!r:.40}"
        )
        raise ProtocolError(reason, code=ErrorCode.PARSE_ERROR)


def foreign_session() -> ProtocolError:
    """Return the exception for a frame that is of another session, or in the name of another agent."""
    return ProtocolError("expected a session of this principal", code=ErrorCode.POLICY_DENIED)
