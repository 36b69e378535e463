"""Simple values, and maps and arrays of them, each read by one match (ACCP section 3.1).

They are most of what frames hold. What these functions do not match is read rule by rule, which also finds the position
of what is wrong with it.
"""

from __future__ import annotations

from accp_core.accp import grammar
from accp_core.accp.frame import Value
from accp_core.accp.parse_state import ParseState

__all__ = ["read_flat", "read_flat_map", "read_pair_start", "read_simple_value"]


def read_simple_value(text: str, position: int, state: ParseState) -> tuple[int, Value] | None:
    """Read a boolean, a number of usual length, or a string without an escape."""
    match = grammar.SIMPLE_VALUE.match(text, position) if state.limits.allow_usual else None
    if match is None:
        return None
    number, fraction, quoted, word = match.groups("")
    return match.end(), _typed(number, fraction, quoted, word, state)


def read_pair_start(text: str, position: int, state: ParseState) -> tuple[int, str, tuple[Value] | None] | None:
    """Read a key that is not escaped and its colon, and its value where that is simple."""
    match = grammar.PAIR_START.match(text, position) if state.limits.allow_usual else None
    if match is None:
        return None
    if match.lastindex == 1:
        return match.end(), match[1], None
    key, number, fraction, quoted, word = match.groups("")
    return match.end(), key, (_typed(number, fraction, quoted, word, state),)


def read_flat(text: str, position: int, level: int, state: ParseState) -> tuple[int, list[Value]] | None:
    """Read an array of simple values, or of maps of them, with its brackets."""
    if not text.startswith("{", position + 1):
        return _read_flat_array(text, position, state)
    return _read_flat_maps(text, position, state) if level < state.limits.depth else None


def read_flat_map(text: str, position: int, state: ParseState) -> tuple[int, dict[str, Value]] | None:
    """Read a map of simple pairs with its braces."""
    match = grammar.FLAT_MAP.match(text, position) if state.limits.allow_usual else None
    found = match and _read_maps(text, position, match.end(), state)
    if not (match and found):
        return None
    ((pairs,), members) = found
    return (match.end(), pairs) if state.count(members) else None


def _read_flat_array(text: str, position: int, state: ParseState) -> tuple[int, list[Value]] | None:
    """Read an array of simple values with its brackets."""
    match = grammar.FLAT_ARRAY.match(text, position) if state.limits.allow_usual else None
    if match is None:
        return None
    found = grammar.SIMPLE_VALUE.findall(text, position + 1, match.end())
    items = [_typed(number, fraction, quoted, word, state) for number, fraction, quoted, word in found]
    return (match.end(), items) if state.count(len(found)) else None


def _read_flat_maps(text: str, position: int, state: ParseState) -> tuple[int, list[Value]] | None:
    """Read an array of maps of simple pairs with its brackets."""
    match = grammar.FLAT_MAPS.match(text, position) if state.limits.allow_usual else None
    found = match and _read_maps(text, position + 1, match.end(), state)
    if not (match and found):
        return None
    maps, members = found
    return (match.end(), [*maps]) if state.count(len(maps) + members) else None


def _read_maps(text: str, start: int, end: int, state: ParseState) -> tuple[list[dict[str, Value]], int] | None:
    """Return the maps of a part of a text that FLAT_MAP or FLAT_MAPS matches, and how many pairs they have in all.

    None where a key stands twice in a map.
    """
    found = grammar.ENDED_PAIR.findall(text, start, end)
    decimal_type, booleans = state.decimal_type, grammar.BOOLEANS
    maps: list[dict[str, Value]] = []
    pairs: dict[str, Value] = {}
    for key, number, fraction, quoted, word, last in found:
        # The same as `_typed`, whose call would take half of the time.
        if word:
            pairs[key] = booleans.get(word, word)
        elif number:
            pairs[key] = grammar.read_decimal(number, decimal_type) if fraction else int(number)
        else:
            pairs[key] = quoted.replace("_", " ")
        if last:
            maps.append(pairs)
            pairs = {}
    return (maps, len(found)) if sum(map(len, maps)) == len(found) else None


def _typed(number: str, fraction: str, quoted: str, word: str, state: ParseState) -> Value:
    """Return the value of what SIMPLE_VALUE found."""
    if word:
        return grammar.BOOLEANS.get(word, word)
    if number:
        return grammar.read_decimal(number, state.decimal_type) if fraction else int(number)
    return quoted.replace("_", " ")
