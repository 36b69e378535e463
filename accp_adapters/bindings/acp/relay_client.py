"""Binding C for both agents: post to a room of a relay and poll it (ACP transport 0.3, section 5).

A relay keeps order but not connections: each of ours has a random name, which every message says, with the name of the
connection that it is for. A card for no connection in particular is a greeting; who was talking to another connection
of that peer begins a new one. So both sides know what the other has, as on a connection that is opened.

A connection ends where its peer says good-bye, or begins another one.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.acp.host import AcpAgent, AcpHost, host_of
from accp_adapters.bindings.acp.http_client import HttpClient
from accp_adapters.bindings.acp.session import DEFAULT_ACP_LIMITS, REPLACED, AcpLimits, ChannelClosed
from accp_adapters.bindings.identity import AccessDenied, Authenticate, Principal, loopback_only, with_bearer_token
from accp_core.acp import AgentCard, Binding, ErrorMessage, Link, parse_link, serialize_envelope
from accp_core.acp.envelope import RELAY_FIELDS, SENT_AT, read_object
from accp_core.errors import DecodeError
from accp_core.strict_json import compact_json

__all__ = ["Position", "RelayChannel", "open_relay", "serve_relay"]

_CHANNEL: Final = "channel"
_TO_CHANNEL: Final = "to_channel"
_WINDOW: Final = 80
"""Messages under way in one direction: two directions and their acknowledgements fit in the 200 that relays keep."""
_POLL_SECONDS: Final = 20.0
_FOREIGN_POLL_SECONDS: Final = 1.0
"""Between polls of a relay that does not wait: "1-3s" (section 5.3)."""
_LATE_SECONDS: Final = 30.0
"""Without a poll, after which the relay may have forgotten messages."""
_CLOSING_SECONDS: Final = 2.0
_JOINED: Final = "acp.agent_joined"
_LEFT: Final = "acp.agent_left"
_ATTEMPTS: Final = 5
_BACKOFF: Final = Backoff(first=0.1)


@dataclass(slots=True)
class Position:
    """Where a reader of a room is."""

    after: str | None = None
    """The id of the last message that was read; None: none."""


async def open_relay(
    link: Link,
    *,
    card: AgentCard,
    position: Position,
    is_host: bool = False,
    tls: ssl.SSLContext | None = None,
    limit: int,
) -> RelayChannel:
    """Return a connection to the room of a link, which is made if there is none.

    Args:
        link: The link on the relay.
        card: Our card.
        position: Where to read on; it moves with what is read.
        is_host: Whether the room is ours; a guest joins it.
        tls: How to verify the relay; None: as the system does.
        limit: Bytes of a message.

    Raises:
        ChannelClosed: The relay does not answer, or refuses.
    """
    host, _, _ = link.url.rpartition("/acp/")
    client = HttpClient(host, token="", tls=tls, limit=limit)
    channel = RelayChannel(client, link.token, name=card.name, position=position, is_host=is_host)
    try:
        await (_make_room(client, link.token) if is_host else channel.join(card))
    except BaseException:
        await client.aclose()
        raise
    return channel


async def _make_room(client: HttpClient, token: str) -> None:
    status, answer = await client.call("POST", f"/acp/new?token={token}")
    if status != 200 or answer.get("token") != token:
        raise ChannelClosed(f"the relay refuses the session: {status} {answer.get('error', '')!s:.100}")


async def serve_relay(
    agent: AcpAgent | AcpHost,
    link: str,
    *,
    tls: ssl.SSLContext | None = None,
    authenticate: Authenticate = loopback_only,
    limits: AcpLimits = DEFAULT_ACP_LIMITS,
) -> None:
    """Serve an agent to the guest who comes to its room of a relay, until cancelled.

    A guest who falls back from a WebSocket of the same host keeps its session, where the token is the same.

    Args:
        agent: The agent, or a host that other bindings share.
        link: "acp+wss://host/acp/token".
        tls: How to verify the relay; None: as the system does.
        authenticate: Says of whom the token is; one that it does not know stands for itself.
        limits: What the guest may use.
    """
    host, place = host_of(agent, authenticate, limits), parse_link(link)
    host.announce(Binding.HTTP_RELAY)
    principal, position = await _principal_of(host, place.token), Position()
    while True:
        with contextlib.suppress(ChannelClosed, OSError, DecodeError):
            limit = host.limits.message_bytes
            channel = await open_relay(place, card=host.card, position=position, is_host=True, tls=tls, limit=limit)
            try:
                first = await channel.receive()
            except BaseException:
                await channel.aclose()
                raise
            await host.serve(channel, principal, first)
        await asyncio.sleep(_BACKOFF.delay(1))


async def _principal_of(host: AcpHost, token: str) -> Principal:
    scope: dict[str, Any] = {"type": "acp.relay", "headers": [], "client": None}
    try:
        return await host.authenticate(with_bearer_token(scope, token))
    except AccessDenied:
        return Principal("relay")


class RelayChannel:
    """One connection of ours to a room, with one connection of the peer."""

    binding = Binding.HTTP_RELAY
    window: int | None = _WINDOW

    def __init__(self, client: HttpClient, token: str, *, name: str, position: Position, is_host: bool) -> None:
        """Talk in the room of `token` as the agent `name`, and read on at `position`."""
        self._client, self._token, self._name, self._position = client, token, name, position
        self._is_host = is_host
        self._id = secrets.token_hex(8)
        self._peer: str | None = None
        self._met = asyncio.Event()
        self._is_superseded = self._is_closed = False
        self._ended: ChannelClosed | None = None
        self._disowned = ""
        self._card: str | None = None
        self._posted = 0
        self._last_number: int | None = None
        self._polled = time.monotonic()
        self._texts: deque[str] = deque()

    # "Guest (Binding A failed): POST /acp/<token>/join → join relay session" (section 5.3)
    async def join(self, card: AgentCard) -> None:
        """Join the room as a guest; raises as `open_relay`."""
        body = compact_json({"name": self._name, "card": {**card.to_json(), _CHANNEL: self._id}})
        try:
            status, answer = await self._client.call("POST", f"/acp/{self._token}/join", body)
        except ChannelClosed as closed:
            if not closed.code:
                raise
            await _make_room(self._client, self._token)  # the host has not come yet
            status, answer = await self._call("POST", "join", body)
        if status != 200:
            raise ChannelClosed(f"the relay refuses us: {status} {answer.get('error', '')!s:.100}")

    async def send(self, text: str) -> None:
        """Post a text for the connection of the peer; our card is a greeting while that is unknown.

        Everything else waits for the peer: no peer takes a text without a recipient.
        """
        data = read_object(text)
        if data["type"] == "acp.agent_card":
            self._card = text
        else:
            await self._met.wait()
        await self._post(data)

    async def receive(self) -> str:
        """Return the next text for us."""
        while not self._texts:
            if self._ended is not None:
                raise self._ended
            try:
                await self._read()
            except ChannelClosed as closed:
                self._ended = closed  # after the texts that came before
        return self._texts.popleft()

    async def _read(self) -> None:
        entries = await self._poll()
        left = {entry.get(_CHANNEL) for entry in entries if entry.get("type") == _LEFT}
        for entry in entries:
            self._check_number(entry)
            await self._take(entry, has_left=entry.get(_CHANNEL) in left)
            self._position.after = str(entry.get("id"))

    async def keep_alive(self) -> None:
        """Repeat the greeting until a peer comes, as relays delete old greetings; polling keeps the room."""
        if self._card is not None and not self._met.is_set():
            await self._post(read_object(self._card))

    async def aclose(self, code: str = "") -> None:
        """Leave the room, and say so, but to a peer that has left or has begun another connection."""
        if self._is_closed:
            return
        self._is_closed = True
        with contextlib.suppress(ChannelClosed, TimeoutError):
            async with asyncio.timeout(_CLOSING_SECONDS):
                if code and code != REPLACED:
                    await self._post(read_object(serialize_envelope(ErrorMessage(code=code))))
                elif not self._is_superseded:
                    await self._say_left(self._id)
        await self._client.aclose()

    async def _say_left(self, channel: str) -> None:
        """Say that a connection of ours has ended."""
        self._posted += 1
        entry = {"type": _LEFT, "from": self._name, "id": f"{self._id}-{self._posted}", _CHANNEL: channel}
        await self._call("POST", "send", compact_json(entry))

    async def _post(self, data: Mapping[str, Any]) -> None:
        self._posted += 1
        relayed = {**data, "id": f"{self._id}-{self._posted}", _CHANNEL: self._id, _TO_CHANNEL: self._peer}
        if "ts" in data:
            relayed[SENT_AT] = data["ts"]
        status, _ = await self._call("POST", "send", compact_json({"from": self._name, **relayed}))
        if status != 200:
            raise ChannelClosed(f"the relay refuses a message: {status}")

    async def _poll(self) -> list[Mapping[str, Any]]:
        if time.monotonic() - self._polled > _LATE_SECONDS + _POLL_SECONDS:
            raise ChannelClosed("the relay was not polled for too long")
        began = time.monotonic()
        after = f"&after_id={quote(self._position.after)}" if self._position.after else ""
        status, answer = await self._call("GET", f"poll?limit=200&wait={_POLL_SECONDS:g}{after}")
        entries = answer.get("messages")
        if status != 200 or not isinstance(entries, list):
            raise ChannelClosed(f"the relay refuses a poll: {status}")
        self._polled = time.monotonic()
        if not entries and self._polled - began < _FOREIGN_POLL_SECONDS:
            await asyncio.sleep(_FOREIGN_POLL_SECONDS)
        return [entry for entry in entries if isinstance(entry, Mapping)]

    async def _call(self, method: str, action: str, body: str | None = None) -> tuple[int, dict[str, Any]]:
        """Ask the relay, again where it does not answer: it knows a message that it got before."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                status, answer = await self._client.call(method, f"/acp/{self._token}/{action}", body)
            except ChannelClosed as closed:
                if closed.code:  # the room is gone: not known to the relay any more, or not yet again
                    raise ChannelClosed(str(closed)) from None
            else:
                if status < 500 and status != 429:
                    return status, answer
            await asyncio.sleep(_BACKOFF.delay(attempt))
        raise ChannelClosed("the relay does not answer")

    async def _take(self, entry: Mapping[str, Any], *, has_left: bool) -> None:
        """Keep the text of an entry, if it is for us; answer a greeting of a peer that has not left since."""
        source, target = entry.get(_CHANNEL), entry.get(_TO_CHANNEL)
        is_card = entry.get("type") == "acp.agent_card"
        if source == self._id:
            return
        if not isinstance(source, str):
            self._take_foreign(entry)
        elif entry.get("type") == _LEFT:
            self._part(source)
        elif target is None and is_card:
            await self._greeted(source, entry, has_left=has_left)
        elif target == self._id and self._peer in (None, source):
            is_repeated = self._peer == source and is_card
            self._meet(source)
            if not is_repeated:
                self._texts.append(_text_of(entry))
        elif target == self._id and is_card:
            self._supersede()
        elif not has_left and entry.get("from") != self._name:
            await self._disown(target)

    def _part(self, source: str) -> None:
        if source == self._peer:
            self._is_superseded = True
            raise ChannelClosed("the peer has left")

    def _supersede(self) -> None:
        self._is_superseded = True
        raise ChannelClosed("the peer has begun another connection")

    async def _disown(self, channel: object) -> None:
        """Tell a guest that the connection to which it writes is over, as after a restart of the host."""
        if self._is_host and self._peer is None and isinstance(channel, str) and channel != self._disowned:
            self._disowned = channel
            await self._say_left(channel)

    async def _greeted(self, source: str, entry: Mapping[str, Any], *, has_left: bool) -> None:
        if not self._is_host or has_left or source == self._peer:
            return
        if self._peer is not None:
            self._supersede()
        self._meet(source)
        self._texts.append(_text_of(entry))
        if self._card is not None:
            await self._post(read_object(self._card))

    def _meet(self, peer: str | None) -> None:
        """Remember the connection of the peer; None: it has come and names none."""
        self._peer = peer
        self._met.set()

    def _take_foreign(self, entry: Mapping[str, Any]) -> None:
        """Keep the text of a peer that names no connection, such as the card of one who joined."""
        has_joined, card = entry.get("type") == _JOINED, entry.get("card")
        if entry.get("name" if has_joined else "from") == self._name:
            return
        if has_joined and (not self._is_host or (isinstance(card, Mapping) and _CHANNEL in card)):
            return  # another guest, or the greeting of this one follows
        self._meet(self._peer)
        if not has_joined:
            self._texts.append(_text_of(entry))
        elif isinstance(card, Mapping):
            self._texts.append(compact_json({"type": "acp.agent_card", "card": card}))

    def _check_number(self, entry: Mapping[str, Any]) -> None:
        """Notice what the relay has dropped: its numbers have no gaps."""
        number, last = entry.get("seq"), self._last_number
        if type(number) is int:
            if last is not None and number != last + 1:
                raise ChannelClosed("the relay has dropped messages")
            self._last_number = number


def _text_of(entry: Mapping[str, Any]) -> str:
    """Return the text of an entry without what the relay and the channel have added."""
    own = {name: value for name, value in entry.items() if name not in (*RELAY_FIELDS, _CHANNEL, _TO_CHANNEL)}
    if SENT_AT in entry or "ts" in entry:
        own["ts"] = entry.get(SENT_AT, entry.get("ts"))
    return compact_json(own)
