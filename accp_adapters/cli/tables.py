"""Tables of figures for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from accp_core.markers import printable

__all__ = ["percent", "plain_table", "wide_console"]


_WIDTH: Final = 200
"""Characters of a line where there is no terminal."""


def percent(part: float, whole: float) -> str:
    """Return `part` in percent of `whole` with one decimal, a dash where `whole` is 0."""
    return f"{100 * part / whole:.1f}" if whole else "-"


def plain_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = ""
) -> RenderableType:
    """Return a table of names and numbers.

    Args:
        title: The line above the table.
        columns: The heading of each column.
        rows: The cells of each row. The first is a name, which is cut where the terminal is narrow; numbers never are.
        caption: The line below the table; empty: none.
    """
    cells = [tuple(map(printable, row)) for row in rows]
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(columns[0], overflow="ellipsis", no_wrap=True)
    for index, name in enumerate(columns[1:], 1):
        width = max(len(name), *(len(row[index]) for row in cells), 0)
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    # Not rich's own title, which would wrap at the width of the table.
    return Group(Text(title, style="bold"), table, *([Text(f"{caption}\n")] if caption else []))


def wide_console() -> Console:
    """Return a console on standard output; a file or a pipe has no width, and figures would be cut at 80 columns."""
    console = Console(markup=False, emoji=False, highlight=False)
    return console if console.is_terminal else Console(width=_WIDTH, markup=False, emoji=False, highlight=False)
