"""Simple values, and maps and arrays of them, each read by one match (ACCP section 3.1).

They are most of what frames hold. What these functions do not match is read rule by rule, which also finds the position
of what is wrong with it.
"""

from __future__ import annotations

from accp_core.accp import grammar
from accp_core.accp.frame import Value
from accp_core.accp.parse_state import ParseState

__all__ = ["read_flat_array", "read_flat_map", "read_simple_pair", "read_simple_value"]


def read_simple_value(text: str, position: int, state: ParseState) -> tuple[int, Value] | None:
    """Read a boolean, a number of usual length, or a string without an escape."""
    match = grammar.SIMPLE_VALUE.match(text, position) if state.limits.allow_usual else None
    if match is None:
        return None
    number, fraction, quoted, word = match.groups("")
    return match.end(), _typed(number, fraction, quoted, word, state)


def read_simple_pair(text: str, position: int, state: ParseState) -> tuple[int, tuple[str, Value]] | None:
    """Read a key that is not escaped, and its simple value."""
    match = grammar.SIMPLE_PAIR.match(text, position) if state.limits.allow_usual else None
    if match is None:
        return None
    key, number, fraction, quoted, word = match.groups("")
    return match.end(), (key, _typed(number, fraction, quoted, word, state))


def read_flat_map(text: str, position: int, state: ParseState) -> tuple[int, dict[str, Value]] | None:
    """Read a map of simple pairs with its braces."""
    match = grammar.FLAT_MAP.match(text, position) if state.limits.allow_usual else None
    if match is None:
        return None
    found = grammar.SIMPLE_PAIR.findall(text, position + 1, match.end())
    pairs = {key: _typed(number, fraction, quoted, word, state) for key, number, fraction, quoted, word in found}
    return (match.end(), pairs) if len(pairs) == len(found) and state.count(len(found)) else None


def read_flat_array(text: str, position: int, state: ParseState) -> tuple[int, list[Value]] | None:
    """Read an array of simple values with its brackets."""
    match = grammar.FLAT_ARRAY.match(text, position) if state.limits.allow_usual else None
    if match is None:
        return None
    found = grammar.SIMPLE_VALUE.findall(text, position + 1, match.end())
    items = [_typed(number, fraction, quoted, word, state) for number, fraction, quoted, word in found]
    return (match.end(), items) if state.count(len(found)) else None


def _typed(number: str, fraction: str, quoted: str, word: str, state: ParseState) -> Value:
    """Return the value of what SIMPLE_VALUE found."""
    if word:
        return grammar.BOOLEANS.get(word, word)
    if number:
        return state.decimal_type(number) if fraction else int(number)
    return quoted.replace("_", " ")
