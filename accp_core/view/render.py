"""Renders a JSON value for a language model, in the fewest tokens that lose nothing."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

from accp_core.errors import EncodeError
from accp_core.packing.opened import pack_opened
from accp_core.packing.shared import most_copies, pack_shared
from accp_core.packing.tree import Opened
from accp_core.ports import TokenCounter
from accp_core.view.notation import is_encodable
from accp_core.view.write import write_view

__all__ = ["DEFAULT_OPTIONS", "MAX_DEPTH", "Options", "compact_json", "render"]

MAX_DEPTH: Final = 50
"""Arrays and maps within each other; a value that is deeper is rendered as compact JSON."""
_JSON_TYPES: Final = frozenset((str, int, float, bool, type(None), dict, list))
_COMPACT: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_HOLDS_JSON: Final = re.compile(r'"[\[{]')


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Which transforms a view may use; all of them lose nothing."""

    opened: bool = True
    """JSON documents inside strings are opened."""
    shared: bool = True
    """A repeated sub-tree or long string stands once; later places refer to it."""
    least_tokens: int = 5
    """Tokens of a string, below which repeating it is clearer than referring to it."""
    least_gain: int = 6
    """Tokens that the references to one string must save together."""


DEFAULT_OPTIONS: Final = Options()


def render(value: object, *, counter: TokenCounter, options: Options | None = None) -> str:
    """Return the view of a JSON value: as many tokens as its compact JSON, or fewer; `read` is the inverse.

    Raises:
        EncodeError: E1004, `value` holds something that JSON does not (a tuple, a number as key, NaN).
    """
    check_json(value)
    return render_known(value, counter=counter, options=options or DEFAULT_OPTIONS)


def render_known(value: object, *, counter: TokenCounter, options: Options) -> str:
    """Return the view of what is known to be a JSON value: it was read from a text."""
    compact = compact_json(value)
    view = render_tree(value, compact, counter=counter, options=options)
    # A value has fewer parts than its JSON has characters.
    if view is not None and len(compact) > most_copies(len(view)):
        return compact
    return view if view is not None and is_longer(compact, view, counter=counter) else compact


def render_tree(value: object, compact: str, *, counter: TokenCounter, options: Options) -> str | None:
    """Return the notation of a JSON value, whatever it costs; None where the value is too deep for it.

    `compact` is its compact JSON.
    """
    if options.opened and _HOLDS_JSON.search(compact):
        value = pack_opened(value)
    if is_too_deep(value):
        return None
    if options.shared:

        def worth(text: str, uses: int) -> bool:
            tokens = counter(f" {text}")
            # An anchor and each reference are two tokens.
            return tokens >= options.least_tokens and (uses - 1) * (tokens - 2) >= options.least_gain

        value = pack_shared(value, worth)
    return write_view(value)


def is_longer(text: str, view: str, *, counter: TokenCounter) -> bool:
    """Tell whether `text` has more tokens than `view`, counting no more of it than decides that.

    Counting is the larger part of rendering, and the baseline is often twice as long as the view.
    """
    tokens = counter(view)
    part = text.rfind('"', 0, len(view) * 4 // 3) + 1
    # Words do not reach across a quote, so the cut behind one adds hardly a token to the count of the part.
    return (len(view) < part < len(text) and counter(text[:part]) > tokens + 8) or counter(text) > tokens


def compact_json(value: object) -> str:
    """Return the baseline of all our figures: JSON without blanks, raw Unicode where UTF-8 can carry it.

    Raises:
        EncodeError: E1004, the value cannot be written as JSON.
    """
    try:
        text = _COMPACT.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise EncodeError(f"expected a JSON value, got one that cannot be written: {error}", code="E1004") from error
    return text if is_encodable(text) else json.dumps(value, separators=(",", ":"))


def check_json(value: object) -> None:
    """Refuse what JSON would change silently: other types, and keys that are no strings.

    Raises:
        EncodeError: E1004, naming the offender.
    """
    level = [value]
    keys: set[object] = set()
    while level:
        if not set(map(type, level)) <= _JSON_TYPES:
            offender = next(each for each in level if type(each) not in _JSON_TYPES)
            raise EncodeError(
                f"expected a JSON value, got {offender!r} of type {type(offender).__name__!r}", code="E1004"
            )
        for each in level:
            if type(each) is dict:
                keys.update(each)
        level = _members(level)
    for key in keys:
        if type(key) is not str:
            raise EncodeError(f"expected strings as keys, got {key!r}", code="E1004")


def is_too_deep(value: object) -> bool:
    """Tell whether more than `MAX_DEPTH` arrays, maps and opened documents stand within each other."""
    level, levels = _containers([value]), 0
    while level and levels <= MAX_DEPTH:
        level = _containers(_members(level))
        levels += 1
    return levels > MAX_DEPTH


def _containers(values: list[object]) -> list[object]:
    return [value for value in values if type(value) is dict or type(value) is list or type(value) is Opened]


def _members(values: list[object]) -> list[object]:
    members: list[object] = []
    for value in values:
        if type(value) is dict:
            members += value.values()
        elif type(value) is list:
            members += value
        elif type(value) is Opened:
            members.append(value.value)
    return members
