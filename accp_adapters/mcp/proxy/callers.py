"""Whose request it is, and the relay that belongs to it: nobody opens or lists what was shown to somebody else.

A relay belongs to a session and the credentials with which the server accepted a request of it. The session id alone
is not enough, since servers need not check that it fits the credentials; nor are the credentials, where there are
sessions. Without session ids, it belongs to the credentials. A request with neither belongs to nobody: its results may
be views, but no previews, since a reference would open for anybody or for nobody.
"""

from __future__ import annotations

import functools
import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from accp_adapters.mcp.proxy.relay import Relay
from accp_adapters.serving.hosts import Headers, header
from accp_adapters.serving.shares import Shares, TooMany
from accp_core.bounded import BoundedDict

_LOG: Final = logging.getLogger(__name__)

__all__ = ["MAX_SESSIONS", "SESSION_HEADER", "Caller", "CallerRelays", "caller_of"]

MAX_SESSIONS: Final = 10_000
"""Callers of one proxy; beyond, the principal that has most loses the one that was silent for longest, and its
references are refused."""
SESSION_HEADER: Final = "mcp-session-id"
_MAX_CANDIDATES: Final = 1_000
"""Callers that the server has not answered yet."""

_NO_IDENTITY: Final[dict[str, str]] = {
    "what the client takes and sends, the same for all users": (
        "accept accept-charset accept-encoding accept-language content-encoding content-length content-type expect"
    ),
    "the connection and the caches on the way; the server gets the host that the proxy calls": (
        "cache-control connection host if-none-match keep-alive pragma priority te trailer transfer-encoding upgrade"
        " via"
    ),
    "the program and the page that send it": (
        "dnt referer sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site"
        " sec-fetch-user sec-gpc sec-purpose upgrade-insecure-requests user-agent"
    ),
    "this one request": (
        "cf-ray correlation-id date idempotency-key last-event-id request-id x-correlation-id x-request-id"
    ),
    "the trace that the request is a part of": (
        "b3 baggage sentry-trace traceparent tracestate uber-trace-id x-amzn-trace-id x-b3-flags x-b3-parentspanid"
        " x-b3-sampled x-b3-spanid x-b3-traceid x-cloud-trace-context x-datadog-origin x-datadog-parent-id"
        " x-datadog-sampling-priority x-datadog-tags x-datadog-trace-id"
    ),
    "the message in the body, and its session, which is compared by itself": (
        "mcp-method mcp-name mcp-protocol-version mcp-session-id"
    ),
}
"""Header fields that carry no identity, by what they carry instead; any other field may identify a user."""
_NAMES: Final = frozenset(name.encode() for names in _NO_IDENTITY.values() for name in names.split())
_ARGUMENT: Final = b"mcp-param-"
"""Begins the name of a field that repeats an argument of a call, which the body has, too."""
_MANY: Final = 20
"""Callers that come once each, after which a warning says so."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sends a request, as the server gets it."""

    session_id: str
    """The session, empty if there is none."""
    principal: str
    """A hash of all fields by which the server may tell users apart."""
    is_named: bool
    """Whether it has such a field."""

    @property
    def is_identified(self) -> bool:
        """Whether the server can tell it from others: by its session, or by a field."""
        return bool(self.session_id) or self.is_named

    def in_session(self, session_id: str) -> Caller:
        """Return the same caller in a session, or for no id, in none."""
        return replace(self, session_id=session_id)

    def owner(self, server: str) -> str:
        """Return the name under which the caller's texts are stored, the same in every proxy; empty for nobody.

        Args:
            server: The URL of the server.
        """
        if not self.is_identified:
            return ""
        return sha256(json.dumps([server, self.session_id, self.principal]).encode()).hexdigest()


def caller_of(headers: Headers) -> Caller:
    """Return who sends a request with `headers`, the fields that the server gets from the client."""
    fields = sorted((name, value) for name, value in headers if not _identifies_nobody(name))
    principal = sha256(b"\n".join(b"%s: %s" % field for field in fields)).hexdigest()
    return Caller(header(headers, SESSION_HEADER.encode()), principal, bool(fields))


def _identifies_nobody(name: bytes) -> bool:
    return name in _NAMES or name.startswith(_ARGUMENT)


class CallerRelays:
    """The relay of each caller; those that the server has not accepted do not displace those that it has."""

    def __init__(
        self,
        new_relay: Callable[[], Relay],
        *,
        server: str = "",
        limit: int = MAX_SESSIONS,
        max_bytes: int = 2**60,
        run: Callable[[Callable[[], None]], object] = lambda work: work(),
    ) -> None:
        """Start empty.

        Args:
            new_relay: Returns the relay of a caller about whom nothing is known.
            server: The URL of the server.
            limit: Callers that are remembered, half as many of one principal.
            max_bytes: Bytes of all texts that are kept for them, half as many for one principal.
            run: Runs what deletes the texts of a caller, which may wait for a store.
        """
        self._new_relay: Final = new_relay
        self._server: Final = server
        self._run: Final = run
        self._accepted: Final[dict[str, Relay]] = {}
        self._candidates: Final[BoundedDict[str, Relay]] = BoundedDict(_MAX_CANDIDATES)
        self._places: Final = Shares(limit, (limit + 1) // 2)
        self._texts: Final = Shares(max_bytes, (max_bytes + 1) // 2)
        self._once = 0
        """How many callers without a session have come since one came again."""

    def __len__(self) -> int:
        return len(self._accepted)

    def __contains__(self, caller: Caller) -> bool:
        """Return whether the server has accepted a request of `caller`."""
        return _key(caller) in self._accepted

    def find(self, caller: Caller) -> Relay:
        """Return the relay for a request of `caller`."""
        key = _key(caller)
        relay = self._accepted.get(key) or self._candidates.get(key)
        if relay is None:
            known = self._same_session(caller) or self._new_relay()
            relay = known.for_owner(caller.owner(self._server), is_session=bool(caller.session_id))
            self._candidates.put(key, relay)
        if caller.session_id:
            return relay
        return relay.exchange() or self._new_relay()

    def accept(self, caller: Caller) -> None:
        """Remember a caller whose request the server has accepted."""
        key = _key(caller)
        relay = self._candidates.pop(key, None)
        known = self._accepted.get(key)
        if (found := known or relay) is not None:
            self._put(caller, found)
        if not caller.session_id:
            self._watch(is_new=known is None)

    def begin(self, caller: Caller, relay: Relay) -> None:
        """Remember the session that a caller has begun; `relay` has relayed its beginning."""
        if _key(caller) not in self._accepted:
            self._put(caller, relay.for_owner(caller.owner(self._server), is_session=True))

    def end(self, caller: Caller) -> None:
        """Drop a session that has ended, and its texts."""
        key = _key(caller)
        for relays in (self._accepted, self._candidates):
            if key in relays:
                self._drop(key, relays.pop(key), is_over=True)

    def count(self, caller: Caller) -> None:
        """Count the texts of `caller`; where all are too many, the principal that has most loses its oldest ones."""
        key = _key(caller)
        size = self._accepted[key].stored_bytes if key in self._accepted else 0
        try:
            given_up = self._texts.admit(caller.principal, key, size=size) if size else []
        except TooMany:  # Its own texts alone are too many.
            given_up = [key]
        for each in given_up:
            self._drop(each, self._accepted.pop(each))

    def close(self) -> None:
        """Free what is kept for all callers; their sessions may go on in another process."""
        while self._accepted:
            self._drop(*self._accepted.popitem())

    def _same_session(self, caller: Caller) -> Relay | None:
        """Return the relay of the session with other credentials, such as an older token; its client is the same."""
        same = (relay for key, relay in self._accepted.items() if key.partition(" ")[2] == caller.session_id)
        return next(same, None) if caller.session_id else None

    def _put(self, caller: Caller, relay: Relay) -> None:
        """Keep a relay as the one used last; beyond the limit, the principal that has most loses its oldest one."""
        key = _key(caller)
        for each in self._places.admit(caller.principal, key):
            self._drop(each, self._accepted.pop(each))
        self._accepted[key] = relay

    def _drop(self, key: str, relay: Relay, *, is_over: bool = False) -> None:
        for shares in (self._places, self._texts):
            shares.remove(key.partition(" ")[0], key)
        self._run(lambda: relay.close(is_over=is_over))

    def _watch(self, *, is_new: bool) -> None:
        self._once = self._once + 1 if is_new else 0
        if self._once == _MANY:
            _warn_of_callers()


@functools.cache
def _warn_of_callers() -> None:
    """Say so once in this process."""
    _LOG.warning(
        "each of the last %d requests has other header fields: the server may tell its users apart by one of them, so "
        "that no request opens the references of another one; let what is before the proxy leave such a field out",
        _MANY,
    )


def _key(caller: Caller) -> str:
    return f"{caller.principal} {caller.session_id}"
