"""ACP over a network: WebSocket, stdio, HTTP relay, HTTP with server-sent events, TCP (ACP transport 0.3).

acp_app         A and D of an agent, as an ASGI application      relay_app    the relay of C
serve_stdio     B                                                serve_relay  C of an agent
serve_tcp       E                                                acp_connect  the client of all five
"""

from accp_adapters.bindings.acp.channels import serve_stdio, serve_tcp
from accp_adapters.bindings.acp.connect import acp_connect
from accp_adapters.bindings.acp.host import AcpAgent, AcpHost
from accp_adapters.bindings.acp.http import acp_app
from accp_adapters.bindings.acp.relay import relay_app, serve_relay
from accp_adapters.bindings.acp.session import AcpSession

__all__ = [
    "AcpAgent", "AcpHost", "AcpSession", "acp_app", "acp_connect", "relay_app",
    "serve_relay", "serve_stdio", "serve_tcp",
]  # fmt: skip
