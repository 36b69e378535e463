"""Every setting of an `Encoder`: which results are rewritten, how, and for which clients."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, get_args

from accp_adapters.mcp.hosts import HOSTS
from accp_adapters.telemetry import Telemetry
from accp_adapters.tokens import count_o200k
from accp_core.accp import BUILT_IN, SchemaRegistry
from accp_core.compression import ResultLimits
from accp_core.ports import ColdStore, TokenCounter
from accp_core.projection import Resolve, ToolForm, ToolForms, check_tool_forms

__all__ = ["EncoderOptions", "RewritePolicy"]

RewritePolicy: TypeAlias = Literal["negotiate", "always", "never"]
"""Whose results are rewritten: those of clients that declared the extension, of all clients, or of none."""

_PREVIEWED_CHARS: Final = 200_000
"""Characters of a text that a preview is made of, which bounds its time to about a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderOptions:
    """The settings of an `Encoder`; an invalid one raises ValueError."""

    policy: RewritePolicy = "negotiate"
    """With "always", clients that did not declare the extension get views; otherwise they get unchanged results."""
    host: str = "auto"
    """The program that shows the results to a model, one of `HOSTS`; "auto": by the name that its client gives."""
    index: bool = False
    """Whether every client gets one tool, `accp_tools`, in place of the definitions of all tools."""
    tools: Mapping[str, ToolForm] = field(default_factory=dict)
    """What is special to the results of some tools that are shown as views, as in `Policy.tools`."""
    fetch: bool = False
    """Whether a large result becomes a preview with a reference that `accp_fetch` opens, for clients that get views."""
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
    counter: TokenCounter = count_o200k
    """Counts the tokens of the model in use."""
    telemetry: Telemetry | None = field(default_factory=lambda: Telemetry("mcp"))
    """Reports what all sessions do to OpenTelemetry, and counts it; None: nothing is reported."""
    registry: SchemaRegistry = BUILT_IN
    """The schema registry that is announced."""
    new_id: Callable[[], str] = lambda: secrets.token_hex(6)
    """Returns the message id of a new frame."""
    now: Callable[[], float] = time.time
    """Returns the time in seconds of the Unix epoch, for the envelopes of frames."""

    def __post_init__(self) -> None:
        """Refuse an invalid setting (ValueError)."""
        for name, choices in (("policy", get_args(RewritePolicy)), ("host", ("auto", *HOSTS))):
            if getattr(self, name) not in choices:
                expected = ", ".join(map(repr, choices))
                raise ValueError(f"expected {name!r} to be one of {expected}, found {getattr(self, name)!r}")
        check_tool_forms(self.tools)
        if not self.fetch and any(isinstance(form, Resolve) for form in self.tools.values()):
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
        limits = ToolForms(self.tools).limits_of(tool, self.limits)
        return limits and replace(limits, previewed_chars=_PREVIEWED_CHARS)

    @property
    def is_off(self) -> bool:
        """Whether every message passes unchanged."""
        return self.policy == "never" and not (self.index or self.fetch)
