"""Any text is restored from its view, which is no larger, and any text is read as a view of a value or refused."""

import json
import re
from typing import Any

from accp_core import DecodeError, EncodeError, read, render, render_text
from accp_core.strict_json import compact_json
from tests.conformance.vectors import exact

__all__ = ["check"]

WORD = re.compile(r"\w+|\W")
HALVES = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")


def count(text: str) -> int:
    """Return a number of tokens like a tokenizer's, in a hundredth of its time."""
    return len(WORD.findall(text))


def check(data: bytes) -> None:
    """Hold one input to the invariant."""
    text = data.decode("utf-8", "surrogateescape")
    view = render_text(text, counter=count)
    assert view.restore() == text
    assert count(view.text) == view.tokens_after <= view.tokens_before == count(text)
    try:
        value = read(text)
    except DecodeError as refusal:
        assert 0 <= refusal.position <= len(refusal.text), refusal
        return
    check_rendered(value)


def check_rendered(value: Any) -> None:
    """Hold a value to it: its view is no larger than its compact JSON and is read as the very value."""
    try:
        rendered = render(value, counter=count)
    except EncodeError:
        # Two halves of a surrogate pair side by side: no JSON can say them.
        assert HALVES.search(repr(value)), value
        return
    # The raw letters where UTF-8 has them, escapes for a lone surrogate.
    assert count(rendered) <= count(compact_json(value))
    # The usual spelling of a number may stand for its source's.
    assert exact(json.loads(compact_json(read(rendered)))) == exact(json.loads(compact_json(value)))
