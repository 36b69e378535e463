"""The job of the demonstration, and a model that does it by rule from the text of the messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool

from accp_adapters.cli.demo.tool_answers import FETCH, MustCall, Transcript

__all__ = ["INSTRUCTIONS", "JOB", "ScriptedModel", "next_turn"]

INSTRUCTIONS: Final = (
    "You work on the files of one folder, with the tools you have. "
    "Say only what the tools have said, and quote exactly."
)
JOB: Final = (
    "Write a hand-over note about this folder: which are its longest files and where its lines are, what "
    "changed last and which files change most often, who mentions the file that changes most, what the "
    "longest file defines, and the line where its last definition begins, word for word."
)


@dataclass(frozen=True, slots=True)
class _Desk:
    """What the model knows at a turn, each fact read from a tool's answer; raises what `Transcript` does."""

    transcript: Transcript

    def listed(self) -> list[dict[str, Any]]:
        return self.transcript.rows("call-list", "list_files", {}, "path,lines")

    def longest(self) -> str:
        files = sorted(self.listed(), key=lambda file: (-file["lines"], file["path"]))
        return str(files[0]["path"]) if files else ""

    def changes(self) -> list[dict[str, Any]]:
        return self.transcript.rows("call-history", "git_history", {}, "author,date,subject,files")

    def touched(self) -> Counter[str]:
        return Counter(path for change in self.changes() for path in change["files"])

    def busiest(self) -> str:
        counts = self.touched().items()
        return min(counts, key=lambda item: (-item[1], item[0]))[0] if counts else self.longest()

    def mentions(self) -> list[dict[str, Any]]:
        stem = self.busiest().rpartition("/")[2].partition(".")[0]
        return self.transcript.rows("call-search", "search_text", {"words": stem}, "path,line")

    def folders(self) -> list[dict[str, Any]]:
        sql = (
            "SELECT folder, COUNT(*) AS files, SUM(lines) AS lines FROM files "
            "GROUP BY folder ORDER BY lines DESC, folder LIMIT 30"
        )
        return self.transcript.rows("call-folders", "query_database", {"sql": sql}, "folder,files,lines")

    def definitions(self) -> list[dict[str, Any]]:
        path = self.longest().replace("'", "''")
        sql = f"SELECT kind, name, line FROM definitions WHERE path = '{path}' ORDER BY line"
        return self.transcript.rows("call-definitions", "query_database", {"sql": sql}, "kind,name,line")

    def last_line(self) -> str:
        defined = self.definitions()
        if not defined:
            return "it has none."
        words = f"{defined[-1]['kind']} {defined[-1]['name']}"
        return self.transcript.line_with("call-read", "read_file", {"path": self.longest()}, words)


def next_turn(messages: Sequence[BaseMessage], *, can_fetch: bool) -> AIMessage:
    """Return what the model says to `messages`: the next tool call, or the note when it knows enough."""
    desk = _Desk(Transcript(messages, can_fetch))
    try:
        return AIMessage(content="\n".join(sentence(desk) for sentence in _NOTE))
    except MustCall as turn:
        return turn.message


def _files(desk: _Desk) -> str:
    longest = sorted(desk.listed(), key=lambda file: (-file["lines"], file["path"]))[:5]
    return "Longest files: " + _list(f"{file['path']} ({file['lines']} lines)" for file in longest)


def _history(desk: _Desk) -> str:
    changes = desk.changes()
    if not changes:
        return "Nothing is known about changes."
    last = changes[0]
    busy = sorted(desk.touched().items(), key=lambda item: (-item[1], item[0]))[:5]
    said = f' by {last["author"]}, "{last["subject"]}"' if last["author"] else ""
    return f"Last change: {last['date']}{said}. Most often: " + _list(f"{path} ({n})" for path, n in busy)


def _mentions(desk: _Desk) -> str:
    found = desk.mentions()
    places = [f"{match['path']}:{match['line']}" for match in found]
    return f"{desk.busiest()} is mentioned in {len({m['path'] for m in found})} files: " + _list(places[:5])


def _folders(desk: _Desk) -> str:
    rows = desk.folders()[:6]
    return "Lines by folder: " + _list(f"{row['folder']} {row['lines']} in {row['files']}" for row in rows)


def _definitions(desk: _Desk) -> str:
    found = desk.definitions()
    ends = [*found[:1], *found[1:][-1:]]
    names = _list(f"{one['kind']} {one['name']} at {one['line']}" for one in ends)
    return f"{desk.longest()} has {len(found)} definitions, the first and the last: {names}"


def _quote(desk: _Desk) -> str:
    return f"The last one begins: {desk.last_line()}"


_NOTE: Final[tuple[Callable[[_Desk], str], ...]] = (
    _files,
    _history,
    _mentions,
    _folders,
    _definitions,
    _quote,
)


def _list(items: Iterable[str]) -> str:
    return (", ".join(items) or "none") + "."


class ScriptedModel(BaseChatModel):
    """A chat model that follows the script: what it says depends on the messages and on nothing else."""

    can_fetch: bool = False
    """Whether the tool that opens references was bound."""

    @property
    def _llm_type(self) -> str:
        return "accp-demo"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedModel:
        """Return the model that knows `tools`."""
        names = {convert_to_openai_tool(each)["function"]["name"] for each in tools}
        return self.model_copy(update={"can_fetch": FETCH in names})

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn = next_turn(messages, can_fetch=self.can_fetch)
        return ChatResult(generations=[ChatGeneration(message=turn)])
