"""A token over TLS with real keys, and one that an issuer signs."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from accp_adapters.bindings import Principal, SessionHost, accp_app
from accp_adapters.bindings.accp.client_session import ConnectionRefused
from accp_adapters.bindings.accp.connect import connect
from accp_adapters.serving.principals import AccessDenied, bearer_token
from accp_core.accp import Intent, Message
from tests.adapters.bindings.accp.serving import echo, serve
from tests.adapters.bindings.hosts.agents import CODEC

ASK = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7})


async def authenticate(scope: Any) -> Principal:
    """Check a token as a library for signed ones does."""
    if bearer_token(scope) != "signed.by.issuer":
        raise AccessDenied("expected a token of the issuer")
    return Principal("ann", frozenset({"ann"}))


@pytest.mark.parametrize("scheme", ["https", "wss"])
async def test_a_token_over_tls(scheme: str, tmp_path: Path) -> None:
    authority, context = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(context)
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_and_cert_chain_pem.write_to_path(tmp_path / "server.pem")
    async with (
        SessionHost(echo, codec=CODEC) as host,
        serve(accp_app(host, authenticate=authenticate), ssl_certfile=tmp_path / "server.pem") as address,
    ):
        options: dict[str, Any] = {"tls": context, "agent_id": "ann", "codec": CODEC}
        async with connect(f"{scheme}://{address}", token="signed.by.issuer", **options) as session:
            assert (await session.request(ASK)).payload == {"n": 7}
        with pytest.raises(ConnectionRefused) as refused:
            async with connect(f"{scheme}://{address}", token="signed.by.another", **options) as session:
                await session.request(ASK)
        assert refused.value.status == 401
