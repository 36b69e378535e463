"""A number of o200k_base tokens that a text has at least, in a sixth of the time that counting takes.

The rule that splits a text before its tokens are looked up (`vocabulary`) has places where it always cuts: before and
behind a digit, between a letter and a sign, before a blank. A text has a token more than cuts. They are found for all
characters at once: two numbers have eight bits for each character, what it is to the next one and to the one before.
"""

from __future__ import annotations

from typing import Final

__all__ = ["at_least_o200k"]

# Rules by which a cut stands between two characters: the bits of the one before, and the one bit of the one behind.
_BEFORE_SIGN: Final = 1
_BEFORE_BLANK: Final = 2
_BEFORE_DIGIT: Final = 4
_BEFORE_LETTER: Final = 8
# These make the kinds of characters different from each other; nothing behind has them.
_IS_SIGN: Final = 16
_IS_BLANK: Final = 32


def _first(char: str) -> int:
    """Return the rules for a character that another one follows."""
    if char.isalpha():
        return _BEFORE_SIGN | _BEFORE_BLANK | _BEFORE_DIGIT
    if char.isdecimal():
        return _BEFORE_SIGN | _BEFORE_BLANK | _BEFORE_LETTER
    if char.isspace():
        return _BEFORE_DIGIT | _IS_BLANK
    # `'s` is part of the word before it.
    return _BEFORE_BLANK | _BEFORE_DIGIT | (0 if char == "'" else _IS_SIGN)


def _second(char: str) -> int:
    """Return the rule for a character behind another one."""
    if char.isalpha():
        return _BEFORE_LETTER
    if char.isdecimal():
        return _BEFORE_DIGIT
    return _BEFORE_BLANK if char == " " else 0 if char.isspace() or char == "'" else _BEFORE_SIGN


_ASCII: Final = [chr(code) for code in range(128)]
# Of a character outside ASCII nothing is sure.
_FIRST: Final = bytes(map(_first, _ASCII)).ljust(256, b"\0")
_SECOND: Final = bytes(map(_second, _ASCII)).ljust(256, b"\0")
_DIGITS: Final = 4 * b"0".translate(_FIRST)
"""Of four digits in a row, three at most are one piece."""
_WORD_BEHIND_SIGNS: Final = b'""a'.translate(_FIRST)
"""A word takes one sign before it; where there are two, there is a cut between any two of the three."""


def at_least_o200k(text: str, /) -> int:
    """Return a number of tokens that `count_o200k(text)` is never below; of JSON mostly 85 to 99 % of the tokens."""
    data = text.encode("utf-8", "surrogatepass")
    kinds = data.translate(_FIRST)
    cuts = int.from_bytes(kinds, "little") & int.from_bytes(data.translate(_SECOND), "little") >> 8
    return cuts.bit_count() + kinds.count(_DIGITS) + kinds.count(_WORD_BEHIND_SIGNS) + bool(data)
