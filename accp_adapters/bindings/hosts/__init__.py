"""Sessions served: a handler behind any number of workers, whichever transport brings the frames."""

from accp_adapters.bindings.hosts.agreement import OtherWorkers
from accp_adapters.bindings.hosts.attachment import Attachment
from accp_adapters.bindings.hosts.host import SessionHost
from accp_adapters.bindings.hosts.options import HOST_SESSION, HostLimits
from accp_adapters.bindings.hosts.requests import Answer, Handler, Request

__all__ = ["HOST_SESSION", "Answer", "Attachment", "Handler", "HostLimits", "OtherWorkers", "Request", "SessionHost"]
