"""Who may connect: known bearer tokens, this machine only, or any asynchronous function that names the principal."""

from accp_adapters.serving.principals import (
    ANONYMOUS,
    AccessDenied,
    Authenticate,
    BearerTokens,
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
    "Principal",
    "bearer_token",
    "is_loopback",
    "loopback_only",
    "with_bearer_token",
]
