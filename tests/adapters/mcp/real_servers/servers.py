"""Published servers, each installed from its registry into a folder of its own, and the calls that test them.

They are installed beside the packages of the virtual environment, since their dependencies contradict each other.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.adapters.mcp.real_servers.registries import from_npm, from_pypi
from tests.adapters.mcp.transcripts import ask

__all__ = ["SERVERS", "RealServer", "World", "conversation"]

Call: TypeAlias = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class World:
    """What the servers of a test see: a folder, and the URL of a page."""

    folder: Path
    page: str = ""

    @property
    def repository(self) -> Path:
        """A folder under version control."""
        return self.folder / "repository"

    def make(self) -> None:
        """Make everything anew, the same each time."""
        shutil.rmtree(self.folder, ignore_errors=True)
        sales = ["region,product,units,revenue"]
        sales += [f"{('EMEA', 'APAC', 'AMER')[n % 3]},product {n % 5},{3 * n + 1},{17.25 * n}" for n in range(40)]
        for name, text in {
            "notes.txt": "Revenue grew in all regions.\nAMER follows next quarter.\n",
            "sales.csv": "\n".join(sales) + "\n",
            **{f"src/module_{n}.py": f'"""Module {n}."""\n\nVALUE = {n}\n' for n in range(8)},
        }.items():
            path = self.folder / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        self._commit()

    def _commit(self) -> None:
        self.repository.mkdir()
        moment = {"GIT_AUTHOR_DATE": "2026-01-01T12:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T12:00:00Z"}
        known = ["-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main"]
        steps = [["init", "-q"]]
        steps += [["commit", "-q", "--allow-empty", "-m", f"Step {n}: say what changed and why"] for n in range(12)]
        for step in steps:
            command = ["git", *known, "-C", str(self.repository), *step]
            subprocess.run(command, env=os.environ | moment, check=True, capture_output=True)


@dataclass(frozen=True, slots=True)
class RealServer:
    """One server."""

    name: str
    packages: Sequence[str]
    """What to install: Python's if `program` stands alone, npm's if it stands after `npm:`."""
    program: str
    arguments: Callable[[World], list[str]]
    calls: Callable[[World], list[Call]]

    def command(self, world: World) -> list[str]:
        """Return the words that start the server in `world`, installing it where it is not there yet.

        Raises:
            Missing: its registry cannot be reached, or it does not run here.
        """
        kind, _, program = self.program.rpartition(":")
        install = from_npm if kind == "npm" else from_pypi
        path = install(self.name, tuple(self.packages), f".bin/{program}" if kind == "npm" else program)
        return [str(path), *self.arguments(world)]


def conversation(calls: Sequence[Call]) -> list[bytes]:
    """Return the lines of a session up to 2025-11-25 that lists the tools and then makes `calls`."""
    client = {"name": "test", "version": "1"}
    return [
        ask("initialize", 0, protocolVersion="2025-11-25", capabilities={}, clientInfo=client),
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
        ask("tools/list", 1),
        *(ask("tools/call", 2 + n, name=name, arguments=given) for n, (name, given) in enumerate(calls)),
    ]


def _sql(world: World) -> list[Call]:
    rows = ",".join(f"('{('EMEA', 'APAC', 'AMER')[n % 3]}','product {n % 5}',{3 * n},{17.25 * n})" for n in range(30))
    return [
        ("create_table", {"query": "CREATE TABLE sales(region TEXT, product TEXT, units INTEGER, revenue REAL)"}),
        ("write_query", {"query": f"INSERT INTO sales VALUES {rows}"}),
        ("list_tables", {}),
        ("describe_table", {"table_name": "sales"}),
        ("read_query", {"query": "SELECT * FROM sales"}),
        ("read_query", {"query": "SELECT * FROM nothing"}),
    ]


def _files(world: World) -> list[Call]:
    folder = str(world.folder / "files")
    return [
        ("list_directory", {"path": folder}),
        ("directory_tree", {"path": folder}),
        ("read_text_file", {"path": f"{folder}/sales.csv"}),
        ("search_files", {"path": folder, "pattern": "**/*.py"}),
        ("read_text_file", {"path": f"{folder}/none.txt"}),
    ]


def _graph(world: World) -> list[Call]:
    people = [
        {"name": f"Person {n}", "entityType": "person", "observations": [f"leads team {n}", "speaks German"]}
        for n in range(8)
    ]
    links = [{"from": f"Person {n}", "to": f"Person {(n + 3) % 8}", "relationType": "reports to"} for n in range(8)]
    return [
        ("create_entities", {"entities": people}),
        ("create_relations", {"relations": links}),
        ("read_graph", {}),
        ("search_nodes", {"query": "team 3"}),
        ("open_nodes", {"names": ["Person 1", "Person 2"]}),
    ]


def _repository(world: World) -> list[Call]:
    given = {"repo_path": str(world.repository)}
    return [
        ("git_status", given),
        ("git_log", {**given, "max_count": 10}),
        ("git_show", {**given, "revision": "HEAD"}),
        ("git_branch", {**given, "branch_type": "local"}),
        ("git_show", {**given, "revision": "no-such-revision"}),
    ]


def _hours(world: World) -> list[Call]:
    zones = ("Asia/Tokyo", "America/New_York", "Nowhere/Else")
    given = {"source_timezone": "Europe/Berlin", "time": "14:30"}
    return [("convert_time", {**given, "target_timezone": zone}) for zone in zones]


def _everything(world: World) -> list[Call]:
    return [
        ("echo", {"message": "hello"}),
        ("get-sum", {"a": 2, "b": 40}),
        ("get-structured-content", {"location": "New York"}),
        ("get-tiny-image", {}),
        ("get-annotated-message", {"messageType": "success", "includeImage": True}),
        ("get-resource-links", {"count": 3}),
    ]


SERVERS: Final = (
    RealServer("time", ["mcp-server-time"], "mcp-server-time", lambda _: ["--local-timezone", "UTC"], _hours),
    RealServer("git", ["mcp-server-git"], "mcp-server-git", lambda world: [], _repository),
    RealServer(
        "sqlite",
        ["mcp-server-sqlite", "mcp<2"],
        "mcp-server-sqlite",
        lambda world: ["--db-path", str(world.folder / "sales.db")],
        _sql,
    ),
    RealServer(
        "fetch",
        ["mcp-server-fetch"],
        "mcp-server-fetch",
        lambda _: ["--ignore-robots-txt", "--allow-private-ips"],
        lambda world: [("fetch", {"url": world.page}), ("fetch", {"url": world.page + "none"})],
    ),
    RealServer(
        "filesystem",
        ["@modelcontextprotocol/server-filesystem"],
        "npm:mcp-server-filesystem",
        lambda world: [str(world.folder / "files")],
        _files,
    ),
    RealServer("memory", ["@modelcontextprotocol/server-memory"], "npm:mcp-server-memory", lambda _: [], _graph),
    RealServer(
        "everything",
        ["@modelcontextprotocol/server-everything"],
        "npm:mcp-server-everything",
        lambda _: [],
        _everything,
    ),
)
