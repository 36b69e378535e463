"""Who may connect: bearer tokens, signed tokens (JWT), client certificates, or this machine only."""

from accp_adapters.bindings.identity.bearer_tokens import BearerTokens
from accp_adapters.bindings.identity.certificates import ClientCertificates, TrustedProxy, first_of
from accp_adapters.bindings.identity.key_sets import FetchedKeys, GivenKeys, KeySet
from accp_adapters.bindings.identity.signed_tokens import Claims, SignedTokens, claimed_agents
from accp_adapters.serving.principals import (
    ANONYMOUS,
    AccessDenied,
    Authenticate,
    Principal,
    bearer_token,
    is_loopback,
    loopback_only,
    with_bearer_token,
)

__all__ = [
    "ANONYMOUS",
    "AccessDenied",
    "Authenticate",
    "BearerTokens",
    "Claims",
    "ClientCertificates",
    "FetchedKeys",
    "GivenKeys",
    "KeySet",
    "Principal",
    "SignedTokens",
    "TrustedProxy",
    "bearer_token",
    "claimed_agents",
    "first_of",
    "is_loopback",
    "loopback_only",
    "with_bearer_token",
]
