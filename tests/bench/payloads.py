"""Table 1: tokens of payloads that agents exchange, compared with compact JSON and the smallest lossless peer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp, fsum, log
from pathlib import Path

from rich.console import Console, RenderableType

from accp_adapters.inspector.tables import percent, plain_table
from accp_adapters.tokens import o200k_base
from accp_core.packing.equality import is_same_json
from accp_core.strict_json import compact_json
from accp_core.view import read, render
from tests.bench.data import read_json

__all__ = ["geometric_mean", "main", "read_baselines"]


@dataclass(frozen=True, slots=True)
class Peer:
    """Another encoding and its tokens for a payload."""

    name: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Row:
    """The tokens of one payload in compact JSON, in the smallest lossless peer, and in our view."""

    payload: str
    compact: int
    peer: Peer
    ours: int
    lossless: bool


def main(data: Path | None, console: Console) -> None:
    """Print the table, or a line that says why it was skipped."""
    if data is None:
        console.print("payloads: skipped, no data folder (set ACCP_DATA)")
        return
    baselines = data / "payloads" / "BASELINES.md"
    known = read_baselines(baselines.read_text(encoding="utf-8")) if baselines.is_file() else {}
    rows = [_measure(path, known.get(path.stem, [])) for path in sorted((data / "payloads").glob("*.json"))]
    console.print(_table(rows))
    if not known:
        console.print("no BASELINES.md beside the payloads: compact JSON is the only peer")


def read_baselines(text: str) -> dict[str, list[Peer]]:
    """Return the lossless cells of the first table of BASELINES.md, by payload.

    A cell with a cross did not decode to the same value, and a cell with less than 100 % readable leaves something out;
    both are not lossless.
    """
    lines = [_cells(line) for line in text.splitlines() if line.startswith("|")]
    names = lines[0][1:]
    rows = [line for line in lines[2:] if line[0].startswith("`")]
    return {row[0].strip("`"): list(_lossless(names, row[1:])) for row in rows}


def geometric_mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean of positive `ratios`, or 1.0 if there are none."""
    return exp(fsum(map(log, ratios)) / len(ratios)) if ratios else 1.0


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def _lossless(names: list[str], cells: list[str]) -> Iterator[Peer]:
    for name, cell in zip(names, cells, strict=True):
        number = re.fullmatch(r"([\d,]+)(?: \(100 ?%\))?", cell)
        if number:
            yield Peer(name, int(number[1].replace(",", "")))


def _measure(path: Path, peers: list[Peer]) -> Row:
    count, value = o200k_base(), read_json(path)
    view = render(value, counter=count)
    compact = count(compact_json(value))
    peer = min([*peers, Peer("compact JSON", compact)], key=lambda peer: peer.tokens)
    return Row(path.stem, compact, peer, count(view), is_same_json(read(view), value))


def _table(rows: list[Row]) -> RenderableType:
    lines = [_line(row) for row in rows]
    compact, peer, ours = (sum(c) for c in zip(*((r.compact, r.peer.tokens, r.ours) for r in rows), strict=True))
    lost = sum(row.ours > row.peer.tokens for row in rows)
    lines.append(("sum", f"{compact:,}", f"{peer:,}", "", f"{ours:,}", percent(ours, compact), percent(ours, peer), ""))
    means = (
        geometric_mean([r.ours / r.compact for r in rows]),
        geometric_mean([r.ours / r.peer.tokens for r in rows]),
    )
    lines.append(("geometric mean", "", "", "", "", *(f"{100 * mean:.1f}" for mean in means), f"lost: {lost}"))
    title = "1. payloads: o200k_base tokens against compact JSON and the smallest lossless peer"
    columns = ("", "compact JSON", "smallest peer", "which", "ours", "% of compact", "% of peer", "")
    return plain_table(title, columns, lines)


def _line(row: Row) -> tuple[str, ...]:
    problem = "" if row.lossless else "NOT LOSSLESS"
    return (
        row.payload,
        f"{row.compact:,}",
        f"{row.peer.tokens:,}",
        row.peer.name.replace(", columns+refs", ""),
        f"{row.ours:,}",
        percent(row.ours, row.compact),
        percent(row.ours, row.peer.tokens),
        problem or ("LOST" if row.ours > row.peer.tokens else ""),
    )
