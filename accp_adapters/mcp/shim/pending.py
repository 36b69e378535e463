"""What a shim remembers: the requests that are under way, and what the two ends of a connection have in common."""

from __future__ import annotations

import itertools
import logging
import re
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from accp_adapters.mcp.shim.negotiation import Declared
from accp_adapters.mcp.shim.protocol import Json, MessageId, id_of
from accp_adapters.mcp.shim.stored_results import Shelf
from accp_adapters.mcp.shim.tools.tool_catalog import Catalog

__all__ = ["Asked", "Pending", "Shared", "fail_open"]

_LOG: Final = logging.getLogger(__name__)

_WORD: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MOST: Final = 10_000
"""Requests under way in one direction; the oldest is forgotten, and its result passes as it comes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request that is under way."""

    method: str
    """Its method."""
    params: Any
    """Its params, as they came."""
    declared: Declared | None
    """What the client understands."""
    is_modern: bool
    """Whether it came in the era of 2026-07-28."""
    correlation_id: str
    """Its id as a frame can say it."""

    @classmethod
    def of(cls, message: Json, *, declared: Declared | None, is_modern: bool) -> Asked:
        """Return what is to be remembered of a request."""
        return cls(
            method=message["method"],
            params=message.get("params"),
            declared=declared,
            is_modern=is_modern,
            correlation_id=_correlation_id(message.get("id")),
        )


def _correlation_id(found: object) -> str:
    """Return a request's id, or a digest of one that is too long for a frame's metadata or holds more than words."""
    text = str(found)
    return text if _WORD.fullmatch(text) else sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Pending:
    """The requests under way, by id."""

    def __init__(self) -> None:
        """Begin with none."""
        self._asked: OrderedDict[MessageId, Asked] = OrderedDict()

    def add(self, message: Json, asked: Asked) -> None:
        """Remember a request; one with the same id as another takes its place."""
        key = id_of(message)
        if key is None:
            return
        self._asked.pop(key, None)
        self._asked[key] = asked
        if len(self._asked) > _MOST:
            self._asked.popitem(last=False)

    def pop(self, message: Json) -> Asked | None:
        """Return the request that a response answers, once; None where it is not known."""
        key = id_of(message)
        return None if key is None else self._asked.pop(key, None)

    def cancel(self, params: object) -> None:
        """Forget the request that a `notifications/cancelled` names: its result, if there is one, is not for anyone."""
        if isinstance(params, dict):
            self.pop({"id": params.get("requestId")})


@dataclass(slots=True)
class Shared:
    """What all HTTP exchanges of one session know, or all messages of one connection."""

    is_session: bool = True
    """Whether it is one client's; else what was shown to one is not listed, for any could list it."""
    declared: Declared | None = None
    """What the client declared in `initialize`; None in the era that declares it with every request."""
    catalog: Catalog = field(default_factory=Catalog)
    """The server's tools, as the client listed them."""
    shelf: Shelf | None = None
    """The texts that were too big to show; None where nothing is kept."""
    sequence: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    """The numbers of the frames that were sent."""


def fail_open(work: Callable[[Json], Json], message: Json) -> Json:
    """Return what `work` makes of a message, the message itself where it fails or the message is no object.

    Whatever the reason, the original is right: a shim that is in the way is worse than none.
    """
    if type(message) is not dict:
        return message
    try:
        return work(message)
    except Exception:
        _LOG.debug("a message passes as it came", exc_info=True)
        return message
