"""Binding D, HTTP: the endpoints beside the stream (ACP transport 0.3, section 6, and the reference's suites).

POST /message:send    a message for the agent        GET /stream, /recv      what the agent says
POST /reply           the reply to one of its        POST /ack               what was received
POST, GET /tasks      messages with kept results     GET /peers, /peer/{id}  who else is there; POST /peer/{id}/send
GET /.well-known/acp.json, /status, /skills, /link
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from accp_adapters.bindings.acp.http_sse.requests import AcpGate, answer, refuse
from accp_adapters.bindings.acp.http_sse.stream import EventStream
from accp_adapters.bindings.acp.http_sse.tasks import HttpTasks
from accp_adapters.bindings.acp.sessions.session import AcpSession
from accp_adapters.bindings.identity import Principal
from accp_adapters.serving.off_loop import VERY_LONG, off_loop, size_of
from accp_core.acp import Acknowledged, AcpError, AcpMessage, ErrorReceived, ReplyReceived, read_request
from accp_core.acp.card import ACP_VERSION
from accp_core.acp.document import Json, read_object
from accp_core.acp.parts import part_to_json
from accp_core.errors import LocalProtocolError, RemoteProtocolError
from accp_core.strict_json import compact_json

__all__ = ["HttpEndpoints"]

_CONTROLS: Final = frozenset({"sync", "timeout", "peer_id", "create_task", "type"})
"""Members of a request that are about the request, not about the message."""
_MAX_RECEIVED: Final = 500


class HttpEndpoints:
    """The endpoints of one agent."""

    def __init__(self, gate: AcpGate, *, require_role: bool = False, controllers: Collection[str] = ()) -> None:
        """Serve the agent of `gate`.

        Args:
            gate: Lets requests in.
            require_role: Whether to refuse a message without a role; otherwise its role is "user".
            controllers: The names of the principals that may see all peers and send to them in the agent's name.
        """
        self._gate = gate
        self._require_role = require_role
        self._controllers = frozenset(controllers)
        self._tasks: WeakKeyDictionary[AcpSession, HttpTasks] = WeakKeyDictionary()

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        table: list[tuple[str, str, Callable[[Request], Awaitable[Response]]]] = [
            ("GET", "/.well-known/acp.json", self._card),
            ("GET", "/status", self._status),
            ("GET", "/skills", self._skills),
            ("GET", "/link", self._link),
            ("GET", "/stream", self._stream),
            ("GET", "/recv", self._receive),
            ("POST", "/message:send", self._send),
            ("POST", "/reply", self._reply),
            ("POST", "/ack", self._acknowledge),
            ("POST", "/tasks", self._create_task),
            ("GET", "/tasks", self._list_tasks),
            ("GET", "/tasks/{id}", self._get_task),
            ("POST", "/tasks/{id}/cancel", self._cancel_task),
            ("GET", "/peers", self._peers),
            ("GET", "/peer/{id}", self._peer),
            ("POST", "/peer/{id}/send", self._send_to_peer),
        ]
        return [Route(path, self._gate.wrap(endpoint), methods=[method]) for method, path, endpoint in table]

    async def _card(self, _: Request) -> Response:
        card = self._gate.host.card.to_json()
        return answer({**card, "self": card})

    async def _status(self, request: Request) -> Response:
        session = await self._gate.session(request)
        card = self._gate.host.card
        return answer(
            {
                "agent": card.name,
                "version": card.version,
                "acp_version": ACP_VERSION,
                "session_id": session.connection.log_id,
                "connected": True,
                "peer": session.name,
                "server_seq": session.connection.sent,
            }
        )

    async def _skills(self, _: Request) -> Response:
        return answer([dict(skill) for skill in self._gate.host.card.skills])

    async def _link(self, request: Request) -> Response:
        await self._gate.principal(request)
        return answer({"link": self._gate.host.link or None})

    async def _stream(self, request: Request) -> Response:
        return EventStream(self._gate.host, await self._gate.session(request), request)

    async def _receive(self, request: Request) -> Response:
        connection = (await self._gate.session(request)).connection
        limit = request.query_params.get("limit", "50")
        if not (limit.isdecimal() and 0 < int(limit[:9]) <= _MAX_RECEIVED):
            raise ValueError(f"limit: expected 1 to {_MAX_RECEIVED}, found {limit!r:.40}")
        batch = connection.sent_after(connection.written, int(limit))
        if batch:
            connection.mark_written(batch[-1][0])
        texts = ",".join(text for _, text in batch)
        counts = f'"count":{len(batch)},"remaining":{connection.sent - connection.written}'
        return Response(f'{{"messages":[{texts}],{counts}}}', media_type="application/json")

    async def _send(self, request: Request) -> Response:
        session = await self._gate.session(request)
        message, body, weight = await self._message(request, session)
        peer, message = body.get("peer_id", message.to_peer), replace(message, to_peer=None)
        if peer is not None and peer != session.name:
            return await self._pass_on(session.principal, str(peer), message)
        is_sync = body.get("sync") is True
        return await self._to_agent(session, message, weight, is_sync=is_sync, seconds=body.get("timeout"))

    async def _message(self, request: Request, session: AcpSession) -> tuple[AcpMessage, dict[str, Any], int]:
        """Return the message of a request, the members that are about the request among others, and its weight."""
        text, weight = await self._gate.weighed_body(request, session)
        limit = self._gate.host.limits.message_bytes
        read = partial(read_request, require_role=self._require_role, limit=limit)
        message = await off_loop(len(text), read, text)
        known = message.message_id or f"msg_{secrets.token_hex(6)}"
        own = {name: value for name, value in message.extra.items() if name not in _CONTROLS}
        return replace(message, message_id=known, extra=own), dict(message.extra), weight

    async def _to_agent(
        self, session: AcpSession, message: AcpMessage, weight: int, *, is_sync: bool, seconds: Any
    ) -> Response:
        known = str(message.message_id)
        result = session.result_of(known) if is_sync else None
        event = session.take_message(message, weight)
        done: dict[str, Json] = {"ok": True, "message_id": known, "server_seq": event.number}
        if result is None:
            return answer(done)
        longest = session.limits.reply_seconds
        wait = min(longest, seconds) if isinstance(seconds, (int, float)) and seconds > 0 else longest
        try:
            async with asyncio.timeout(wait):
                parts = await asyncio.shield(result)
        except TimeoutError:
            return refuse(AcpError.TIMEOUT, f"expected a reply within {wait:g} seconds, found none", message_id=known)
        except RemoteProtocolError as error:
            return refuse(AcpError.INTERNAL, error.reason, message_id=known)
        told: dict[str, Any] = {
            **done,
            "reply": {"correlation_id": known, "parts": [part_to_json(part) for part in parts]},
        }
        return await off_loop(size_of(told, VERY_LONG), answer, told)

    async def _reply(self, request: Request) -> Response:
        session = await self._gate.session(request)
        data = read_object(await self._gate.body(request, session), limit=self._gate.host.limits.message_bytes)
        kind = "error" if "code" in data else "acp.reply"
        event = session.take_event(session.connection.receive(compact_json({**data, "type": kind})))
        if isinstance(event, (ReplyReceived, ErrorReceived)):
            return answer({"ok": True})
        return self._unknown_event(event, "a message that awaits a reply")

    async def _acknowledge(self, request: Request) -> Response:
        session = await self._gate.session(request)
        text = await self._gate.body(request, session)
        event = session.take_event(session.connection.receive(text))
        if isinstance(event, Acknowledged):
            return answer({"ok": True, "server_seq": event.server_seq})
        return self._unknown_event(event, "an acknowledgement of this log")

    def _unknown_event(self, event: object, expected: str) -> Response:
        reason = getattr(event, "reason", "")
        if reason:
            return refuse(AcpError(getattr(event, "code", AcpError.INVALID_REQUEST)), reason)
        return refuse(AcpError.NOT_FOUND, f"expected {expected}, found {type(event).__name__}")

    async def _create_task(self, request: Request) -> Response:
        session = await self._gate.session(request)
        text, weight = await self._gate.weighed_body(request, session)
        data = read_object(text, limit=self._gate.host.limits.message_bytes)
        return answer(self._tasks_of(session).create(data, weight), 201)

    async def _list_tasks(self, request: Request) -> Response:
        return answer(self._tasks_of(await self._gate.session(request)).all())

    async def _get_task(self, request: Request) -> Response:
        return answer(self._tasks_of(await self._gate.session(request)).get(request.path_params["id"]))

    async def _cancel_task(self, request: Request) -> Response:
        return answer(self._tasks_of(await self._gate.session(request)).cancel(request.path_params["id"]))

    def _tasks_of(self, session: AcpSession) -> HttpTasks:
        if session not in self._tasks:
            self._tasks[session] = HttpTasks(session)
        return self._tasks[session]

    async def _peers(self, request: Request) -> Response:
        principal = await self._gate.principal(request)
        return answer([self._about(session) for session in self._visible(principal)])

    async def _peer(self, request: Request) -> Response:
        principal = await self._gate.principal(request)
        return answer(self._about(self._find(principal, request.path_params["id"])))

    async def _send_to_peer(self, request: Request) -> Response:
        session = await self._gate.session(request)
        self._find(session.principal, request.path_params["id"])
        message, _, _ = await self._message(request, session)
        return await self._pass_on(session.principal, request.path_params["id"], message)

    async def _pass_on(self, principal: Principal, name: str, message: AcpMessage) -> Response:
        """Send a message to another peer in the agent's name; one that is offline gets it later (503)."""
        peer = self._find(principal, name)
        sent = await peer.send(replace(message, sender=self._gate.host.card.name), wait=False)
        if peer.channel is None:
            reason = f"expected a connected peer, found {name!r:.100} offline; the message waits for it"
            return refuse(AcpError.NOT_CONNECTED, reason, message_id=sent.message_id)
        return answer({"ok": True, "message_id": sent.message_id, "server_seq": sent.server_seq})

    def _find(self, principal: Principal, name: str) -> AcpSession:
        for session in self._visible(principal):
            if session.name == name:
                return session
        raise LocalProtocolError(f"expected a known peer, found {name!r:.100}", code=AcpError.NOT_FOUND)

    def _visible(self, principal: Principal) -> list[AcpSession]:
        """Return the peers that a caller may see: all for a controller, otherwise its own sessions."""
        return self._gate.host.sessions(None if principal.name in self._controllers else principal)

    def _about(self, session: AcpSession) -> Json:
        card = session.peer
        return {
            "peer_id": session.name,
            "name": card.name if card is not None else session.name,
            "link": card.link if card is not None else "",
            "connected": session.channel is not None,
        }
