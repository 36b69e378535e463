"""A group of commands whose help has whole sentences."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

__all__ = ["HelpGroup"]

_MAX_CHARS = 1_000
"""Characters of a command's first sentence in the list of commands."""


class HelpGroup(TyperGroup):
    """Lists each command with the whole first sentence of its help, in as many lines as it takes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands into the help."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(_MAX_CHARS)) for name, command in commands if command is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
