"""Bearer tokens that are known in advance (RFC 6750)."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final

from accp_adapters.serving.bodies import Scope
from accp_adapters.serving.principals import AccessDenied, Principal, bearer_token

__all__ = ["BearerTokens"]

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]{8,4096}=*")
"""The form of RFC 6750, section 2.1, and at least eight characters."""


class BearerTokens:
    """Authenticates by a table of tokens; only their digests are kept."""

    def __init__(self, principals: Mapping[str, Principal]) -> None:
        """Accept each token of `principals` for its principal.

        Raises:
            ValueError: There is none, or one has another form than RFC 6750 gives it; the message does not show it.
        """
        if not principals:
            raise ValueError("expected at least one token, found none")
        for token, principal in principals.items():
            if not _TOKEN.fullmatch(token):
                reason = "8 or more of the letters, digits and marks of RFC 6750 (A-Z a-z 0-9 . _ ~ + / -)"
                raise ValueError(f"expected as token of {principal.name!r}: {reason}")
        self._principals = [(_digest(token), principal) for token, principal in principals.items()]

    async def __call__(self, scope: Scope) -> Principal:
        """Return the principal of the request's token.

        Raises:
            AccessDenied: There is no token, or an unknown one.
        """
        return self.principal_of(bearer_token(scope))

    def principal_of(self, token: str) -> Principal:
        """Return the principal of `token`; how long it takes says nothing about the table.

        Raises:
            AccessDenied: It is unknown.
        """
        digest, found = _digest(token), None
        for known, principal in self._principals:
            if hmac.compare_digest(known, digest):
                found = principal
        if found is None:
            raise AccessDenied("expected a known token, found another one")
        return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
