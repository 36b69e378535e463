"""Sessions served: a handler behind any number of workers, whichever transport brings the frames."""

from accp_adapters.bindings.hosts.host import SessionHost
from accp_adapters.bindings.hosts.slot import HOST_SESSION, Answer, Connection, Handler, HostLimits, Request

__all__ = ["HOST_SESSION", "Answer", "Connection", "Handler", "HostLimits", "Request", "SessionHost"]
