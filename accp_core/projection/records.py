"""A message of any framework as a neutral record: what a projection needs to know of it, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Final, Literal, TypeAlias

from accp_core.compression import ResultLimits
from accp_core.references import StoredText

__all__ = [
    "FILE_READERS", "CallRecord", "MessageRecord", "Projected", "Resolve", "ResultForm", "Role", "ToolForm",
    "ToolForms", "Unit", "attribute", "check_tool_forms", "is_program", "resolve", "texts_in",
]  # fmt: skip


Unit: TypeAlias = Literal["lines", "rows", "whole"]
"""What a repeat marker may stand for: lines of a text, rows of a view, or only the whole text (JSON, a preview)."""


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
    stored: tuple[Unit | None, ...] = ()
    """Of one that stays because it is stored as it was compressed: what markers may stand for in each block, all the
    same; None: it was not compressed."""
    shown: tuple[str | None, ...] = ()
    """Of one that stays, what is sent of each block all the same, where that is another text."""
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
    kept: str = field(default="", compare=False)
    """Why the result of a tool stays as it is: "small", "prose", "view", "excluded" …; empty: it does not."""
    failed: bool = False
    """Whether something raised, so that the message is sent as it was; the logger "accp" has the cause."""

    @property
    def is_changed(self) -> bool:
        """Whether any block or argument has a new text."""
        return bool(self.arguments) or self.blocks.count(None) < len(self.blocks)


# What is special to the results of some tools: a table of names and patterns, that of the user before the defaults.

ResultForm: TypeAlias = Literal["as_is", "verbatim", "lossless"] | ResultLimits
"""How the results of a tool are shown.

"as_is" never changes them. "verbatim" shows the lines of a file as they are, all or an excerpt, so that an editing tool
finds what a model copies from its prompt. "lossless" shows views and never a preview. Limits stand in place of those of
the policy.
"""
_WORDS: Final = ("as_is", "verbatim", "lossless")
_PATTERN: Final = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Resolve:
    """The arguments of a tool in which a model may write a reference: the tool is given its text."""

    arguments: tuple[str, ...]
    """Their names."""
    form: ResultForm | None = None
    """How the results of the tool are shown; None: as those of others."""
    max_chars: int = 1_000_000
    """Characters of a text that is given to the tool."""


def resolve(*arguments: str, form: ResultForm | None = None, max_chars: int = 1_000_000) -> Resolve:
    """Return the entry of a tool in `Policy.tools`: `{"write_file": resolve("content")}`; see `Resolve`."""
    return Resolve(arguments, form, max_chars)


ToolForm: TypeAlias = ResultForm | Resolve
"""What is special to a tool: the form of its results, the arguments that take references, or both."""

# deepagents, LangChain's file tools, MCP servers of files, GitHub, GitLab and JetBrains; Gemini CLI, Cline, Roo Code,
# Claude Code, OpenCode, Copilot, Strands; Anthropic's text editor, OpenHands, SWE-agent; shells; and the names that
# hosts give the tools of an MCP server. What is found in files is edited, too.
_FILE_READERS: Final = (
    "grep", "Grep", "read_file", "read_text_file", "read_multiple_files",
    "read_many_files", "Read", "read", "readFile", "file_read",
    "cat", "open", "open_file", "view", "view_file", "text_editor", "str_replace_editor", "str_replace_based_edit_tool",
    "get_file_contents", "get_file_text_by_path",
    "*__read_file", "*__read_text_file", "*__read_multiple_files", "*__get_file_contents",
)  # fmt: skip
FILE_READERS: Final[Mapping[str, ToolForm]] = dict.fromkeys(_FILE_READERS, "verbatim")
"""The tools by which coding agents read the files that they edit."""


@dataclass(frozen=True, slots=True)
class ToolForms:
    """Finds the form of a tool's results: an exact name before a pattern, `own` before `defaults`."""

    own: Mapping[str, ToolForm] = field(default_factory=dict)
    """Names and patterns of `fnmatch` (`read_*`), the first of those that match counts."""
    defaults: Mapping[str, ToolForm] = field(default_factory=lambda: FILE_READERS)
    """The same for names that `own` does not have."""

    def find(self, tool: str) -> ResultForm | None:
        """Return the form of the results of `tool`; None: nothing is special to them."""
        for table in (self.own, self.defaults):
            matching = (form for pattern, form in table.items() if fnmatchcase(tool, pattern))
            for found in chain([table[tool]] if tool in table else (), matching):
                form = found.form if isinstance(found, Resolve) else found
                if form is not None:
                    return form
        return None

    def resolve(self, tool: str) -> Resolve | None:
        """Return which arguments of `tool` take references; None: none does."""
        found = self.own.get(tool)
        return found if isinstance(found, Resolve) else None

    def limits_of(self, tool: str, limits: ResultLimits) -> ResultLimits | None:
        """Return the limits of the results of `tool`, of others `limits`; None: they stay as they are."""
        match self.find(tool):
            case "as_is":
                return None
            case "verbatim":
                return replace(limits, verbatim=True)
            case "lossless":
                return replace(limits, inline=None)
            case ResultLimits() as own:
                return own
        return limits


def check_tool_forms(tools: Any) -> None:
    """Refuse what is no table of tools and their forms (ValueError)."""
    if not isinstance(tools, Mapping) or not all(isinstance(tool, str) for tool in tools):
        raise ValueError(f"expected tools to be like {{'read_*': 'verbatim'}}, found {tools!r}")
    for tool, found in tools.items():
        form = _form_of(tool, found) if isinstance(found, Resolve) else found
        if not isinstance(form, ResultLimits) and form not in _WORDS:
            raise ValueError(
                f"expected tools[{tool!r}] to be one of {_WORDS}, ResultLimits or resolve(…), found {form!r}"
            )


def _form_of(tool: str, resolved: Resolve) -> object:
    """Return the form of results beside the arguments; ValueError: a pattern names the tool, or names are missing."""
    if _PATTERN & set(tool):
        raise ValueError(f"expected the name of one tool with resolve(…), found the pattern {tool!r}")
    names: tuple[object, ...] = resolved.arguments
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"expected tools[{tool!r}] to resolve the names of arguments, found {names!r}")
    if type(resolved.max_chars) is not int or resolved.max_chars < 1:
        raise ValueError(f"expected max_chars of tools[{tool!r}] to be at least 1, found {resolved.max_chars!r}")
    return "as_is" if resolved.form is None else resolved.form


# Which messages of a conversation other agents wrote, seen from the agent whose model reads them.

# The tools of langgraph-supervisor, langgraph-swarm, the OpenAI Agents SDK and `handoff_tool` have these names.
_HANDOFF: Final = re.compile(r"transfer_(?:back_)?to_(.+)")
_NOT_IN_TOOL_NAMES: Final = re.compile(r"[^a-zA-Z0-9_-]+")


def attribute(
    records: Iterable[MessageRecord], *, names: Iterable[str] | None, agent: str | None = None
) -> Iterator[MessageRecord]:
    """Yield each record with the role that it has for the model of `agent`.

    Another agent's words are those of a name in `names`, of a name that an earlier call of `transfer_to_…` named, and,
    after the first user's message, those of any other name than that of a reader that has one: before it, named
    messages may be examples. The calls of the first two kinds
    are surely another agent's.

    Args:
        records: The conversation from its first message on. What is yielded for one depends on those up to it alone.
        names: The names of other agents; None: no message is taken for another agent's.
        agent: The name of the agent whose model reads; None: it has none.
    """
    if names is None:
        yield from records
        return
    others = _OtherAgents(names, agent)
    for record in records:
        yield others.attribute(record)


class _OtherAgents:
    """The names of other agents: those that are given, and those that handoffs name from then on."""

    def __init__(self, names: Iterable[str], agent: str | None) -> None:
        self._given: Final = frozenset(names)
        self._known: Final = set(self._given)
        self._agent: Final = agent
        self._user_spoke = False

    def attribute(self, record: MessageRecord) -> MessageRecord:
        """Return the next record with its role; its calls are another agent's where that is sure."""
        is_sure = self._is_known(record)
        is_other = is_sure or self._has_another_name(record)
        for match in filter(None, (_HANDOFF.fullmatch(call.name) for call in record.calls)):
            self._known.add(match[1])
        self._user_spoke |= record.role is Role.USER and not is_other
        if not is_other:
            return record
        calls = tuple(replace(call, by_other=True) for call in record.calls) if is_sure else record.calls
        # Parts, such as thoughts and images, belong together and stay.
        role = Role.OTHER_AGENT if record.is_plain and record.text else record.role
        return replace(record, role=role, calls=calls)

    def _is_known(self, record: MessageRecord) -> bool:
        """Return whether a message has the name of an agent; in the place of a user's only those given are agents'."""
        name = record.name
        if not name or name == self._agent:
            return False
        match record.role:
            case Role.USER:
                return name in self._given
            case Role.MODEL:
                return not {name, _NOT_IN_TOOL_NAMES.sub("_", name).lower()}.isdisjoint(self._known)
        return False

    def _has_another_name(self, record: MessageRecord) -> bool:
        is_named = record.role is Role.MODEL and bool(record.name) and bool(self._agent)
        return is_named and self._user_spoke and record.name != self._agent
