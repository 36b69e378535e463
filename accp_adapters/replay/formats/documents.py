"""The JSON documents of a file, each with its line: the whole text, or one a line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from accp_adapters.replay.errors import UnreadableRun

__all__ = ["read_document", "read_documents"]


def read_documents(text: str, path: str, is_message: Callable[[object], bool]) -> Iterator[tuple[int, object]]:
    """Yield line and value of each document in `text`.

    Args:
        text: One JSON document, a list of runs, or JSON lines.
        path: The file, for errors.
        is_message: Whether a value is one message, so that a list of such values is one document.

    Raises:
        UnreadableRun: the text is not JSON; with its line and column.
    """
    try:
        whole = _load(text)
    except ValueError as error:
        lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or not _is_json(lines[0][1]):
            raise _refusal(error, path, first_line=1) from error
        yield from ((number, read_document(line, path, number)) for number, line in lines)
        return
    if isinstance(whole, list) and whole and not is_message(whole[0]):
        yield from ((1, run) for run in whole)
    else:
        yield 1, whole


def read_document(text: str, path: str, first_line: int = 1) -> object:
    """Return the value of one JSON document.

    Args:
        text: The document.
        path: The file, for errors.
        first_line: The line of the file in which the document begins.

    Raises:
        UnreadableRun: the text is not JSON; with its line and column.
    """
    try:
        return _load(text)
    except ValueError as error:
        raise _refusal(error, path, first_line=first_line) from error


def _load(text: str) -> object:
    # Not strictly: recordings may hold what Python's own writer lets through, such as NaN.
    try:
        value: object = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return value


def _is_json(line: str) -> bool:
    try:
        _load(line)
    except ValueError:
        return False
    return True


def _refusal(error: ValueError, path: str, *, first_line: int) -> UnreadableRun:
    match error:
        case json.JSONDecodeError(msg=reason, lineno=line, colno=column):
            return UnreadableRun(reason, path=path, line=first_line + line - 1, column=column)
    return UnreadableRun(str(error), path=path, line=first_line)
