"""Table 2: tokens of JSON that real tools returned, compared with compact JSON of the same value."""

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from rich.console import Console

from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.replay.formats.conversation import json_value
from accp_adapters.tokens import o200k_base
from accp_core.packing.values import is_same_json
from accp_core.strict_json import compact_json
from accp_core.view import read, render
from tests.harness.bench.data import read_json

__all__ = ["main", "recorded_values"]


def main(data: Path | None, console: Console) -> None:
    """Print the table, or a line that says why it was skipped."""
    if data is None:
        console.print("tool results: skipped, no data folder (set ACCP_DATA)")
        return
    sources = _sources(data)
    rows = [(name, _count(values)) for name, values in sources.items() if values]
    rows.append(("total", [sum(column) for column in zip(*(row for _, row in rows), strict=True)]))
    title = "2. JSON that tools returned: o200k_base tokens against compact JSON of the value"
    columns = ("", "results", "compact JSON", "ours", "%", "larger", "not lossless")
    console.print(plain_table(title, columns, [(name, *_line(*row)) for name, row in rows]))


def recorded_values(data: Path) -> Iterator[object]:
    """Yield the values of all recorded results."""
    return chain.from_iterable(_sources(data).values())


def _sources(data: Path) -> dict[str, list[object]]:
    """Return the values of each source by its name."""
    recorded = {path.stem: list(_recorded(path)) for path in sorted((data / "trajectories").glob("*.jsonl"))}
    captured = {f"mcp {path.stem}": list(_captured(path)) for path in sorted((data / "mcp").glob("*.json"))}
    return recorded | captured


def _line(results: int, compact: int, ours: int, larger: int, lossy: int) -> tuple[str, ...]:
    return f"{results:,}", f"{compact:,}", f"{ours:,}", percent(ours, compact), f"{larger:,}", f"{lossy:,}"


def _recorded(path: Path) -> Iterator[object]:
    """Yield the values of the tool results in recorded runs; for an MCP result, the JSON in its text blocks."""
    for line in path.read_text(encoding="utf-8").splitlines():
        for message in json.loads(line)["messages"]:
            if message["kind"] == "tool_result" and not isinstance(message["content"], str):
                yield from _values(message["content"], is_mcp=message.get("fmt") == "mcp-repr")


def _values(content: Any, *, is_mcp: bool) -> Iterator[object]:
    if not is_mcp:
        yield content
        return
    values = (json_value(block["text"]) for block in content["content"] if block["type"] == "text")
    yield from (value for value in values if value is not None)


def _captured(path: Path) -> Iterator[object]:
    """Yield the results of the tool calls of one MCP server, as they were on the wire."""
    capture = read_json(path)
    for era in ("legacy", "modern"):
        calls = (capture.get(era) or {}).get("tools/call", [])
        yield from (call["response"]["result"] for call in calls if "result" in call["response"])


def _count(values: list[object]) -> list[int]:
    count = o200k_base()
    views = [render(value, counter=count) for value in values]
    compact = [count(compact_json(value)) for value in values]
    ours = [count(view) for view in views]
    larger = sum(new > old for new, old in zip(ours, compact, strict=True))
    lossy = sum(not is_same_json(read(view), value) for view, value in zip(views, values, strict=True))
    return [len(values), sum(compact), sum(ours), larger, lossy]
