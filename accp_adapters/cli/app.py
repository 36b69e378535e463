"""The `accp` command with its sub-commands; each of them is a module of `commands`."""

from __future__ import annotations

import io
import logging
import os
import sys
from typing import Annotated, Any

import typer

from accp_adapters.cli.commands.aacp.group import aacp
from accp_adapters.cli.commands.demo import demo
from accp_adapters.cli.commands.doctor import doctor
from accp_adapters.cli.commands.evaluation import evaluation
from accp_adapters.cli.commands.frame import frame
from accp_adapters.cli.commands.inspect import inspect
from accp_adapters.cli.commands.mcp import mcp
from accp_adapters.cli.commands.query import query
from accp_adapters.cli.commands.relay import relay
from accp_adapters.cli.commands.replay import replay
from accp_adapters.cli.commands.serve.command import serve
from accp_adapters.cli.commands.serve.options import ServeCommand
from accp_adapters.cli.commands.view import view
from accp_adapters.cli.errors import ExtraMissing, InputRefused
from accp_adapters.cli.groups import HelpGroup
from accp_adapters.cli.sources import PrintableRecords, printable, say

__all__ = ["app", "main"]


class _Commands(HelpGroup):
    """The sub-commands; a refused input ends each of them with exit code 1, a missing extra with 2."""

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen sub-command."""
        try:
            return super().invoke(ctx)
        except InputRefused as refused:
            say(str(refused))
            raise typer.Exit(1) from refused
        except (ExtraMissing, ModuleNotFoundError) as missing:
            # What could not be imported knows its extra better than the command does.
            known = [str(each) for each in (missing.__cause__, missing) if "pip install" in str(each)]
            if not known:
                raise
            say(f"accp: {known[0]}")
            raise typer.Exit(2) from missing
        except typer.BadParameter as refused:
            refused.message = printable(refused.message)
            raise


app = typer.Typer(
    name="accp",
    cls=_Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Rich takes half a second to import, and there would be no other use of it in most commands.
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        typer.echo(f"accp {metadata.version('accp-middleware')}")
        raise typer.Exit


@app.callback()
def accp(
    ctx: typer.Context,
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", envvar="ACCP_DEBUG", help="Describe each frame on standard error.")
    ] = False,
    debug_json: Annotated[
        bool, typer.Option("--debug-json", help="The same, as a line of JSON for each frame.")
    ] = False,
    redact: Annotated[
        list[str] | None,
        typer.Option("--redact", metavar="KEY", help="With --debug: hide the values of this key, too; repeatable."),
    ] = None,
) -> None:
    """The fewest tokens a team of AI agents can exchange without losing anything."""
    if debug or debug_json:
        from accp_adapters.cli.debug import switch_on

        switch_on(ctx, redact or (), as_json=debug_json)


app.command()(view)
app.command()(query)
app.command()(replay)
app.command()(inspect)
app.command()(demo)
app.command()(doctor)
app.command(cls=ServeCommand)(serve)
app.command()(relay)
app.add_typer(evaluation, name="eval")
app.add_typer(mcp, name="mcp")
app.add_typer(frame, name="frame")
app.add_typer(aacp, name="aacp")


def main() -> None:
    """Run the command in `sys.argv`; the entry point of the package."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:
        logging.lastResort.setFormatter(PrintableRecords())
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except OSError as error:
        # Python would try to write the rest once more when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        say(f"accp: standard output: {error.strerror}")
        sys.exit(1)
