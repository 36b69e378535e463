"""`accp mcp install` and `accp mcp uninstall`: this program before the servers of a client's configuration file."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from accp_adapters.cli.errors import refusal
from accp_adapters.cli.sources import say, write_line
from accp_adapters.cli.tool_forms import ChangesOption, FetchOption, ToolOption, tool_forms

if TYPE_CHECKING:
    from accp_adapters.mcp.clients.changes import Change
    from accp_adapters.mcp.clients.installation import Installation
    from accp_adapters.mcp.clients.places import Machine

__all__ = ["Client", "Project", "StateFolder", "client_files", "install", "machine_of", "uninstall"]

_RESTART: Final = "restart the client, or reload its servers, for this to take effect"

Client = Annotated[
    list[str] | None,
    typer.Option(
        "--client",
        metavar="NAME|FILE",
        help="claude-desktop, cursor, vscode, claude-code, or a configuration file; repeatable. Without it: all four.",
    ),
]
Server = Annotated[
    list[str] | None, typer.Option("--server", metavar="NAME", help="Only this server; repeatable. Without it: all.")
]
Project = Annotated[
    bool, typer.Option("--project", help="The clients' files in the current folder, instead of the user's.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, without secrets; write nothing.")]
StateFolder = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", envvar="ACCP_STATE_DIR", help="Where backups and counts are kept."),
]
Program = Annotated[
    str, typer.Option("--accp", metavar="PATH", help="How clients start this program; its own path by default.")
]


def install(
    *,
    client: Client = None,
    server: Server = None,
    project: Project = False,
    tool: ToolOption = None,
    fetch: FetchOption = False,
    changes: ChangesOption = False,
    dry_run: DryRun = False,
    accp: Program = "",
    state_dir: StateFolder = None,
) -> None:
    """Put this program before the MCP servers in the configuration files of clients, and keep a backup.

    Files are edited in place: comments and layout stay. Results become views; definitions of tools stay as they are.

    Example: `accp mcp install --client cursor --dry-run`

    Example: `accp mcp install --client .vscode/mcp.json --server github --tool 'get_*=lossless'`

    Example: `accp mcp install --fetch --changes`
    """
    command = accp or _own_path()
    options = _options(tool or [], fetch=fetch, changes=changes)
    _check_servers(server or [], client_files(client or [], project=project))
    changed = False
    for installation in _installations(client or [], state_dir, project=project):
        with _refusals(installation.path):
            found = installation.install(command, names=server or (), options=options, dry_run=dry_run)
        _report(installation.path, found, dry_run=dry_run)
        changed |= any(change.outcome in {"wrapped", "rewritten"} for change in found)
    if changed and not dry_run:
        say(f"accp mcp: {_RESTART}; accp mcp uninstall undoes it, accp mcp status counts")


def uninstall(
    *,
    client: Client = None,
    server: Server = None,
    project: Project = False,
    dry_run: DryRun = False,
    state_dir: StateFolder = None,
) -> None:
    """Take this program out of the configuration files of clients.

    A file that nobody has edited since becomes what it was, byte for byte. In any other one only our words are taken
    out of the entries that have them.

    Example: `accp mcp uninstall --client cursor`
    """
    for installation in _installations(client or [], state_dir, project=project, installed=True):
        with _refusals(installation.path):
            changes, is_restored = installation.uninstall(names=server or (), dry_run=dry_run)
        _report(installation.path, changes, dry_run=dry_run)
        if changes:
            how = "the backup, byte for byte" if is_restored else "only our words were taken out"
            say(f"accp mcp: {installation.path}: {how}")


def machine_of(state_dir: Path | None) -> tuple[Machine, Path]:
    """Return this machine, and the folder of our state."""
    from accp_adapters.mcp.clients.places import Machine

    machine = Machine()
    return machine, state_dir or machine.state_folder()


def client_files(clients: Sequence[str], *, project: bool) -> list[Path]:
    """Return the configuration files of clients: known names, or files; all that exist for no names.

    Raises:
        typer.BadParameter: A client has no file.
    """
    from accp_adapters.mcp.clients.places import CLIENTS, Machine

    machine = Machine()
    found: list[Path] = []
    for name in clients or CLIENTS:
        files = machine.files_of(name, project=project) if name in CLIENTS else [Path(name)]
        if clients and not all(path.is_file() for path in files or [Path(name)]):
            known = ", ".join(CLIENTS)
            reason = f"expected a configuration file, or one of {known} that has one; found {name!r}"
            raise typer.BadParameter(reason, param_hint="--client")
        found += files
    return found


def _installations(
    clients: Sequence[str], state_dir: Path | None, *, project: bool, installed: bool = False
) -> Iterator[Installation]:
    from accp_adapters.mcp.clients.installation import Installation, installed_files

    _, state = machine_of(state_dir)
    paths = client_files(clients, project=project)
    if installed and not clients and not project:
        paths += [path for path in installed_files(state) if path.is_file()]
    if not paths:
        say("accp mcp: no configuration file of a known client was found; name one by --client FILE")
    for path in {path.resolve(): path for path in paths}.values():
        yield Installation(path, state)


@contextmanager
def _refusals(path: Path) -> Iterator[None]:
    from accp_core.errors import DecodeError

    try:
        yield
    except DecodeError as error:
        raise refusal(error, path=str(path)) from error
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}") from error


def _options(tool: list[str], **flags: Any) -> list[str]:
    """Return the words of `accp mcp` for each server, those without a value last."""
    from accp_adapters.mcp import EncoderOptions

    forms = tool_forms(tool)
    try:
        EncoderOptions(forms=forms, **flags)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    words = [word for each in tool for word in ("--tool", each)]
    return [*words, *(f"--{name}" for name, is_given in flags.items() if is_given)]


def _check_servers(names: Sequence[str], paths: Sequence[Path]) -> None:
    """Refuse a server name that no configuration file contains."""
    from accp_adapters.mcp.clients.entries import entries
    from accp_adapters.mcp.clients.files import decode

    known: set[str] = set()
    for path in paths if names else ():
        with _refusals(path):
            known |= {entry.name for entry in entries(decode(path.read_bytes()))}
    if missing := [name for name in names if name not in known]:
        raise typer.BadParameter(f"expected one of {sorted(known)}, found {missing[0]!r}", param_hint="--server")


def _report(path: Path, changes: Sequence[Change], *, dry_run: bool) -> None:
    write_line(f"{path}{' (nothing was written)' if dry_run else ''}")
    for change in changes:
        where = f" in {change.place[1]}" if change.place[0] == "projects" else ""
        reason = f": {change.reason}" if change.reason else ""
        write_line(f"  {change.place[-1]}{where}: {change.outcome}{reason}")
        for line in change.difference if dry_run else ():
            write_line(f"    {line}")
    if not changes:
        write_line("  no servers")


def _own_path() -> str:
    """Return the path of this program: clients are often started without the user's PATH."""
    name = "accp.exe" if sys.platform == "win32" else "accp"
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which("accp")
    if not found:
        raise typer.BadParameter("this program is not on the PATH; expected its path", param_hint="--accp")
    return found
