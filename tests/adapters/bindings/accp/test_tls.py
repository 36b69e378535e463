"""TLS, signed tokens and client certificates with real keys."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from accp_adapters.bindings.accp.client_errors import ConnectionRefused
from accp_adapters.bindings.accp.connect import connect
from accp_adapters.bindings.identity import ClientCertificates, GivenKeys, Principal, SignedTokens
from accp_adapters.serving.listening import TlsFiles
from accp_core.accp import Intent, Message
from tests.adapters.bindings.accp.serving import echo, secured
from tests.adapters.bindings.hosts.agents import CODEC
from tests.adapters.bindings.identity.keys import AUDIENCE, ISSUER, Issuer

BOTH = pytest.mark.parametrize("scheme", ["https", "wss"])
ASK = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7})
ANN = Principal("ann", frozenset({"ann"}))


def files_of(authority: trustme.CA, folder: Path, *, with_clients: bool = False) -> TlsFiles:
    issued = authority.issue_cert("127.0.0.1")
    key, certificate, root = folder / "key.pem", folder / "certificate.pem", folder / "root.pem"
    issued.private_key_pem.write_to_path(key)
    issued.cert_chain_pems[0].write_to_path(certificate)
    authority.cert_pem.write_to_path(root)
    return TlsFiles(certificate=certificate, key=key, client_authority=root if with_clients else None)


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@BOTH
async def test_a_signed_token_over_tls(scheme: str, tmp_path: Path) -> None:
    authority, issuer = trustme.CA(), Issuer()
    tokens = SignedTokens(GivenKeys(issuer.key_set()), issuer=ISSUER, audience=AUDIENCE)
    async with secured(echo, files_of(authority, tmp_path), authenticate=tokens) as address:
        options: dict[str, Any] = {"tls": trusting(authority), "agent_id": "ann", "codec": CODEC}
        async with connect(f"{scheme}://{address}", token=issuer.token(), **options) as session:
            assert (await session.request(ASK)).payload == {"n": 7}
        # A token that was valid once is not valid for ever.
        with pytest.raises(ConnectionRefused) as refused:
            async with connect(f"{scheme}://{address}", token=issuer.token(exp=1), **options) as session:
                await session.request(ASK)
        assert refused.value.status == 401


@BOTH
async def test_a_client_certificate_names_the_principal(scheme: str, tmp_path: Path) -> None:
    authority = trustme.CA()
    files = files_of(authority, tmp_path, with_clients=True)
    context = trusting(authority)
    authority.issue_cert("ann.example").configure_cert(context)
    known = ClientCertificates({"ann.example": ANN})
    async with (
        secured(echo, files, authenticate=known) as address,
        connect(f"{scheme}://{address}", tls=context, agent_id="ann", codec=CODEC) as session,
    ):
        assert (await session.request(ASK)).payload == {"n": 7}
