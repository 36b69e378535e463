"""What is special to the results of some tools: a table of names and patterns, that of the user before the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias

from accp_core.compression import ResultLimits

__all__ = ["FILE_READERS", "ToolForm", "ToolForms", "check_tool_forms"]

ToolForm: TypeAlias = Literal["as_is", "verbatim", "lossless"] | ResultLimits
"""How the results of a tool are shown.

"as_is" never changes them. "verbatim" shows the lines of a file as they are, all or an excerpt, so that an editing tool
finds what a model copies from its prompt. "lossless" shows views and never a preview. Limits stand in place of those of
the policy.
"""
_WORDS: Final = ("as_is", "verbatim", "lossless")

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

    def find(self, tool: str) -> ToolForm | None:
        """Return the form of the results of `tool`; None: nothing is special to it."""
        for table in (self.own, self.defaults):
            if tool in table:
                return table[tool]
            for pattern, form in table.items():
                if fnmatchcase(tool, pattern):
                    return form
        return None

    def limits_of(
        self, tool: str, limits: ResultLimits, verbatim_limits: ResultLimits | None = None
    ) -> ResultLimits | None:
        """Return the limits of the results of `tool`; None: they stay as they are.

        Args:
            tool: Its name.
            limits: Those of other results.
            verbatim_limits: Those of results that are shown verbatim; None: `limits`.
        """
        match self.find(tool):
            case "as_is":
                return None
            case "verbatim":
                return replace(verbatim_limits or limits, verbatim=True)
            case "lossless":
                return replace(limits, inline=None)
            case ResultLimits() as own:
                return own
        return limits


def check_tool_forms(tools: Any) -> None:
    """Refuse what is no table of tools and their forms (ValueError)."""
    if not isinstance(tools, Mapping) or not all(isinstance(tool, str) for tool in tools):
        raise ValueError(f"expected tools to be like {{'read_*': 'verbatim'}}, found {tools!r}")
    for tool, form in tools.items():
        if not isinstance(form, ResultLimits) and form not in _WORDS:
            raise ValueError(f"expected tools[{tool!r}] to be one of {_WORDS} or ResultLimits, found {form!r}")
