"""The job of the demonstration, and a model that does it by rules from the texts of the messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.cli.demo.tool_answers import MustCall, ToolAnswers
from accp_adapters.fetching import FETCH_NAME

__all__ = ["INSTRUCTIONS", "JOB", "ScriptedModel", "next_turn"]

INSTRUCTIONS: Final = (
    "You work on the files of one folder, with the tools you have. "
    "Say only what the tools have said, and quote exactly."
)
JOB: Final = (
    "Write a hand-over note about this folder: which are its longest files and where its lines are, what "
    "changed last and which files change most often, which files mention the one that changes most, which file "
    "defines most, and the line where its last definition begins, word for word. Leave out what the folder has not."
)
_MIN_STEM: Final = 4
"""Characters from which on the name of a file is looked for without its ending."""


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the model knows at a turn; each fact is read from a tool's answer, or raises `MustCall`."""

    answers: ToolAnswers

    def listed(self) -> list[dict[str, Any]]:
        """Return the files of the folder, the largest first."""
        return self.answers.rows("call-list", "list_files", {}, "path,lines")

    def longest(self) -> str:
        """Return the path of the file with the most lines."""
        files = sorted(self.listed(), key=lambda file: (-file["lines"], file["path"]))
        return str(files[0]["path"]) if files else ""

    def commits(self) -> list[dict[str, Any]]:
        """Return the last commits, the latest first."""
        return self.answers.rows("call-history", "git_history", {}, "author,date,subject,files")

    def touched(self) -> Counter[str]:
        """Return how many of the commits touch each file."""
        return Counter(path for commit in self.commits() for path in commit["files"])

    def busiest(self) -> str:
        """Return the path of the file that commits touch most, of the longest file without commits."""
        counts = self.touched().items()
        return min(counts, key=lambda item: (-item[1], item[0]))[0] if counts else self.longest()

    def mentions(self) -> list[dict[str, Any]]:
        """Return the lines of other files that mention that file."""
        name = self.busiest().rpartition("/")[2]
        stem = name.partition(".")[0]
        words = stem if len(stem) >= _MIN_STEM else name
        rows = self.answers.rows("call-search", "search_text", {"words": words}, "path,line")
        return [row for row in rows if row["path"] != self.busiest()]

    def folders(self) -> list[dict[str, Any]]:
        """Return files and lines of each folder."""
        sql = (
            "SELECT folder, COUNT(*) AS files, SUM(lines) AS lines FROM files "
            "GROUP BY folder ORDER BY lines DESC, folder LIMIT 30"
        )
        return self.answers.rows("call-folders", "query_database", {"sql": sql}, "folder,files,lines")

    def definitions(self) -> list[dict[str, Any]]:
        """Return the definitions in the file that has most of them; none where no file has one."""
        sql = (
            "SELECT path, kind, name, line FROM definitions WHERE path = (SELECT path FROM definitions "
            "GROUP BY path ORDER BY COUNT(*) DESC, path LIMIT 1) ORDER BY line"
        )
        return self.answers.rows("call-definitions", "query_database", {"sql": sql}, "path,kind,name,line")

    def last_line(self, definition: Mapping[str, Any]) -> str:
        """Return the line in which a definition begins."""
        words = f"{definition['kind']} {definition['name']}"
        return self.answers.line_with("call-read", "read_file", {"path": definition["path"]}, words)


def next_turn(messages: Sequence[BaseMessage], *, can_fetch: bool) -> AIMessage:
    """Return the model's next turn: the tool call that it needs next, or the note when it has every fact.

    Args:
        messages: The conversation as the model is sent it.
        can_fetch: Whether the model has the tool that opens references.
    """
    facts = _Facts(ToolAnswers(messages, can_fetch))
    try:
        return AIMessage(content="\n".join(filter(None, [sentence(facts) for sentence in _NOTE])))
    except MustCall as call:
        return call.message


def _files(facts: _Facts) -> str:
    longest = sorted(facts.listed(), key=lambda file: (-file["lines"], file["path"]))[:5]
    return "Longest files: " + _list(f"{file['path']} ({file['lines']} lines)" for file in longest)


def _history(facts: _Facts) -> str:
    commits = facts.commits()
    if not commits:
        return ""
    last = commits[0]
    most_changed = sorted(facts.touched().items(), key=lambda item: (-item[1], item[0]))[:5]
    by = f'{last["date"]} by {last["author"]}, "{last["subject"]}"'
    return f"Last change: {by}. Most often: " + _list(f"{path} ({n})" for path, n in most_changed)


def _mentions(facts: _Facts) -> str:
    matches = facts.mentions()
    if not matches:
        return ""
    places = [f"{match['path']}:{match['line']}" for match in matches]
    return f"{facts.busiest()} is mentioned in {len({match['path'] for match in matches})} files: " + _list(places[:5])


def _folders(facts: _Facts) -> str:
    rows = facts.folders()[:6]
    return "Lines by folder: " + _list(f"{row['folder']} {row['lines']} in {row['files']}" for row in rows)


def _definitions(facts: _Facts) -> str:
    defined = facts.definitions()
    if not defined:
        return ""
    last = defined[-1]
    return (
        f"{last['path']} has {len(defined)} definitions, the last of them {last['kind']} {last['name']} in "
        f"line {last['line']}: {facts.last_line(last)}"
    )


_NOTE: Final[tuple[Callable[[_Facts], str], ...]] = (
    _files,
    _history,
    _mentions,
    _folders,
    _definitions,
)


def _list(items: Iterable[str]) -> str:
    return ", ".join(items) + "."


class ScriptedModel(BaseChatModel):
    """A chat model that follows the script: its turns depend on the messages only."""

    can_fetch: bool = False
    """Whether the tool that opens references is bound."""

    @property
    def _llm_type(self) -> str:
        return "accp-demo"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedModel:
        """Return the same model with `tools`."""
        names = {convert_to_openai_tool(tool)["function"]["name"] for tool in tools}
        return self.model_copy(update={"can_fetch": FETCH_NAME in names})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn = next_turn(messages, can_fetch=self.can_fetch)
        return ChatResult(generations=[ChatGeneration(message=turn)])
