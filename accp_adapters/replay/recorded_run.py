"""A recorded run of agents: its messages, which call was sent which, and what of its file is not counted."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

__all__ = [
    "Finding", "Findings", "RecordedCall", "RecordedMessage", "Role", "Run", "UnreadableRun",
    "calls_in_order", "is_foreign", "shown",
]  # fmt: skip


class Role(StrEnum):
    """The role of a sender: the words of the OpenAI chat format."""

    INSTRUCTIONS = "system"
    USER = "user"
    AGENT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedMessage:
    """One text of a run, exactly as a model was sent it."""

    sender: str
    """The agent, tool or person that it comes from."""
    recipient: str
    """The agent, tool or person that it went to."""
    role: Role
    """The role of the sender."""
    text: str
    """The whole text."""
    tool: str = ""
    """The tool that was called or that answered; empty for other messages."""
    call_id: str = ""
    """The id of the tool call that it makes or answers; empty: not recorded."""
    turn: int = 0
    """The messages that one model call produced have the same turn."""
    by_model: bool = False
    """Whether a model wrote it."""

    @property
    def value(self) -> object:
        """The JSON object or array that the text is, read anew each time; None for any other text."""
        with suppress(ValueError, RecursionError):
            return json.loads(self.text) if self.text.lstrip().startswith(("{", "[")) else None
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One request to a model; its messages are given by their positions in `Run.messages`."""

    agent: str
    """The agent that made the request."""
    prompt: tuple[int, ...]
    """What the model was sent, in order."""
    output: tuple[int, ...]
    """What it answered."""
    tools: str = ""
    """The tool definitions of the request, as compact JSON; empty: none, or not recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One recorded run."""

    name: str
    """How reports call it, such as "runs.jsonl:3"."""
    source: str
    """The file that it was read from."""
    messages: tuple[RecordedMessage, ...]
    """All messages, in order."""
    calls: tuple[RecordedCall, ...]
    """All model calls, in order."""
    agent_names: frozenset[str] = frozenset()
    """Names of agents that the reader of the file was given, see `Policy.agent_names`."""


def is_foreign(message: RecordedMessage, agent: str) -> bool:
    """Return whether `agent` received `message` from a tool or another agent, so that a middleware may rewrite it."""
    return message.role is Role.TOOL or (message.role is Role.AGENT and message.sender != agent)


def calls_in_order(messages: Sequence[RecordedMessage], tools: str = "") -> tuple[RecordedCall, ...]:
    """Return the model calls of a run whose requests are not recorded: each one was sent all earlier messages.

    Args:
        messages: The messages of the run.
        tools: The tool definitions of every request, as compact JSON.
    """
    outputs: dict[tuple[str, int], list[int]] = {}
    for position, message in enumerate(messages):
        if message.by_model:
            outputs.setdefault((message.sender, message.turn), []).append(position)
    # The prompts share their numbers: those of thousands of calls would take more memory than the texts.
    positions = tuple(range(len(messages)))
    return tuple(
        RecordedCall(agent=agent, prompt=positions[: output[0]], output=tuple(output), tools=tools)
        for (agent, _), output in outputs.items()
    )


# What a reader met in a file and does not count, by its place; and the error of a file that cannot be read.


class UnreadableRun(ValueError):
    """A text is not JSON or not a recorded run; the message begins with the place, such as "runs.json:2:12: "."""

    def __init__(self, reason: str, *, path: str, line: int = 1, column: int = 1) -> None:
        """Name the place.

        Args:
            reason: What was expected and found.
            path: The file.
            line: From 1; 0: it is no place in a file, such as a folder without one.
            column: From 1.
        """
        super().__init__(f"{path}{f':{line}:{column}' if line else ''}: {reason}")
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column


_MAX_KINDS: Final = 500
"""Kinds of findings that are told apart; a hostile file may have a new one in every record."""
_UNREAD: Final = frozenset((
    "annotations", "citations", "created", "created_at", "createdAt", "date", "error", "extra_headers",
    "headers", "logprobs", "metadata", "provider_details", "provider_specific_fields", "requestMetadata",
    "response_metadata", "ResponseMetadata", "stop", "stop_details", "stop_sequence", "stop_sequences", "time",
    "timestamp", "trace", "user", "vendor_details",
))  # fmt: skip
"""Fields whose words no model is sent: those that say how, when and where a text came about."""
_ELSEWHERE: Final = frozenset(["audio", "conversation", "fileData", "inlineData", "previous_response_id", "prompt"])
"""Fields that name a part of a prompt which the record does not hold."""
_NAME: Final = re.compile("[!-~]{0,200}")
"""A text that is no words: an id, an address, a setting, the name of something."""
_MAX_SHOWN: Final = 60
_MAX_FILES: Final = 19
"""Further files that a finding names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that is not counted, and the first place of it."""

    noun: str
    """What it is, such as "block"."""
    detail: str
    """Which one, such as "of type 'image'"."""
    count: int
    """How often it was met."""
    path: str
    """The file in which it was met first."""
    line: int
    """The line of that file, from 1."""
    others: tuple[str, ...] = ()
    """The next files in which it was met."""
    left_out: bool = False
    """Whether it is understood, and no part of a prompt, such as the thoughts of an earlier call."""

    def __str__(self) -> str:
        """Return a phrase such as "3 blocks of type 'image' (runs.json:7)"."""
        plural = "s" if self.count > 1 else ""
        places = ", ".join([f"{self.path}:{self.line}", *self.others])
        more = ", …" if len(self.others) == _MAX_FILES else ""
        return f"{self.count:,} {self.noun}{plural} {self.detail} ({places}{more})"


class Findings:
    """Collects the findings of some files; a reader says before each record where it is."""

    def __init__(self) -> None:
        """Start with none."""
        self.path = ""
        self.line = 1
        self.total = 0
        """How many things were found."""
        self._found: dict[tuple[str, str, bool], Finding] = {}

    def __iter__(self) -> Iterator[Finding]:
        """Yield each kind of finding, in the order in which they were met."""
        return iter(self._found.values())

    def move_to(self, path: str, line: int) -> None:
        """Say which record is read now."""
        self.path, self.line = path.replace("\n", "\\n"), line

    def not_understood(self) -> list[Finding]:
        """Return the findings that may be parts of prompts, so that the figures are too small."""
        return [finding for finding in self if not finding.left_out]

    def left_out(self) -> list[Finding]:
        """Return the findings that are no parts of prompts."""
        return [finding for finding in self if finding.left_out]

    def add(self, noun: str, detail: str, *, left_out: bool = False) -> None:
        """Count one thing, such as a "block" "of type 'image'"."""
        self.total += 1
        key = (noun, detail, left_out)
        if key not in self._found and len(self._found) >= _MAX_KINDS:
            key = ("thing", "of other kinds", left_out)
        known = self._found.get(key)
        if known is None:
            known = Finding(noun=key[0], detail=key[1], count=0, path=self.path, line=self.line, left_out=left_out)
        is_next = self.path not in (known.path, *known.others) and len(known.others) < _MAX_FILES
        others = (*known.others, self.path) if is_next else known.others
        self._found[key] = replace(known, count=known.count + 1, others=others)

    def unknown(self, reason: str) -> None:
        """Count a record in no known format; `reason` says which are known."""
        self.add("record", "in no known format")

    def broken(self, error: UnreadableRun) -> None:
        """Count a record that cannot be read, such as the last line of a log that is still written."""
        self.move_to(error.path, error.line)
        self.add("record", f"that cannot be read: {error.reason}")

    def block(self, kind: object, owner: str) -> None:
        """Count a block whose type the format does not know or that cannot be counted in tokens."""
        self.add("block", f"of type {shown(kind)} of {owner}")

    def role(self, role: object, owner: str) -> None:
        """Count a message whose role the format does not know."""
        self.add("message", f"with the role {shown(role)} of {owner}")

    def thoughts(self, kind: object, owner: str) -> None:
        """Count a model's reasoning, which providers do not send again with later calls."""
        self.add("block", f"of type {shown(kind)} of {owner}", left_out=True)

    def fields(self, record: Mapping[str, Any], known: Collection[str], owner: str) -> None:
        """Count each field of a record that may be a part of a prompt and is not `known`."""
        for name, value in record.items():
            if name not in known and name not in _UNREAD and ((value and name in _ELSEWHERE) or _has_words(value)):
                self.add("field", f"{shown(name)} of {owner}")


def _has_words(value: object) -> bool:
    """Return whether a text of a value is more than a name."""
    values = [value]
    while values:
        match values.pop():
            case str(text) if not _NAME.fullmatch(text):
                return True
            case Mapping() as fields:
                values += fields.values()
            case [*items]:
                values += items
    return False


def shown(value: object) -> str:
    """Return the beginning of the `repr` of a value."""
    text = repr(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
