"""ACP over a network: WebSocket, stdio, HTTP relay, HTTP with server-sent events, TCP (ACP transport 0.3).

acp_app         A and D of an agent, as an ASGI application      relay_app    the relay of C
serve_stdio     B                                                serve_relay  C of an agent
serve_tcp       E                                                acp_connect  the client of all five
"""

from accp_adapters.bindings.acp.app import acp_app
from accp_adapters.bindings.acp.connect import acp_connect
from accp_adapters.bindings.acp.relay.app import relay_app
from accp_adapters.bindings.acp.relay.client import serve_relay
from accp_adapters.bindings.acp.relay.limits import RelayLimits
from accp_adapters.bindings.acp.sessions.host import AcpAgent, AcpHost
from accp_adapters.bindings.acp.sessions.limits import AcpLimits
from accp_adapters.bindings.acp.sessions.session import AcpSession
from accp_adapters.bindings.acp.stdio import serve_stdio
from accp_adapters.bindings.acp.tcp import serve_tcp

__all__ = [
    "AcpAgent",
    "AcpHost",
    "AcpLimits",
    "AcpSession",
    "RelayLimits",
    "acp_app",
    "acp_connect",
    "relay_app",
    "serve_relay",
    "serve_stdio",
    "serve_tcp",
]
