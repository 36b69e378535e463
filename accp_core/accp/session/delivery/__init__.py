"""Each frame once and in order, over one connection after the other; all of it bounded (ACCP section 3.7)."""

from accp_core.accp.session.delivery.heartbeat import Heartbeat
from accp_core.accp.session.delivery.inbox import Inbox, SequenceScope, has_expired
from accp_core.accp.session.delivery.link import LinkMove, LinkState, SessionLink
from accp_core.accp.session.delivery.outbox import FrameText, Outbox
from accp_core.accp.session.delivery.requests import PendingRequests

__all__ = [
    "FrameText",
    "Heartbeat",
    "Inbox",
    "LinkMove",
    "LinkState",
    "Outbox",
    "PendingRequests",
    "SequenceScope",
    "SessionLink",
    "has_expired",
]
