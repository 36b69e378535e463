"""The tools of the demonstration's agent, over one snapshot of a folder."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from langchain_core.tools import BaseTool, ToolException, tool

from accp_adapters.cli.demo.database import SCHEMA, build_database, query_rows
from accp_adapters.cli.demo.git_history import read_history
from accp_adapters.cli.demo.snapshot import FolderSnapshot

__all__ = ["folder_tools"]

_MAX_FILES: Final = 150
_MAX_COMMITS: Final = 40
_MAX_MATCHES: Final = 60


def folder_tools(snapshot: FolderSnapshot) -> list[BaseTool]:
    """Return the tools list_files, git_history, search_text, query_database and read_file."""
    database = build_database(snapshot)

    @tool
    def list_files() -> list[dict[str, Any]]:
        """List the largest text files of the folder: path, bytes, lines, time of the last change."""
        largest = sorted(snapshot.files, key=lambda file: (-file.size, file.path))[:_MAX_FILES]
        return [{"path": f.path, "bytes": f.size, "lines": f.lines, "modified": f.modified} for f in largest]

    @tool
    def git_history() -> list[dict[str, Any]]:
        """Return the last commits of the folder with author, date, subject and the files they touched."""
        return read_history(snapshot.root, _MAX_COMMITS)

    @tool
    def search_text(words: str) -> list[dict[str, Any]]:
        """Find lines that contain words, in all files: path, line number, text."""
        return _matches(snapshot, words)

    @tool
    def query_database(sql: str) -> list[dict[str, Any]]:
        """Run a SELECT on a SQLite database of the folder."""
        try:
            return query_rows(database, sql)
        except sqlite3.Error as error:
            raise ToolException(f"{error}; the tables are:\n{SCHEMA}") from error

    @tool
    def read_file(path: str) -> str:
        """Return the text of one file."""
        file = snapshot.find(path)
        if file is None:
            raise ToolException(f"expected the path of a listed file, found {path!r}")
        return file.text

    query_database.description += f"\n{SCHEMA}"
    for failing in (query_database, read_file):
        failing.handle_tool_error = True
    return [list_files, git_history, search_text, query_database, read_file]


def _matches(snapshot: FolderSnapshot, words: str) -> list[dict[str, Any]]:
    matches = (
        {"path": file.path, "line": number, "text": line.strip()[:200]}
        for file in snapshot.files
        for number, line in enumerate(file.text.splitlines(), 1)
        if words.casefold() in line.casefold()
    )
    return [match for match, _ in zip(matches, range(_MAX_MATCHES), strict=False)]
