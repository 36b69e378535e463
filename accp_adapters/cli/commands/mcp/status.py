"""`accp mcp status`: which servers of which clients this program stands before, and what that saved."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from accp_adapters.cli.commands.mcp.install import Client, Project, StateFolder, client_files, machine_of
from accp_adapters.cli.sources import write_line

__all__ = ["status"]


def status(*, client: Client = None, project: Project = False, state_dir: StateFolder = None) -> None:
    """Show which servers in the clients' configuration files are wrapped, and what was saved so far.

    Tokens are those of o200k_base, of the results that were rewritten.

    Example: `accp mcp status`
    """
    from accp_adapters.mcp.clients.installation import installed_files
    from accp_adapters.mcp.savings.counts import total_of
    from accp_adapters.mcp.savings.ledger import Ledger

    _, state = machine_of(state_dir)
    paths = client_files(client or [], project=project)
    if not client and not project:
        paths += installed_files(state)
    for path in {path.resolve(): path for path in paths}.values():
        for line in (str(path), *_servers(path)):
            write_line(line)
    try:
        saved = Ledger(state).read()
    except sqlite3.Error as error:
        raise typer.BadParameter(f"cannot read the counts in {str(state)!r}: {error}") from error
    write_line("saved so far" if saved else "nothing was counted so far")
    for server, kinds in saved.items():
        for kind, counts in kinds.items():
            write_line(f"  {server}: {kind}: {counts.describe()}")
    if saved:
        write_line(f"  {total_of(counts for kinds in saved.values() for counts in kinds.values())}")


def _servers(path: Path) -> Sequence[str]:
    """Return a line for each server of a file; for a file that cannot be read, why."""
    from accp_core.errors import DecodeError

    try:
        return list(_lines(path)) or ["  no servers"]
    except (DecodeError, OSError) as error:
        return [f"  not understood: {error}"]


def _lines(path: Path) -> Iterator[str]:
    from accp_adapters.mcp.clients.entries import entries
    from accp_adapters.mcp.clients.files import decode
    from accp_adapters.mcp.clients.wrapping import is_wrapped

    for entry in entries(decode(path.read_bytes())):
        where = f" in {entry.place[1]}" if entry.place[0] == "projects" else ""
        yield f"  {entry.name}{where}: {'wrapped' if is_wrapped(entry) else 'as it is'}"
