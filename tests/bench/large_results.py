"""Table 6a: the CPU time and the peak memory of the preview of a large result, for many shapes of it."""

from __future__ import annotations

import base64
import json
import random
import time
import tracemalloc
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from rich.console import Console

from accp_adapters.inspector.tables import plain_table
from accp_adapters.tokens import count_o200k
from accp_core.compression import ResultLimits, compress

__all__ = ["main"]

SIZE: Final = 10_000_000
"""Characters of a result."""
REQUEST: Final = "Which orders of user u4711 are late, with a total over 900?"

_chance: Final = random.Random(7)


def _grow(member: Callable[[int], str], head: str = "[", tail: str = "]", between: str = ",") -> str:
    members, size = [], 0
    while size < SIZE:
        members.append(member(len(members)))
        size += len(members[-1]) + 1
    return head + between.join(members) + tail


def _row(number: int) -> str:
    status = _chance.choice(["paid", "late", "open"])
    return json.dumps({"id": f"ord_{number:06}", "total": round(_chance.random() * 2_000, 2), "status": status})


def _keyed(value: Callable[[int], str]) -> Callable[[int], str]:
    return lambda number: f'"u{number}":{value(number)}'


def _deep(number: int) -> str:
    return json.dumps({"a": {"b": {"c": {"d": {"e": number, "f": str(number)}}}}})


def _parent(number: int) -> str:
    return json.dumps({"id": number, "lines": [{"sku": f"s{each}", "qty": each} for each in range(4)]})


def _event(number: int) -> str:
    level = "INFO" if number % 5_000 else "ERROR"
    return f"2026-01-{number % 28 + 1:02} {level} GET /items/{number} took {_chance.randrange(900)} ms"


def _sentence(number: int) -> str:
    return f"{' '.join(_chance.choices(['alpha', 'beta', 'order', 'request', 'found'], k=12)).capitalize()}."


SHAPES: Final[Mapping[str, Callable[[], str]]] = {
    "rows": partial(_grow, _row),
    "rows in a JSON string": lambda: json.dumps(_grow(_row)),
    "map of maps": partial(_grow, _keyed(_row), "{", "}"),
    "deep rows": partial(_grow, _deep, '{"data":{"items":[', "]}}"),
    "map of deep maps": partial(_grow, _keyed(_deep), "{", "}"),
    "children": partial(_grow, _parent, '{"orders":[', "]}"),
    "numbers": partial(_grow, str),
    "wide rows": partial(_grow, lambda number: json.dumps({f"col{each}": number * each for each in range(300)})),
    "lines of JSON": partial(_grow, _row, "", "", "\n"),
    "log": partial(_grow, _event, "", "", "\n"),
    "prose": partial(_grow, _sentence, "", "", "\n"),
    "one line": partial(_grow, _sentence, "", "", " "),
    "blanks": lambda: " " * SIZE,
    "base64": lambda: base64.b64encode(_chance.randbytes(SIZE * 3 // 4)).decode(),
    "base64 in JSON": lambda: json.dumps({"image": base64.b64encode(_chance.randbytes(SIZE * 3 // 4)).decode()}),
}


def main() -> None:
    """Print the table."""
    columns = ("result", "million characters", "s", "peak / size", "tokens")
    table = plain_table(
        "6a. previews of large results", columns, [_line(name, make()) for name, make in SHAPES.items()]
    )
    Console(width=120).print(table)


def _line(name: str, text: str) -> tuple[str, ...]:
    show = partial(compress, text, limits=ResultLimits(), counter=count_o200k, request=REQUEST, open_with="accp_fetch")
    start = time.process_time()
    shown = show()
    seconds = time.process_time() - start
    tracemalloc.start()
    show()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return name, f"{len(text) / 1e6:.1f}", f"{seconds:.2f}", f"{peak / len(text):.2f}", f"{shown.tokens_after:,}"
