"""A pytest plugin that lets the clients of a foreign test suite ask for frames, as `--ask` of `tck` loads it.

It stands by itself, because it runs in the suite's environment: the URI of the extension is in `ACCP_EXTENSION`.
"""

import os
from collections import namedtuple
from typing import Any

import grpc
import httpx

HEADER = "A2A-Extensions"
URI = os.environ["ACCP_EXTENSION"]
_Details = namedtuple("_Details", "method timeout metadata credentials wait_for_ready compression")


class _Asking(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):  # type: ignore[misc]  # untyped
    """Adds the header to the metadata of every call that has none."""

    def intercept_unary_unary(self, proceed: Any, details: Any, request: Any) -> Any:
        return proceed(_asking(details), request)

    intercept_unary_stream = intercept_unary_unary


def _asking(details: Any) -> Any:
    metadata = list(details.metadata or ())
    if HEADER.lower() not in {name for name, _ in metadata}:
        metadata.append((HEADER.lower(), URI))
    fields = {name: getattr(details, name, None) for name in _Details._fields}
    return _Details(**{**fields, "metadata": metadata})


def _patch() -> None:
    send, channel = httpx.Client.send, grpc.insecure_channel

    def asking_send(self: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
        request.headers.setdefault(HEADER, URI)
        return send(self, request, **options)

    httpx.Client.send = asking_send  # type: ignore[method-assign]
    grpc.insecure_channel = lambda *given, **options: grpc.intercept_channel(channel(*given, **options), _Asking())


_patch()
