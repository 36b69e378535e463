"""Who may open a reference: the one check, for every adapter (ACCP section 9, item 3; ACI section 5.2).

"Cold state references MUST be scoped to the current session. Cross-session state access requires explicit
authorization." A key that is named in a text is not granted by that: the adapter passes the granted keys, which it
takes from the agent's own state, from its AgentContext, or from what it stored for this agent under its session. The
text that a store returns is checked against its key, so neither a peer nor a store can put another text in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references.key import is_hash_key, key_of, parse_reference, reference_to

__all__ = ["check_grant", "checked_text", "open_reference"]

_MAX_SHOWN: Final = 100
"""Characters of a reference that an error message shows."""


def check_grant(reference: str, granted: Container[str]) -> str:
    """Return the key that `reference` opens.

    Args:
        reference: "$cold.…", a bare key or "accp://cold/…", as the caller wrote it.
        granted: The keys that were granted.

    Raises:
        ProtocolError: E5002, the key was not granted.
    """
    key = parse_reference(reference)
    if key not in granted:
        raise ProtocolError(
            f"expected a granted reference, found {reference[:_MAX_SHOWN]!r}", code=ErrorCode.UNAUTHORIZED_REF
        )
    return key


def checked_text(key: str, text: str | None) -> str:
    """Return the text that a store gave for `key`.

    A key in the form of `key_of` is compared with the text. A key of another form, which a peer chose, says nothing
    about its text and cannot be compared.

    Raises:
        ProtocolError: E2001, the store has no text for this key, or another one.
    """
    expected = f"expected the stored text of {reference_to(key)[:_MAX_SHOWN]!r}"
    if text is None:
        raise ProtocolError(
            f"{expected}, found none: it was deleted or is in another store", code=ErrorCode.REF_NOT_FOUND
        )
    if is_hash_key(key) and key_of(text) != key:
        raise ProtocolError(f"{expected}, found another text", code=ErrorCode.REF_NOT_FOUND)
    return text


def open_reference(reference: str, granted: Container[str], read: Callable[[str], str | None]) -> str:
    """Return the text behind `reference`.

    Args:
        reference: "$cold.…", a bare key or "accp://cold/…", as the caller wrote it.
        granted: The keys that were granted.
        read: Returns the text that is stored under a key, or None; it is called with granted keys only.

    Raises:
        ProtocolError: E5002, the key was not granted; E2001, nothing is stored there, or another text.
    """
    key = check_grant(reference, granted)
    return checked_text(key, read(key))
