"""Who may connect: bearer tokens, signed tokens (JWT), client certificates, or nobody but this machine."""

from accp_adapters.bindings.identity.bearer_tokens import BearerTokens
from accp_adapters.bindings.identity.principal import (
    ANONYMOUS,
    AccessDenied,
    Authenticate,
    Principal,
    Scope,
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
    "Principal",
    "Scope",
    "bearer_token",
    "is_loopback",
    "loopback_only",
    "with_bearer_token",
]
