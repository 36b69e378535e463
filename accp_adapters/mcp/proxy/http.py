"""A proxy in front of a server that speaks streamable HTTP.

Requests pass byte for byte, streams event by event. The proxy serves the path of the endpoint and the OAuth metadata
documents under `/.well-known/`, which pass unchanged: they name the server's own URL. What the proxy answers by itself
is as authenticated as what it forwards: each time, the server is asked first (`access_check`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, AbstractContextManager, ExitStack
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any, Final

import httpx2

from accp_adapters.mcp.proxy.access_check import (
    ClientRequest,
    access_check,
    answer_with,
    list_request,
    read_answer,
    read_refusal,
)
from accp_adapters.mcp.proxy.admission import TOKEN_FIELD, TOKEN_OWNER, Admit, ProxyLimits, serve_endpoint
from accp_adapters.mcp.proxy.callers import SESSION_HEADER, Caller, CallerRelays, caller_of
from accp_adapters.mcp.proxy.endpoint_client import EndpointClient, connect, server_headers
from accp_adapters.mcp.proxy.exchange import ClientResponse, ServerResponses, forward_unchanged
from accp_adapters.mcp.proxy.message import Message, error_message
from accp_adapters.mcp.proxy.relay import Relay, Relayed
from accp_adapters.mcp.proxy.routing import fits, header_arguments, reroute
from accp_adapters.mcp.shim.protocol import cancellation
from accp_adapters.serving.bodies import (
    BodyRefused,
    ByteLease,
    Leases,
    Memory,
    Receive,
    Scope,
    Send,
    read_body,
    run_until_disconnect,
    weight_of,
)
from accp_adapters.serving.hosts import AllowedHosts, Headers, network_of
from accp_adapters.serving.off_loop import OWNER
from accp_core.errors import ProtocolError

__all__ = ["HttpProxy", "serve_http"]

_MAX_PAGES: Final = 100
"""Pages of the server's tools."""


class HttpProxy:
    """The ASGI application in front of a server."""

    def __init__(
        self,
        url: str,
        new_relay: Callable[[], Relay],
        client: httpx2.AsyncClient,
        *,
        hosts: AllowedHosts | None = None,
        extra: Headers = (),
        limits: ProxyLimits | None = None,
        withheld: Collection[bytes] = (),
    ) -> None:
        """Serve the server at `url`.

        Args:
            url: The server's endpoint; its user info becomes an `Authorization` field, its query is sent each time.
            new_relay: Returns the relay of a caller about whom nothing is known.
            client: Sends the requests to the server.
            hosts: The names by which clients may reach the proxy; None: the loopback names.
            extra: Fields for every request to the endpoint, such as `authorization`.
            limits: The limits of memory and time; None: the defaults.
            withheld: The names of the clients' fields that tell users apart, but are not for the server.

        Raises:
            ValueError: `url` is no http or https URL.
        """
        self._upstream = EndpointClient(url, client, extra, withheld)
        self._hosts = hosts or AllowedHosts()
        self._limits = limits or ProxyLimits()
        self._memory = Memory(self._limits.buffered_bytes)
        server = str(self._upstream.endpoint.url)
        self._sessions = CallerRelays(new_relay, server=server, max_bytes=self._limits.stored_bytes, run=_run_in_thread)

    @property
    def path(self) -> str:
        """The path of the endpoint, here and at the server."""
        return self._upstream.endpoint.path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; if the client disconnects, the request to the server is cancelled, too."""
        response = ClientResponse(send, self._limits.write_seconds)
        if refusal := self._hosts.refusal(scope["headers"]):
            await response.refuse(*refusal)
            return
        url = self._upstream.endpoint.resolve(scope["raw_path"], scope["query_string"])
        if url is None:
            reason = f"expected {self.path!r} or a path under '/.well-known/', found {scope['raw_path'][:100]!r}"
            await response.refuse(HTTPStatus.BAD_REQUEST, reason)
            return
        headers = server_headers(scope["headers"])
        leases = partial(self._lease, scope, caller_of(headers))
        with leases() as lease:
            try:
                lease.hold(self._memory.request)
                limit, seconds = self._limits.body_bytes, self._limits.request_seconds
                body = await read_body(scope, receive, lease, limit=limit, seconds=seconds)
                lease.hold(await weight_of(body) - len(body))
                request = ClientRequest(scope["method"], url, headers, Message(body))
                await run_until_disconnect(receive, self._serve(scope, request, response, leases))
            except BodyRefused as refused:
                await response.refuse(refused.status, str(refused))

    def _lease(self, scope: Scope, caller: Caller) -> AbstractContextManager[ByteLease]:
        """Return a lease for a request, counted for its caller, or for its address while the caller is not known."""
        is_known = TOKEN_OWNER in scope or caller in self._sessions
        owner = scope.get(TOKEN_OWNER) or (caller.principal if is_known else network_of(scope))
        OWNER.set(owner)
        return (self._memory.known if is_known else self._memory.strangers).lease(owner)

    async def _serve(self, scope: Scope, request: ClientRequest, response: ClientResponse, leases: Leases) -> None:
        try:
            if self._upstream.endpoint.is_endpoint(scope["raw_path"]):
                await self._exchange(request, response, leases)
            else:
                await self._pass_document(request, response)
        except httpx2.HTTPError as error:
            # A response that has started cannot be completed: the client's connection is cut, as the server's was.
            if not response.started:
                reason = self._upstream.explain(error)
                await response.send_message(error_message(reason, request.message), HTTPStatus.BAD_GATEWAY)

    async def _pass_document(self, request: ClientRequest, response: ClientResponse) -> None:
        sent = self._upstream.fetch_document(request.method, request.headers, request.message.data, request.url)
        async with sent as answer:
            await self._forward_unchanged(answer, response)

    async def _exchange(self, request: ClientRequest, response: ClientResponse, leases: Leases) -> None:
        caller = caller_of(request.headers)
        relay = self._sessions.find(caller)
        relayed = Relayed(request.message, to_client=False)
        if request.method == "POST":
            if relay.lacks_tools(await request.message.read()):
                await self._list_tools(request, relay)
            relayed = await relay.relay_client(request.message)
            # Headers that do not fit are for the server to refuse; it may not, and the call of a barred tool is none of
            # its business.
            if relayed.to_client and (not relay.passes_unread or fits(request.headers, request.message.members)):
                await self._answer(request, relayed.message, caller, response, leases)
                return
            relayed = relayed if not relayed.to_client else Relayed(request.message, to_client=False)
        try:
            await self._converse(request, relayed, caller, relay, response, leases)
        except BaseException:
            if relayed.is_own:
                # The client has gone, or gets no response: no further request follows.
                relay.from_client(Message.of(cancellation(request.message.members.get("id"))))
            raise
        self._sessions.count(caller)

    async def _converse(
        self,
        request: ClientRequest,
        first: Relayed,
        caller: Caller,
        relay: Relay,
        response: ClientResponse,
        leases: Leases,
    ) -> None:
        """Send the server a request and those that follow from its responses, each with the client's headers."""
        with ExitStack() as held:
            responses: ServerResponses | None = None
            sent: Relayed | None = first
            while sent is not None:
                try:
                    async with self._sent(_rewritten(request, sent.message, relay)) as answer:
                        self._track(request, answer, caller, relay)
                        if responses is None:  # Not before: now the server may have accepted the caller.
                            lease = held.enter_context(leases())
                            responses = ServerResponses(relay, response, lease, self._limits.message_bytes)
                        body = answer.aiter_raw()
                        following = await responses.forward(answer.status_code, self._headers(answer), body, sent)
                except httpx2.HTTPError as error:
                    if sent is first or responses is None:
                        raise
                    await responses.fail(self._upstream.explain(error), sent.message)
                    return
                except ProtocolError as error:
                    assert responses is not None  # only they raise it
                    await responses.fail(error.reason, sent.message)
                    return
                sent = following

    async def _list_tools(self, request: ClientRequest, relay: Relay) -> None:
        """Learn the tools that the caller has: another process listed them, or this one has forgotten."""
        cursor = None
        for _ in range(_MAX_PAGES):
            listing = list_request(request, cursor)
            async with self._sent(listing) as answer:
                page = await read_answer(answer, self._limits.message_bytes) if answer.is_success else {}
            if not isinstance(page.get("result"), dict):
                return
            relay.learn_tools(listing.message.members, page)
            cursor = page["result"].get("nextCursor")
            if not isinstance(cursor, str):
                return

    async def _answer(
        self, request: ClientRequest, answer: Message, caller: Caller, response: ClientResponse, leases: Leases
    ) -> None:
        """Send the answer of the proxy itself, if the server accepts a request with the same headers."""
        async with self._sent(access_check(request)) as checked:
            self._track(request, checked, caller, None)
            if not checked.is_success:
                await self._forward_unchanged(checked, response)
                return
            refusal = await read_refusal(checked)
        answer = answer if refusal is None else answer_with(refusal, request.message)
        with leases() as lease:
            lease.hold(len(answer.data))
            await response.send_message(answer)

    def _sent(self, request: ClientRequest) -> AbstractAsyncContextManager[httpx2.Response]:
        return self._upstream.send(request.method, request.headers, request.message.data, request.url)

    async def _forward_unchanged(self, answer: httpx2.Response, response: ClientResponse) -> None:
        await forward_unchanged(answer.status_code, self._headers(answer), answer.aiter_raw(), response)

    def _headers(self, answer: httpx2.Response) -> Headers:
        """Return the fields of a response; a redirect within the server's origin becomes one within ours."""
        endpoint = self._upstream.endpoint
        fields = ((name.lower(), value) for name, value in answer.headers.raw)
        return [(name, endpoint.local_location(value) if name == b"location" else value) for name, value in fields]

    def _track(self, request: ClientRequest, answer: httpx2.Response, caller: Caller, relay: Relay | None) -> None:
        """Remember a caller that the server accepts and a session that starts, drop a session that has ended."""
        is_gone = answer.status_code == HTTPStatus.NOT_FOUND or (request.method == "DELETE" and answer.is_success)
        if is_gone and caller.session_id:
            self._sessions.end(caller)
        elif answer.is_success:
            self._sessions.accept(caller)
            begun = answer.headers.get(SESSION_HEADER, "")
            if relay is not None and begun and begun != caller.session_id:
                self._sessions.begin(caller.in_session(begun), relay)


def _rewritten(request: ClientRequest, message: Message, relay: Relay) -> ClientRequest:
    """Return a request with another body, and with the headers that repeat parts of it."""
    if message is request.message:
        return request
    marked = header_arguments({"tools": relay.tools})
    headers = reroute(request.headers, request.message.members, message.members, marked)
    return replace(request, headers=headers, message=message)


def _run_in_thread(work: Callable[[], None]) -> object:
    return asyncio.get_running_loop().run_in_executor(None, work)


async def serve_http(
    url: str,
    new_relay: Callable[[], Relay],
    *,
    admit: Admit | None = None,
    extra: Headers = (),
    hosts: AllowedHosts,
    limits: ProxyLimits,
    **listening: Any,
) -> None:
    """Serve the proxy in front of `url` until a signal ends it.

    Args:
        url: As in `HttpProxy`, as are the others.
        new_relay: Returns the relay of a caller about whom nothing is known.
        admit: Refuses requests without a token, which the server does not get; None: it is the server that refuses.
        extra: Fields for every request to the endpoint.
        hosts: The names by which clients may reach the proxy.
        limits: The limits of memory and time.
        listening: Where and how, see `serve_endpoint`.

    Raises:
        OSError: The address is not available.
        ValueError: As in `HttpProxy`.
    """
    async with connect() as client:
        withheld = () if admit is None else (TOKEN_FIELD,)
        proxy = HttpProxy(url, new_relay, client, hosts=hosts, extra=extra, limits=limits, withheld=withheld)
        await serve_endpoint(proxy, proxy.path, limits=limits, admit=admit, **listening)
