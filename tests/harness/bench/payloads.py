"""Table 1: tokens of payloads that agents exchange, compared with compact JSON and the smallest lossless peers.

`python -m tests.harness.bench.payloads` needs nothing but the extra `cli`: it runs beside peers (`make bench-peers`).
"""

import random
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, fsum, log
from pathlib import Path

from rich.console import Console, RenderableType

from accp_adapters.cli.tables import percent, plain_table
from accp_adapters.tokens import o200k_base
from accp_core.packing.values import is_same_json
from accp_core.strict_json import compact_json
from accp_core.view import Options, read, render
from tests.harness.bench.data import find_data, read_json
from tests.harness.bench.made_payloads import MADE_PAYLOADS
from tests.harness.bench.peers import Measured, Outcome, installed, measure

__all__ = ["geometric_mean", "main"]


@dataclass(frozen=True, slots=True)
class Row:
    """The tokens of one payload in compact JSON, in the smallest peers, and in our view."""

    payload: str
    compact: int
    peer: Measured
    """The smallest that gives the value back with its keys in their order."""
    any_order: Measured
    """The smallest that gives the value back, perhaps with other orders of keys."""
    ours: int
    readable: int
    """Tokens of our view with `Options(readable=True)`."""
    lossless: bool


def main(data: Path | None, console: Console) -> None:
    """Print the tables, or a line that says why the first was skipped."""
    run = ", ".join(f"{package} {number}" for package, number in installed().items())
    console.print(f"peers that were run and read back here: {run or 'none'} (make bench-peers runs all)\n")
    made = [_measure(name, make(random.Random(name))) for name, make in MADE_PAYLOADS.items()]
    console.print(_table("1b. payloads made after the notation was fixed, in o200k_base tokens", made))
    if data is None:
        console.print("payloads: skipped, no data folder (set ACCP_DATA)")
        return
    paths = sorted((data / "payloads").glob("*.json"))
    rows = [_measure(path.stem, read_json(path)) for path in paths]
    console.print(_table("1. payloads: o200k_base tokens against compact JSON and the smallest lossless peers", rows))
    examples = [_measure(path.stem, read_json(path)) for path in sorted((data / "documentation").glob("*.json"))]
    if examples:
        console.print(_table("1c. examples of published documentation, in o200k_base tokens", examples))


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean of positive `ratios`, or 1.0 if there are none."""
    return exp(fsum(map(log, ratios)) / len(ratios)) if ratios else 1.0


def _measure(name: str, value: object) -> Row:
    count = o200k_base()
    view = render(value, counter=count)
    peers = sorted(measure(value, count), key=lambda peer: peer.tokens)
    in_order = next(peer for peer in peers if peer.outcome is Outcome.SAME)
    any_order = next(peer for peer in peers if peer.outcome is not Outcome.CHANGED)
    readable = render(value, counter=count, options=Options(readable=True))
    lossless = all(is_same_json(read(text), value) for text in (view, readable))
    compact = count(compact_json(value))
    return Row(name, compact, in_order, any_order, count(view), count(readable), lossless)


def _table(title: str, rows: list[Row]) -> RenderableType:
    lines = [_line(row) for row in rows]
    columns = zip(*((r.compact, r.peer.tokens, r.any_order.tokens, r.ours, r.readable) for r in rows), strict=True)
    compact, peer, any_order, ours, readable = map(sum, columns)
    shares = percent(ours, compact), percent(ours, peer), percent(readable, compact)
    smaller = [sum(map(_is_smaller, rows, others)) for others in ([r.peer for r in rows], [r.any_order for r in rows])]
    below = (f"{count} smaller" for count in smaller)
    lines.append(("sum", f"{compact:,}", f"{peer:,}", next(below), f"{any_order:,}", next(below), f"{ours:,}", *shares))
    means = (
        geometric_mean([r.ours / r.compact for r in rows]),
        geometric_mean([r.ours / r.peer.tokens for r in rows]),
        geometric_mean([r.readable / r.compact for r in rows]),
    )
    lines.append(("geometric mean", *[""] * 6, *(f"{100 * mean:.1f}" for mean in means)))
    peers = ("keys in order", "which", "in any order", "which")
    names = ("", "compact JSON", *peers, "ours", "% of compact", "% of in order", "readable")
    return plain_table(title, names, lines, caption="* smaller than the view")


def _is_smaller(row: Row, peer: Measured) -> bool:
    return peer.tokens < row.ours


def _line(row: Row) -> tuple[str, ...]:
    return (
        row.payload if row.lossless else f"NOT LOSSLESS: {row.payload}",
        f"{row.compact:,}",
        *_peer(row, row.peer),
        *_peer(row, row.any_order),
        f"{row.ours:,}",
        percent(row.ours, row.compact),
        percent(row.ours, row.peer.tokens),
        percent(row.readable, row.compact),
    )


def _peer(row: Row, peer: Measured) -> tuple[str, str]:
    return f"{peer.tokens:,}{'*' if _is_smaller(row, peer) else ''}", peer.name


if __name__ == "__main__":
    main(find_data(), Console() if sys.stdout.isatty() else Console(width=160))
