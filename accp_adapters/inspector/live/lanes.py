"""Lanes and arrows as numbers for inline SVG: one path for all lines of a kind, as many events need few elements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accp_adapters.inspector.live.threads import EventKind, ThreadEvent
from accp_adapters.inspector.page.plain_text import shorten, shorten_apart

__all__ = ["ROW", "Arrows", "Lanes", "Overview", "arrows_of", "lanes_of", "overview_of"]

ROW: Final = 28
"""Units of one row; 16 of them are 1 rem."""
_LANE: Final = 84
_NARROW: Final = 36
"""Units of a lane where there are many, so that the words of the rows stay in view."""
_MAX_WIDE: Final = 4
_LABEL: Final = 9
_NARROW_LABEL: Final = 16
"""Characters of a name above its lane; above a narrow one it is upright."""
_MAX_LANES: Final = 10
_OTHERS: Final = "others"
_MAX_NAME: Final = 40
_COLUMNS: Final = 200
"""Columns of the overview at most."""
_WIDTH: Final = 1000
_STRIP: Final = 14
_LEVELS: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Lanes:
    """Who has a lane, from left to right."""

    names: tuple[str, ...]
    """What each lane is called, shortened."""
    full_names: tuple[str, ...]
    """What it is called in full."""
    columns: Mapping[str, int]
    """The lane of each name; what has none is in the last one, "others"."""

    @property
    def narrow(self) -> bool:
        """Whether there are so many that each has less room."""
        return len(self.names) > _MAX_WIDE

    @property
    def labels(self) -> tuple[tuple[str, str], ...]:
        """The label above each lane, and the name of the lane."""
        limit = _NARROW_LABEL if self.narrow else _LABEL
        return tuple(zip(shorten_apart(self.full_names, limit), self.names, strict=True))

    @property
    def width(self) -> int:
        """Units of all lanes."""
        return self._lane * len(self.names)

    @property
    def lines(self) -> tuple[int, ...]:
        """Where the line of each lane is."""
        return tuple(map(self.middle, range(len(self.names))))

    def middle(self, column: int) -> int:
        """Return where the line of a lane is."""
        return column * self._lane + self._lane // 2

    @property
    def _lane(self) -> int:
        return _NARROW if self.narrow else _LANE

    def column(self, name: str) -> int | None:
        """Return the lane of a name, None where it has none."""
        return self.columns.get(name, len(self.names) - 1) if name else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrows:
    """The marks of some rows below each other; the keys of both are kinds, the values paths."""

    height: int
    """Units of all rows."""
    lines: Mapping[str, str]
    """The lines of the arrows."""
    heads: Mapping[str, str]
    """Their heads, and the dots of events that stay in one lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All events of a thread in a strip for each lane: the darker, the more of them."""

    names: tuple[str, ...]
    """What each lane is called."""
    height: int
    """Units of all strips."""
    cells: Mapping[str, str]
    """Class to path: "level-1" to "level-4" and "failure"."""
    pages: tuple[tuple[int, float, float], ...]
    """The first event of each page, where it begins and how wide it is."""


def lanes_of(events: Iterable[ThreadEvent]) -> Lanes:
    """Return the lanes of a thread: those with the most events, in the order in which they come first."""
    counts = Counter(name for event in events for name in (event.sender, event.recipient) if name)
    if len(counts) > _MAX_LANES:
        busiest = {name for name, _ in counts.most_common(_MAX_LANES - 1)}
        names = [name for name in counts if name in busiest]
        shown = (*names, _OTHERS)
    else:
        shown = (*counts,)
    return Lanes(
        names=tuple(shorten(name, _MAX_NAME) for name in shown),
        full_names=shown,
        columns={name: column for column, name in enumerate(shown) if name in counts},
    )


def arrows_of(events: Sequence[ThreadEvent], lanes: Lanes) -> Arrows:
    """Return the marks of `events`, one row each."""
    lines: defaultdict[str, list[str]] = defaultdict(list)
    heads: defaultdict[str, list[str]] = defaultdict(list)
    for row, event in enumerate(events):
        start, end = lanes.column(event.sender), lanes.column(event.recipient)
        y = row * ROW + ROW // 2
        if start is None:
            continue
        if end is None or end == start:
            heads[event.kind].append(_dot(lanes.middle(start), y))
        else:
            line, head = _arrow(lanes.middle(start), lanes.middle(end), y)
            lines[event.kind].append(line)
            heads[event.kind].append(head)
    return Arrows(height=len(events) * ROW, lines=_joined(lines), heads=_joined(heads))


def overview_of(events: Sequence[ThreadEvent], lanes: Lanes, page: int) -> Overview:
    """Return the overview of a thread whose pages have `page` events each."""
    columns = min(_COLUMNS, max(len(events), 1))
    width = _WIDTH / columns
    counts: Counter[tuple[int, int]] = Counter()
    failed = set()
    for number, event in enumerate(events):
        if (lane := lanes.column(event.sender)) is not None:
            cell = lane, number * columns // len(events)
            counts[cell] += 1
            failed |= {cell} if event.kind is EventKind.FAILURE else set()
    most = max(counts.values(), default=1)
    cells: defaultdict[str, list[str]] = defaultdict(list)
    for (lane, column), count in counts.items():
        level = "failure" if (lane, column) in failed else f"level-{-(-_LEVELS * count // most)}"
        cells[level].append(_cell(column * width, lane * _STRIP + 2, width, _STRIP - 4))
    scale = _WIDTH / max(len(events), 1)
    return Overview(
        names=lanes.names,
        height=_STRIP * max(len(lanes.names), 1),
        cells=_joined(cells),
        pages=tuple(
            (first, round(first * scale, 1), round(min(page, len(events) - first) * scale, 1))
            for first in range(0, len(events), page)
        ),
    )


def _joined(paths: Mapping[str, list[str]]) -> dict[str, str]:
    return {name: "".join(parts) for name, parts in paths.items()}


def _dot(x: int, y: int) -> str:
    return f"M{x - 4} {y}a4 4 0 1 0 8 0a4 4 0 1 0-8 0z"


def _arrow(start: int, end: int, y: int) -> tuple[str, str]:
    way = 1 if end > start else -1
    return f"M{start} {y}H{end - 8 * way}", f"M{end} {y}l{-9 * way} -4.5v9z"


def _cell(x: float, y: int, width: float, height: int) -> str:
    return f"M{x:.1f} {y}h{width:.1f}v{height}h{-width:.1f}z"
