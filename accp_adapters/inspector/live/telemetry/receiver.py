"""The part of the inspector that OpenTelemetry's exporters send to: OTLP over HTTP, on this machine only."""

from __future__ import annotations

import asyncio
import secrets
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import PlainTextResponse, Response

from accp_adapters.inspector.live.telemetry.collected import CollectedSpans
from accp_adapters.inspector.live.telemetry.exports import JSON, MAX_BODY, read_counters, read_spans, unpacked
from accp_adapters.serving.bodies import BodyRefused, ByteBudget, read_body
from accp_adapters.serving.hosts import AllowedHosts, Headers, header

__all__ = ["Receiver"]

_BUDGET: Final = 4 * MAX_BODY
_SECONDS: Final = 10.0
_SIGNALS: Final = ("traces", "metrics", "logs")
_DROPPED: Final = "logs"
"""Taken, so that no exporter complains, and not kept: what our log records say, spans and counters say, too."""


class Receiver:
    """An ASGI application in front of another one: it takes exports, and passes every other request on.

    A sender must know the key, which is a part of the address, so that no other user of the machine and no page of
    a browser can write. What is sent is kept in memory, within bounds, and shown as text.
    """

    def __init__(self, app: Any, spans: CollectedSpans, *, key: str) -> None:
        """Take exports for `spans` below `/otlp/KEY`; everything else goes to `app`."""
        self._app: Final = app
        self._spans: Final = spans
        self._key: Final = key.encode()
        self._hosts: Final = AllowedHosts()
        self._budget: Final = ByteBudget(_BUDGET)
        # One at a time: what an export takes while it is read is not counted in the budget.
        self._reading: Final = asyncio.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Take an export, or pass a request on."""
        if scope["type"] != "http" or not scope["path"].startswith("/otlp/"):
            await self._app(scope, receive, send)
            return
        try:
            response = await self._answer(scope, receive)
        except BodyRefused as refusal:
            response = PlainTextResponse(str(refusal), refusal.status)
        await response(scope, receive, send)

    async def _answer(self, scope: Any, receive: Any) -> Response:
        signal = self._signal(scope)
        media_type = header(scope["headers"], b"content-type").partition(";")[0].strip().lower()
        with self._budget.lease() as lease:
            body = await read_body(scope, receive, lease, limit=MAX_BODY, seconds=_SECONDS)
            if signal != _DROPPED:
                encoding = header(scope["headers"], b"content-encoding").strip().lower()
                async with self._reading:
                    await asyncio.to_thread(self._take, signal, body, encoding, media_type)
        # An empty message of protobuf is no byte.
        return Response("{}" if media_type == JSON else b"", media_type=media_type)

    def _take(self, signal: str, body: bytes, encoding: str, media_type: str) -> None:
        plain = unpacked(body, encoding)
        if signal == "metrics":
            self._spans.count(read_counters(plain, media_type))
        else:
            self._spans.add(read_spans(plain, media_type))

    def _signal(self, scope: Any) -> str:
        """Return what is sent.

        Raises:
            BodyRefused: the request is none that an exporter of this machine sends.
        """
        headers: Headers = scope["headers"]
        refusal = self._hosts.refusal(headers)
        if refusal is not None:
            raise BodyRefused(*refusal)
        if header(headers, b"origin") or header(headers, b"sec-fetch-site"):
            raise BodyRefused(HTTPStatus.FORBIDDEN, "expected a request of an exporter, found one of a browser")
        path: str = scope["path"]
        key, _, rest = path.removeprefix("/otlp/").partition("/")
        if not secrets.compare_digest(key.encode("utf-8", "surrogatepass"), self._key):
            raise BodyRefused(HTTPStatus.FORBIDDEN, "expected the address that `accp inspect --otlp` has printed")
        if scope["method"] != "POST":
            raise BodyRefused(HTTPStatus.METHOD_NOT_ALLOWED, "expected POST")
        signal = rest.removeprefix("v1/")
        if signal not in _SIGNALS or rest == signal:
            expected = ", ".join(f"v1/{name}" for name in _SIGNALS)
            raise BodyRefused(HTTPStatus.NOT_FOUND, f"expected one of {expected}, found {rest!r:.80}")
        return signal
