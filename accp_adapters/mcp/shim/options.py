"""How the server's side of the shim rewrites, and for whom: every setting in one place."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from accp_adapters.mcp.shim.negotiation import Structured
from accp_adapters.mcp.shim.protocol import LARGEST
from accp_adapters.mcp.shim.results.frames import Carrier
from accp_adapters.tokens import count_o200k
from accp_core.accp import BUILT_IN, SchemaRegistry
from accp_core.ports import ColdStore, TokenCounter

__all__ = ["Options", "Policy", "Tools"]

Policy: TypeAlias = Literal["negotiate", "always", "never"]
"""Whose results are rewritten: those of clients that declared the extension; everybody's; nobody's."""
Tools: TypeAlias = Literal["plain", "lazy"]
"""All definitions as the server lists them; one tool that indexes, describes and calls them."""

_CHOICES: dict[str, Any] = {"policy": Policy, "carrier": Carrier, "structured": Structured, "tools": Tools}
_LEAST = {"inline_limit": 1, "preview_limit": 60, "fetch_limit": 1, "largest": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The settings of an `Encoder`; raises ValueError for one that is none of those it may be."""

    policy: Policy = "negotiate"
    """Clients that did not declare the extension get views with "always", and what the server said otherwise."""
    carrier: Carrier = "resource"
    """The block that holds a frame, for clients that negotiated frames."""
    structured: Structured = "keep"
    """Which form of a result a host is shown that did not ask for one, where it is shown views."""
    tools: Tools = "plain"
    """Whether tools/list gives definitions or an index; "lazy" holds for every client."""
    fetch: bool = False
    """Whether results that are too big become references, where views are shown, and the tool that opens them."""
    store: ColdStore | None = None
    """Where their full texts are kept; None: in this process's memory."""
    inline_limit: int = 3_000
    """Tokens of a view, above which it becomes a preview with a reference."""
    preview_limit: int = 2_000
    """Tokens of a preview, at least 60."""
    fetch_limit: int = 4_000
    """Tokens of one answer of `accp_fetch`."""
    min_gain: int = 1
    """Tokens that rewriting must save, of what is read; below 0 it is done even where it costs so many."""
    largest: int = LARGEST
    """Characters of a result; a larger one passes as it came, or is kept and cited where `fetch` is on."""
    counter: TokenCounter = count_o200k
    """Counts the tokens of the model in use."""
    registry: SchemaRegistry = BUILT_IN
    """The schemas that are announced."""
    new_id: Callable[[], str] = lambda: secrets.token_hex(6)
    """Gives each frame its id."""
    now: Callable[[], float] = time.time
    """The time in seconds of the Unix epoch, for the frames' envelopes."""

    def __post_init__(self) -> None:
        """Refuse what is no choice."""
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in get_args(choices):
                expected = ", ".join(map(repr, get_args(choices)))
                raise ValueError(f"expected {name} to be one of {expected}, got {getattr(self, name)!r}")
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                raise ValueError(f"expected {name} to be at least {least}, got {getattr(self, name)!r}")

    @property
    def is_off(self) -> bool:
        """Whether every message passes as it came."""
        return self.policy == "never" and self.tools == "plain" and not self.fetch
