"""`connect`: one client for every server of ACCP (section 11) and of ACP (transport 0.3, bindings A to E)."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Literal, overload

from accp_adapters.bindings.accp.answers import TokenSource
from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.bindings.accp.connect import ClientOptions
from accp_adapters.bindings.accp.connect import connect as accp_connect
from accp_adapters.bindings.acp.connect import acp_connect
from accp_adapters.bindings.acp.host import AcpAgent
from accp_adapters.bindings.acp.session import DEFAULT_ACP_LIMITS, AcpLimits, AcpSession
from accp_core.accp.codec import Codec
from accp_core.acp import AgentCard
from accp_core.ports import ColdStore

__all__ = ["connect"]

_ACP: Final = ("acp:", "acp+", "tcp:", "tls:")
"""How the addresses begin that only ACP has."""


@overload
def connect(
    url: str,
    *,
    protocol: Literal["accp"] | None = None,
    agent_id: str = "client",
    token: TokenSource = None,
    tls: ssl.SSLContext | None = None,
    session_id: str | None = None,
    codec: Codec | None = None,
    store: ColdStore | None = None,
    options: ClientOptions | None = None,
) -> AbstractAsyncContextManager[ClientSession]: ...


@overload
def connect(
    url: str | Sequence[str],
    *,
    protocol: Literal["acp"],
    card: AgentCard | None = None,
    agent: AcpAgent | None = None,
    token: str = "",
    tls: ssl.SSLContext | None = None,
    relay: str = "",
    limits: AcpLimits = DEFAULT_ACP_LIMITS,
    wait_seconds: float | None = 30.0,
) -> AbstractAsyncContextManager[AcpSession]: ...


def connect(
    url: str | Sequence[str], *, protocol: Literal["accp", "acp"] | None = None, **options: Any
) -> AbstractAsyncContextManager[Any]:
    """Connect to a server, stay connected while the context lasts, and yield the session.

    ```python
    async with connect("wss://agents.example", token=token) as session:  # ACCP
        answer = await session.request(message)
    async with connect("wss://agents.example", protocol="acp", token=token) as session:
        parts = await session.request("how much is it?")
    ```

    Args:
        url: Where the server is. "acp://…", "acp+wss://…", "tcp://…", "tls://…" and the words of a command are
            addresses of ACP; "http(s)://…" and "ws(s)://…" are of either protocol.
        protocol: "accp": a `ClientSession`, with the options of `accp_adapters.bindings.accp.connect.connect`; "acp":
            an `AcpSession`, with those of `acp_connect`. None: ACP where only ACP has such addresses, else ACCP.
        options: Those of the protocol.

    Raises:
        ValueError: `protocol` is another word.
    """
    if protocol not in (None, "accp", "acp"):
        raise ValueError(f"expected 'accp' or 'acp' as protocol, found {protocol!r:.40}")
    is_acp = not isinstance(url, str) or url.lower().startswith(_ACP)
    if protocol == "acp" or (protocol is None and is_acp):
        return acp_connect(url, **options)
    return accp_connect(str(url), **options)
