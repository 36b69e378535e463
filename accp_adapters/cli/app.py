"""The `accp` command with its sub-commands; each of them is a module of `commands`."""

from __future__ import annotations

import io
import logging
import os
import sys
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from accp_adapters.cli.commands.demo import demo
from accp_adapters.cli.commands.doctor import doctor
from accp_adapters.cli.commands.mcp import mcp
from accp_adapters.cli.commands.replay import replay
from accp_adapters.cli.commands.serve import relay, serve
from accp_adapters.cli.commands.view import query, view
from accp_adapters.cli.sources import ExtraMissing, InputRefused, PrintableRecords, say, write_line
from accp_core.error_codes import ErrorCode
from accp_core.markers import printable

__all__ = ["app", "main"]

_NEXT_STEPS: Final = {
    ErrorCode.PARSE_ERROR: "Correct the text at the place that the message names.",
    ErrorCode.INVALID_INTENT: "Use one of the draft's nine intents.",
    ErrorCode.UNKNOWN_SCHEMA: "Register the schema in both sessions, or send the parameters without it.",
    ErrorCode.INVALID_TYPE: "Send a value of the type that the message expects; a query is SQL, words or a path.",
    ErrorCode.REF_NOT_FOUND: "Check the store: the text was never stored there, or it was deleted.",
    ErrorCode.REF_EXPIRED: "Call the tool again: the text was deleted after its time.",
    ErrorCode.BUDGET_EXCEEDED: "Send or ask for less, such as fewer rows, or raise the limit that is named.",
    ErrorCode.TIMEOUT: "Send the request again, or give it more time.",
    ErrorCode.DUPLICATE: "Do nothing: the frame was received before.",
    ErrorCode.SEQUENCE_GAP: "Send the missing frames first. After SessionLost, connect again and ask again.",
    ErrorCode.TOOL_NOT_FOUND: "Use a name from the list of tools.",
    ErrorCode.TOOL_EXEC_FAILED: "Correct the call or the tool. If the message names a store, try again.",
    ErrorCode.TOOL_SCHEMA_MISMATCH: "Correct the arguments: they do not match the schema of the tool.",
    ErrorCode.POLICY_DENIED: "Ask who operates the peer: its policy refuses this.",
    ErrorCode.UNAUTHORIZED_REF: "Open only references from your own conversation, or have the text handed over.",
    ErrorCode.INTERNAL_ERROR: "Report it with the log of the peer.",
}


_ACP_CODES: Final = {
    "ERR_INVALID_REQUEST": "The message is malformed. Correct what the reason names.",
    "ERR_NOT_FOUND": "Nobody has that name, or nobody waits for that reply. Check `to_peer` and `correlation_id`.",
    "ERR_TIMEOUT": "No answer came in time. Send the message again, or give it more time.",
    "ERR_MSG_TOO_LARGE": "The message is longer than the peer takes. Send less.",
    "ERR_INTERNAL": "The agent failed. Report it with its log.",
    "ERR_NOT_CONNECTED": "There is no connection, or no room for one more. Try again later.",
    "invalid_token": "The server does not know the token. Ask who operates it.",
    "duplicate_connection": "The token is in use on another connection. Give each client its own.",
}
"""A code of ACP to its meaning and what to do."""


class _Commands(TyperGroup):
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
    name="accp", cls=_Commands, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode="markdown"
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
) -> None:
    """Shorten what AI agents read and send, and lose nothing."""
    if debug:
        from accp_adapters.cli.debug import switch_on

        switch_on(ctx)


@app.command()
def explain(code: Annotated[str, typer.Argument(help="An error code such as E5002.")]) -> None:
    """Say what an error code means and what to do."""
    if acp := next((each for each in _ACP_CODES if each.lower() == code.strip().lower()), None):
        write_line(f"{acp}: {_ACP_CODES[acp]} (ACP transport 0.3)")
        return
    try:
        found = ErrorCode(code.strip().upper())
    except ValueError as error:
        known = ", ".join([*ErrorCode, *_ACP_CODES])
        raise typer.BadParameter(f"expected one of {known}, found {code!r}") from error
    write_line(f"{found}: {found.meaning} ({found.category.value}; ACCP section 3.6)")
    write_line(_NEXT_STEPS[found])
    write_line("The frame may be sent again." if found.retryable else "Sending the same frame again does not help.")


app.command()(view)
app.command()(query)
app.command()(replay)
app.command()(demo)
app.command()(doctor)
app.command()(serve)
app.command()(relay)
app.add_typer(mcp, name="mcp")


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
