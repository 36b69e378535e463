"""What a prompt shows of the results of tools, read from its text alone: JSON, views, previews, pages of files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from accp_adapters.cli.commands.demo import split_page
from accp_adapters.fetching import FETCH_NAME
from accp_adapters.fetching.answers import value_at
from accp_adapters.langchain import calls_of
from accp_core.projection import Repeats, Shortened
from accp_core.references import find_references, reference_to
from accp_core.view import read

__all__ = ["MustCall", "Prompt", "Rows", "Seen", "row_with"]

Rows: TypeAlias = list[tuple[Any, ...]]
"""The cells of each row that a query found."""
Seen: TypeAlias = "Callable[[str], Rows | None]"
"""Returns what a preview shows of what is needed, None where it does not show it."""

_CLEARED: Final = "[cleared]"
_NOTHING: Final = re.compile(r"\A0 of \d+ ")
_ABOVE: Final = re.compile(r'\[as above: (?:\d+ lines? from )?(?:the last )?"[^\n]*…".*\]')
"""A repeat marker: it stands for whole lines above."""
_COUNTED: Final = re.compile(r"\[(\d+)\] ")
"""The header of a table, with the number of rows below it; others may follow, which are not those asked for."""
_FILE: Final = re.compile(r"saved in the filesystem at this path: (\S+)")
_PAGE_LINES: Final = 250
"""Lines of one page of an offloaded result: about 2,000 tokens of indented JSON."""
_SPAN: Final = re.compile(r"@@ lines (\d+)-(\d+) of (\d+)")


class MustCall(Exception):
    """The model needs results that its prompt does not show."""

    def __init__(self, *calls: tuple[str, dict[str, Any]]) -> None:
        """Demand the results of calls, each the name of a tool and its arguments."""
        super().__init__(str(calls))
        self.calls = calls


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of the model."""

    messages: Sequence[BaseMessage]
    """The messages as the model is sent them."""
    tools: frozenset[str]
    """The names of the tools that it has."""

    def words(self) -> str:
        """Return all that users, agents and summaries say, without the results of tools."""
        said = [message.text for message in self.messages if isinstance(message, HumanMessage | AIMessage)]
        return "\n".join(said)

    def text(self, tool: str, **arguments: Any) -> str:
        """Return the latest result of a call that its prompt holds.

        Raises:
            MustCall: it was not called, or its result was cleared.
        """
        found = [each for each in self._results(tool, arguments) if each != _CLEARED]
        if not found:
            raise MustCall((tool, dict(arguments)))
        return found[-1]

    def rows(self, tool: str, arguments: Mapping[str, Any], sql: str, seen: Seen | None = None) -> Rows:
        """Return what a SELECT over the rows of a tool's result finds.

        A result that is shown whole is read; of a preview `seen` is asked first, then the fetch tool.

        Raises:
            MustCall: something was not called yet.
        """
        shown = self.text(tool, **arguments)
        if reference := self._reference(shown):
            visible = seen(self._without_markers(shown)) if seen else None
            return self.fetched(reference, sql) if visible is None else visible
        return _as_rows(value_at(_json_of(self._whole(shown)), sql))

    def lines(self, tool: str, arguments: Mapping[str, Any], words: str, *, all_of_them: bool = False) -> list[str]:
        """Return the lines of a tool's result that contain `words`; of a preview one that it shows is enough.

        Raises:
            MustCall: something was not called yet.
        """
        sql = f"SELECT text FROM lines WHERE text LIKE '%{words}%'"
        shown = self.text(tool, **arguments)
        if not (reference := self._reference(shown)):
            return [line for line in self._whole(shown).splitlines() if words in line]
        visible = [line for line in _shown_lines(shown) if words in line]
        if visible and not all_of_them:
            return visible
        return self._fetched_lines(reference, sql)

    def passage(self, tool: str, arguments: Mapping[str, Any], words: str, count: int) -> list[str]:
        """Return `count` lines of a tool's result, the first of which contains `words`.

        Raises:
            MustCall: something was not called yet.
        """
        first = f"(SELECT n FROM lines WHERE text LIKE '%{words}%' LIMIT 1)"
        sql = f"SELECT text FROM lines WHERE n >= {first} ORDER BY n LIMIT {count}"
        shown = self.text(tool, **arguments)
        reference = self._reference(shown)
        lines = _shown_lines(shown) if reference else self._whole(shown).splitlines()
        starts = [number for number, line in enumerate(lines) if words in line]
        found = lines[starts[0] : starts[0] + count] if starts else []
        if not reference or (found and not any(line.startswith("[…") for line in found)):
            return found
        return self._fetched_lines(reference, sql)

    def all(self, *needs: Callable[[], Any]) -> list[Any]:
        """Return what each of several needs gives; what they demand is called at once.

        Raises:
            MustCall: some demand calls.
        """
        results: list[Any] = []
        calls: list[tuple[str, dict[str, Any]]] = []
        for need in needs:
            try:
                results.append(need())
            except MustCall as must:
                calls += must.calls
        if calls:
            raise MustCall(*calls)
        return results

    def fetched(self, reference: str, query: str) -> Rows:
        """Return the rows of a fetch, page by page.

        Raises:
            MustCall: a page was not fetched yet.
        """
        return [row for shown in self._pages(reference, query) for row in _as_rows(read(shown))]

    def _pages(self, reference: str, query: str) -> Iterator[str]:
        """Yield the pages of a fetch, none where it finds nothing."""
        offset: int | None = 0
        while offset is not None:
            page = {"ref": reference, "query": query, **({"offset": offset} if offset else {})}
            text = self.text(FETCH_NAME, **page)
            shown, offset = split_page(text)
            if not _NOTHING.match(text):
                yield shown

    def _fetched_lines(self, reference: str, query: str) -> list[str]:
        """Return the lines of a fetch, page by page, which are shown as they are.

        Raises:
            MustCall: a page was not fetched yet.
        """
        return [line for shown in self._pages(reference, query) for line in shown.split("\n")]

    def _results(self, tool: str, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Yield the results of each call."""
        called = set()
        for message in self.messages:
            for call in calls_of(message):
                if call["name"] == tool and call["args"] == dict(arguments):
                    called.add(call["id"])
            if isinstance(message, ToolMessage) and message.tool_call_id in called:
                yield message.text

    def _reference(self, shown: str) -> str:
        """Return the reference of a preview, an empty text for anything else."""
        keys = find_references(shown.partition("\n")[0]) if FETCH_NAME in self.tools else ()
        return reference_to(keys[-1]) if keys else ""

    def _whole(self, shown: str) -> str:
        """Return the whole text of a result that is shown, or that a file holds.

        Raises:
            MustCall: a page of the file was not read yet.
        """
        path = _FILE.search(shown)
        return self._file(path[1]) if path else self._without_markers(shown)

    def _file(self, path: str) -> str:
        """Return the text of a file of deepagents: its first page, then all others at once, then what is left out."""

        def page(offset: int) -> tuple[int, int, list[str]]:
            shown = self.text("read_file", file_path=path, offset=offset, limit=_PAGE_LINES)
            span = _SPAN.search(shown)
            body = shown[span.end() :].splitlines()[1:] if span else []
            return int(span[2]) if span else 0, int(span[3]) if span else 0, body

        end, total, _ = page(0)
        stride = end if end >= _PAGE_LINES else max(1, end * 9 // 10)
        self.all(*(lambda offset=offset: page(offset) for offset in range(stride, total, stride)))
        lines: list[str] = []
        while len(lines) < total:
            start = len(lines) // stride * stride
            end, _, body = page(start)
            if end <= len(lines):
                end, _, body = page(start := len(lines))
            lines[start:] = body[: end - start]
        return "\n".join(lines)

    def _without_markers(self, shown: str) -> str:
        """Return a result whose repeat markers are replaced by what stands above it, as the notation defines it."""
        if not (markers := _markers_in(shown)):
            return shown
        read = Repeats()
        for message in takewhile(lambda each: each.text != shown, self.messages):
            read.add(Shortened(text=message.text, markers=_markers_in(message.text)))
        return read.restore(Shortened(text=shown, markers=markers))


def row_with(column: str, value: str, *cells: str) -> Seen:
    """Return what finds `cells` of the row whose `column` is `value` among the rows of a preview."""

    def seen(preview: str) -> Rows | None:
        found = [row for row in _shown_rows(preview) if row.get(column) == value]
        return [tuple(found[0].get(cell) for cell in cells)] if found else None

    return seen


def _shown_rows(preview: str) -> list[dict[str, Any]]:
    """Return the rows of the first table of a preview; the notation of tables is what the fetch tool explains."""
    lines = preview.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("[") and number]
    for start in starts:
        count = _COUNTED.match(lines[start])
        for end in (start + 1 + int(count[1]), None) if count else (None,):
            try:
                value = read("\n".join(lines[start:end]))
            except ValueError:
                continue
            return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []
    return []


def _markers_in(text: str) -> frozenset[int]:
    return frozenset(number for number, line in enumerate(text.split("\n")) if _ABOVE.fullmatch(line))


def _json_of(text: str) -> str:
    """Return the JSON of a view, any other text as it is."""
    try:
        json.loads(text)
    except ValueError:
        value = read(text)
        return json.dumps(value) if isinstance(value, list | dict) else text
    return text


def _as_rows(value: Any) -> Rows:
    """Return a list of rows of what `value_at` or a fetch gives: a list of maps or cells, a map, or a cell."""
    if isinstance(value, list):
        return [tuple(each.values()) if isinstance(each, dict) else (each,) for each in value]
    return [tuple(value.values())] if isinstance(value, dict) else [(value,)]


def _shown_lines(preview: str) -> list[str]:
    """Return the lines of the text that a preview shows, without what it says of them and of an earlier version."""
    first, *lines = preview.splitlines() or [""]
    if first.endswith(" but for:]"):
        return [line.partition(": ")[2] for line in lines if line.startswith("+")]
    return [line for line in lines if not line.startswith('"')]
