"""What the proxy asks the server by itself, with the headers of a client's request: its access, and its tools.

Before the proxy answers a request by itself, it asks whether the server would have answered.

A stored text, a tool's schema or the list of references must not go to a client whose token has expired, or whose
session has ended. Only the server knows that, so it gets a request that costs nothing, with the client's own headers:
`ping` up to the protocol of 2025-11-25, `server/discover` from 2026-07-28 on, which has no `ping`.
"""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Final

import httpx2

from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.proxy.routing import ROUTING_FIELD, routing_fields
from accp_adapters.mcp.shim.protocol import JsonObject, is_modern
from accp_adapters.serving.hosts import Headers
from accp_adapters.serving.sse import EventSplitter, event_data

__all__ = ["ClientRequest", "access_check", "answer_with", "list_request", "read_answer", "read_refusal"]

_MAX_BYTES: Final = 1024 * 1024
_SECONDS: Final = 30.0
_METHOD_NOT_FOUND: Final = -32601


@dataclass(frozen=True, slots=True)
class ClientRequest:
    """A request for the endpoint, as the server gets it, but without the fields that the proxy adds."""

    method: str
    """GET, POST or DELETE."""
    url: httpx2.URL
    """Where it is sent."""
    headers: Headers
    """Its fields."""
    message: Message
    """Its body."""


def access_check(request: ClientRequest) -> ClientRequest:
    """Return the request that asks the server whether it accepts the caller of `request`."""
    return _own_request(request, "server/discover" if _meta(request) else "ping", {})


def list_request(request: ClientRequest, cursor: str | None) -> ClientRequest:
    """Return the request that lists the tools which the caller of `request` has, from `cursor` on."""
    return _own_request(request, "tools/list", {} if cursor is None else {"cursor": cursor})


def _own_request(request: ClientRequest, method: str, params: JsonObject) -> ClientRequest:
    params = params | _meta(request)
    message = {"jsonrpc": "2.0", "id": f"accp-{secrets.token_hex(8)}", "method": method, "params": params}
    headers = [(name, value) for name, value in request.headers if not ROUTING_FIELD.fullmatch(name)]
    return replace(request, headers=[*headers, *routing_fields(message, {})], message=Message.of(message))


def _meta(request: ClientRequest) -> JsonObject:
    """Return the `_meta` that every request has from 2026-07-28 on; nothing for the era before."""
    params = request.message.members.get("params")
    return {"_meta": params["_meta"]} if isinstance(params, dict) and is_modern(params) else {}


async def read_refusal(response: httpx2.Response) -> JsonObject | None:
    """Return the JSON-RPC error by which the server refuses the check; None if it accepts the caller.

    Raises:
        httpx2.HTTPError: There is no answer in time, or none of a sensible size.
    """
    error = (await read_answer(response)).get("error")
    if isinstance(error, dict) and error.get("code") != _METHOD_NOT_FOUND:
        return error
    return None


def answer_with(refusal: JsonObject, request: Message) -> Message:
    """Return the response to the client's request with the error of the server."""
    return Message.of({"jsonrpc": "2.0", "id": request.members.get("id"), "error": refusal})


async def read_answer(response: httpx2.Response, limit: int = _MAX_BYTES) -> JsonObject:
    """Return the JSON-RPC response of the server to a request of the proxy.

    Raises:
        httpx2.HTTPError: There is no answer in time, or none of at most `limit` bytes.
    """
    try:
        async with asyncio.timeout(_SECONDS):
            return await _read_message(response, limit)
    except TimeoutError:
        raise httpx2.ReadTimeout("no answer in time") from None


async def _read_message(response: httpx2.Response, limit: int) -> JsonObject:
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    splitter, document = EventSplitter(limit), bytearray()
    async for chunk in response.aiter_raw():
        for event, _ in splitter.feed(chunk) if is_stream else ():
            members = (await Message(event_data(event)).read()).members
            if "result" in members or "error" in members:
                return members
        document += chunk
        if len(document) > limit:
            break
    message = (await Message(bytes(document)).read()).value
    if message is None:
        raise httpx2.RemoteProtocolError(f"expected a JSON-RPC response, found HTTP {HTTPStatus(response.status_code)}")
    return message
