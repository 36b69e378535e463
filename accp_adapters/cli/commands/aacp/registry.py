"""`accp aacp registry`: the instructions that were encoded before, in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from accp_adapters.cli.errors import InputRefused
from accp_adapters.cli.groups import HelpGroup
from accp_adapters.cli.sources import read_source, say, write_line
from accp_core.error_codes import ErrorCode

if TYPE_CHECKING:
    from accp_adapters.stores import SqliteInstructionRegistry

__all__ = ["open_registry", "registry"]

registry = typer.Typer(
    cls=HelpGroup, help="The instructions that were encoded before, in one SQLite file.", no_args_is_help=True
)

RegistryFile = Annotated[Path, typer.Argument(dir_okay=False, help="The registry's SQLite file.")]


@registry.command("list")
def list_entries(
    path: RegistryFile, *, limit: Annotated[int, typer.Option(min=1, help="Entries to print at most.")] = 100
) -> None:
    """Print the entries, those that were used most first: number of uses, source, packet, English.

    Example: `accp aacp registry list known.sqlite --limit 10`
    """
    with open_registry(path) as opened:
        for entry in opened.entries(limit):
            write_line(f"{entry.times_seen}\t{entry.source}\t{entry.packet}\t{entry.english}".rstrip("\t"))
        say(f"{len(opened):,} entries")


@registry.command("import")
def import_entries(
    path: RegistryFile,
    files: Annotated[list[str], typer.Argument(help="JSON files; `-` is standard input.")],
    *,
    keep_english: Annotated[
        bool, typer.Option("--keep-english", help="Store the instructions in English, too.")
    ] = False,
) -> None:
    """Import `unknown_patterns.json` of the reference package, and community rule files.

    Every packet is validated; standard error says which ones are refused. Exit code 1 if a file is not a registry.

    Example: `accp aacp registry import known.sqlite registry/unknown_patterns.json rules.json`
    """
    from accp_core.aacp.registry import read_registry
    from accp_core.errors import ProtocolError

    read = []
    for file in files:
        try:
            read.append((file, read_registry(json.loads(read_source(file)), source=file, keep_english=keep_english)))
        except json.JSONDecodeError as error:
            raise InputRefused(error.msg, path=file, line=error.lineno, column=error.colno) from error
        except (ProtocolError, RecursionError) as error:
            raise InputRefused(getattr(error, "reason", "nested too deeply"), path=file) from error
    with open_registry(path, create=True) as opened:
        for file, imported in read:
            for reason in imported.refused:
                say(f"{file}: refused: {reason}")
            new = opened.add(imported.entries)
            say(f"{file}: {new:,} new entries, {len(imported.refused):,} refused")


@registry.command()
def forget(
    path: RegistryFile, packets: Annotated[list[str], typer.Argument(help="Packets, as `list` prints them.")]
) -> None:
    """Delete the entries with these packets; exit code 1 if there is none with one of them.

    Example: `accp aacp registry forget known.sqlite 'FETCH|HR|return:A|p:2|aacp:1.1|res:absence'`
    """
    with open_registry(path) as opened:
        for packet in packets:
            deleted = [opened.forget(entry.pattern) for entry in opened.entries() if entry.packet == packet]
            if not deleted:
                reason = f"expected an entry with the packet {packet!r}, found none"
                raise InputRefused(reason, path=str(path), code=ErrorCode.REF_NOT_FOUND)
            say(f"{len(deleted)} deleted: {packet}")


def open_registry(path: Path, *, create: bool = False) -> SqliteInstructionRegistry:
    """Return the registry in the file at `path`; with `create`, a new one where there is no file.

    Raises:
        typer.BadParameter: there is no such file.
        InputRefused: the file is not a registry.
    """
    from accp_adapters.stores import SqliteInstructionRegistry

    if not create and not path.exists():
        raise typer.BadParameter(f"expected a registry file, found nothing at {str(path)!r}")
    try:
        return SqliteInstructionRegistry(path)
    except (sqlite3.Error, OSError) as error:
        raise InputRefused(str(error), path=str(path)) from error
