"""Table 4: the CPU time that views take, as ratios within one run on one machine."""

import json
import math
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from timeit import Timer
from typing import Any, Final

from rich.console import Console
from toon_format import decode, encode

from accp_adapters.cli.tables import plain_table
from accp_adapters.tokens import o200k_base
from accp_adapters.tokens.counters import fast_count
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.view import read, render, write
from tests.harness.bench.data import read_json
from tests.harness.bench.made_payloads import MADE_PAYLOADS
from tests.harness.bench.payloads import geometric_mean

__all__ = ["main"]

_REPEATS: Final = 5
_MIN_SECONDS: Final = 0.02
"""Seconds of one repeat; shorter ones are measured badly."""
_MAX_TOON: Final = 0.5
_MAX_JSON: Final = 5.0
_SIZES: Final = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


def main(data: Path | None, console: Console) -> None:
    """Print the tables; without the data folder, the table of payloads has the made ones only."""
    _payloads(data, console)
    _sizes(console)


def _payloads(data: Path | None, console: Console) -> None:
    values = {path.stem: read_json(path) for path in sorted((data / "payloads").glob("*.json"))} if data else {}
    values |= {name: make(random.Random(name)) for name, make in MADE_PAYLOADS.items()}
    _compared("tiktoken", o200k_base(fast_after=math.inf), values, console)
    if fast_count() is not None:
        _compared("quicktok", o200k_base(fast_after=0), values, console)


def _compared(name: str, count: TokenCounter, values: Mapping[str, Any], console: Console) -> None:
    rows = [(payload, _against_peers(value, count)) for payload, value in values.items()]
    columns = list(zip(*(ratios for _, ratios in rows), strict=True))
    rows.append(("geometric mean", tuple(geometric_mean(column) for column in columns)))
    lines = [(payload, *(f"{ratio:.2f}" for ratio in ratios)) for payload, ratios in rows]
    lines.append(("target", "", "", f"{_MAX_TOON:.2f}", f"{_MAX_JSON:.2f}"))
    form = "Python" if str(write.__file__).endswith(".py") else "compiled"
    title = f"4. CPU time ({form}) against toon-format and json.dumps with json.loads; render counts tokens with {name}"
    names = ("", "render / encode", "read / decode", "both / both", "both / json")
    console.print(plain_table(title, names, lines))


def _against_peers(value: Any, count: TokenCounter) -> tuple[float, ...]:
    view, toon = render(value, counter=count), encode(value)
    rendering, encoding = _best(lambda: render(value, counter=count)), _best(lambda: encode(value))
    reading, decoding = _best(lambda: read(view)), _best(lambda: decode(toon))
    plain = _best(lambda: json.loads(json.dumps(value)))
    ours = rendering + reading
    return rendering / encoding, reading / decoding, ours / (encoding + decoding), ours / plain


def _best(action: Callable[[], object], repeats: int = _REPEATS) -> float:
    """Return the seconds of CPU time that `action` takes in the fastest of several repeats."""
    timer = Timer(action, timer=process_time)
    once = max(timer.timeit(1), 1e-7)
    number = max(1, round(_MIN_SECONDS / once))
    return min(timer.repeat(repeats, number)) / number


def _sizes(console: Console) -> None:
    """Print the time per byte for lists of records of growing size, relative to the smallest list."""
    lines, first = [], None
    for size in _SIZES:
        times = _times(_records(size), size)
        first = first or times
        lines.append((f"{size:,} bytes", *(f"{now / then:.2f}" for now, then in zip(times, first, strict=True))))
    title = "   linearity: time per byte against that of 1,000 bytes (records of 8 fields)"
    console.print(plain_table(title, ("", "render", "read", "counting tokens alone"), lines))


def _times(value: Any, size: int) -> tuple[float, float, float]:
    count, repeats = o200k_base(fast_after=math.inf), 1 if size > 100_000 else 3
    text, view = compact_json(value), render(value, counter=count)
    return (
        _best(lambda: render(value, counter=count), repeats) / len(text),
        _best(lambda: read(view), repeats) / len(text),
        _best(lambda: count(text), repeats) / len(text),
    )


def _records(size: int) -> list[dict[str, Any]]:
    record = len(compact_json([_record(1_000)]))
    return [_record(number) for number in range(max(1, size // record))]


def _record(number: int) -> dict[str, Any]:
    return {
        "id": f"ord_{number:07d}",
        "customer": {"name": f"Customer {number % 97}", "city": ("Oslo", "Bern", "Lima")[number % 3]},
        "total": number * 1.25,
        "paid": number % 4 != 0,
        "note": None if number % 5 else f"call back on day {number % 28}",
        "items": [number % 7, number % 11],
        "status": ("open", "sent", "done")[number % 3],
        "created": f"2026-03-{number % 28 + 1:02d}T10:{number % 60:02d}:00Z",
    }
