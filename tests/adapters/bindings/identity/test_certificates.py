"""Client certificates, of the connection or as a trusted proxy names them."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from accp_adapters.bindings.identity import (
    AccessDenied,
    BearerTokens,
    ClientCertificates,
    Principal,
    TrustedProxy,
    first_of,
)

ANN = Principal("ann", frozenset({"ann"}))
SUBJECT = "CN=ann,O=Example"


def scope_of(*chain: str, error: str | None = None) -> dict[str, Any]:
    tls = {"client_cert_chain": chain, "client_cert_error": error}
    return {"headers": [], "client": ("10.0.0.7", 1), "extensions": {"tls": tls}}


def certificate(name: str) -> str:
    return trustme.CA().issue_cert(name).cert_chain_pems[0].bytes().decode()


def without_names() -> str:
    """Return a certificate that has nothing but a subject."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name.from_rfc4514_string(SUBJECT)
    builder = x509.CertificateBuilder(subject, subject, key.public_key(), 1, now, now + datetime.timedelta(days=1))
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()


async def test_a_name_of_the_certificate_names_the_principal() -> None:
    authenticate = ClientCertificates({"ann.example": ANN, SUBJECT: ANN})
    assert await authenticate(scope_of(certificate("ann.example"))) == ANN
    assert await authenticate(scope_of(without_names())) == ANN


@pytest.mark.parametrize(
    "scope",
    [
        {"headers": []},
        scope_of(),
        scope_of(certificate("ann.example"), error="expired"),
        scope_of("no certificate"),
        scope_of(certificate("eve.example")),
    ],
)
async def test_without_a_verified_certificate_of_a_known_name_nobody_is_let_in(scope: dict[str, Any]) -> None:
    with pytest.raises(AccessDenied):
        await ClientCertificates({"ann.example": ANN})(scope)


PROXY = TrustedProxy(field="X-Client-Subject", proxies=["10.0.0.0/28", "::1"], principals={SUBJECT: ANN})


@pytest.mark.parametrize("address", ["10.0.0.7", "::1"])
async def test_the_proxy_names_the_principal(address: str) -> None:
    assert await PROXY({"headers": [(b"x-client-subject", SUBJECT.encode())], "client": (address, 1)}) == ANN


@pytest.mark.parametrize(
    ("client", "names"),
    [
        (("10.0.0.16", 1), [SUBJECT]),
        (("unix", 0), [SUBJECT]),
        (None, [SUBJECT]),
        (("10.0.0.7", 1), []),
        (("10.0.0.7", 1), [SUBJECT, SUBJECT]),
        (("10.0.0.7", 1), ["CN=eve"]),
    ],
)
async def test_nobody_else_names_a_principal(client: tuple[str, int] | None, names: list[str]) -> None:
    with pytest.raises(AccessDenied):
        await PROXY({"headers": [(b"x-client-subject", name.encode()) for name in names], "client": client})


def test_a_proxy_needs_an_address() -> None:
    with pytest.raises(ValueError, match="found none"):
        TrustedProxy(field="x-client-subject", proxies=[], principals={})


async def test_the_first_way_that_knows_the_caller_counts() -> None:
    bob = Principal("bob")
    authenticate = first_of(ClientCertificates({"ann.example": ANN}), BearerTokens({"token-of-bob": bob}))
    scope = scope_of(certificate("ann.example"))
    assert await authenticate(scope) == ANN
    assert await authenticate({"headers": [(b"authorization", b"Bearer token-of-bob")]}) == bob
    with pytest.raises(AccessDenied, match="authorization"):
        await authenticate({"headers": []})
