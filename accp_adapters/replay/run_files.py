"""Recorded runs read from files: JSON or JSON lines, in any of the formats that `formats` knows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from accp_adapters.replay.errors import UnreadableRun
from accp_adapters.replay.formats.detection import RunFormat, document_to_run, is_message
from accp_adapters.replay.formats.documents import read_document, read_documents
from accp_adapters.replay.recorded_run import Run

__all__ = ["parse_runs", "read_runs"]


def read_runs(path: str | os.PathLike[str], *, run_format: RunFormat | None = None) -> Iterator[Run]:
    """Yield the runs in the file at `path`.

    Args:
        path: A file in UTF-8, see `parse_runs`.
        run_format: How the runs are written; None: found from the content.

    Raises:
        UnreadableRun: the text is not JSON or not a run; with its line and column.
        OSError: the file cannot be read.
    """
    yield from parse_runs(Path(path).read_text(encoding="utf-8"), path=os.fspath(path), run_format=run_format)


def parse_runs(text: str, *, path: str, run_format: RunFormat | None = None) -> list[Run]:
    """Return the runs in `text`.

    A JSON document is a run or a list of runs. Of JSON lines each is a run, or one message of a single run. The tool
    definitions of `runs.jsonl` may be in the file `runs.tools.json` beside it.

    Args:
        text: The content of a file.
        path: The path of that file, which names the runs; it needs not exist.
        run_format: How the runs are written; None: found from the content.

    Raises:
        UnreadableRun: the text is not JSON or not a run; with its line and column.
    """
    tools = _tools_beside(path)
    documents = list(read_documents(text, path, is_message))
    if documents and all(is_message(document) for _, document in documents):
        documents = [(documents[0][0], [document for _, document in documents])]
    return [_to_run(document, path=path, line=line, run_format=run_format, tools=tools) for line, document in documents]


def _to_run(document: object, *, path: str, line: int, run_format: RunFormat | None, tools: object) -> Run:
    try:
        return document_to_run(document, run_format, name=f"{path}:{line}", source=path, tools=tools)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        reason = f"missing field {error}" if isinstance(error, KeyError) else str(error)
        raise UnreadableRun(reason, path=path, line=line) from error


def _tools_beside(path: str) -> object:
    beside = Path(path).with_suffix(".tools.json")
    if not beside.is_file():
        return None
    return read_document(beside.read_text(encoding="utf-8"), str(beside))
