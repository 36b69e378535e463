"""Every setting of an `Encoder`: which results are rewritten, how, and for which clients."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, get_args

from accp_adapters.mcp.shim.hosts import HOSTS
from accp_adapters.mcp.shim.negotiation import ResultForms
from accp_adapters.mcp.shim.protocol import MAX_RESULT_CHARS, JsonObject
from accp_adapters.mcp.shim.results.frames import FrameCarrier
from accp_adapters.mcp.shim.tools.levels import LEVELS, ToolListing
from accp_adapters.mcp.shim.tools.tool_catalog import matches_any
from accp_adapters.telemetry import Telemetry
from accp_adapters.tokens import count_o200k
from accp_core.accp import BUILT_IN, SchemaRegistry
from accp_core.compression import ResultLimits
from accp_core.ports import ColdStore, TokenCounter
from accp_core.projection import Resolve, ToolForm, ToolForms, check_tool_forms

__all__ = ["EncoderOptions", "RewritePolicy", "ToolListing"]

RewritePolicy: TypeAlias = Literal["negotiate", "always", "never"]
"""Whose results are rewritten: those of clients that declared the extension, of all clients, or of none."""

_CHOICES: dict[str, Sequence[str]] = {
    "policy": get_args(RewritePolicy),
    "carrier": get_args(FrameCarrier),
    "structured": ("auto", *get_args(ResultForms)),
    "host": ("auto", *HOSTS),
    "tools": (*LEVELS, "auto"),
}
_PREVIEWED_CHARS = 200_000
"""Characters of a text that a preview is made of, which bounds its time to about a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderOptions:
    """The settings of an `Encoder`; an invalid one raises ValueError."""

    policy: RewritePolicy = "negotiate"
    """With "always", clients that did not declare the extension get views; otherwise they get unchanged results."""
    carrier: FrameCarrier = "resource"
    """The kind of content block that holds a frame, for clients that negotiated frames."""
    host: str = "auto"
    """The program that shows the results to a model, one of `HOSTS`; "auto": by the name that its client gives."""
    structured: ResultForms | Literal["auto"] = "auto"
    """Which forms of a result are sent to a client that is sent views and did not choose itself; "auto": as its host
    needs."""
    tools: ToolListing = "full"
    """What tools/list returns; anything but "full" applies to every client."""
    include: tuple[str, ...] = ()
    """Patterns of the names of the tools that are listed and called; none: all of them."""
    exclude: tuple[str, ...] = ()
    """Patterns of the names of tools that are not."""
    forms: Mapping[str, ToolForm] = field(default_factory=dict)
    """What is special to the results of some tools that are shown as views, as in `Policy.tools`."""
    call_lists: bool = False
    """Whether the transport sends the server requests of ours: the calls of a list, which `accp_tools` then takes, and
    tools/list where a call of a client that negotiated fails."""
    allow: tuple[str, ...] = ()
    """Patterns of the names of tools that a list of calls runs although they are not read-only."""
    server_of: Callable[[str], str] = lambda name: ""
    """Returns the server of a tool by the tool's name, where there are several."""
    fetch: bool = False
    """Whether a large result becomes a preview with a reference that `accp_fetch` opens, for clients that get views."""
    changes: bool = False
    """With `fetch`: whether a text that is nearly the same as an earlier one of the session is shown as what changed,
    instead of a preview, naming the references of both."""
    store: ColdStore | None = None
    """Where the full texts are kept; None: in the memory of this process."""
    inline_limit: int = 2_500
    """A view of more tokens becomes a preview with a reference."""
    preview_limit: int = 1_000
    """Tokens of a preview, at least 60."""
    fetch_limit: int = 4_000
    """Tokens of one answer of `accp_fetch`."""
    min_gain: int = 1
    """Tokens that rewriting must save; a negative number allows results that take so many more."""
    max_chars: int = MAX_RESULT_CHARS
    """Characters of a result; a longer one passes unchanged, or is stored and cited where `fetch` is on."""
    counter: TokenCounter = count_o200k
    """Counts the tokens of the model in use."""
    telemetry: Telemetry | None = field(default_factory=lambda: Telemetry("mcp"))
    """Reports what all sessions do to OpenTelemetry; None: nothing is reported."""
    registry: SchemaRegistry = BUILT_IN
    """The schema registry that is announced."""
    new_id: Callable[[], str] = lambda: secrets.token_hex(6)
    """Returns the message id of a new frame."""
    now: Callable[[], float] = time.time
    """Returns the time in seconds of the Unix epoch, for the envelopes of frames."""

    def __post_init__(self) -> None:
        """Refuse an invalid setting (ValueError)."""
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                expected = ", ".join(map(repr, choices))
                raise ValueError(f"expected {name!r} to be one of {expected}, found {getattr(self, name)!r}")
        if self.max_chars < 0:
            raise ValueError(f"expected 'max_chars' to be at least 0, found {self.max_chars!r}")
        if self.changes and not self.fetch:
            raise ValueError(f"expected 'fetch' to be True where 'changes' is, found {self.fetch!r}")
        check_tool_forms(self.forms)
        if not self.fetch and any(isinstance(form, Resolve) for form in self.forms.values()):
            raise ValueError(f"expected 'fetch' to be True where arguments take references, found {self.fetch!r}")
        _ = self.limits

    @property
    def limits(self) -> ResultLimits:
        """The limits of views, previews and fetched answers."""
        return ResultLimits(
            inline=self.inline_limit,
            preview=self.preview_limit,
            fetch=self.fetch_limit,
            previewed_chars=_PREVIEWED_CHARS,
        )

    def limits_of(self, tool: str) -> ResultLimits | None:
        """Return the limits of the results of `tool`; None: they stay as they are."""
        limits = ToolForms(self.forms).limits_of(tool, self.limits)
        return limits and replace(limits, previewed_chars=_PREVIEWED_CHARS)

    def offers(self, name: str) -> bool:
        """Return whether a tool of the server is listed and called, by `include` and `exclude`."""
        return (not self.include or matches_any(name, self.include)) and not matches_any(name, self.exclude)

    @property
    def is_filtered(self) -> bool:
        """Whether some tools may not be called."""
        return bool(self.include or self.exclude)

    def offered(self, tools: list[Any]) -> list[JsonObject]:
        """Return the tools of a page of tools/list that are listed and called."""
        if not self.is_filtered:
            return tools
        return [tool for tool in tools if isinstance(tool, dict) and self.offers(str(tool.get("name")))]

    @property
    def is_off(self) -> bool:
        """Whether every message passes unchanged."""
        return self.policy == "never" and self.tools == "full" and not (self.is_filtered or self.fetch)
