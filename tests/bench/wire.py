"""How long a frame takes to read and to write, as a multiple of what its JSON twin takes."""

import json
import time
import timeit
from collections.abc import Callable
from typing import NamedTuple

from accp_core import Frame, parse_frame, serialize_frame
from accp_core.accp.vocabulary import ENVELOPE_FIELDS

FRAMES = {
    "findings, 104 characters": (
        r"@research>done:analyze{d:q3_sales|f:[{rev:-12%QoQ},{ent_seg:decline},{churn:+3.2%}]|nx:\@strategy\:plan}"
    ),
    "tool call with envelope": (
        "@orchestrator>req:tool{tool:web_search|args:{max:5,q:ACCP}|schema:TC}"
        "[mid:49679033e07c,seq:3,ts:1714000000,cid:corr123,sid:abc-session]"
    ),
    "200 rows": (
        "@store>done:fetch{rows:["
        + ",".join(f'{{id:{row},name:"row_number_{row}",price:{row}.25,sold:true}}' for row in range(200))
        + "]}"
    ),
}


class Row(NamedTuple):
    """One frame; times in microseconds, the best of all repeats."""

    name: str
    parse: float
    loads: float
    serialize: float
    dumps: float


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


def measure(name: str, text: str) -> Row:
    """Return the times of one frame and of its twin."""
    frame = parse_frame(text)
    value = twin(frame)
    json_text = json.dumps(value, separators=(",", ":"))
    return Row(
        name,
        best(lambda: parse_frame(text)),
        best(lambda: json.loads(json_text)),
        best(lambda: serialize_frame(frame)),
        best(lambda: json.dumps(value, separators=(",", ":"))),
    )


def table() -> list[Row]:
    """Return one row for each frame."""
    return [measure(name, text) for name, text in FRAMES.items()]


def main() -> None:
    """Print the table."""
    print(f"{'frame':<26}{'parse':>10}{'json.loads':>12}{'ratio':>8}{'serialize':>12}{'json.dumps':>12}{'ratio':>8}")
    for row in table():
        reading = f"{row.parse:>10.1f}{row.loads:>12.1f}{row.parse / row.loads:>8.1f}"
        writing = f"{row.serialize:>12.1f}{row.dumps:>12.1f}{row.serialize / row.dumps:>8.1f}"
        print(f"{row.name:<26}{reading}{writing}")
    print(f"{'target':<26}{'':>22}{'5':>8}{'':>24}{'4':>8}")


if __name__ == "__main__":
    main()
