"""Sessions over a network: ACCP over HTTP and WebSocket, ACP bindings A to E, and the host of the sessions."""

from accp_adapters.extras import needs

with needs("bindings"):
    from accp_adapters.bindings.accp.app import accp_app
    from accp_adapters.bindings.accp.client_session import ConnectionRefused, RequestFailed, SessionLost
    from accp_adapters.bindings.accp.connect import ClientOptions, connect
    from accp_adapters.bindings.acp import acp_app, acp_connect, serve_stdio, serve_tcp
    from accp_adapters.bindings.hosts import Answer, HostLimits, Request, SessionHost
    from accp_adapters.serving.limits import ServerLimits
    from accp_adapters.serving.principals import AccessDenied, BearerTokens, Principal, bearer_token

__all__ = [
    "AccessDenied", "Answer", "BearerTokens", "ClientOptions", "ConnectionRefused", "HostLimits", "Principal",
    "Request", "RequestFailed", "ServerLimits", "SessionHost", "SessionLost", "accp_app", "acp_app", "acp_connect",
    "bearer_token", "connect", "serve_stdio", "serve_tcp",
]  # fmt: skip
