"""A message of any framework as a neutral record: what a projection needs to know of it, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["CallRecord", "MessageRecord", "Role"]


class Role(StrEnum):
    """Who wrote a message, seen from the agent whose model is sent the projection."""

    INSTRUCTIONS = "instructions"
    """The system prompt."""
    USER = "user"
    """A person, or an agent whose words are to be read like a person's."""
    MODEL = "model"
    """The agent itself."""
    OTHER_AGENT = "other_agent"
    """Another agent, in plain text that may be shown as a view or a preview."""
    TOOL = "tool"
    """A tool, as the answer to a call of the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A tool call in a message of the agent."""

    id: str | None
    """The id that its result repeats."""
    name: str
    """The name of the tool."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """The arguments, a JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """One message of a conversation."""

    role: Role
    """Who wrote it."""
    blocks: tuple[str | None, ...]
    """The text of each content block; None for a block that is not text, such as an image."""
    name: str | None = None
    """The name of the tool or of the agent; None: it has none."""
    calls: tuple[CallRecord, ...] = ()
    """The tool calls that it makes."""
    call_id: str | None = None
    """The id of the call that it answers."""
    failed: bool = False
    """Whether it is the error of a tool, which stays as it is."""
    tokens_counted: int = 0
    """Tokens of the conversation up to and with this message, as the provider counted them; 0: not counted."""
    references: tuple[str, ...] = ()
    """The keys of stored texts that it cites."""

    @property
    def text(self) -> str:
        """The texts of all blocks."""
        return "".join(block or "" for block in self.blocks)
