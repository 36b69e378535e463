"""The counters of our adapters that programs export, summed by service and adapter.

Source: https://opentelemetry.io/docs/specs/otel/metrics/data-model/#sums.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from accp_adapters.inspector.live.told import Counted
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay.contents.secrets import hide_secrets
from accp_adapters.replay.formats.traces.otlp import attributes_of
from accp_adapters.telemetry import ADAPTER, METRICS

__all__ = ["COUNTERS", "Counters", "Program"]

COUNTERS: Final = tuple(metric.name for metric in METRICS.values())
"""The names of our counters, in the order in which they are shown."""
_TEMPORALITY: Final = "AGGREGATION_TEMPORALITY_"
_DELTA: Final = (1, f"{_TEMPORALITY}DELTA")
_CUMULATIVE: Final = (2, f"{_TEMPORALITY}CUMULATIVE")
_MAX_SERIES: Final = 2_000
"""Series that are kept: a counter of an adapter in one program, as long as that runs."""
_MAX_NAME: Final = 100
_MAX_VALUE: Final = 300
_MAX_SUM: Final = 1 << 53


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that exports."""

    service: str
    """Its service, as it calls itself."""
    id: str
    """Tells programs of one service apart where their resources do."""


_Series: TypeAlias = tuple[str, str, str, str, str]
"""The id of a program, its service, the adapter, the counter and when its sum began."""


@dataclass(slots=True)
class _Sum:
    value: int = 0
    at: int = 0
    """The time of the value, in nanoseconds of the Unix epoch."""


@dataclass(slots=True)
class Counters:
    """The last sum of each series."""

    left_out: int = 0
    """Values of series beyond those that are kept."""
    unread: int = 0
    """Counters that were not as OTLP has them."""
    _sums: dict[_Series, _Sum] = field(default_factory=dict)

    def add(self, program: Program, metric: Mapping[str, Any]) -> None:
        """Take the values of one counter."""
        try:
            found = [*_values(program, metric)]
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
            self.unread += 1
            return
        for series, value, at, is_delta in found:
            self._put(series, value, at, is_delta=is_delta)

    def rows(self) -> tuple[Counted, ...]:
        """Return the sums by service and adapter: programs of one service, and those that ran before, together."""
        sums: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(lambda: dict.fromkeys(COUNTERS, 0))
        for (_, service, adapter, name, _), each in self._sums.items():
            sums[service, adapter][name] += each.value
        return tuple(
            Counted(service=service, adapter=adapter, sums=tuple(values.items()))
            for (service, adapter), values in sums.items()
        )

    def _put(self, series: _Series, value: int, at: int, *, is_delta: bool) -> None:
        if series not in self._sums and len(self._sums) >= _MAX_SERIES:
            self.left_out += 1
            return
        kept = self._sums.setdefault(series, _Sum())
        if is_delta:
            kept.value = min(kept.value + value, _MAX_SUM)
        elif at >= kept.at:  # exports may come late, and out of order
            kept.value, kept.at = value, at


def _values(program: Program, metric: Mapping[str, Any]) -> Iterator[tuple[_Series, int, int, bool]]:
    total = metric["sum"]
    counter, temporality = COUNTERS[COUNTERS.index(metric["name"])], total["aggregationTemporality"]
    if temporality not in (*_DELTA, *_CUMULATIVE):
        raise ValueError(f"expected a temporality of OTLP, found {temporality!r:.80}")
    is_delta = temporality in _DELTA
    for point in total.get("dataPoints") or ():
        adapter = str(attributes_of(point.get("attributes")).get(ADAPTER) or "")
        # The sum of a delta goes on: its beginning says nothing of the program.
        began = "" if is_delta else str(_nanoseconds(point.get("startTimeUnixNano")))
        series = program.id, _name(program.service), _name(adapter), counter, began
        yield series, _value(point), _nanoseconds(point.get("timeUnixNano")), is_delta


def _name(text: str) -> str:
    return shorten(hide_secrets(text[:_MAX_VALUE]), _MAX_NAME)


def _value(point: Mapping[str, Any]) -> int:
    """Return the value of a point.

    Raises:
        ValueError: it is no whole number that a counter may have.
    """
    given = point["asInt"] if "asInt" in point else point["asDouble"]
    value = int(str(given)[:_MAX_NAME]) if isinstance(given, int | str) else int(given)
    if not 0 <= value <= _MAX_SUM:
        raise ValueError(f"expected a sum from 0 to {_MAX_SUM}, found {value!r:.80}")
    return value


def _nanoseconds(given: object) -> int:
    text = str(given or "")[:_MAX_NAME]
    return int(text) if text.isascii() and text.isdecimal() else 0
