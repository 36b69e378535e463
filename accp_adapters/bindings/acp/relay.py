"""Binding C, the relay: rooms of which two agents post and poll messages (ACP transport 0.3, section 5.3).

    POST /acp/new?token=T    POST /acp/T/join    POST /acp/T/send    GET /acp/T/poll

Whoever knows the token of a room is in it, as the specification has it; nothing is kept beyond `ttl_seconds`. Its users
are not authenticated: put a proxy with limits for each address before a relay that strangers use.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import secrets
import ssl
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.acp.host import AcpAgent, AcpHost, host_of
from accp_adapters.bindings.acp.http import HttpClient, answer, refusing
from accp_adapters.bindings.acp.session import DUPLICATE, REPLACED, Channel, ChannelClosed
from accp_adapters.bindings.clock import Signal
from accp_adapters.serving import principals
from accp_adapters.serving.limits import Quota, RateLimit, ServerLimits, Shares, TooMany, weight_of
from accp_adapters.serving.requests import AllowedHosts, RequestRefused, read_body, run_until_disconnect, too_large
from accp_adapters.serving.threads import OWNER, off_loop
from accp_core.acp import Binding, ErrorMessage, Link, parse_link, serialize_envelope
from accp_core.acp.connection import CURSOR, RESUME, Complete
from accp_core.acp.envelope import MAX_ACP_BYTES, RELAY_FIELDS, SENT_AT, read_object
from accp_core.errors import DecodeError
from accp_core.strict_json import compact_json

__all__ = ["Position", "RelayChannel", "open_relay", "relay_app", "serve_relay"]


_LOGGER: Final = logging.getLogger("accp.acp")
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{6,64}")
_MAX_POLL: Final = 200
"""Messages of one answer to a poll."""
_WAIT_SECONDS: Final = 5.0
"""How long a poll may wait for a message, at most: as long as a relay that is stopped still waits for its polls."""


@dataclass(slots=True, kw_only=True)
class _Room:
    """The messages of one session, numbered from 1."""

    session_id: str
    """Its name for who joins, and in the log: the token is secret."""
    owner: str
    """The address that has made it."""
    used: float = field(default_factory=time.time)
    """When it was used last."""
    seats: dict[str, tuple[str, float]] = field(default_factory=dict)
    """Role to the agent that has it, and until when the agent has it without another poll."""
    messages: deque[tuple[int, str, bytes]] = field(default_factory=deque)
    """The milliseconds, the id and the text of each message that is kept; the last one has the number `last`."""
    changed: Signal = field(default_factory=Signal)
    last: int = 0

    @property
    def size(self) -> int:
        """The bytes of the messages."""
        return sum(len(text) for *_, text in self.messages)

    def written(self, members: bytes, entry_id: str) -> tuple[int, str, bytes]:
        """Return the next message, with the relay's own members behind those of the sender."""
        milliseconds = int(time.time() * 1000)
        own = compact_json({"id": entry_id, "seq": self.last + 1, "ts": milliseconds})[1:-1].encode()
        return milliseconds, entry_id, b"{%b}" % b",".join(filter(None, (members, own)))

    def after(self, after_id: str | None, since: float, limit: int) -> list[tuple[int, str, bytes]]:
        """Return the messages after one, or from a time on: at most `limit`, and of at most a megabyte.

        An id that is not kept any more counts as none: everything that is kept is returned.
        """
        ids = [entry_id for _, entry_id, _ in self.messages]
        found = list(self.messages)[ids.index(after_id) + 1 if after_id in ids else 0 :]
        if after_id is None:
            found = [each for each in found if each[0] > since]
        sizes = accumulate(len(text) for *_, text in found[:limit])
        return found[: max(1, sum(size <= MAX_ACP_BYTES for size in sizes))]


def relay_app(*, limits: ServerLimits | None = None, ttl_seconds: float = 60.0, hosts: Iterable[str] = ()) -> Starlette:
    """Return the application of a relay.

    Args:
        limits: What its users may use; None: the defaults. `places` is the rooms, half of them of one address, `window`
            the messages of a room, and `rate` the requests of one address that change a room.
        ttl_seconds: Until a message is deleted, and a room that was not used.
        hosts: Names of this server beside the loopback names, which `Host` and `Origin` may have.
    """
    relay = _Relay(limits or ServerLimits(), ttl_seconds, AllowedHosts.of(hosts))
    return Starlette(
        routes=[
            Route("/health", lambda _: answer({"ok": True})),
            Route("/acp/new", relay.new, methods=["POST"]),
            Route("/acp/{token}/{action}", relay.act, methods=["GET", "POST"]),
        ],
        exception_handlers=refusing(relay.refused),
    )


class _Relay:
    def __init__(self, limits: ServerLimits, ttl_seconds: float, allowed: AllowedHosts) -> None:
        self._limits, self._ttl_seconds, self._allowed = limits, ttl_seconds, allowed
        self._bodies = Quota(limits.buffered_bytes, limits.buffered_bytes // 2, "bytes of bodies")
        self._rate = RateLimit(limits.rate, limits.burst)
        self._unknown = RateLimit(limits.rate / 10, limits.burst / 10)
        self._told = RateLimit(10, 100)
        self._rooms: dict[str, _Room] = {}
        self._owned = Shares(limits.places, limits.places - limits.places // 2)
        self._held = Shares(limits.buffered_bytes, limits.buffered_bytes // 2)

    def _owner(self, request: Request) -> str:
        """Return the address that asks; raises for another host or origin."""
        self._allowed.check(request.scope["headers"])
        return principals.network_of(request.scope)

    async def refused(self, request: Request, error: Exception) -> Response:
        """Return the response that refuses a request, as a relay writes it; the log gets nothing of a body."""
        status, code, reason = 400, "invalid_request", str(error)[:300]
        if isinstance(error, HTTPException):
            status, code, reason = error.status_code, error.detail, ""
        elif isinstance(error, TooMany):
            status, code, reason = 503, "out_of_memory", error.reason
        elif isinstance(error, RequestRefused):
            status = error.status
        told = f"{status:d} {code} {'' if status == 400 else reason}".rstrip()
        self._tell(logging.WARNING, f"refused {principals.network_of(request.scope)}: {told}")
        return answer({"error": code, **({"message": reason} if reason else {})}, status)

    def _tell(self, level: int, text: str) -> None:
        """Log a line, if there were not too many."""
        if not self._told.take():
            _LOGGER.log(level, "%s", text)

    def _seat(self, room: _Room, request: Request, owner: str) -> None:
        """Note which agent asks: ours say it by a parameter of `new` and `poll`. A room has one agent of each role.

        Raises:
            HTTPException: 409, another agent has its role.
        """
        for role in {"host", "guest"} & request.query_params.keys():
            agent, (known, until) = request.query_params[role][:64], room.seats.get(role, ("", 0.0))
            if agent != known and time.time() < until:
                raise HTTPException(409, f"{DUPLICATE}: the room has a {role}")
            if agent != known:
                self._tell(logging.INFO, f"{room.session_id}: a {role} has joined from {owner}")
            room.seats[role] = agent, time.time() + _WAIT_SECONDS + 1

    async def new(self, request: Request) -> Response:
        """Make a room; one that is there already stays."""
        owner = self._owner(request)
        self._expire()
        token = request.query_params.get("token", "")
        existed = token in self._rooms
        if not existed:
            token = token if _TOKEN.fullmatch(token) else f"tok_{secrets.token_hex(8)}"
            self._count(self._rate, owner)
            for gone in self._owned.admit(owner, token):
                self._held.remove(self._rooms.pop(gone).owner, gone)
            self._rooms[token] = _Room(session_id=f"room_{secrets.token_hex(4)}", owner=owner)
        self._room(token, request, owner)
        scheme = "acp+wss" if request.url.scheme == "https" else "acp+ws"
        return answer({"token": token, "link": f"{scheme}://{request.url.netloc}/acp/{token}", "existed": existed})

    def _count(self, rate: RateLimit, owner: str) -> None:
        if rate.take(owner):
            raise HTTPException(429, "rate_limited")

    async def act(self, request: Request) -> Response:
        """Do what a path says in its room."""
        owner = self._owner(request)
        room = self._room(request.path_params["token"], request, owner)
        match request.method, request.path_params["action"]:
            case "POST", "join":
                name, *_ = await self._add(request, owner, _joining)
                if not room.seats.get("guest"):
                    self._tell(logging.INFO, f"{room.session_id}: {name!r} has joined from {owner}")
                return answer({"ok": True, "session_id": room.session_id, "seq": room.last, "agent_name": name})
            case "POST", "send":
                _, entry_id, is_new = await self._add(request, owner, dict)
                return answer({"ok": True, "id": entry_id, **({"seq": room.last} if is_new else {"deduped": True})})
            case "GET", "poll":
                return await self._poll(request, room)
        raise HTTPException(400, "unknown_action")

    def _room(self, token: str, request: Request, owner: str) -> _Room:
        self._expire()
        room = self._rooms.get(token)
        if room is None:  # who tries one token after the other gets no more answers
            self._count(self._unknown, owner)
            raise HTTPException(403, "invalid_token")
        self._owned.admit(room.owner, token)
        room.used = time.time()
        while room.messages and room.messages[0][0] < (room.used - self._ttl_seconds) * 1000:
            room.messages.popleft()
        self._held.admit(room.owner, token, size=room.size)  # no more than before
        self._seat(room, request, owner)
        return room

    def _expire(self) -> None:
        oldest = time.time() - self._ttl_seconds
        for token in [token for token, room in self._rooms.items() if room.used < oldest]:
            owner = self._rooms.pop(token).owner
            self._owned.remove(owner, token)
            self._held.remove(owner, token)

    async def _add(self, request: Request, owner: str, complete: Complete) -> tuple[Any, str, bool]:
        """Add what `complete` returns for a body to a room; return its name and its id, and whether it is new.

        Others' messages may give way, never own.
        """
        data = await read_body(request, self._bodies, owner, limit=2 * MAX_ACP_BYTES, seconds=self._limits.body_time)
        OWNER.set(owner)
        with self._bodies.taken(owner, len(data)):
            memory = self._limits.buffered_bytes // 4
            given, name, members = await off_loop(len(data), _entry_of, data, complete, memory)
        token = request.path_params["token"]
        room = self._room(token, request, owner)
        entry_id = given if isinstance(given, str) and 0 < len(given) <= 200 else f"relay_{secrets.token_hex(8)}"
        if any(entry_id == kept for _, kept, _ in room.messages):
            return name, entry_id, False
        self._count(self._rate, owner)
        message, share = room.written(members, entry_id), self._limits.buffered_bytes // 16
        size = max(len(message[2]), min(room.size + len(message[2]), share))
        for other in self._held.admit(room.owner, token, lambda each: self._rooms[each].owner == room.owner, size=size):
            self._rooms[other].messages.clear()
        room.messages.append(message)
        room.last += 1
        room.changed.notify()
        while len(room.messages) > self._limits.window or (room.size > share and len(room.messages) > 1):
            room.messages.popleft()
        return name, entry_id, True

    async def _poll(self, request: Request, room: _Room) -> Response:
        query = request.query_params
        limit = min(_MAX_POLL, max(1, int(query.get("limit", "50")[:6])))
        # The guest of the reference writes a time as "0.0".
        since, wait = (float(query.get(name, "")[:40] or 0) for name in ("since", "wait"))
        asked, wait = (query.get("after_id"), since, limit), min(_WAIT_SECONDS, wait)
        found = room.after(*asked)
        if not found and wait > 0:
            await run_until_disconnect(request.receive, room.changed.wait(wait))
            if await request.is_disconnected():
                for role in [role for role, (agent, _) in room.seats.items() if agent == query.get(role)]:
                    del room.seats[role]
                    self._tell(logging.INFO, f"{room.session_id}: the {role} has left")
            found = room.after(*asked)
        about = {"count": len(found), "last_id": found[-1][1] if found else asked[0], "server_seq": room.last}
        body = b'{"messages":[%b],%b' % (b",".join(text for *_, text in found), compact_json(about)[1:].encode())
        return Response(body, media_type="application/json")


def _entry_of(data: bytes, complete: Complete, memory: int) -> tuple[Any, Any, bytes]:
    """Return the id and the name of the entry that a body is, and its members, but for those that the relay writes.

    Args:
        data: The body.
        complete: Returns the entry of its object.
        memory: Bytes that the entry may take once it is read.

    Raises:
        RequestRefused: It would take more; nothing was read.
        DecodeError: It is no object of JSON.
    """
    text = data.decode()
    if weight_of(text) > memory:
        raise too_large(f"{memory:,} bytes once its values are read")
    entry = complete(read_object(text, limit=2 * MAX_ACP_BYTES))
    own = {name: value for name, value in entry.items() if name not in RELAY_FIELDS - {SENT_AT}}
    return entry.get("id"), entry.get("name"), compact_json(own)[1:-1].encode()


def _joining(body: Mapping[str, Any]) -> dict[str, Any]:
    # The reference's guest sends its card alone.
    name = str(body.get("name") or "agent")[:64]
    return {"type": _JOINED, "from": name, "name": name, "card": body.get("card", body)}


# Binding C for both agents: post to a room of a relay and poll it (ACP transport 0.3, section 5).

_WINDOW: Final = 80
"""Messages under way in one direction: two directions and their acknowledgements fit in the 200 that relays keep."""
_POLL_SECONDS: Final = 20.0
_FOREIGN_POLL_SECONDS: Final = 1.0
"""Between polls of a relay that does not wait: "1-3s" (section 5.3)."""
_CLOSING_SECONDS: Final = 2.0
_CARD: Final = "acp.agent_card"
_JOINED: Final = "acp.agent_joined"
_BEGUN: Final = "acp.agent_begun"
"""The type of the message that our host posts when it starts. A guest that reads it joins again."""
_OURS: Final = re.compile(r"acp-[0-9a-f]{16}-[0-9]+")
"""The ids of what peers of this library post, who begin a connection by a card."""
_BACKOFF: Final = Backoff(first=0.1, longest=5.0)


class Position:
    """Where an agent is in a room, over one connection after the other."""

    def __init__(self, role: str = "guest") -> None:
        """Start with nothing read, as the "host" or a "guest" of the room."""
        self.role: Final = role
        self.after: str | None = None
        """The id of the last message that was read; None: none."""
        self.own: Final = f"acp-{secrets.token_hex(8)}"
        """How the ids of our own messages begin."""
        self.posted = 0
        """How many there are."""


async def open_relay(
    link: Link, *, name: str, position: Position, tls: ssl.SSLContext | None = None, limit: int
) -> RelayChannel:
    """Return a connection to the room of a link, which is made if there is none.

    Args:
        link: The link on the relay.
        name: The name of our agent.
        position: Where to read on; it moves with what is read. A host has the room, a guest joins it.
        tls: How to verify the relay; None: as the system does.
        limit: Bytes of a message.

    Raises:
        ChannelClosed: The relay does not answer, or refuses.
    """
    host, _, _ = link.url.rpartition("/acp/")
    client = HttpClient(link.url, tls=tls, limit=limit, denied="")
    try:
        status, answer = await client.call("POST", f"{host}/acp/new?token={link.token}&{position.role}={position.own}")
        if status != 200 or answer.get("token") != link.token:
            raise ChannelClosed(f"the relay refuses the session: {status} {answer.get('error', '')!s:.100}")
    except BaseException:
        await client.aclose()
        raise
    return RelayChannel(client, name=name, position=position)


async def serve_relay(
    agent: AcpAgent | AcpHost,
    link: str,
    *,
    tls: ssl.SSLContext | None = None,
    allow_plain_text: bool = False,
    authenticate: principals.Authenticate = principals.loopback_only,
    limits: ServerLimits | None = None,
) -> None:
    """Serve an agent to the guest who comes to its room of a relay, until cancelled.

    A guest who falls back from a WebSocket of the same host keeps its session, where the token is the same.

    Args:
        agent: The agent, or a host that other bindings share.
        link: "acp+wss://host/acp/token".
        tls: How to verify the relay; None: as the system does.
        allow_plain_text: Whether the token may be sent to another machine without TLS.
        authenticate: Says of whom the token is; one that it does not know stands for itself.
        limits: What the guest may use; None: the defaults.

    Raises:
        ValueError: As `check_token`.
    """
    principals.check_token(parse_link(link).token, link, allow_plain_text=allow_plain_text)
    host, place = host_of(agent, authenticate, limits), parse_link(link)
    host.announce(Binding.HTTP_RELAY)
    position, limit, principal = Position("host"), host.limits.frame_bytes, principals.Principal("relay")
    with contextlib.suppress(principals.AccessDenied):
        principal = await host.admit({"type": "acp.relay", "client": None}, place.token)
    failures = 0
    while True:
        try:
            opening = open_relay(place, name=host.card.name, position=position, tls=tls, limit=limit)
            async with contextlib.aclosing(await opening) as channel:
                await host.serve(channel, principal, await channel.receive())
            failures = 0
        except (ChannelClosed, OSError, DecodeError) as error:
            failures += 1
            _LOGGER.warning("the agent is not in its room, and tries again: %s", error)
        await asyncio.sleep(_BACKOFF.delay(failures or 1))


class RelayChannel(Channel):
    """One connection of ours to a room."""

    binding = Binding.HTTP_RELAY
    window = _WINDOW

    def __init__(self, client: HttpClient, *, name: str, position: Position) -> None:
        """Talk in the room of `client` as the agent `name`, and read on at `position`."""
        self._client, self._name, self._position = client, name, position
        self._is_host = position.role == "host"
        self._joined = asyncio.Event()
        self._begins = 0
        """The number of our greeting: what came before it does not count."""
        self._met = asyncio.Event()
        self._card = ""
        self._peer_log: object = None
        """The log that the peer's card named."""
        self._last_number: int | None = None
        self._texts: deque[str] = deque()
        self._ended: ChannelClosed | None = None

    async def send(self, text: str) -> None:
        """Post a text. A guest's card joins the room; its other texts wait until a peer has answered the card."""
        data = read_object(text)
        if data["type"] == _CARD and not self._is_host:
            said = {name: data[name] for name in (CURSOR, RESUME) if name in data}
            self._card = compact_json({"name": self._name, "card": {**data["card"], **said}})
            await self._join()
            return
        await self._met.wait()
        await self._post(data)

    async def receive(self) -> str:
        """Return the next text for us."""
        if self._is_host and self._position.after is None:
            # An earlier run of ours may have been in the room: nothing that was said to it counts.
            await self._post({"type": _BEGUN})
            self._position.after = self._last_id()
        elif not self._is_host:
            await self._joined.wait()
        while not self._texts:
            if self._ended is not None:
                raise self._ended
            try:
                for entry in await self._poll():
                    self._take(entry)
                    self._position.after = str(entry.get("id"))
            except ChannelClosed as closed:
                self._ended = closed  # after the texts that came before
        return self._texts.popleft()

    async def keep_alive(self) -> None:
        """Join again while no peer has answered: the relay may have deleted our card. Polls keep the room alive."""
        if self._card and not self._met.is_set():
            await self._join()

    async def aclose(self, code: str = "") -> None:
        """Leave the room; the peer is told of an error."""
        with contextlib.suppress(ChannelClosed, TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                if code and code != REPLACED:
                    await self._post(read_object(serialize_envelope(ErrorMessage(code=code))))
        await self._client.aclose()

    # "Guest (Binding A failed): POST /acp/<token>/join → join relay session" (section 5.3)
    async def _join(self) -> None:
        status, answer = await self._client.call("POST", "/join", self._card)
        if status != 200:
            raise ChannelClosed(f"the relay refuses us: {status} {answer.get('error', '')!s:.100}")
        number = answer.get("seq")
        self._begins = number if type(number) is int else 0
        self._joined.set()

    async def _post(self, data: Mapping[str, Any]) -> None:
        self._position.posted += 1
        sent = {SENT_AT: data["ts"]} if "ts" in data else {}
        relayed = {"from": self._name, **data, "id": self._last_id(), **sent}
        status, _ = await self._client.call("POST", "/send", compact_json(relayed))
        if status != 200:
            raise ChannelClosed(f"the relay refuses a message: {status}")

    def _last_id(self) -> str:
        return f"{self._position.own}-{self._position.posted}"

    async def _poll(self) -> list[Mapping[str, Any]]:
        began = asyncio.get_running_loop().time()
        after = f"&after_id={quote(self._position.after)}" if self._position.after else ""
        who = f"limit=200&{self._position.role}={self._position.own}{after}"
        status, answer = await self._client.call("GET", f"/poll?wait={_POLL_SECONDS:g}&{who}")
        entries = answer.get("messages")
        if status != 200 or not isinstance(entries, list):
            raise ChannelClosed(f"the relay refuses a poll: {status}")
        if not entries and asyncio.get_running_loop().time() - began < _FOREIGN_POLL_SECONDS:
            await asyncio.sleep(_FOREIGN_POLL_SECONDS)
        return [entry for entry in entries if isinstance(entry, Mapping)]

    def _take(self, entry: Mapping[str, Any]) -> None:
        """Keep the text of an entry, if it is for us.

        Raises:
            ChannelClosed: The connection is over; the next one begins with a greeting of the guest.
        """
        self._check_number(entry)
        kind, number, entry_id = entry.get("type"), entry.get("seq"), str(entry.get("id"))
        if entry_id.startswith(self._position.own) or (kind == _JOINED and not self._is_host):
            return
        if _OURS.fullmatch(entry_id) and (type(number) is not int or number <= self._begins):
            return
        if kind == _BEGUN or (kind == _JOINED and self._met.is_set()):
            raise ChannelClosed("the peer has begun another connection")
        if _OURS.fullmatch(entry_id) and not (self._met.is_set() or kind in (_CARD, "error")):
            return  # what the peer posted before it read our greeting
        if kind == _CARD:
            self._check_log(entry)
        if text := _text_of(entry):
            self._met.set()
            self._texts.append(text)

    def _check_log(self, card: Mapping[str, Any]) -> None:
        """Notice that the peer has started again."""
        resume = card.get(RESUME)
        log = resume.get("log") if isinstance(resume, Mapping) else None
        if self._met.is_set() and log != self._peer_log:
            raise ChannelClosed("the peer has begun anew")
        self._peer_log = log

    def _check_number(self, entry: Mapping[str, Any]) -> None:
        """Notice what the relay has dropped: its numbers have no gaps."""
        number = entry.get("seq")
        if type(number) is int:
            if self._last_number not in (None, number - 1):
                raise ChannelClosed("the relay has dropped messages")
            self._last_number = number


def _text_of(entry: Mapping[str, Any]) -> str | None:
    """Return the envelope in an entry: without what the relay has added, or the card of who has joined."""
    if entry.get("type") == _JOINED:
        card = entry.get("card")
        if not isinstance(card, Mapping):
            return None
        said = {name: card[name] for name in (CURSOR, RESUME) if name in card}
        return compact_json({"type": _CARD, "card": card, **said})
    own = {name: value for name, value in entry.items() if name not in RELAY_FIELDS}
    if SENT_AT in entry or "ts" in entry:
        own["ts"] = entry.get(SENT_AT, entry.get("ts"))
    return compact_json(own)
