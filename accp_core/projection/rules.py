"""The rules by which a conversation is projected."""

from __future__ import annotations

from dataclasses import dataclass, field

from accp_core.compression import ResultLimits
from accp_core.ports import TokenCounter
from accp_core.projection.tool_forms import ToolForms

__all__ = ["ProjectionRules"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionRules:
    """When a text is shown in another form."""

    counter: TokenCounter
    """Counts the tokens of the model."""
    limits: ResultLimits
    """Those of a single result."""
    tools: ToolForms = field(default_factory=ToolForms)
    """What is special to the results of some tools."""
    verbatim_limits: ResultLimits | None = None
    """Those of results that are shown verbatim; None: those of a single result."""
    agent_limits: ResultLimits | None = None
    """Those of the words of other agents; None: those of a result."""
    agent_names: frozenset[str] | None = frozenset()
    """Names of other agents, see `attribute`; None: no message is taken for another agent's."""
    batch_limit: int
    """Tokens that the results of one model turn may take together."""
    user_limit: int | None = None
    """Tokens of a user's message above which JSON in it is shown as a view or a preview; None: it stays as it is."""
    argument_limit: int | None = None
    """Tokens of an argument of a tool call, a string, above which it is shown as a view or a preview; None: never."""
    repeats: bool = True
    """Whether lines that the model has read already become repeat markers."""
    legend: bool = False
    """Whether a line above the first view that needs it explains the notation, as far as no line above it does."""
    open_with: str = ""
    """The name of the tool that opens a reference, whose results stay as they are; empty: previews name no tool."""
