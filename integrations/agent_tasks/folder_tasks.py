"""Tasks over tool results of your own: a folder with `tasks.json` and the documents that the tools return."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool, StructuredTool

from integrations.agent_tasks.task import Task

__all__ = ["read_tasks", "result_tools"]


def read_tasks(folder: Path) -> list[Task]:
    """Return the tasks of a folder.

    Args:
        folder: `tasks.json` is a list of `id`, `request`, `calls` (each with `tool`, and `document`, the file that it
            returns), `answer` (strings that the answer holds, all of them) and, where they exist, `decoys` (strings
            that it must not hold). The files are in `documents/`.

    Raises:
        OSError: a file is not there.
        ValueError: `tasks.json` is no such list.
    """
    items = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    try:
        return [_task(folder / "documents", item) for item in items]
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"expected tasks with id, request, calls and answer in {folder}/tasks.json: {error}"
        ) from error


def _task(documents: Path, item: Mapping[str, Any]) -> Task:
    results = {call["tool"]: (documents / call["document"]).read_text(encoding="utf-8") for call in item["calls"]}
    expected, wrong = tuple(item["answer"]), tuple(item.get("decoys") or ())
    return Task.of(item["id"], "documents", _plain(item["request"]), expected, areas=(), results=results, wrong=wrong)


def _plain(words: str) -> str:
    """Return words of which no brace is a place for a value."""
    return words.replace("{", "{{").replace("}", "}}")


def result_tools(results: Mapping[str, str]) -> list[BaseTool]:
    """Return the tools that return some texts, by their names."""
    return [_tool(name, text) for name, text in results.items()]


def _tool(name: str, text: str) -> BaseTool:
    words = name.replace("_", " ").capitalize()
    return StructuredTool.from_function(lambda: text, name=name, description=f"{words}.")
