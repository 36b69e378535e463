"""The compression contract of headroom's server, which LiteLLM's guardrail calls, as an ASGI application.

    POST /v1/compress          {messages, model}  →  {messages, tokens_before, tokens_after, ccr_hashes, …}
    GET /v1/retrieve/{hash}    ?query=…           →  {original_content}

Nothing of a conversation is needed from one request to the next: the same messages give the same bytes in any process.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from math import inf
from typing import Any, Final, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from accp_adapters.fetching import FetchRequest, open_and_answer
from accp_adapters.gateway.compression import RETRIEVE_TOOL, Compression, compress_messages, key_of_hash
from accp_adapters.gateway.kept_texts import KeptTexts
from accp_adapters.policy import Policy
from accp_adapters.serving.admission import Gate, refusal_of
from accp_adapters.serving.bodies import BodyRefused, ByteLease, Receive, Scope, Send, weight_of
from accp_adapters.serving.hosts import AllowedHosts, header
from accp_adapters.serving.limits import ServerLimits
from accp_adapters.serving.off_loop import off_loop
from accp_adapters.serving.principals import Authenticate, Principal, loopback_only
from accp_adapters.serving.responses import ResponseWriter
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.markers import escape_markers
from accp_core.references import open_reference, reference_to
from accp_core.strict_json import read_json

__all__ = ["GATEWAY_LIMITS", "GATEWAY_POLICY", "compress_app"]

GATEWAY_POLICY: Final = replace(Policy.lossless(), cache_aware=False)
"""Nothing is hidden, and what a gateway withholds of the conversation changes nothing."""
GATEWAY_LIMITS: Final = ServerLimits(frame_bytes=8 * 1024 * 1024, places=256, places_each=32, rate=50.0, burst=200)
"""The limits of the service: its frames are requests, whose values count by the memory that they take."""
_MAX_MESSAGES: Final = 10_000
_FIELDS: Final = ((b"content-type", b"application/json"), (b"cache-control", b"no-store"))

_Work: TypeAlias = Callable[[Request, Principal, ByteLease], Awaitable[dict[str, Any]]]


def compress_app(
    *,
    policy: Policy | None = None,
    authenticate: Authenticate = loopback_only,
    limits: ServerLimits | None = None,
    hosts: Iterable[str] = (),
    kept: KeptTexts | None = None,
    tool: str = RETRIEVE_TOOL,
) -> Starlette:
    """Return the application that compresses the messages of gateways, by itself or mounted in another one.

    Args:
        policy: What becomes a preview; None: nothing, and then there is nothing to retrieve.
        authenticate: Returns the principal of a request; without it, only clients on this machine are served.
        limits: The limits of memory and time; None: `GATEWAY_LIMITS`.
        hosts: The names by which clients reach the server, beside the loopback names; requests for other hosts and
            from web pages of other origins are refused.
        kept: Keeps the texts that previews cite for the token whose request showed them; None: an hour, 16 MiB each.
        tool: The name of the tool that a preview names.

    Raises:
        ValueError: The texts of one request might not fit into `kept`.
    """
    chosen, kept, limits = policy or GATEWAY_POLICY, kept or KeptTexts(), limits or GATEWAY_LIMITS
    if chosen.previews and kept.max_bytes < limits.frame_bytes:
        reason = f"expected to keep at least the {limits.frame_bytes} bytes of a request, found {kept.max_bytes!r}"
        raise ValueError(reason)
    gate = Gate(authenticate, limits, AllowedHosts.of(hosts))
    service = _Service(gate, chosen, kept, tool)
    return Starlette(
        routes=[
            Route("/v1/compress", _Endpoint(gate, service.compress), methods=["POST"]),
            Route("/v1/retrieve/{hash}", _Endpoint(gate, service.retrieve), methods=["GET"]),
            Route("/health", lambda _: PlainTextResponse("ok\n")),
        ]
    )


class _Endpoint:
    """The ASGI application of one path; a request has its place and its bytes until its answer is read."""

    def __init__(self, gate: Gate, work: _Work) -> None:
        self._gate, self._work = gate, work

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = ResponseWriter(send, self._gate.limits.write_time)
        try:
            async with self._gate.admitted(scope) as (principal, lease):
                self._gate.rate.check(principal.name)
                body = _json_of(await self._work(Request(scope, receive), principal, lease))
                lease.hold(len(body) - lease.size)
                await response.send_all(HTTPStatus.OK, _FIELDS, body)
        except Exception as error:  # every failure has an answer; none ends the server
            if response.started:
                raise
            refusal = refusal_of(error)
            answer = {"error": {"type": str(refusal.error.code), "message": str(refusal.error)}}
            await response.send_all(refusal.status, [*_FIELDS, *refusal.headers], _json_of(answer))


class _Service:
    def __init__(self, gate: Gate, policy: Policy, kept: KeptTexts, tool: str) -> None:
        self._gate, self._policy, self._kept, self._tool = gate, policy, kept, tool

    async def compress(self, request: Request, principal: Principal, lease: ByteLease) -> dict[str, Any]:
        body = await self._gate.body(request.scope, request.receive, lease, "application/json")
        weight = await weight_of(body, opens_strings=True)
        if weight > self._gate.limits.buffered_bytes:
            raise BodyRefused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "expected a body of fewer values")
        lease.hold(weight - len(body))
        done = await off_loop(inf, self._compressed, body)
        self._kept.put(_owner_of(principal, request.scope), done.stored)
        saved = done.tokens_before - done.tokens_after
        return {
            "messages": done.messages,
            "tokens_before": done.tokens_before,
            "tokens_after": done.tokens_after,
            "tokens_saved": saved,
            "compression_ratio": round(saved / done.tokens_before, 4) if saved else 0.0,
            "transforms_applied": ["accp:views", "accp:previews"] if done.stored else ["accp:views"] if saved else [],
            "ccr_hashes": sorted(done.stored),
        }

    def _compressed(self, body: bytes) -> Compression:
        try:
            return compress_messages(_messages_in(body), policy=self._policy, tool=self._tool)
        except (ValueError, TypeError, RecursionError) as error:
            raise ProtocolError(f"{error}", code=ErrorCode.INVALID_TYPE) from error

    async def retrieve(self, request: Request, principal: Principal, lease: ByteLease) -> dict[str, Any]:
        name = request.path_params["hash"].lower()
        key, text = key_of_hash(name), self._kept.get(_owner_of(principal, request.scope), name)
        if key is None or text is None:
            reason = f"expected the hash of a text that was shown to this token and is kept, found {name!r:.100}"
            raise BodyRefused(HTTPStatus.NOT_FOUND, reason)
        query = request.query_params.get("query", "").strip()
        found = await off_loop(inf, self._found, key, text, query) if query else escape_markers(text)
        return {"hash": name, "original_content": found}

    def _found(self, key: str, text: str, query: str) -> str:
        """Return what a query finds; a refusal is an answer that the model reads."""
        request = FetchRequest(ref=reference_to(key), query=query)
        try:
            open_text = partial(open_reference, granted=(key,), read=lambda _: text)
            return open_and_answer(request, open_text, limit=self._policy.fetch_limit, counter=self._policy.counter)
        except ProtocolError as refusal:
            return str(refusal)


def _messages_in(body: bytes) -> list[Any]:
    asked = read_json(body.decode())
    messages = asked.get("messages") if isinstance(asked, Mapping) else None
    if not isinstance(messages, list) or len(messages) > _MAX_MESSAGES:
        raise ValueError(f"expected an object with at most {_MAX_MESSAGES} messages, found {asked!r:.80}")
    return messages


def _owner_of(principal: Principal, scope: Scope) -> str:
    """Return whose texts are kept: the principal's with this very token, as several may have one name."""
    token = header(scope["headers"], b"authorization")
    return hashlib.sha256(f"{principal.name}\n{token}".encode()).hexdigest()


def _json_of(value: Mapping[str, Any]) -> bytes:
    # ASCII: JSON may hold halves of surrogate pairs, which UTF-8 cannot.
    return json.dumps(value).encode()
