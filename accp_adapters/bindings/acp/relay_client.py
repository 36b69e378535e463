"""Binding C for both agents: post to a room of a relay and poll it (ACP transport 0.3, section 5).

A relay keeps messages in order, but no connections. A guest begins one by joining: its card then says what it has
received. The host answers by its own card, and what it had posted before does not count any more. Whoever has lost
messages, or meets another one than before, joins again.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import ssl
from collections import deque
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from accp_adapters.backoff import Backoff
from accp_adapters.bindings.acp.host import AcpAgent, AcpHost, host_of
from accp_adapters.bindings.acp.http_client import HttpClient
from accp_adapters.bindings.acp.session import REPLACED, ChannelClosed
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.principals import AccessDenied, Authenticate, Principal, loopback_only, with_bearer_token
from accp_core.acp import Binding, ErrorMessage, Link, parse_link, serialize_envelope
from accp_core.acp.connection import CURSOR, RESUME
from accp_core.acp.envelope import RELAY_FIELDS, SENT_AT, read_object
from accp_core.errors import DecodeError
from accp_core.strict_json import compact_json

__all__ = ["Position", "RelayChannel", "open_relay", "serve_relay"]

_WINDOW: Final = 80
"""Messages under way in one direction: two directions and their acknowledgements fit in the 200 that relays keep."""
_POLL_SECONDS: Final = 20.0
_FOREIGN_POLL_SECONDS: Final = 1.0
"""Between polls of a relay that does not wait: "1-3s" (section 5.3)."""
_CLOSING_SECONDS: Final = 2.0
_CARD: Final = "acp.agent_card"
_JOINED: Final = "acp.agent_joined"
_BEGUN: Final = "acp.agent_begun"
"""Our type of what a host says when it starts: whoever is in the room joins again."""
_OURS: Final = re.compile(r"acp-[0-9a-f]{16}-[0-9]+")
"""The ids of what peers of this library post, who begin a connection by a card."""
_ATTEMPTS: Final = 5
_BACKOFF: Final = Backoff(first=0.1)


class Position:
    """Where an agent is in a room, over one connection after the other."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self.after: str | None = None
        """The id of the last message that was read; None: none."""
        self.own: Final = f"acp-{secrets.token_hex(8)}"
        """How the ids of our own messages begin."""
        self.posted = 0
        """How many there are."""


async def open_relay(
    link: Link, *, name: str, position: Position, is_host: bool = False, tls: ssl.SSLContext | None = None, limit: int
) -> RelayChannel:
    """Return a connection to the room of a link, which is made if there is none.

    Args:
        link: The link on the relay.
        name: The name of our agent.
        position: Where to read on; it moves with what is read.
        is_host: Whether the room is ours; a guest joins it.
        tls: How to verify the relay; None: as the system does.
        limit: Bytes of a message.

    Raises:
        ChannelClosed: The relay does not answer, or refuses.
    """
    host, _, _ = link.url.rpartition("/acp/")
    client = HttpClient(host, token="", tls=tls, limit=limit)
    try:
        status, answer = await client.call("POST", f"/acp/new?token={link.token}")
        if status != 200 or answer.get("token") != link.token:
            raise ChannelClosed(f"the relay refuses the session: {status} {answer.get('error', '')!s:.100}")
    except BaseException:
        await client.aclose()
        raise
    return RelayChannel(client, link.token, name=name, position=position, is_host=is_host)


async def serve_relay(
    agent: AcpAgent | AcpHost,
    link: str,
    *,
    tls: ssl.SSLContext | None = None,
    authenticate: Authenticate = loopback_only,
    limits: ServerLimits | None = None,
) -> None:
    """Serve an agent to the guest who comes to its room of a relay, until cancelled.

    A guest who falls back from a WebSocket of the same host keeps its session, where the token is the same.

    Args:
        agent: The agent, or a host that other bindings share.
        link: "acp+wss://host/acp/token".
        tls: How to verify the relay; None: as the system does.
        authenticate: Says of whom the token is; one that it does not know stands for itself.
        limits: What the guest may use; None: the defaults.
    """
    host, place = host_of(agent, authenticate, limits), parse_link(link)
    host.announce(Binding.HTTP_RELAY)
    principal, position, limit = await _principal_of(host, place.token), Position(), host.limits.frame_bytes
    while True:
        with contextlib.suppress(ChannelClosed, OSError, DecodeError):
            channel = await open_relay(
                place, name=host.card.name, position=position, is_host=True, tls=tls, limit=limit
            )
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
    """One connection of ours to a room."""

    binding = Binding.HTTP_RELAY
    window: int | None = _WINDOW

    def __init__(self, client: HttpClient, token: str, *, name: str, position: Position, is_host: bool) -> None:
        """Talk in the room of `token` as the agent `name`, and read on at `position`."""
        self._client, self._token, self._name, self._position = client, token, name, position
        self._is_host = is_host
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
        """Post a text, or join by our card; a guest's other texts wait until somebody has answered that."""
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
            await self._begin()
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
        """Join again until somebody answers, as relays delete old messages; polling keeps the room."""
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
        status, answer = await self._call("POST", "join", self._card)
        if status != 200:
            raise ChannelClosed(f"the relay refuses us: {status} {answer.get('error', '')!s:.100}")
        number = answer.get("seq")
        self._begins = number if type(number) is int else 0
        self._joined.set()

    async def _begin(self) -> None:
        """Begin in a room in which an earlier run of ours may have been: nothing that was said to it counts."""
        await self._post({"type": _BEGUN})
        self._position.after = self._last_id()

    async def _post(self, data: Mapping[str, Any]) -> None:
        self._position.posted += 1
        relayed = {"from": self._name, **data, "id": self._last_id()}
        if "ts" in data:
            relayed[SENT_AT] = data["ts"]
        status, _ = await self._call("POST", "send", compact_json(relayed))
        if status != 200:
            raise ChannelClosed(f"the relay refuses a message: {status}")

    def _last_id(self) -> str:
        return f"{self._position.own}-{self._position.posted}"

    async def _poll(self) -> list[Mapping[str, Any]]:
        began = asyncio.get_running_loop().time()
        after = f"&after_id={quote(self._position.after)}" if self._position.after else ""
        status, answer = await self._call("GET", f"poll?limit=200&wait={_POLL_SECONDS:g}{after}")
        entries = answer.get("messages")
        if status != 200 or not isinstance(entries, list):
            raise ChannelClosed(f"the relay refuses a poll: {status}")
        if not entries and asyncio.get_running_loop().time() - began < _FOREIGN_POLL_SECONDS:
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
        if (text := _text_of(entry)) is not None:
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
        number, last = entry.get("seq"), self._last_number
        if type(number) is int:
            if last is not None and number != last + 1:
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
