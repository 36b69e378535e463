"""Who may open a reference: the one check, for every adapter (ACCP section 9, item 3; ACI section 5.2).

"Cold state references MUST be scoped to the current session. Cross-session state access requires explicit
authorization." Words grant nothing: an adapter says which keys were granted, by the agent's own state, its AgentContext
or what it handed out in this session. What comes back from a store is checked against its key, so that neither a peer
nor a store can give another text for it.
"""

from __future__ import annotations

from collections.abc import Callable, Container

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.references.key import is_hash_key, key_of, parse_reference, reference_to

__all__ = ["check_grant", "checked_text", "open_reference"]

_SHOWN = 100
"""Characters of a refused reference that an error shows."""


def check_grant(reference: str, granted: Container[str]) -> str:
    """Return the key that `reference` opens: "$cold.…", a bare key or "accp://cold/…".

    Args:
        reference: What somebody asks for, as it was written.
        granted: The keys that were granted.

    Raises:
        ProtocolError: E5002, it was not granted.
    """
    key = parse_reference(reference)
    if key not in granted:
        raise ProtocolError(
            f"expected a reference that was granted here, found {reference[:_SHOWN]!r}",
            code=ErrorCode.UNAUTHORIZED_REF,
        )
    return key


def checked_text(key: str, text: str | None) -> str:
    """Return what a store gave for `key`.

    Raises:
        ProtocolError: E2001, it gave nothing, or a text that is not the one of this key.
    """
    expected = f"expected the stored text of {reference_to(key)!r}"
    if text is None:
        raise ProtocolError(f"{expected}, found none: deleted, or in another store", code=ErrorCode.REF_NOT_FOUND)
    if is_hash_key(key) and key_of(text) != key:
        raise ProtocolError(f"{expected}, found another text", code=ErrorCode.REF_NOT_FOUND)
    return text


def open_reference(reference: str, granted: Container[str], read: Callable[[str], str | None]) -> str:
    """Return the text behind `reference`.

    Args:
        reference: What somebody asks for, as it was written.
        granted: The keys that were granted.
        read: Returns what is stored under a key, None where there is nothing.

    Raises:
        ProtocolError: E5002, it was not granted; E2001, nothing is stored, or another text.
    """
    key = check_grant(reference, granted)
    return checked_text(key, read(key))
