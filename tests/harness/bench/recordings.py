"""The form of our own recordings: one run a line; a value is kept with the layout that rebuilds its text."""

import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from accp_adapters.replay import RecordedCall, RecordedMessage, Role, Run
from accp_adapters.replay.recorded_run import calls_in_order
from accp_core.strict_json import compact_json

__all__ = ["read_recording"]

_LAYOUTS: Final[dict[str, Any]] = {"py": {}, "native": {}, "compact": {"separators": (",", ":")}}


def read_recording(path: Path) -> list[Run]:
    """Return the runs of a file, which has their tool definitions beside it where they record none.

    A line without a call of a model is a documented message, and no run.
    """
    beside = path.with_suffix(".tools.json")
    tools = compact_json(json.loads(beside.read_text())) if beside.is_file() else ""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = map(json.loads, filter(bytes.strip, text.split(b"\n")))
    return [_run(line, str(path), tools) for line in lines if any(each.get("llm") for each in line["messages"])]


def _run(line: dict[str, Any], path: str, tools: str) -> Run:
    messages = tuple(map(_message, line["messages"]))
    calls = _recorded_calls(line) or tuple(_calls_in_order(messages))
    if tools and not any(call.tools for call in calls):
        calls = tuple(replace(call, tools=tools) for call in calls)
    return Run(name=line["trajectory_id"], source=path, messages=messages, calls=calls)


def _message(recorded: dict[str, Any]) -> RecordedMessage:
    content = recorded["content"]
    is_text = isinstance(content, str)
    return RecordedMessage(
        sender=recorded["from"],
        recipient=recorded["to"],
        role=Role(recorded["role"]),
        text=recorded.get("raw") or (content if is_text else _written(content, recorded["fmt"])),
        tool=recorded.get("tool_name", ""),
        call_id=recorded.get("tool_call_id") or "",
        turn=recorded["turn"],
        by_model=bool(recorded.get("llm")),
    )


def _written(value: Any, layout: str) -> str:
    """Return a value byte for byte as it was recorded; `-u`: without escapes for letters outside ASCII.

    LiveMCPBench put the Python repr of an MCP CallToolResult into its messages. We take it for that of the SDK of the
    time. Results that the recording cut off, and so kept as text, begin like it, and with it the file has exactly the
    number of tokens that its publisher counted (246,901).
    """
    if layout == "mcp-repr":
        blocks = (f"TextContent(type='text', text={each['text']!r}, annotations=None)" for each in value["content"])
        return f"meta=None content=[{', '.join(blocks)}] isError={value['isError']}"
    name = layout.removesuffix("-u")
    options = {"indent": int(name[-1])} if name.startswith("indent") else _LAYOUTS[name]
    return json.dumps(value, ensure_ascii=name == layout, **options)


def _recorded_calls(line: dict[str, Any]) -> tuple[RecordedCall, ...]:
    position = {message["seq"]: position for position, message in enumerate(line["messages"])}
    return tuple(
        RecordedCall(
            agent=call["agent"],
            prompt=tuple(position[seq] for seq in call["prompt"]),
            output=tuple(position[seq] for seq in call["completion"]),
            tools=compact_json(line["tools"][call["tools"]]) if call.get("tools") else "",
        )
        for call in line.get("llm_calls", ())
    )


def _calls_in_order(messages: tuple[RecordedMessage, ...]) -> Iterator[RecordedCall]:
    """Yield the calls of a run whose requests are not recorded: an agent was sent what it said and what reached it."""
    for call in calls_in_order(messages):
        reached = {i for i in call.prompt for m in [messages[i]] if {call.agent, "group"} & {m.sender, m.recipient}}
        yield replace(call, prompt=tuple(sorted(reached)))
