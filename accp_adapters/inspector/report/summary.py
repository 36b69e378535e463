"""What a reader of the report wants to know first: the verdict in a sentence, tiles, the policies side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from accp_adapters.replay.prices import Prices
from accp_adapters.replay.report import Comparison, Report

__all__ = ["PolicyRow", "Tile", "policy_row", "tiles", "verdict"]

_MINUS: Final = "\N{MINUS SIGN}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One figure."""

    name: str
    """What it counts."""
    value: str
    """The figure."""
    note: str
    """What it was before, or what it is a part of."""
    mood: str = ""
    """"good", "bad", or empty: neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyRow:
    """The figures of one policy."""

    name: str
    """Its name."""
    total: Comparison
    """Its sums."""
    money: tuple[float, float] | None
    """What the calls cost as recorded and with it; None: no prices were given."""


def policy_row(report: Report, prices: Prices | None) -> PolicyRow:
    """Return the row of one policy."""
    total = report.total()
    money = (prices.of(total.before), prices.of(total.after)) if prices else None
    return PolicyRow(name=report.strategy, total=total, money=money)


def verdict(row: PolicyRow) -> str:
    """Return one sentence that says whether the policy pays, and what it hides."""
    parts = (_runs(row.total), _costs(row), _values(row.total))
    return f"With the policy “{row.name}”: {'; '.join(parts)}."


def tiles(row: PolicyRow) -> Iterator[Tile]:
    """Yield the figures that stand above everything else."""
    before, after, total = row.total.before, row.total.after, row.total
    yield _change("tokens of prompts", before.prompt, after.prompt)
    yield _change("cost in a prompt cache", before.cost, after.cost)
    if row.money:
        yield _change("money, output included", *row.money, digits=4)
    if after.needed:
        yield Tile(
            name="needed values visible",
            value=f"{100 * after.visible / after.needed:.1f} %",
            note=f"{after.visible:,} of {after.needed:,}; {after.reachable - after.visible:,} one query away",
            mood="bad" if after.reachable < after.needed else "",
        )
    yield Tile(name="model calls", value=f"{after.calls:,}", note=f"in {_counted(total.runs, 'run')}")
    yield Tile(
        name="costlier runs",
        value=f"{total.costlier_runs:,}",
        note=f"by more than 1 %; {total.cheaper_runs:,} of {total.runs:,} are cheaper",
        mood="bad" if total.costlier_runs else "good",
    )


def _runs(total: Comparison) -> str:
    if total.runs == 1:
        words = "is cheaper" if total.cheaper_runs else "is costlier" if total.costlier_runs else "costs the same"
        return f"the run {words}"
    costlier = f"{total.costlier_runs:,} costlier" if total.costlier_runs else "none is costlier"
    return f"{total.cheaper_runs:,} of {total.runs:,} runs are cheaper, {costlier}"


def _costs(row: PolicyRow) -> str:
    before, after = row.money or (row.total.before.cost, row.total.after.cost)
    tokens = _less(row.total.before.prompt, row.total.after.prompt, "tokens", fewer=True)
    return f"{_less(before, after, 'money' if row.money else 'cost')} and {tokens}"


def _less(before: float, after: float, noun: str, *, fewer: bool = False) -> str:
    change = round(100 * (after - before) / before) if before else 0
    if not change:
        return f"as {'many' if fewer else 'much'} {noun} as before"
    return f"{abs(change)} % {'more' if change > 0 else 'fewer' if fewer else 'less'} {noun}"


def _values(total: Comparison) -> str:
    after = total.after
    if not after.needed:
        return "no call needed a value of a result"
    away, lost = after.reachable - after.visible, after.needed - after.reachable
    if not away and not lost:
        return f"all {after.needed:,} needed values are visible"
    words = f"{away:,} of {after.needed:,} needed values {'is' if away == 1 else 'are'} one query away"
    return f"{words}, {lost:,} out of reach" if lost else words


def _change(name: str, before: float, after: float, *, digits: int = 0) -> Tile:
    change = 100 * (after - before) / before if before else 0.0
    return Tile(
        name=name,
        value=f"{change:+.1f} %".replace("-", _MINUS),
        note=f"{before:,.{digits}f} → {after:,.{digits}f}",
        mood="good" if change < 0 else "bad" if change > 0 else "",
    )


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
