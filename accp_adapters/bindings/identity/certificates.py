"""Client certificates: what the server's own TLS has verified, or what a proxy that we trust says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import ip_address, ip_network
from typing import Any

from cryptography import x509

from accp_adapters.serving.bodies import Scope
from accp_adapters.serving.principals import AccessDenied, Authenticate, Principal

__all__ = ["ClientCertificates", "TrustedProxy", "certificate_names", "first_of"]


class ClientCertificates:
    """Authenticates by the names in the certificate that the server's TLS has verified.

    The ASGI server gives it by the extension `tls`, as `accp serve` does. Whether the certificate is signed by whom we
    trust is up to the server's TLS: it must require one.
    """

    def __init__(self, principals: Mapping[str, Principal]) -> None:
        """Accept certificates with a name in `principals`: a URI or DNS name of the subject, or the whole subject."""
        self._principals = dict(principals)

    async def __call__(self, scope: Scope) -> Principal:
        """Return the principal of the connection's certificate.

        Raises:
            AccessDenied: There is no certificate, or none of its names is known.
        """
        tls: Mapping[str, Any] = scope.get("extensions", {}).get("tls", {})
        chain = tls.get("client_cert_chain") or ()
        if not chain or tls.get("client_cert_error"):
            raise AccessDenied("expected a client certificate, found none that was verified")
        return _first_known(self._principals, certificate_names(chain[0]))


class TrustedProxy:
    """Authenticates by a header field that a proxy in front of this server sets, such as the subject of a certificate.

    The proxy must replace the field in what its own clients send.
    """

    def __init__(self, *, field: str, proxies: Iterable[str], principals: Mapping[str, Principal]) -> None:
        """Believe `field` of requests whose connection comes from one of `proxies`.

        Args:
            field: The name of the header field; its whole value is the name that is looked up.
            proxies: Addresses or networks, such as "10.0.0.7" or "10.0.0.0/28".
            principals: The principals by that name.

        Raises:
            ValueError: There is no proxy, or one is no address.
        """
        self._proxies = [ip_network(proxy) for proxy in proxies]
        if not self._proxies:
            raise ValueError("expected the address of a proxy, found none")
        self._field, self._principals = field.lower().encode(), dict(principals)

    async def __call__(self, scope: Scope) -> Principal:
        """Return the principal that the proxy names.

        Raises:
            AccessDenied: The request comes from elsewhere, names no principal, or an unknown one.
        """
        if not self._is_trusted(scope.get("client")):
            raise AccessDenied("expected a request of the trusted proxy, found one from elsewhere")
        names = [value.decode("latin-1") for name, value in scope["headers"] if name.lower() == self._field]
        if len(names) != 1:
            raise AccessDenied(f"expected one field {self._field.decode()!r}, found {len(names)}")
        return _first_known(self._principals, names)

    def _is_trusted(self, client: Any) -> bool:
        try:
            address = ip_address(client[0])
        except (TypeError, ValueError):
            return False
        return any(address in network for network in self._proxies)


def first_of(*ways: Authenticate) -> Authenticate:
    """Return what authenticates by the first of `ways` that knows the caller; the last one says why none does."""

    async def authenticate(scope: Scope) -> Principal:
        for way in ways[:-1]:
            try:
                return await way(scope)
            except AccessDenied:
                continue
        return await ways[-1](scope)

    return authenticate


def certificate_names(pem: str) -> list[str]:
    """Return the URIs and DNS names of the subject of a certificate, then the subject as RFC 4514 writes it.

    Raises:
        AccessDenied: It cannot be read.
    """
    try:
        certificate = x509.load_pem_x509_certificate(pem.encode())
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return [certificate.subject.rfc4514_string()]
    except ValueError:
        raise AccessDenied("expected a client certificate that can be read") from None
    names = found.get_values_for_type(x509.UniformResourceIdentifier) + found.get_values_for_type(x509.DNSName)
    return [*names, certificate.subject.rfc4514_string()]


def _first_known(principals: Mapping[str, Principal], names: Iterable[str]) -> Principal:
    found = next((principals[name] for name in names if name in principals), None)
    if found is None:
        raise AccessDenied("expected a known name, found another one")
    return found
