"""Binding C, the relay: rooms of which two agents post and poll messages (ACP transport 0.3, section 5).

    POST /acp/new?token=T    POST /acp/T/join    POST /acp/T/send    GET /acp/T/poll    GET /acp/T/status
    DELETE /acp/T            GET /acp/rooms      GET /acp/myip

Whoever knows the token of a room is in it, as the specification has it; nothing is kept beyond `ttl_seconds`.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from accp_adapters.bindings.acp.http_sse.requests import answer
from accp_adapters.bindings.acp.relay.limits import DEFAULT_RELAY_LIMITS, RelayLimits
from accp_adapters.bindings.acp.relay.rooms import Room, RoomRefused, Rooms
from accp_adapters.bindings.clock import SteadyClock
from accp_adapters.serving.bodies import BodyRefused, ByteBudget, read_body
from accp_adapters.serving.hosts import AllowedHosts, network_of
from accp_adapters.serving.off_loop import OWNER
from accp_adapters.serving.rates import RateLimit
from accp_adapters.serving.responses import HeldResponse
from accp_adapters.serving.shares import Places, TooMany
from accp_adapters.wire_log import log_frame
from accp_core.accp.debug import Direction
from accp_core.acp.document import read_object
from accp_core.errors import ProtocolError
from accp_core.strict_json import compact_json

__all__ = ["RelayLimits", "relay_app"]

MAX_POLL: Final = 200
"""Messages of one answer to a poll."""
MAX_READER: Final = 64
"""Characters of the name that a connection gives itself in a poll."""


def relay_app(*, limits: RelayLimits = DEFAULT_RELAY_LIMITS, hosts: Iterable[str] = ()) -> Starlette:
    """Return the application of a relay.

    Args:
        limits: What its users may use.
        hosts: Names of this server beside the loopback names, which `Host` and `Origin` may have.
    """
    endpoints = _Endpoints(limits, AllowedHosts.of(hosts))
    return Starlette(
        routes=[
            Route("/acp/new", endpoints.wrap(endpoints.new), methods=["POST"]),
            Route("/acp/rooms", endpoints.wrap(endpoints.rooms_count)),
            Route("/acp/myip", endpoints.wrap(endpoints.my_ip)),
            Route("/acp/{token}", endpoints.wrap(endpoints.delete), methods=["DELETE"]),
            Route("/acp/{token}/{action}", endpoints.wrap(endpoints.act), methods=["GET", "POST"]),
        ]
    )


class _Endpoints:
    def __init__(self, limits: RelayLimits, allowed: AllowedHosts) -> None:
        self._limits = limits
        self._allowed = allowed
        self._clock = SteadyClock()
        self._budget = ByteBudget(limits.total_bytes, each=limits.address_bytes)
        self._waiting = Places(limits.waiting, limits.waiting_each)
        self._new = RateLimit(limits.new_rate, limits.new_burst)
        self._failed = RateLimit(limits.failed_rate, limits.failed_burst)
        self._rooms = Rooms(limits)

    def wrap(self, endpoint: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[HeldResponse]]:
        async def wrapped(request: Request) -> HeldResponse:
            busy, owner = answer({"error": "out_of_memory"}, 503), network_of(request.scope)
            OWNER.set(owner)
            return HeldResponse(
                await self._answered(endpoint, request),
                self._budget,
                owner=owner,
                seconds=self._limits.write_seconds,
                refusal=busy,
            )

        return wrapped

    async def _answered(self, endpoint: Callable[[Request], Awaitable[Response]], request: Request) -> Response:
        if refusal := self._allowed.refusal(request.scope["headers"]):
            return answer({"error": "forbidden", "message": refusal[1]}, refusal[0])
        try:
            return await endpoint(request)
        except RoomRefused as refused:
            return answer({"error": refused.error}, refused.status)
        except BodyRefused as refused:
            error = {408: "timeout", 413: "message_too_large"}.get(refused.status, "invalid_request")
            return answer({"error": error, "message": str(refused)}, refused.status)
        except (ProtocolError, ValueError) as error:
            return answer({"error": "invalid_request", "message": str(error)[:300]}, 400)

    async def new(self, request: Request) -> Response:
        address = network_of(request.scope)
        if self._new.take(address):
            raise RoomRefused("rate_limited", 429)
        token, existed = self._rooms.create(
            request.query_params.get("token", ""), address, self._clock(), lambda: f"tok_{secrets.token_hex(8)}"
        )
        scheme = "acp+wss" if request.url.scheme == "https" else "acp+ws"
        return answer({"token": token, "link": f"{scheme}://{request.url.netloc}/acp/{token}", "existed": existed})

    async def rooms_count(self, _: Request) -> Response:
        """Return the number of rooms; their tokens stay secret."""
        return answer({"rooms": len(self._rooms)})

    async def my_ip(self, request: Request) -> Response:
        return answer({"ip": request.client.host if request.client else None})

    async def delete(self, request: Request) -> Response:
        self._room(request)
        self._rooms.delete(request.path_params["token"])
        return answer({"ok": True, "deleted": True})

    async def act(self, request: Request) -> Response:
        room = self._room(request)
        match request.method, request.path_params["action"]:
            case "POST", "join":
                return await self._join(request, room)
            case "POST", "send":
                return await self._send(request, room)
            case "GET", "poll":
                return await self._poll(request, room)
            case "GET", "status":
                return answer(room.status(self._clock()))
        raise RoomRefused("unknown_action", 400)

    def _room(self, request: Request) -> Room:
        """Return the room of a request; who tries one token after the other gets no more answers."""
        address = network_of(request.scope)
        if self._failed.delay(address):
            raise RoomRefused("rate_limited", 429)
        try:
            return self._rooms.get(request.path_params["token"], self._clock())
        except RoomRefused:
            self._failed.take(address)
            raise

    async def _body(self, request: Request) -> dict[str, Any]:
        limits = self._limits
        with self._budget.lease(network_of(request.scope)) as lease:
            data = await read_body(
                request.scope, request.receive, lease, limit=limits.message_bytes, seconds=limits.body_seconds
            )
        text = data.decode()
        log_frame(Direction.RECEIVED, "relay", text)
        return read_object(text, limit=limits.message_bytes)

    async def _join(self, request: Request, room: Room) -> Response:
        body = await self._body(request)
        name = str(body.get("name") or "agent")[:64]
        card = body.get("card", body)  # the reference's guest sends its card alone
        entry = {"type": "acp.agent_joined", "from": name, "name": name, "card": card}
        _, number, _ = self._rooms.add(room, entry, self._clock(), secrets.token_hex(8))
        room.agents.put(name, True)
        return answer({"ok": True, "session_id": room.session_id, "seq": number, "agent_name": name})

    async def _send(self, request: Request, room: Room) -> Response:
        entry_id, number, is_new = self._rooms.add(
            room, await self._body(request), self._clock(), f"relay_{secrets.token_hex(8)}"
        )
        if not is_new:
            return answer({"ok": True, "deduped": True, "id": entry_id})
        return answer({"ok": True, "id": entry_id, "seq": number})

    async def _poll(self, request: Request, room: Room) -> Response:
        query = request.query_params
        limit = min(MAX_POLL, max(1, int(query.get("limit", "50")[:6])))
        after_id, since = query.get("after_id"), _finite(query.get("since"))
        wait = min(self._limits.wait_seconds, _finite(query.get("wait")) or 0.0)
        reader = query.get("reader", "")[:MAX_READER]
        room.polled.put(reader, self._clock())
        texts, last = room.after(after_id, since, limit, self._limits.answer_bytes)
        if not texts and wait > 0:
            with suppress(TooMany), self._waiting.take(network_of(request.scope)):
                await room.changed.wait(wait)
            texts, last = room.after(after_id, since, limit, self._limits.answer_bytes)
        now = self._clock()
        room.polled.put(reader, now)
        polled = compact_json({name: round(now - then, 3) for name, then in room.polled.items()})
        head = f'"count":{len(texts)},"last_id":{_quoted(last)},"server_seq":{room.last},"polled":{polled}'
        return Response(b'{"messages":[%b],%b}' % (b",".join(texts), head.encode()), media_type="application/json")


def _finite(text: str | None) -> float | None:
    """Return a number of a query, None where there is none; the guest of the reference writes a time as "0.0".

    Raises:
        ValueError: It is none.
    """
    number = float(text[:40]) if text else None
    if number is not None and not math.isfinite(number):
        raise ValueError(f"expected a number, found {text!r:.50}")
    return number


def _quoted(text: str | None) -> str:
    return compact_json(text)
