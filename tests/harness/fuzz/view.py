"""Any text can be restored from its view, which is not larger; any text is read as a view of a value, or refused."""

import json
import re
from typing import Any

from accp_core import DecodeError, EncodeError, read, render, render_text
from accp_core.strict_json import compact_json
from tests.conformance.vectors import exact
from tests.harness.fuzz.choices import choose

__all__ = ["check", "check_all", "count"]

WORD = re.compile(r"\w+")
HALVES = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")


def count(text: str) -> int:
    """Return about the tokens of a tokenizer, in a hundredth of the time."""
    return len(WORD.sub("x", text))


def check(data: bytes) -> None:
    """Check the invariants for one input, as a text or as a view."""
    choose(data, (check_restored, check_read))(data)


def check_all(data: bytes) -> None:
    """Check the invariants for one input in every way."""
    check_restored(data)
    check_read(data)


def check_restored(data: bytes) -> None:
    """Check that a text comes back from its view, which is not larger."""
    text = data.decode("utf-8", "surrogateescape")
    view = render_text(text, counter=count)
    assert view.restore() == text
    assert count(view.text) == view.tokens_after <= view.tokens_before == count(text)


def check_read(data: bytes) -> None:
    """Check that a text is a view of a value, or refused."""
    try:
        value = read(data.decode("utf-8", "surrogateescape"))
    except DecodeError as refusal:
        assert 0 <= refusal.position <= len(refusal.text), refusal
        return
    check_rendered(value)


def check_rendered(value: Any) -> None:
    """Check that the view of a value is not larger than its compact JSON and is read as the same value."""
    try:
        rendered = render(value, counter=count)
    except EncodeError:
        # JSON cannot write the two halves of a surrogate pair side by side.
        assert HALVES.search(repr(value)), value
        return
    assert count(rendered) <= count(compact_json(value))
    # A number may come back in the usual spelling.
    assert exact(json.loads(compact_json(read(rendered)))) == exact(json.loads(compact_json(value)))
