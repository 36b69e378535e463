"""Simple values, and the start of a pair with one, each read by one match (ACCP section 3.1).

They are most of what frames hold. What these functions do not match is read rule by rule, which also finds the position
of what is wrong with it.
"""

from __future__ import annotations

from accp_core.accp import grammar
from accp_core.accp.frame import Value
from accp_core.accp.parse_state import ParseState

__all__ = ["read_pair_start", "read_simple_value"]


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


def _typed(number: str, fraction: str, quoted: str, word: str, state: ParseState) -> Value:
    """Return the value of what SIMPLE_VALUE found."""
    if word:
        return grammar.BOOLEANS.get(word, word)
    if number:
        return grammar.read_decimal(number, state.decimal_type) if fraction else int(number)
    return quoted.replace("_", " ")
