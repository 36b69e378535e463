"""`accp mcp`: a proxy for MCP servers, and its place in the configuration files of MCP clients."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from accp_adapters.cli.commands.mcp.install import install, uninstall
from accp_adapters.cli.commands.mcp.run import run
from accp_adapters.cli.commands.mcp.status import status

__all__ = ["mcp"]

_RUN = "run"


class _McpCommands(TyperGroup):
    """The sub-commands of `accp mcp`; without the name of one, the words are those of the proxy itself."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Choose the proxy, unless the first word names another sub-command or asks for help."""
        is_own = args and (args[0] in self.commands or args[0] in ctx.help_option_names)
        return super().parse_args(ctx, args if is_own else [_RUN, *args])


mcp = typer.Typer(
    cls=_McpCommands,
    help="Compress the results of MCP servers: `accp mcp -- SERVER ARGS…` (see `accp mcp run --help`).",
)
# Options after the server's name belong to the server.
mcp.command(_RUN, context_settings={"allow_interspersed_args": False})(run)
mcp.command()(install)
mcp.command()(uninstall)
mcp.command()(status)
