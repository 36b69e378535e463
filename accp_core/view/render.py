"""Renders a JSON value for a language model, in the fewest tokens that lose nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError
from accp_core.packing.embedded_json import pack_embedded_json
from accp_core.packing.number import SpelledFloat
from accp_core.packing.repeated_values import pack_repeated_values
from accp_core.packing.tree import EmbeddedJson
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.view.notation import copy_limit
from accp_core.view.write import write_view

__all__ = ["DEFAULT_OPTIONS", "MAX_DEPTH", "Options", "render"]

MAX_DEPTH: Final = 50
"""Arrays and maps within each other; a value that is deeper is rendered as compact JSON."""
_JSON_TYPES: Final = frozenset((str, int, float, SpelledFloat, bool, type(None), dict, list))
_CONTAINERS: Final = frozenset((dict, list))
_CUT: Final = 8
"""Tokens; more than the count of a text grows where it is cut in two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Which transforms a view may use; all of them lose nothing."""

    embedded_json: bool = True
    """JSON documents inside strings are opened."""
    repeated_values: bool = True
    """A repeated sub-tree or long string stands once; later places refer to it."""
    min_repeated_tokens: int = 5
    """Tokens of a string, below which repeating it is clearer than referring to it."""
    min_saved_tokens: int = 6
    """Tokens that the references to one string must save together."""


DEFAULT_OPTIONS: Final = Options()


def render(value: object, *, counter: TokenCounter, options: Options | None = None) -> str:
    """Return the view of a JSON value: as many tokens as its compact JSON, or fewer; `read` is the inverse.

    A number that `read` gave in its source's spelling (`5.00`) is the same number in the usual one (`5.0`) where that
    is no longer. To keep a source's text, render the text.

    Raises:
        EncodeError: E1004, `value` holds something that JSON does not (a tuple, a number as key, NaN).
    """
    check_json(value)
    return render_known(value, compact_json(value), counter=counter, options=options or DEFAULT_OPTIONS)


def render_known(value: object, compact: str, *, counter: TokenCounter, options: Options) -> str:
    """Return the view of what is known to be a JSON value, of which `compact` is the compact JSON."""
    view = render_tree(value, compact, counter=counter, options=options)
    return view if view is not None and is_longer(compact, view, counter=counter) else compact


def render_tree(value: object, compact: str, *, counter: TokenCounter, options: Options) -> str | None:
    """Return the notation of a JSON value, whatever it costs; None where it is too deep or too dense to be read.

    `compact` is its compact JSON.
    """
    if options.embedded_json and ('"[' in compact or '"{' in compact):
        value = pack_embedded_json(value)
    # Each level has a bracket, which is cheaper to count than the levels; an opened document is a level of its own.
    if 2 * (compact.count("[") + compact.count("{")) > MAX_DEPTH and is_too_deep(value):
        return None
    if options.repeated_values:

        def worth(text: str, uses: int) -> bool:
            tokens = counter(f" {text}")
            # An anchor and each reference are two tokens.
            return tokens >= options.min_repeated_tokens and (uses - 1) * (tokens - 2) >= options.min_saved_tokens

        value = pack_repeated_values(value, worth)
    view = write_view(value)
    return view if len(compact) <= copy_limit(len(view)) else None


def is_longer(text: str, view: str, *, counter: TokenCounter) -> bool:
    """Tell whether `text` has more tokens than `view`, counting no more of it than decides that.

    Counting is the larger part of rendering, and the baseline is often twice as long as the view.
    """
    tokens = counter(view)
    counted = at = 0
    for length in (len(view) * 9 // 8, len(view) * 4 // 3):
        if length > len(text) * 15 // 16:
            break
        end = text.rfind('"', at, length) + 1
        if end:
            # Words do not reach across a quote, so a cut behind one adds hardly a token to the count.
            counted += counter(text[at:end]) - _CUT
            at = end
            if counted > tokens:
                return True
    return counter(text) > tokens


def check_json(value: object) -> None:
    """Refuse what JSON would change silently: other types, numbers without digits, and keys that are no strings.

    Raises:
        EncodeError: E1004, naming the offender.
    """
    level = [value]
    keys: set[object] = set()
    seen: set[int] = set()
    while level:
        kinds = set(map(type, level))
        if not kinds <= _JSON_TYPES or (
            float in kinds and not all(map(math.isfinite, [each for each in level if type(each) is float]))
        ):
            offender = next(each for each in level if not _is_json(each))
            raise EncodeError(
                f"expected a JSON value, got {offender!r} of type {type(offender).__name__!r}",
                code=ErrorCode.INVALID_TYPE,
            )
        if kinds.isdisjoint(_CONTAINERS):
            break
        # A container that stands in itself would never end.
        level = [each for each in _containers(level) if id(each) not in seen]
        seen.update(map(id, level))
        members: list[object] = []
        for each in level:
            if type(each) is dict:
                keys.update(each)
                members += each.values()
            else:
                assert type(each) is list
                members += each
        level = members
    if not set(map(type, keys)) <= {str}:
        offender = next(key for key in keys if type(key) is not str)
        raise EncodeError(f"expected strings as keys, got {offender!r}", code=ErrorCode.INVALID_TYPE)


def _is_json(value: object) -> bool:
    return math.isfinite(value) if type(value) is float else type(value) in _JSON_TYPES


def is_too_deep(value: object) -> bool:
    """Tell whether more than `MAX_DEPTH` arrays, maps and opened documents stand within each other."""
    level, levels = _containers([value]), 0
    while level and levels <= MAX_DEPTH:
        level = _containers(_members(level))
        levels += 1
    return levels > MAX_DEPTH


def _containers(values: list[object]) -> list[object]:
    return [value for value in values if type(value) is dict or type(value) is list or type(value) is EmbeddedJson]


def _members(values: list[object]) -> list[object]:
    members: list[object] = []
    for value in values:
        if type(value) is dict:
            members += value.values()
        elif type(value) is list:
            members += value
        else:
            assert type(value) is EmbeddedJson
            members.append(value.value)
    return members
