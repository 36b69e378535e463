"""A message of any framework as a neutral record: what a projection needs to know of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from accp_core.references import StoredText

__all__ = ["CallRecord", "MessageRecord", "Projected", "Role", "is_program", "texts_in"]


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


def is_program(caller: Any) -> bool:
    """Return whether the `caller` of a call is a program, as OpenAI's and Anthropic's messages say it.

    A caller of an unknown shape is taken for a program: what it reads stays as it is.
    """
    return caller is not None and (not isinstance(caller, Mapping) or caller.get("type") != "direct")


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value, in order."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting += reversed(list(value.values()))
        elif isinstance(value, list | tuple):
            waiting += reversed(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A tool call in a message of the agent."""

    id: str | None
    """The id that its result repeats."""
    name: str
    """The name of the tool."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """The arguments, a JSON object."""
    by_other: bool = False
    """Whether another agent made it, whose results are shown within the limit of an abstract."""
    by_program: bool = False
    """Whether a program that the model wrote made it, and reads its result; the model is not sent that result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """One message of a conversation."""

    role: Role
    """Who wrote it."""
    blocks: tuple[str | None, ...]
    """The text of each content block; None for a block that is not text, such as an image."""
    name: str | None = None
    """The name of the tool, of the agent or of the user; None: it has none."""
    calls: tuple[CallRecord, ...] = ()
    """The tool calls that it makes."""
    call_id: str | None = None
    """The id of the call that it answers."""
    failed: bool = False
    """Whether it is the error of a tool, which stays as it is unless it is longer than the limit of a result."""
    is_kept: bool = True
    """Whether the state of the agent holds its texts, character for character, so that a preview may cite them."""
    stays: bool = False
    """Whether it stays as it is, whatever the rules say."""
    read_by_program: bool = False
    """Whether it says itself that it answers a call of a program; else its call says so."""
    is_plain: bool = True
    """Whether its content is a text, and not parts that belong together."""

    @property
    def text(self) -> str:
        """The texts of all blocks."""
        return "".join(block or "" for block in self.blocks)

    @property
    def texts(self) -> list[str]:
        """The texts by which it opens references: its blocks and the string arguments of its calls."""
        values = (value for call in self.calls for value in call.args.values())
        return [*filter(None, self.blocks), *(value for value in values if isinstance(value, str))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Projected:
    """One message as the model is sent it."""

    blocks: tuple[str | None, ...]
    """The new text of each block; None: the block stays as it is."""
    arguments: tuple[Mapping[str, str], ...] = ()
    """Of each call the new texts of those arguments that change, by name; empty: none does."""
    stored: tuple[StoredText, ...] = ()
    """The texts that its previews cite."""
    tokens_before: int = 0
    """Tokens of the blocks and arguments that changed, as they were; of a very long text an estimate."""
    tokens_after: int = 0
    """Tokens of their new texts."""
    failed: bool = False
    """Whether something raised, so that the message is sent as it was; the logger "accp" has the cause."""

    @property
    def is_changed(self) -> bool:
        """Whether any block or argument has a new text."""
        return bool(self.arguments) or self.blocks.count(None) < len(self.blocks)
