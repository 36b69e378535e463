"""What is special to the results of some tools: a table of names and patterns, that of the user before the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain
from typing import Any, Final, Literal, TypeAlias

from accp_core.compression import ResultLimits

__all__ = ["FILE_READERS", "Resolve", "ResultForm", "ToolForm", "ToolForms", "check_tool_forms", "resolve"]

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

_FILE_READERS: Final = (
    # deepagents, LangChain's file tools, the MCP filesystem server, Gemini CLI, Cline, Roo Code
    "read_file",
    "read_text_file",
    "read_multiple_files",
    "read_many_files",
    # Claude Code, OpenCode
    "Read",
    "read",
    # editors that replace strings: Anthropic's text editor, OpenHands, SWE-agent
    "view",
    "view_file",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "text_editor",
    "open",
    "open_file",
    # the MCP servers of GitHub, GitLab and JetBrains, Strands, Copilot, shells
    "get_file_contents",
    "get_file_text_by_path",
    "file_read",
    "readFile",
    "cat",
    # the names that hosts give the tools of an MCP server: mcp__filesystem__read_text_file
    "*__read_file",
    "*__read_text_file",
    "*__read_multiple_files",
    "*__get_file_contents",
)
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
