r"""The view's notation: what a model reads in the place of JSON, and the rules both directions share.

    document   a map: its pairs, one to a line; anything else: a value
    pair       key, blank, value: the rest of the line

    value      null true false 42 -0.5 1e+22   as in JSON
               text                            a string, as it is
               "text"                          a string as in JSON, where it could be taken for another thing
               triple quote                    the text is below the line, up to a line of a triple quote
               {  pairs  }                     a map, a pair to a line; or {key value, key value} in one line
               [a, b]                          an array in one line
               [{  pairs  }]                   an array of one map
               [3]:  values                    an array, a value to a line
               [50] header  rows               an array of maps as a table, a row to a line
               {50} header  rows               a map of maps as a table; each row begins with its key
               [:header: row; row]             the same two in one line
               {:header: key row; key row}
               &1 value   *1                   a value, and the same value again
               !json value                     a string that holds this as JSON; the code behind `json` says how

    header     the keys in the order of the cells: `id name, city` is followed by rows like `7 Ana Haas, Lima`
    column     key          a cell, which a blank ends       key,        a cell, which a comma and a blank end
               key=value    all rows hold this, no cell      key{header} a map whose cells stand in the row itself
               key?{header} a cell like {row}                key[header] a cell like [row; row]
    cell       a value; `-` where the row has no such key

Nothing in a line is indented: a blank at the start of a line costs a token and the brackets already say it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Final

from accp_core.strict_json import is_utf8

__all__ = [
    "ABSENT_CELL",
    "CELL",
    "INLINE",
    "LAST_CELL",
    "LEGEND",
    "LINE",
    "LITERAL",
    "NESTED_CELL",
    "NESTED_LAST",
    "NESTED_WORD",
    "TEXT_BLOCK",
    "WORD",
    "PlainTextRule",
    "copy_limit",
    "is_plain_key",
    "quote",
    "write_key",
]  # fmt: skip

LEGEND: Final = (
    "Compact JSON: `key value` lines; `[n] columns` then n rows, a comma ends a cell that has blanks; "
    "- absent; &1 marks a value, *1 repeats it."
)
"""What a reader who has never seen the notation is told, once."""

ABSENT_CELL: Final = "-"
TEXT_BLOCK: Final = '"""'
"""Announces a block of text below the line, and ends it."""

LITERAL: Final = re.compile(r"true|false|null|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
"""What is no string; looser than JSON (`007`), so that nothing which looks like a number is ever a plain string."""


class PlainTextRule:
    """Which strings may stand without quotes in one kind of place.

    Nowhere: the empty string, a literal, `-`, one that begins with a sign of the notation or a blank, ends with a
    blank, or holds a control character, a lone surrogate or a triple quote.
    """

    _FIRST: Final = rf'(?!-?$|["\[{{&*! ]|(?:{LITERAL.pattern})$)'
    _NEVER: Final = r"\x00-\x1f\x7f\ud800-\udfff"

    def __init__(self, stops: str = "", *, first: str = "", comma: bool = False) -> None:
        """`stops` end a string of this place, `first` may not begin it; `comma`: a comma and a blank end it."""
        rest = rf'[^{self._NEVER}"{stops}{"," if comma else ""}]*+'
        signs = r'"(?!"")' + (r"|,(?! |$)" if comma else "")
        text = rf"{self._FIRST}(?![{first} ]){rest}(?:(?:{signs}){rest})*+(?<! )$"
        self.fits: Final[Callable[[str], object]] = re.compile(text, re.MULTILINE).fullmatch
        """Says of one string, by something true, that it may stand plain."""
        # Searching for a line break is many times as fast as for `^`.
        self._other: Final = re.compile(rf"\n(?!{text})", re.MULTILINE)

    def fit(self, texts: list[str]) -> bool:
        """Tell whether all of `texts` may stand plain; faster than asking for each."""
        lines = "\n".join(["", *texts])
        return lines.count("\n") == len(texts) and self._other.search(lines) is None


LINE: Final = PlainTextRule()
"""The rest of a line."""
LAST_CELL: Final = LINE
WORD: Final = PlainTextRule(" ")
"""A cell that a blank ends."""
CELL: Final = PlainTextRule(comma=True)
"""A cell that a comma and a blank end."""
NESTED_LAST: Final = PlainTextRule(r";\[\]{}")
NESTED_WORD: Final = PlainTextRule(r" ;\[\]{}")
NESTED_CELL: Final = PlainTextRule(r";\[\]{}", comma=True)
INLINE: Final = PlainTextRule(r",;\[\]{}", first=":")
"""A member of an array or a map in one line."""

_PLAIN_KEY: Final = re.compile(
    r'[^\s"{}\[\],;:&*!=?\x00-\x1f\x7f\ud800-\udfff-][^\s"{}\[\],;:=?\x00-\x1f\x7f\ud800-\udfff]*'
)


def copy_limit(length: int) -> int:
    """Return how many members a view of `length` characters may stand for by repetition; `read` refuses more.

    A few references to references could ask for more than any memory holds. No value has more members than its
    compact JSON has characters, so that `render` knows which views would be refused and does not write them.
    """
    return max(250_000, 500 * length)


def is_plain_key(text: str) -> bool:
    """Tell whether a key may stand without quotes."""
    return _PLAIN_KEY.fullmatch(text) is not None


@functools.lru_cache(maxsize=4096)
def write_key(key: str) -> str:
    """Return a key as it stands in a pair or a header."""
    return key if is_plain_key(key) else quote(key)


def quote(text: str) -> str:
    """Return `text` as a JSON string: raw Unicode, unless a lone surrogate is in it, which no UTF-8 text can carry."""
    return encode_basestring(text) if is_utf8(text) else encode_basestring_ascii(text)
