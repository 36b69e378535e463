"""Binding C, the relay: rooms of which two agents post and poll messages (ACP transport 0.3, section 5.3).

    POST /acp/new?token=T    POST /acp/T/join    POST /acp/T/send    GET /acp/T/poll

Whoever knows the token of a room is in it, as the specification has it; nothing is kept beyond `ttl_seconds`. Its users
are not authenticated: put a proxy with limits for each address before a relay that strangers use.
"""

from __future__ import annotations

import math
import re
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accp_adapters.bindings.acp.http import answer
from accp_adapters.bindings.acp.session import Signal
from accp_adapters.serving.limits import Quota, RateLimit, Shares, TooMany
from accp_adapters.serving.principals import network_of
from accp_adapters.serving.requests import AllowedHosts, RequestRefused, read_body
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.acp.envelope import MAX_ACP_BYTES, read_object
from accp_core.bounded import BoundedDict
from accp_core.errors import ProtocolError
from accp_core.strict_json import compact_json

__all__ = ["DEFAULT_RELAY_LIMITS", "RelayLimits", "relay_app"]

_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{6,64}")
_MAX_POLL: Final = 200
"""Messages of one answer to a poll."""
_WAIT_SECONDS: Final = 25.0
"""How long a poll may wait for a message, at most."""
_BODY_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayLimits:
    """The limits of one relay."""

    rooms: int = 500
    """Rooms at the same time, half of them of one address; for another one, whoever has most loses its oldest."""
    messages: int = 200
    """Messages that a room keeps."""
    total_bytes: int = 128 << 20
    """Bytes of the messages of all rooms, and as many of all bodies; an address may use half of each."""
    ttl_seconds: float = 60.0
    """Seconds after which a message is deleted, and a room that was not used."""
    rate: float = 200.0
    """Requests of one address that change a room, for each second, after a burst of twice as many; a tenth of it for
    unknown tokens."""


DEFAULT_RELAY_LIMITS: Final = RelayLimits()


class _Refused(Exception):
    """A request that a relay refuses."""

    def __init__(self, error: str, status: int) -> None:
        super().__init__(error)
        self.status = status


@dataclass(slots=True, kw_only=True)
class _Room:
    """The messages of one session, numbered from 1."""

    session_id: str
    owner: str
    """The address that has made it."""
    used: float
    """When it was used last."""
    messages: deque[tuple[int, bytes]] = field(default_factory=deque)
    """The milliseconds and the text of each message that is kept; the last one has the number `last`."""
    known: BoundedDict[str, int]
    """Id to number."""
    changed: Signal = field(default_factory=Signal)
    last: int = 0
    size: int = 0

    def append(self, entry: Mapping[str, Any], entry_id: str, now: float) -> None:
        """Add a message; the relay's own members replace those of the sender."""
        self.last += 1
        milliseconds = int(now * 1000)
        text = compact_json({**entry, "id": entry_id, "seq": self.last, "ts": milliseconds}).encode()
        self.messages.append((milliseconds, text))
        self.known.put(entry_id, self.last)
        self.size += len(text)
        self.changed.notify()

    def drop_oldest(self) -> None:
        """Forget the oldest message."""
        self.size -= len(self.messages.popleft()[1])

    def after(self, after_id: str | None, since: float | None, limit: int) -> list[bytes]:
        """Return the texts after a message, or from a time on: at most `limit`, and of at most a megabyte.

        An id that is not known any more counts as none: everything that is kept is returned.
        """
        number = self.known.get(after_id or "", 0)
        first = max(0, number - (self.last - len(self.messages)))
        found = list(self.messages)[first:]
        if since is not None and after_id is None:
            found = [each for each in found if each[0] > since]
        sizes = accumulate(len(text) for _, text in found[:limit])
        return [text for _, text in found[: max(1, sum(size <= MAX_ACP_BYTES for size in sizes))]]


def relay_app(*, limits: RelayLimits = DEFAULT_RELAY_LIMITS, hosts: Iterable[str] = ()) -> Starlette:
    """Return the application of a relay.

    Args:
        limits: What its users may use.
        hosts: Names of this server beside the loopback names, which `Host` and `Origin` may have.
    """
    relay = _Relay(limits, AllowedHosts.of(hosts))
    return Starlette(
        routes=[
            Route("/acp/new", relay.guarded(relay.new), methods=["POST"]),
            Route("/acp/{token}/{action}", relay.guarded(relay.act), methods=["GET", "POST"]),
        ]
    )


class _Relay:
    def __init__(self, limits: RelayLimits, allowed: AllowedHosts) -> None:
        self._limits = limits
        self._allowed = allowed
        self._bodies = Quota(limits.total_bytes, limits.total_bytes // 2, "bytes of bodies")
        self._rate = RateLimit(limits.rate, 2 * limits.rate)
        self._unknown = RateLimit(limits.rate / 10, limits.rate / 5)
        self._rooms: dict[str, _Room] = {}
        self._owned = Shares(limits.rooms, limits.rooms - limits.rooms // 2)

    def guarded(self, endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
        """Return `endpoint`, for allowed hosts and origins only, and with every refusal as a relay writes it."""

        async def wrapped(request: Request) -> Response:
            try:
                self._allowed.check(request.scope["headers"])
                return await endpoint(request)
            except _Refused as refused:
                return answer({"error": str(refused)}, refused.status)
            except RequestRefused as refused:
                return answer({"error": "invalid_request", "message": str(refused)}, refused.status)
            except TooMany as error:
                return answer({"error": "out_of_memory", "message": error.reason}, 503)
            except (ProtocolError, ValueError) as error:
                return answer({"error": "invalid_request", "message": str(error)[:300]}, 400)

        return wrapped

    async def new(self, request: Request) -> Response:
        """Make a room; one that is there already stays."""
        self._expire()
        token = request.query_params.get("token", "")
        existed = token in self._rooms
        if not existed:
            token = token if _TOKEN.fullmatch(token) else f"tok_{secrets.token_hex(8)}"
            self._make(token, network_of(request.scope))
        self._rooms[token].used = time.time()
        scheme = "acp+wss" if request.url.scheme == "https" else "acp+ws"
        return answer({"token": token, "link": f"{scheme}://{request.url.netloc}/acp/{token}", "existed": existed})

    def _make(self, token: str, owner: str) -> None:
        self._count(self._rate, owner)
        for gone in self._owned.admit(owner, token):
            del self._rooms[gone]
        known: BoundedDict[str, int] = BoundedDict(self._limits.messages)
        session_id = f"tok_{secrets.token_hex(8)}"
        self._rooms[token] = _Room(session_id=session_id, owner=owner, used=time.time(), known=known)

    def _count(self, rate: RateLimit, owner: str) -> None:
        if rate.take(owner):
            raise _Refused("rate_limited", 429)

    async def act(self, request: Request) -> Response:
        """Do what a path says in its room."""
        owner = network_of(request.scope)
        room = self._room(request.path_params["token"], owner)
        match request.method, request.path_params["action"]:
            case "POST", "join":
                body = await self._body(request)
                name = str(body.get("name") or "agent")[:64]
                # The reference's guest sends its card alone.
                entry = {"type": "acp.agent_joined", "from": name, "name": name, "card": body.get("card", body)}
                self._add(room, entry, owner)
                return answer({"ok": True, "session_id": room.session_id, "seq": room.last, "agent_name": name})
            case "POST", "send":
                entry_id, is_new = self._add(room, await self._body(request), owner)
                return answer({"ok": True, "id": entry_id, **({"seq": room.last} if is_new else {"deduped": True})})
            case "GET", "poll":
                return await self._poll(request, room)
        raise _Refused("unknown_action", 400)

    def _room(self, token: str, owner: str) -> _Room:
        self._expire()
        room = self._rooms.get(token)
        if room is None:  # who tries one token after the other gets no more answers
            self._count(self._unknown, owner)
            raise _Refused("invalid_token", 403)
        self._owned.admit(room.owner, token)
        room.used = time.time()
        while room.messages and room.messages[0][0] < (room.used - self._limits.ttl_seconds) * 1000:
            room.drop_oldest()
        return room

    def _expire(self) -> None:
        oldest = time.time() - self._limits.ttl_seconds
        for token in [token for token, room in self._rooms.items() if room.used < oldest]:
            self._owned.remove(self._rooms.pop(token).owner, token)

    def _add(self, room: _Room, entry: Mapping[str, Any], owner: str) -> tuple[str, bool]:
        """Add a message to a room; return its id and whether it is new."""
        given = entry.get("id")
        entry_id = given if isinstance(given, str) and 0 < len(given) <= 200 else f"relay_{secrets.token_hex(8)}"
        if room.known.get(entry_id) is not None:
            return entry_id, False
        self._count(self._rate, owner)
        most, sizes = self._limits.total_bytes, [(each.size, each.owner) for each in self._rooms.values()]
        theirs = sum(size for size, each in sizes if each == room.owner)
        if theirs > most // 2 or sum(size for size, _ in sizes) > most:
            raise _Refused("out_of_memory", 503)
        room.append(entry, entry_id, time.time())
        share = self._limits.total_bytes // 16
        while len(room.messages) > self._limits.messages or (room.size > share and len(room.messages) > 1):
            room.drop_oldest()
        return entry_id, True

    async def _body(self, request: Request) -> dict[str, Any]:
        owner = network_of(request.scope)
        text = (await read_body(request, self._bodies, owner, limit=2 * MAX_ACP_BYTES, seconds=_BODY_SECONDS)).decode()
        log_frame(Direction.RECEIVED, "relay", text)
        return read_object(text, limit=2 * MAX_ACP_BYTES)

    async def _poll(self, request: Request, room: _Room) -> Response:
        query = request.query_params
        limit = min(_MAX_POLL, max(1, int(query.get("limit", "50")[:6])))
        asked = query.get("after_id"), _finite(query.get("since")), limit
        wait = min(_WAIT_SECONDS, _finite(query.get("wait")) or 0.0)
        texts = room.after(*asked)
        if not texts and wait > 0:
            await room.changed.wait(wait)
            texts = room.after(*asked)
        last = str(read_object(texts[-1].decode(), limit=4 * MAX_ACP_BYTES)["id"]) if texts else asked[0]
        about = {"count": len(texts), "last_id": last, "server_seq": room.last}
        head = compact_json(about)[1:]
        return Response(b'{"messages":[%b],%b' % (b",".join(texts), head.encode()), media_type="application/json")


def _finite(text: str | None) -> float | None:
    """Return a number of a query, None where there is none; the guest of the reference writes a time as "0.0".

    Raises:
        ValueError: It is none.
    """
    number = float(text[:40]) if text else None
    if number is not None and not math.isfinite(number):
        raise ValueError(f"expected a number, found {text!r:.50}")
    return number
