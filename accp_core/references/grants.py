"""Who may open a reference: the one check, for every adapter (ACCP section 9, item 3; ACI section 5.2).

"Cold state references MUST be scoped to the current session. Cross-session state access requires explicit
authorization." A key that is named in a text is not granted by that: the adapter passes the granted keys, which it
takes from the agent's own state, from its AgentContext, or from what it stored for this agent under its session. The
text that a store returns is checked against its key, so neither a peer nor a store can put another text in its place.

The short reference that a model reads opens the one granted text whose key begins so. Where two do, one was forged, and
neither opens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from contextvars import ContextVar
from dataclasses import dataclass, field
from difflib import get_close_matches
from itertools import islice
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.references.key import is_hash_key, key_of, parse_reference, reference_to, short_key, short_reference

__all__ = ["HANDING", "Handing", "check_grant", "checked_text", "open_reference"]


@dataclass(frozen=True, slots=True)
class Handing:
    """What a running tool hands over to the agent that called it."""

    texts: dict[str, str] = field(default_factory=dict)
    """Key to text of what the references in its answer open."""
    views: dict[str, Callable[[int, TokenCounter, str], str]] = field(default_factory=dict)
    """What our own code wrote for a model, and what writes it in so many tokens for a request, or raises ValueError."""


HANDING: Final[ContextVar[Handing | None]] = ContextVar("accp_handed_over", default=None)
"""What tasks and agents hand over while a tool runs; None: no tool runs that takes it."""
_MAX_SHOWN: Final = 100
"""Characters of a reference that an error message shows."""
_MAX_COMPARED: Final = 1_000
"""Granted keys that a mistyped one is compared with."""
_MAX_NEAR: Final = 3
"""References that a refusal names."""
_MIN_LIKENESS: Final = 0.8
"""From this share of equal characters on, `difflib`'s ratio, a reference may be the one that was meant."""
_MISTYPED: Final = re.compile(r"cold\.[0-9]{6,13}")


def check_grant(reference: str, granted: Collection[str]) -> str:
    """Return the key that `reference` opens.

    Args:
        reference: "$cold.…", a bare key or "accp://cold/…", whole or short, as the caller wrote it.
        granted: The keys that were granted.

    Raises:
        ProtocolError: E5002, the key was not granted, or two granted keys begin so; it names these, or the nearest.
    """
    key = parse_reference(reference)
    if key in granted:
        return key
    meant = [each for each in tuple(granted) if short_key(each) == key]
    if len(meant) == 1:
        return meant[0]
    if meant:
        found = f"a reference that one text has, found {reference_to(key)!r}, which several have"
        near = "; whole: " + ", ".join(map(reference_to, sorted(meant)[:_MAX_NEAR]))
    else:
        found = f"a reference to a text that this conversation still has, found {reference[:_MAX_SHOWN]!r}"
        near = _nearest(key, granted)
    raise ProtocolError(f"expected {found}{near}", code=ErrorCode.UNAUTHORIZED_REF)


def _nearest(written: str, granted: Collection[str]) -> str:
    """Return the words that name the granted references which are most like a mistyped one; empty: none is."""
    mistyped = _MISTYPED.match(written)
    if mistyped is None:
        return ""
    known = {short_key(key): key for key in islice(tuple(granted), _MAX_COMPARED)}
    near = get_close_matches(mistyped[0], known, _MAX_NEAR, _MIN_LIKENESS)
    return "; nearest: " + ", ".join(short_reference(known[each]) for each in near) if near else ""


def checked_text(key: str, text: str | None) -> str:
    """Return the text that a store gave for `key`.

    A key in the form of `key_of` is compared with the text. A key of another form, which a peer chose, says nothing
    about its text and cannot be compared.

    Raises:
        ProtocolError: E2001, the store has no text for this key, or another one.
    """
    expected = f"expected the stored text of {short_reference(key)[:_MAX_SHOWN]!r}"
    if text is None:
        raise ProtocolError(
            f"{expected}, found none: it was deleted or is in another store", code=ErrorCode.REF_NOT_FOUND
        )
    if is_hash_key(key) and key_of(text) != key:
        raise ProtocolError(f"{expected}, found another text", code=ErrorCode.REF_NOT_FOUND)
    return text


def open_reference(reference: str, granted: Collection[str], read: Callable[[str], str | None]) -> str:
    """Return the text behind `reference`.

    Args:
        reference: As `check_grant` takes it.
        granted: The keys that were granted.
        read: Returns the text that is stored under a key, or None; it is called with granted keys only.

    Raises:
        ProtocolError: E5002, the key was not granted; E2001, nothing is stored there, or another text.
    """
    key = check_grant(reference, granted)
    return checked_text(key, read(key))
