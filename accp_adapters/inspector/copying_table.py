"""The table of the copying proxy for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.console import Console

from accp_adapters.evaluation.local.copying import CopyingFigures
from accp_adapters.evaluation.statistics import Difference
from accp_adapters.inspector.tables import plain_table

__all__ = ["print_copying"]

_CAPTION = (
    "A copying proxy, not accuracy: the log-likelihood of a character of the right answer, for a model of 135M "
    "parameters; nearer to 0 is better. Filled in: the model would have written it. Differences are to the first form."
)


def print_copying(figures: Sequence[CopyingFigures], console: Console) -> None:
    """Print what came out in each form."""
    columns = ["form", "document tokens", "log-likelihood", "difference", "95 % from", "to"]
    columns += ["filled in", "points", "95 % from", "to"]
    console.print(plain_table("copying proxy", columns, [_row(each) for each in figures], caption=_CAPTION))


def _row(each: CopyingFigures) -> list[str]:
    likely = _ends(each.difference, lambda value: f"{value / 100:+.3f}")
    filled = _ends(each.filled_in_difference, lambda value: f"{value:+.1f}")
    numbers = [f"{each.tokens:,}", f"{each.log_likelihood:.3f}"]
    return [each.form, *numbers, *likely, f"{each.filled_in}/{each.questions}", *filled]


def _ends(gap: Difference | None, write: Callable[[float], str]) -> list[str]:
    return [write(value) for value in (gap.points, gap.low, gap.high)] if gap else ["-"] * 3
