"""Any text can be restored from its view, which is not larger; any text is read as a view of a value, or refused."""

import json
import re
from typing import Any

from accp_core import DecodeError, EncodeError, read, render, render_text
from accp_core.strict_json import compact_json
from accp_core.view import Options
from tests.conformance.vectors import exact

__all__ = ["check"]

WORD = re.compile(r"\w+")
HALVES = re.compile(r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")


def count(text: str) -> int:
    """Return about the tokens of a tokenizer, in a hundredth of the time."""
    return len(WORD.sub("x", text))


def check(data: bytes) -> None:
    """Check the invariants for one input."""
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
    """Check that the view of a value is not larger than its compact JSON and is read as the same value."""
    for options in (Options(), Options(affixes=True)):
        try:
            rendered = render(value, counter=count, options=options)
        except EncodeError:
            # JSON cannot write the two halves of a surrogate pair side by side.
            assert HALVES.search(repr(value)), value
            return
        assert count(rendered) <= count(compact_json(value))
        # A number may come back in the usual spelling.
        assert exact(json.loads(compact_json(read(rendered)))) == exact(json.loads(compact_json(value)))
