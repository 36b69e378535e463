"""Recorded runs from files, their format found by looking at the content."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from accp_adapters.replay.errors import InputRefused
from accp_adapters.replay.formats.langchain import is_message_dump, message_dump_to_run
from accp_adapters.replay.formats.openai import chat_to_run, is_chat
from accp_adapters.replay.formats.trajectories import is_trajectory, trajectory_to_run
from accp_adapters.replay.recorded_run import Run

__all__ = ["RunFormat", "read_runs"]

_EXPECTED = "expected OpenAI chat messages, LangChain messages (messages_to_dict, dumps) or trajectories"


class RunFormat(StrEnum):
    """How a run is written down."""

    OPENAI = "openai"
    LANGCHAIN = "langchain"
    TRAJECTORIES = "trajectories"


def read_runs(text: str, *, path: str, run_format: RunFormat | None = None) -> list[Run]:
    """Return the runs in `text`, the content of the file `path`; `run_format` None means to look.

    A JSON document is a run or a list of runs; in JSONL each line is a run, or one message of a single run.
    The tools of `runs.jsonl` may stand beside it in `runs.tools.json`.

    Raises:
        InputRefused: the text is no JSON or no run; with the line and column.
    """
    definitions = _definitions_beside(path)
    documents = list(_documents(text, path))
    if documents and all(_is_message(document) for _, document in documents):
        documents = [(documents[0][0], [document for _, document in documents])]
    return [
        _run(document, path=path, line=line, name=f"{path}:{line}", run_format=run_format, tools=definitions)
        for line, document in documents
    ]


def _run(document: object, *, path: str, line: int, name: str, run_format: RunFormat | None, tools: object) -> Run:
    try:
        return _convert(document, run_format or _detect(document), name=name, path=path, tools=tools)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"missing field {error}" if isinstance(error, KeyError) else str(error)
        raise InputRefused(reason, path=path, line=line) from error


def _convert(document: Any, run_format: RunFormat, *, name: str, path: str, tools: object) -> Run:
    if run_format is RunFormat.TRAJECTORIES:
        return trajectory_to_run(document, path, tools)
    messages, own_tools = _conversation(document)
    convert = chat_to_run if run_format is RunFormat.OPENAI else message_dump_to_run
    return convert(messages, own_tools or tools, name=name, source=path)


def _detect(document: object) -> RunFormat:
    if is_trajectory(document):
        return RunFormat.TRAJECTORIES
    messages, _ = _conversation(document)
    if is_chat(messages):
        return RunFormat.OPENAI
    if is_message_dump(messages):
        return RunFormat.LANGCHAIN
    raise ValueError(_EXPECTED)


def _conversation(document: Any) -> tuple[list[Mapping[str, Any]], object]:
    """Return the messages of a document and its tool definitions, None where it holds none."""
    if isinstance(document, list):
        return document, None
    if isinstance(document, dict) and isinstance(document.get("messages"), list):
        return document["messages"], document.get("tools")
    raise ValueError(_EXPECTED)


def _is_message(document: object) -> bool:
    return is_chat([document]) or is_message_dump([document])


def _load(text: str) -> object:
    """Return the JSON value of `text`; ValueError where it is none or is nested too deeply."""
    try:
        value: object = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _documents(text: str, path: str) -> Iterator[tuple[int, object]]:
    """Yield the line and the value of each JSON document: the whole text, or one a line."""
    try:
        whole = _load(text)
    except ValueError as error:
        lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not _is_json(lines[0][1]):
            raise _refused(error, path, first_line=1) from error
        yield from ((n, _parse(line, path, n)) for n, line in lines)
        return
    if isinstance(whole, list) and whole and not _is_message(whole[0]):
        yield from ((1, run) for run in whole)
    else:
        yield 1, whole


def _is_json(line: str) -> bool:
    try:
        _load(line)
    except ValueError:
        return False
    return True


def _parse(line: str, path: str, number: int) -> object:
    try:
        return _load(line)
    except ValueError as error:
        raise _refused(error, path, first_line=number) from error


def _refused(error: ValueError, path: str, *, first_line: int) -> InputRefused:
    match error:
        case json.JSONDecodeError(msg=reason, lineno=line, colno=column):
            return InputRefused(reason, path=path, line=first_line + line - 1, column=column)
    return InputRefused(str(error), path=path, line=first_line)


def _definitions_beside(path: str) -> object:
    beside = Path(path).with_suffix(".tools.json")
    if not beside.is_file():
        return None
    return _parse(beside.read_text(encoding="utf-8"), str(beside), 1)
