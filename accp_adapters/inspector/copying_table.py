"""The table of the copying proxy for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from accp_adapters.evaluation.local.copying import CopyingFigures
from accp_adapters.inspector.tables import plain_table

__all__ = ["print_copying"]

_CAPTION = (
    "A copying proxy, not accuracy: the log-likelihood of a character of the right answer, for a model of 135M "
    "parameters. Nearer to 0 is better; the difference is to the first form."
)


def print_copying(figures: Sequence[CopyingFigures], console: Console) -> None:
    """Print what came out in each form."""
    columns = ["form", "document tokens", "questions", "log-likelihood", "difference", "95 % from", "to", "filled in"]
    console.print(plain_table("copying proxy", columns, [_row(each) for each in figures], caption=_CAPTION))


def _row(each: CopyingFigures) -> list[str]:
    gap = each.difference
    ends = [f"{value / 100:+.3f}" for value in (gap.points, gap.low, gap.high)] if gap else ["-"] * 3
    numbers = [f"{each.tokens:,}", str(each.questions), f"{each.log_likelihood:.3f}"]
    return [each.form, *numbers, *ends, f"{each.filled_in}/{each.questions}"]
