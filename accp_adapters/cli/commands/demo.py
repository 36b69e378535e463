"""`accp demo`: one large tool result before and after, then one job of an agent without and with the middleware."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from accp_adapters.cli.sources import ExtraMissing
from accp_core.markers import printable

__all__ = ["demo", "split_page"]

JOB: Final = (
    "Write a hand-over note about this folder: its longest files, which other files mention the longest one, and the "
    "first line in the first of these that does, word for word."
)
_MAX_FILES: Final = 2_000
_MAX_FILE_BYTES: Final = 400_000
_MAX_LISTED: Final = 150
_MAX_MATCHES: Final = 60
_MAX_SHOWN: Final = 600
"""Characters of a result that the terminal shows."""
_SKIPPED: Final = frozenset(("node_modules", "__pycache__", "venv", "dist", "build", "target", "site-packages"))
_NUMBERED: Final = re.compile(r"(\d+)[:-] ")
_NOTES: Final = re.compile(r"(?:(?:\A|\n)…[^\n]*)+\s*\Z")
"""The last lines of an answer to a fetch, where they are notes."""
_NEXT_PAGE: Final = re.compile(r"; next: offset=(\d+)")


def demo(
    *,
    folder: Annotated[
        Path, typer.Option(exists=True, file_okay=False, help="The folder whose files the agent works on.")
    ] = Path(),
) -> None:
    """Show one large tool result before and after, then let an agent do one job over your files twice.

    A LangGraph agent lists files, searches text and reads a file, without and with the middleware. Its model is a
    script that needs no key: what it calls and answers follows from the texts of its prompt only. The exit code is 1
    where the two answers differ.

    Example: `accp demo --folder ~/src/project`
    """
    try:
        from accp_adapters.langgraph import AccpMiddleware
    except ImportError as error:
        raise ExtraMissing("the demonstration", extra="langgraph") from error
    from accp_adapters.cli.tables import percent, plain_table, wide_console

    files = _read_folder(folder.resolve())
    if not files:
        raise typer.BadParameter(f"expected text files in {folder}, found none", param_hint="--folder")
    console = wide_console()
    without, with_us = _Run(files), _Run(files, AccpMiddleware())
    tool, before, after = with_us.largest(without)
    for name, text in (("as the tool returned it", before), ("as the model is sent it", after)):
        console.print(f"The result of {tool}, {name}: {_count(text):,} tokens\n{printable(_beginning(text))}\n")
    rows = [
        (name, f"{one:,}", f"{two:,}", percent(two, one))
        for name, one, two in (
            ("model calls", len(without.tokens), len(with_us.tokens)),
            ("tokens of all prompts", sum(without.tokens), sum(with_us.tokens)),
        )
    ]
    console.print(plain_table(f"One job over {len(files):,} files", ("", "without", "with", "%"), rows))
    same = without.answer == with_us.answer
    answers = [without.answer] if same else [without.answer, with_us.answer]
    console.print("The same final answer:" if same else "The final answers differ:")
    console.print(*map(printable, answers), sep="\n\n", soft_wrap=True)
    raise typer.Exit(0 if same else 1)


class _Run:
    """One run of the job."""

    def __init__(self, files: dict[str, str], middleware: Any = None) -> None:
        from langchain.agents import create_agent
        from langchain.agents.middleware import wrap_model_call

        self.tokens: list[int] = []
        """Tokens of the messages of each prompt."""
        self.results: dict[str, tuple[str, str]] = {}
        """The id of each call: its tool, and the text that the model was sent."""

        @wrap_model_call
        def look(request: Any, handler: Callable[[Any], Any]) -> Any:
            """Innermost, so that it has what the model is sent."""
            self.tokens.append(sum(_count(message.text) for message in request.messages))
            for message in request.messages:
                if message.type == "tool":
                    self.results[message.tool_call_id] = message.name, message.text
            return handler(request)

        chain = [middleware, look] if middleware else [look]
        agent: Any = create_agent(_scripted_model(), _tools(files), middleware=chain)
        self.answer: str = agent.invoke({"messages": JOB}, {"recursion_limit": 100})["messages"][-1].text

    def largest(self, without: _Run) -> tuple[str, str, str]:
        """Return the tool of the largest result, and its text without and with the middleware."""
        key = max(without.results, key=lambda each: len(without.results[each][1]))
        tool, text = without.results[key]
        return tool, text, self.results[key][1]


def _tools(files: dict[str, str]) -> list[Any]:
    from langchain_core.tools import tool

    @tool
    def list_files() -> list[dict[str, Any]]:
        """List the largest text files of the folder: path, characters, lines."""
        largest = sorted(files, key=lambda path: (-len(files[path]), path))[:_MAX_LISTED]
        return [{"path": p, "characters": len(files[p]), "lines": len(files[p].splitlines())} for p in largest]

    @tool
    def search_text(words: str) -> list[dict[str, Any]]:
        """Find lines that contain words, in all files: path, line number, text."""
        found = (
            {"path": path, "line": number, "text": line.strip()[:200]}
            for path, text in files.items()
            for number, line in enumerate(text.splitlines(), 1)
            if words.casefold() in line.casefold()
        )
        return [match for match, _ in zip(found, range(_MAX_MATCHES), strict=False)]

    @tool
    def read_file(path: str) -> str:
        """Return the text of one file."""
        return files[path]

    return [list_files, search_text, read_file]


class _MustCall(Exception):
    """The model needs the answer of a tool: its name, the id of the call and the arguments."""


class _Prompt:
    """What a model reads in its prompt: the results of tools, as JSON, as a view, or through a reference."""

    def __init__(self, messages: Sequence[Any], *, can_fetch: bool) -> None:
        self._results = {message.tool_call_id: message for message in messages if message.type == "tool"}
        self._can_fetch = can_fetch

    def note(self) -> str:
        """Return the hand-over note; _MustCall where a fact is missing."""
        listed = self._rows("list_files", {}, "path, lines")
        listed.sort(key=lambda file: (-int(file["lines"]), file["path"]))
        lines = "Longest files: " + ", ".join(f"{file['path']} ({file['lines']} lines)" for file in listed[:5])
        longest = str(listed[0]["path"])
        words = longest.rpartition("/")[2].partition(".")[0]
        found = self._rows("search_text", {"words": words}, "path, line")
        others = [row for row in found if row["path"] != longest]
        if not others:
            return f"{lines}. No other file mentions {longest}."
        places = ", ".join(f"{row['path']}:{row['line']}" for row in others[:5])
        quoted = self._line_with("read_file", {"path": others[0]["path"]}, words)
        return f"{lines}. {longest} is mentioned in {places}. The first line that does: {quoted}"

    def _rows(self, tool: str, arguments: dict[str, Any], columns: str) -> list[dict[str, Any]]:
        """Return the rows of a result; of a preview, only `columns`."""
        query = f"SELECT {columns} FROM rows"
        return [row for part, _ in self._parts(tool, arguments, query) for row in _rows(part)]

    def _line_with(self, tool: str, arguments: dict[str, Any], words: str) -> str:
        """Return the first line of a result that has the words."""
        for part, is_fetched in self._parts(tool, arguments, words):
            for line in part.splitlines():
                if words.casefold() in line.casefold():
                    return (_NUMBERED.sub("", line, count=1) if is_fetched else line).strip()
        return ""

    def _parts(self, tool: str, arguments: dict[str, Any], query: str) -> list[tuple[str, bool]]:
        """Return the texts of a result: itself, or the pages behind its reference."""
        from accp_adapters.fetching import FETCH_NAME
        from accp_core.references import find_references, reference_to

        text = self._answer(tool, tool, arguments)
        keys = find_references(text) if self._can_fetch else []
        if not keys:
            return [(text, False)]
        parts: list[tuple[str, bool]] = []
        offset: int | None = 0
        while offset is not None:
            asked = {"ref": reference_to(keys[-1]), "query": query, "offset": offset}
            page = self._answer(f"{tool} {offset}", FETCH_NAME, asked)
            shown, offset = split_page(page)
            parts.append((shown, True))
        return parts

    def _answer(self, call_id: str, tool: str, arguments: dict[str, Any]) -> str:
        if call_id not in self._results:
            raise _MustCall({"name": tool, "args": arguments, "id": call_id, "type": "tool_call"})
        return str(self._results[call_id].text)


def _rows(text: str) -> list[dict[str, Any]]:
    from accp_core.view import read

    for reader in (json.loads, read):
        try:
            value = reader(text)
        except ValueError:
            continue
        return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    return []


def _scripted_model() -> Any:
    """Return a chat model whose turns depend on the messages only."""
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.utils.function_calling import convert_to_openai_tool

    from accp_adapters.fetching import FETCH_NAME

    class ScriptedModel(BaseChatModel):
        can_fetch: bool = False

        @property
        def _llm_type(self) -> str:
            return "accp-demo"

        def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedModel:
            names = [convert_to_openai_tool(tool)["function"]["name"] for tool in tools]
            return self.model_copy(update={"can_fetch": FETCH_NAME in names})

        def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
            try:
                turn = AIMessage(_Prompt(messages, can_fetch=self.can_fetch).note())
            except _MustCall as call:
                turn = AIMessage("", tool_calls=[call.args[0]])
            return ChatResult(generations=[ChatGeneration(message=turn)])

    return ScriptedModel()


def _read_folder(root: Path) -> dict[str, str]:
    """Return the text files below `root` by their paths, without hidden and very large ones."""
    files: dict[str, str] = {}
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        for path in (Path(place, name) for name in sorted(names) if not name.startswith(".")):
            try:
                if len(files) < _MAX_FILES and path.is_file() and path.stat().st_size <= _MAX_FILE_BYTES:
                    files[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                continue
    return files


def _beginning(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}… ({len(text) - _MAX_SHOWN:,} characters more)"


def _count(text: str) -> int:
    from accp_adapters.tokens import count_remembered

    return count_remembered(text)


def split_page(answer: str) -> tuple[str, int | None]:
    """Return what an answer shows of a source, without our notes, and the offset of the next part, None at the end."""
    notes = _NOTES.search(answer)
    if notes is None:
        return answer, None
    following = _NEXT_PAGE.search(notes[0])
    return answer[: notes.start()], int(following[1]) if following else None
