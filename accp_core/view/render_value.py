"""Renders a JSON value for a language model in as few tokens as possible, without loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from accp_core.documents.json_forms import pack_embedded_json
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError, EncodeError
from accp_core.packing.columns import pack_derived
from accp_core.packing.expansion import DEFAULT_EXPANSION, ExpansionLimits
from accp_core.packing.repeated_values import pack_repeated_values
from accp_core.packing.tree import containers_of, is_deeper, members_of
from accp_core.packing.values import SpelledFloat
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json
from accp_core.token_counts import has_tokens, is_longer
from accp_core.view.layout import writer_of
from accp_core.view.read_value import read
from accp_core.view.write import write_view

__all__ = ["DEFAULT_OPTIONS", "MAX_DEPTH", "Options", "render"]

MAX_DEPTH: Final = 50
"""Levels of nested arrays and maps; a value with more is rendered as compact JSON."""
_JSON_TYPES: Final = frozenset((str, int, float, SpelledFloat, bool, type(None), dict, list))
_CONTAINERS: Final = frozenset((dict, list))
_MIN_REPEATED_TOKENS: Final = 8
"""Tokens of a string; a shorter one is written in every place."""
_MIN_SAVED_TOKENS: Final = 6
"""Tokens that must be saved by writing a string once."""
_MAX_USES: Final = (None, 20, 4)
"""Places of one repeated value, after which it is written again: the first of these whose view `read` accepts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The transforms that a view may use; all are without loss."""

    embedded_json: bool = True
    """JSON documents inside strings are rendered too."""
    repeated_values: bool = True
    """A sub-tree or long string that occurs several times is written once: `&1 …`, later `*1`."""
    derived: bool = True
    """An address that contains another value of its map names it: `comments_url=$url/comments`.

    No identifier, name or date is cut, but a search for the whole address finds nothing."""


DEFAULT_OPTIONS: Final = Options()


def render(value: object, *, counter: TokenCounter, options: Options | None = None) -> str:
    """Return the view of a JSON value, which never has more tokens than its compact JSON; `read` is the inverse.

    `render([{"id": 1, "name": "Ana"}, {"id": 2, "name": "Ben"}], counter=count)` is "[2] id name\\n1 Ana\\n2 Ben".

    A number that `read` returned in the spelling of its source (`5.00`) may come back in the usual spelling (`5.0`). To
    keep the text of a source, use `render_text`.

    Args:
        value: A JSON value.
        counter: Counts the tokens of the model.
        options: The transforms that the view may use; None: all.

    Raises:
        EncodeError: E1004, `value` contains something that is not JSON (a tuple, a number as key, NaN).
    """
    levels = check_json(value)
    compact = compact_json(value)
    return render_known(value, compact, counter=counter, options=options or DEFAULT_OPTIONS, levels=levels)


def render_known(
    value: object,
    compact: str,
    *,
    counter: TokenCounter,
    options: Options,
    limits: ExpansionLimits = DEFAULT_EXPANSION,
    tokens: int | None = None,
    levels: int | None = None,
    layouts: list[str] | None = None,
) -> str:
    """Return the view of a JSON value that was checked before.

    `compact` is its compact JSON, `tokens` the tokens of that and `levels` those of the value where they are known.
    `layouts` are those of the documents in strings of the value, packed already, which the view does not name.
    """
    view = render_tree(value, compact, counter=counter, options=options, limits=limits, levels=levels, layouts=layouts)
    if view is None:
        return compact
    is_shorter = is_longer(compact, view, counter=counter) if tokens is None else counter(view) < tokens
    return view if is_shorter else compact


def render_tree(
    value: object,
    compact: str,
    *,
    counter: TokenCounter,
    options: Options,
    limits: ExpansionLimits = DEFAULT_EXPANSION,
    levels: int | None = None,
    layouts: list[str] | None = None,
) -> str | None:
    """Return a JSON value in the notation, however many tokens it has; None if `read` would refuse it within `limits`.

    `compact` is the compact JSON of the value, `levels` its levels where they are known; `layouts` are as in
    `render_known`.
    """
    if layouts is None and options.embedded_json and ('"[' in compact or '"{' in compact):
        value, levels = pack_embedded_json(value), None
    if levels is None:
        # Brackets are cheaper to count than levels. A document in a string adds a level without a bracket.
        may_be_deep = 2 * (compact.count("[") + compact.count("{")) > MAX_DEPTH
        levels = MAX_DEPTH + 1 if may_be_deep and is_deeper(value, MAX_DEPTH) else 0
    if levels > MAX_DEPTH:
        return None
    if options.derived and "://" in compact:
        value = pack_derived(value)
    if options.repeated_values:
        for max_uses in _MAX_USES:
            packed = _with_repeated_values(value, counter, max_uses)
            if _is_readable(view := write_view(packed), compact, limits, layouts):
                return view
    view = write_view(value)
    return view if _is_readable(view, compact, limits, layouts) else None


def _with_repeated_values(value: object, counter: TokenCounter, max_uses: int | None) -> object:
    def saves_tokens(text: str, uses: int) -> bool:
        # `&1` and each `*1` are two tokens.
        pays = -(-_MIN_SAVED_TOKENS // (uses - 1)) + 2
        return has_tokens(f" {text}", max(_MIN_REPEATED_TOKENS, pays), counter=counter)

    return pack_repeated_values(value, saves_tokens, max_uses=max_uses)


def _is_readable(view: str, compact: str, limits: ExpansionLimits, layouts: list[str] | None) -> bool:
    """Return whether `read` accepts a view within `limits`."""
    # What reading adds is less than twice the value: the keys and constants of a table, and strings that hold JSON once
    # more for the document in them.
    if not layouts and 2 * len(compact) <= limits.of(len(view)) - len(view):
        return True
    try:
        read(view, limits=limits, writers=None if layouts is None else [*map(writer_of, layouts)])
    except DecodeError:
        return False
    return True


def check_json(value: object) -> int | None:
    """Refuse what JSON would change silently: other types, NaN and infinities, and keys that are not strings.

    Returns:
        The levels of nested arrays and maps; None where a container is in several places, perhaps deeper in others.

    Raises:
        EncodeError: E1004, with the refused value in the message.
    """
    level = [value]
    keys: set[object] = set()
    seen: set[int] = set()
    levels = count = 0
    while level:
        kinds = set(map(type, level))
        for member in level if float in kinds or not kinds <= _JSON_TYPES else ():
            if not (math.isfinite(member) if type(member) is float else type(member) in _JSON_TYPES):
                raise EncodeError(
                    f"expected a JSON value, found {member!r} of type {type(member).__name__!r}",
                    code=ErrorCode.INVALID_TYPE,
                )
        if kinds.isdisjoint(_CONTAINERS):
            break
        # A container that contains itself would never end.
        found = containers_of(level)
        containers = [container for container in found if id(container) not in seen]
        seen.update(map(id, containers))
        levels += 1
        count += len(found)
        for container in containers:
            if type(container) is dict:
                keys.update(container)
        level = members_of(containers)
    if not set(map(type, keys)) <= {str}:
        offender = next(key for key in keys if type(key) is not str)
        raise EncodeError(f"expected strings as keys, found {offender!r}", code=ErrorCode.INVALID_TYPE)
    return levels if count == len(seen) else None
