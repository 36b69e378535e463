"""How long a frame takes to read and to write, as a multiple of what its JSON twin takes in the same run.

The rows are what agents exchange: a short frame, a tool call, the recorded payloads where there are some, and tickets
with dates, mails, URLs and sentences.
"""

from __future__ import annotations

import json
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

from rich.console import Console

from accp_adapters.cli.output.terminal_tables import plain_table
from accp_core import Envelope, Frame, parse_frame, serialize_frame
from accp_core.accp.vocabulary import ENVELOPE_FIELDS, Intent
from tests.bench.data import read_json
from tests.bench.payloads import geometric_mean

__all__ = ["best", "main", "twin"]

SHORT: Final = {
    "a short frame, 104 characters": (
        r"@research>done:analyze{d:q3_sales|f:[{rev:-12%QoQ},{ent_seg:decline},{churn:+3.2%}]|nx:\@strategy\:plan}"
    ),
    "a tool call with envelope": (
        "@orchestrator>req:tool{tool:web_search|args:{max:5,q:ACCP}|schema:TC}"
        "[mid:49679033e07c,seq:3,ts:1714000000,cid:corr123,sid:abc-session]"
    ),
}
TICKETS: Final[list[dict[str, Any]]] = [
    {
        "id": f"TCK-{number:05d}",
        "opened": f"2026-03-{number % 28 + 1:02d}T10:{number % 60:02d}:00Z",
        "mail": f"{('ann', 'priya.garcia', 'chen')[number % 3]}{number}@example.org",
        "url": f"https://shop.example.com/orders/{number * 7919 % 100_000}?from=mail&lang=en",
        "text": f"Order {number} arrived late, and its box was open: please call back after 5 pm.",
        "total": number * 1.25,
        "paid": number % 3 > 0,
    }
    for number in range(50)
]


class Ratios(NamedTuple):
    """The CPU time of a frame against that of its twin; each the best of all repeats."""

    name: str
    characters: int
    parse: float
    """`parse_frame` / `json.loads`."""
    serialize: float
    """`serialize_frame` / `json.dumps`."""


def frames(data: Path | None) -> dict[str, str]:
    """Return the frames that are measured, by name."""
    paths = sorted((data / "payloads").glob("*.json")) if data else []
    values = {"50 tickets": TICKETS, **{path.stem: read_json(path) for path in paths}}
    return {**SHORT, **{name: frame_of(value) for name, value in values.items()}}


def frame_of(value: Any) -> str:
    """Return the frame with which an agent answers that it was asked for `value`."""
    envelope = Envelope(msg_id="49679033e07c", sequence=3, timestamp=1714000000, correlation_id="corr123")
    return serialize_frame(
        Frame(sender="store", intent=Intent.COMPLETE, operation="fetch", params={"data": value}, envelope=envelope)
    )


def twin(frame: Frame) -> dict[str, object]:
    """Return the frame as the object that somebody without ACCP would send."""
    fields = {short: getattr(frame.envelope, name) for name, short in ENVELOPE_FIELDS.items()}
    return {
        "sender": frame.sender,
        "intent": frame.intent.value,
        "operation": frame.operation,
        "params": frame.params,
        "envelope": {short: value for short, value in fields.items() if value is not None},
    }


def best(call: Callable[[], object], seconds: float = 0.02, repeats: int = 7) -> float:
    """Return the microseconds of CPU time that one call takes."""
    number = max(1, int(seconds / max(timeit.timeit(call, number=1), 1e-7)))
    return min(timeit.repeat(call, number=number, repeat=repeats, timer=time.process_time)) / number * 1e6


def measure(name: str, text: str) -> Ratios:
    """Return the ratios of one frame and its twin."""
    frame = parse_frame(text)
    value = twin(frame)
    json_text = json.dumps(value, separators=(",", ":"))
    return Ratios(
        name,
        len(text),
        best(lambda: parse_frame(text)) / best(lambda: json.loads(json_text)),
        best(lambda: serialize_frame(frame)) / best(lambda: json.dumps(value, separators=(",", ":"))),
    )


def main(data: Path | None, console: Console) -> None:
    """Print the table; without the data folder it has the short frames and the tickets only."""
    rows = [measure(name, text) for name, text in frames(data).items()]
    whole = rows[len(SHORT) :]
    lines = [(row.name, f"{row.characters:,}", f"{row.parse:.1f}", f"{row.serialize:.1f}") for row in rows]
    means = geometric_mean([row.parse for row in whole]), geometric_mean([row.serialize for row in whole])
    lines.append(("geometric mean of all but the short ones", "", *(f"{mean:.1f}" for mean in means)))
    columns = ("", "characters", "parse_frame / json.loads", "serialize_frame / json.dumps")
    console.print(plain_table("5. frames: CPU time against that of JSON", columns, lines))
