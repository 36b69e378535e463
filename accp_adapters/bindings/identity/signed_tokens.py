"""Bearer tokens that an issuer signs: JSON Web Tokens (RFC 7519, with the advice of RFC 8725)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeAlias

import jwt

from accp_adapters.bindings.identity.key_sets import KeySet
from accp_adapters.serving.bodies import Scope
from accp_adapters.serving.principals import AccessDenied, Principal, bearer_token

__all__ = ["Claims", "SignedTokens", "claimed_agents"]

Claims: TypeAlias = Mapping[str, Any]
"""What a token says, once its signature has been verified."""

# "Applications MUST only allow the use of cryptographically current algorithms" (RFC 8725, section 3.2). A key set is
# public: no algorithm with a shared secret is among them.
ALGORITHMS: Final = ("ES256", "ES384", "ES512", "EdDSA", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512")
_REQUIRED: Final = ("iss", "aud", "exp", "sub")
_MALFORMED: Final = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
_MAX_CHARS: Final = 16 * 1024
_MAX_NAME: Final = 256
_LAST_TIME: Final = 1 << 40
"""Seconds of the Unix epoch; a later end of a token is no different."""
_MAX_AGENTS: Final = 1_024


def claimed_agents(claims: Claims) -> frozenset[str] | None:
    """Return the agents of the claim `agents`, a list of names; without it, the agent with the name of the subject.

    Raises:
        AccessDenied: The claim is no such list.
    """
    agents = claims.get("agents", [claims["sub"]])
    if not isinstance(agents, list) or len(agents) > _MAX_AGENTS or not all(isinstance(name, str) for name in agents):
        raise AccessDenied("expected a list of names as the claim 'agents'")
    return frozenset(agents)


class SignedTokens:
    """Authenticates by the tokens of one issuer."""

    def __init__(
        self,
        keys: KeySet,
        *,
        issuer: str,
        audience: str,
        algorithms: Collection[str] = ("ES256", "RS256", "EdDSA"),
        leeway: float = 30.0,
        agents_of: Callable[[Claims], frozenset[str] | None] = claimed_agents,
    ) -> None:
        """Accept tokens that `issuer` signed for `audience`, and that have a subject and an end.

        Args:
            keys: The public keys of the issuer.
            issuer: The claim `iss`.
            audience: This server's name in the claim `aud`.
            algorithms: Those of a signature; a token never chooses another.
            leeway: Seconds by which clocks may differ.
            agents_of: Returns the agents in whose names the bearer may send.

        Raises:
            ValueError: There is no algorithm, or one that is not for public keys.
        """
        if not algorithms or not set(algorithms) <= set(ALGORITHMS):
            raise ValueError(f"expected algorithms of {', '.join(ALGORITHMS)}, found {sorted(algorithms)!r}")
        self._keys, self._agents_of = keys, agents_of
        self._issuer, self._audience = issuer, audience
        self._algorithms, self._leeway = sorted(algorithms), leeway

    async def __call__(self, scope: Scope) -> Principal:
        """Return the subject of the request's token.

        Raises:
            AccessDenied: There is no token, or one that is not valid here and now.
        """
        return await self.principal_of(bearer_token(scope))

    async def principal_of(self, token: str) -> Principal:
        """Return the subject of `token`.

        Raises:
            AccessDenied: It is malformed, not signed by the issuer, for another audience, too old or too new.
        """
        try:
            claims = self._read(token, await self._keys.find(self._key_id(token)))
        except _MALFORMED as error:
            raise AccessDenied(f"expected a valid token, found one that fails: {type(error).__name__}") from None
        subject = claims["sub"]
        if not 0 < len(subject) <= _MAX_NAME:
            raise AccessDenied(f"expected a subject of 1 to {_MAX_NAME} characters")
        return Principal(subject, self._agents_of(claims), min(int(claims["exp"]), _LAST_TIME) + self._leeway)

    def _key_id(self, token: str) -> str | None:
        """Return the key id in the header of a token, which has one of our algorithms."""
        if len(token) > _MAX_CHARS:
            raise AccessDenied(f"expected a token of at most {_MAX_CHARS} characters, found a longer one")
        header = jwt.get_unverified_header(token)
        if header.get("alg") not in self._algorithms:
            raise AccessDenied(f"expected a token signed by one of {self._algorithms}")
        key_id = header.get("kid")
        return key_id if isinstance(key_id, str) else None

    def _read(self, token: str, key: Mapping[str, Any]) -> Claims:
        algorithm = jwt.get_unverified_header(token)["alg"]
        # A key that names its algorithm is for no other one (RFC 8725, section 3.1).
        if key.get("alg", algorithm) != algorithm:
            raise AccessDenied("expected a token signed by the algorithm of its key")
        claims: Claims = jwt.decode(
            token,
            jwt.PyJWK(dict(key), algorithm),
            algorithms=[algorithm],
            issuer=self._issuer,
            audience=self._audience,
            leeway=self._leeway,
            options={"require": list(_REQUIRED)},
        )
        return claims
