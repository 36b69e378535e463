"""What all messages of one session have in common, on one connection or over many HTTP exchanges."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

from accp_adapters.mcp.shim.negotiation import ClientSettings
from accp_adapters.mcp.shim.stored_results import SessionTexts
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog

__all__ = ["SessionState"]


@dataclass(slots=True)
class SessionState:
    """The state of one session; an `Encoder` for each HTTP exchange may share it."""

    is_session: bool = True
    """Whether all messages come from one client. If not, references are not listed: any client could list them."""
    has_owner: bool = True
    """Whether it is known whose session this is. If not, no references are granted: nobody could open them again."""
    client_settings: ClientSettings | None = None
    """What the client declared in `initialize`; None in the era in which it declares with every request."""
    client_name: str = ""
    """The name that the client gave in `initialize`."""
    catalog: ToolCatalog = field(default_factory=ToolCatalog)
    """The server's tools, as the client listed them."""
    stored_results: SessionTexts | None = None
    """The texts that were too large to show; None: large results are shown whole."""
    sequence: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    """The sequence numbers of the frames that are sent."""
