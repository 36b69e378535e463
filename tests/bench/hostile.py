"""Table 6: how each hostile input ends, and the time and the peak memory that it takes besides the input itself."""

from __future__ import annotations

import time
import tracemalloc
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from accp_core.errors import ProtocolError
from tests.hostile import ATTACKS, Attack

__all__ = ["main"]


def main(data: Path | None, console: Console) -> None:
    """Print the table; it needs no data."""
    table = Table(title="6. hostile inputs", title_justify="left", show_edge=False, pad_edge=False)
    for name in ("input", "characters", "ends", "ms", "peak KB"):
        table.add_column(name, justify="left" if name in {"input", "ends"} else "right")
    for attack in ATTACKS:
        table.add_row(*row(attack))
    console.print(table, "")


def row(attack: Attack) -> tuple[str, ...]:
    """Return the measurements of one attack: the time of the fastest of three runs, the memory of a fourth."""
    source = attack.build()
    seconds = min(timed(attack, source) for _ in range(3))
    tracemalloc.start()
    ends = outcome(attack, source)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    size = f"{len(source):,}" if isinstance(source, str) else "-"
    return attack.name, size, ends, f"{seconds * 1e3:,.1f}", f"{peak / 1024:,.0f}"


def timed(attack: Attack, source: Any) -> float:
    """Return the seconds that one run takes."""
    start = time.perf_counter()
    outcome(attack, source)
    return time.perf_counter() - start


def outcome(attack: Attack, source: Any) -> str:
    """Return the code of the refusal, or "read"."""
    try:
        attack.read(source)
    except ProtocolError as refusal:
        return refusal.code
    return "read"
