"""Whatever a value is written as is read as the same value: views, texts in every layout, previews and frames."""

import json
from itertools import pairwise
from typing import Any, Final

from accp_core import read, render
from accp_core.accp import Codec, Message
from accp_core.accp.frame import Intent
from accp_core.compression import ResultLimits, compress
from accp_core.documents import yaml
from accp_core.packing.expansion import Expansion
from accp_core.packing.values import apply, diff
from accp_core.strict_json import compact_json
from tests.conformance.vectors import exact
from tests.harness.fuzz.choices import choose
from tests.harness.fuzz.values import value_of
from tests.harness.fuzz.view import count

__all__ = ["check", "check_all"]

CODEC: Final = Codec(counter=len)
SMALL: Final = ResultLimits(inline=80, preview=60)
WHOLE: Final = ResultLimits(inline=None)


def check(data: bytes) -> None:
    """Check the invariant for the value that the input stands for, as a view, a frame or a text."""
    choose(data, (check_view, check_frame, check_text))(value_of(data[1:]), data[0] if data else 0)


def check_all(data: bytes) -> None:
    """Check the invariant for the value that the input stands for in every way."""
    choice, value = data[0] if data else 0, value_of(data[1:])
    check_view(value, choice)
    check_frame(value, choice)
    check_text(value, choice)


def check_view(value: Any, choice: int) -> None:
    """Check that a value comes back from its view, which is not larger than compact JSON."""
    view = render(value, counter=count)
    assert exact(read(view)) == exact(value), view
    assert count(view) <= count(compact_json(value))


def check_text(value: Any, choice: int) -> None:
    """Check that a text in the layout that `choice` names comes back from its view or preview."""
    text = WRITERS[(choice >> 2) % len(WRITERS)](value)
    shown = compress(text, limits=SMALL if choice & 2 else WHOLE, counter=count)
    assert shown.restore() == text
    assert count(shown.text) <= count(text)


def as_yaml(value: Any) -> str:
    """Return a value as YAML, where that can hold it."""
    try:
        return yaml.DOCUMENT.write(value, "", Expansion(1_000_000))
    except ValueError:
        return repr(value)


def as_lines(value: Any) -> str:
    """Return the members of a list as JSON Lines."""
    return "\n".join(map(json.dumps, value if isinstance(value, list) else [value, value]))


def as_table(value: Any) -> str:
    """Return the members of a list as CSV."""
    rows = value if isinstance(value, list) else [value]
    return "\n".join(",".join(map(str, row.values() if isinstance(row, dict) else [row])) for row in rows)


WRITERS: Final = (
    compact_json,
    lambda value: json.dumps(value, indent=2),
    repr,
    as_yaml,
    as_lines,
    as_table,
    lambda value: f"Result:\n{compact_json(value)}\nand more {json.dumps(value)}",
    lambda value: json.dumps({"inner": compact_json(value), "again": json.dumps(value, indent=2)}),
    lambda value: json.dumps({"inner": as_yaml(value), "table": as_table(value), "lines": as_lines(value)}),
    lambda value: f"meta=None content=[Text(type='text', text={compact_json(value)!r}, a=None)]",
    lambda value: json.dumps(value, indent=1)[:-3],
    lambda value: compact_json(value).replace("<", "\\u003c"),
    lambda value: json.dumps(value, indent=4).replace("/", "\\/"),
)
"""Layouts in which a tool may write a value."""


def check_frame(value: Any, choice: int) -> None:
    """Check that a message is the same after its frames, and that a difference leads from one map to the other."""
    message = Message(sender="a", intent=Intent.COMPLETE, operation="op", payload={"result": value})
    frames = CODEC.encode(message).frames
    if len(frames) == 1:
        decoded = CODEC.decode(frames[0])
        assert isinstance(decoded, Message)
        assert exact(decoded.payload) == exact(message.payload)
    maps = [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
    for old, new in pairwise(maps):
        assert exact(apply(old, diff(old, new))) == exact(new)
