"""Table 1: tokens of payloads that agents exchange, compared with compact JSON and the smallest lossless peer."""

from __future__ import annotations

import random
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
from accp_core.view import Options, read, render
from tests.bench.data import read_json
from tests.bench.made_payloads import MADE_PAYLOADS

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
    readable: int
    """Tokens of our view with `Options(readable=True)`."""
    affixes: int
    """Tokens of our view with `Options(affixes=True)`."""
    lossless: bool


def main(data: Path | None, console: Console) -> None:
    """Print the tables, or a line that says why the first was skipped."""
    made = [_measure(name, make(random.Random(name)), []) for name, make in MADE_PAYLOADS.items()]
    console.print(_table("1b. payloads made after the notation was fixed, in o200k_base tokens", made))
    if data is None:
        console.print("payloads: skipped, no data folder (set ACCP_DATA)")
        return
    baselines = data / "payloads" / "BASELINES.md"
    known = read_baselines(baselines.read_text(encoding="utf-8")) if baselines.is_file() else {}
    paths = sorted((data / "payloads").glob("*.json"))
    rows = [_measure(path.stem, read_json(path), known.get(path.stem, [])) for path in paths]
    console.print(_table("1. payloads: o200k_base tokens against compact JSON and the smallest lossless peer", rows))
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


def _measure(name: str, value: object, peers: list[Peer]) -> Row:
    count = o200k_base()
    view = render(value, counter=count)
    compact = count(compact_json(value))
    peer = min([*peers, Peer("compact JSON", compact)], key=lambda peer: peer.tokens)
    readable = render(value, counter=count, options=Options(readable=True))
    affixes = render(value, counter=count, options=Options(affixes=True))
    lossless = all(is_same_json(read(text), value) for text in (view, readable, affixes))
    return Row(name, compact, peer, count(view), count(readable), count(affixes), lossless)


def _table(title: str, rows: list[Row]) -> RenderableType:
    lines = [_line(row) for row in rows]
    compact, peer, ours = (sum(c) for c in zip(*((r.compact, r.peer.tokens, r.ours) for r in rows), strict=True))
    lost = sum(row.ours > row.peer.tokens for row in rows)
    readable = percent(sum(row.readable for row in rows), compact)
    affixes = percent(sum(row.affixes for row in rows), compact)
    shares = (percent(ours, compact), percent(ours, peer), affixes, readable)
    lines.append(("sum", f"{compact:,}", f"{peer:,}", "", f"{ours:,}", *shares, ""))
    means = (
        geometric_mean([r.ours / r.compact for r in rows]),
        geometric_mean([r.ours / r.peer.tokens for r in rows]),
        geometric_mean([r.affixes / r.compact for r in rows]),
        geometric_mean([r.readable / r.compact for r in rows]),
    )
    lines.append(("geometric mean", "", "", "", "", *(f"{100 * mean:.1f}" for mean in means), f"lost: {lost}"))
    columns = (
        "",
        "compact JSON",
        "smallest peer",
        "which",
        "ours",
        "% of compact",
        "% of peer",
        "affixes",
        "readable",
        "",
    )
    return plain_table(title, columns, lines)


def _line(row: Row) -> tuple[str, ...]:
    problem = "" if row.lossless else "NOT LOSSLESS"
    return (
        row.payload,
        f"{row.compact:,}",
        f"{row.peer.tokens:,}",
        row.peer.name.replace(", columns+refs", "").replace(" escaping", ""),
        f"{row.ours:,}",
        percent(row.ours, row.compact),
        percent(row.ours, row.peer.tokens),
        percent(row.affixes, row.compact),
        percent(row.readable, row.compact),
        problem or ("LOST" if row.ours > row.peer.tokens else ""),
    )
