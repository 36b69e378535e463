"""The notation of a view, which a model reads in place of JSON, and the rules for writing and reading it.

    document   a map: its pairs, one to a line; anything else: a value
    pair       key, blank, value: the rest of the line; a key may contain a colon: `og:title A house`
               key=${key2}/text                a string that contains the value of key2, a pair before it

    value      null true false 42 -0.5 1e+22   as in JSON
               text                            a string, as it is
               "text"                          a string as in JSON, where it could be taken for another thing
               three quotes                    the text is below, up to such a line; more where it has three itself
               {  pairs  }                     a map, a pair to a line; or {key value, key value} in one line
               [a, b]                          an array in one line
               [{  pairs  }]                   an array of one map
               [3]:  values                    an array, a value to a line
               [50] header  rows               an array of maps as a table, a row to a line
               {50} key: header  rows          a map of maps as a table; each row begins with its key
               [:header: row;row]              the same two in one line
               {:key: header: key row;key row}
               &1 value   *1                   a value, and the same value again
               !json value                     a string that holds this as JSON; a code behind `json` says how, `~` that
                                               its layout is kept beside the view
               !view text                      a string, of which this text is the view

    header     the keys in the order of the cells: `id name, city` is followed by rows like `7 Ana Haas, Lima`
    column     key          a cell, which a blank ends       key,        a cell, which a comma ends
               key{header}  a map whose cells stand in the row itself
               key={header} a cell like {row}                key[header] a cell like [row;row]
               key?         the key may be absent; where it is there, the row has key=value
               id==key      no cell: in a map of maps, as the key of the row
    constants  (key=value key=value)                         no cells: all rows have these values
               (key=text/${key2}/text)                       no cells: a string that contains the value of key2
    row        its cells, at least one of which is not `-`; {} for a map without keys
    cell       a value; `-` where the row has no such key

A comma or semicolon is followed by a blank only before a letter: before a digit or a sign the blank costs a token.
Nothing is indented: a blank at the start of a line costs a token, and the brackets already show the structure.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Final

from accp_core.documents.json_styles import STYLE_CODE
from accp_core.lazy_patterns import lazy_pattern
from accp_core.packing.columns import HIDDEN
from accp_core.packing.tree import BESIDE, Derived

__all__ = [
    "ABSENT_CELL", "AS_IS", "BLANKS", "CELL", "CONSTANT", "FENCE", "HIDDEN_SIGN", "INLINE", "KEY", "KEY_COLUMN",
    "LEGEND", "LINE", "NESTED_CELL", "NESTED_LAST", "NESTED_WORD", "NOTATION", "TEXT_BLOCK", "TIGHT", "WORD",
    "PlainTextRule", "explanations", "fence_of", "is_plain_key", "join_members", "legend_for", "quote",
    "read_derived", "separator_before", "visible", "write_derived", "write_inline_key", "write_key", "write_name",
]  # fmt: skip


NOTATION: Final = "v4"
"""The version of the notation: a layout begins with it, so that a stored view in another one is refused by its name."""
AS_IS: Final = "as-is"
"""The layout of a text that was left as it is."""
ABSENT_CELL: Final = "-"
TEXT_BLOCK: Final = '"""'
"""In a line: the text is below it; as a line of its own: the end of that text; the shortest fence of a text."""
FENCE: Final = re.compile(f"{TEXT_BLOCK}+")
"""A fence of any length; no string in quotes has three quotes next to each other."""

KEY: Final = "key"
"""What a column with the keys of the rows is the same as."""
KEY_COLUMN: Final = f"{KEY}: "
"""The beginning of the header of a map of maps: each row begins with its key."""

TIGHT: Final = r"!-@\[-`{-~"
"""ASCII digits and punctuation, before which no blank is written behind a comma or semicolon.

A letter and the blank before it are one token; before a digit or a sign the blank would be another one."""
BLANKS: Final = r" \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""What a reader sees as a blank, in a character class of a regular expression."""
_ESCAPED: Final = re.compile(f"[{HIDDEN}]")
HIDDEN_SIGN: Final = re.compile(rf"[{HIDDEN}](?<![\t\n])(?!(?<=\r)(?:\n|\Z))")
"""A character that no line of a text shows as it is; not the end of a line or of the text."""
_TIGHT: Final = frozenset(re.findall(f"[{TIGHT}\x01]", "".join(map(chr, range(128)))))

_LITERAL_TEXT: Final = (
    r"[tT]rue|TRUE|[fF]alse|FALSE|[nN]ull|NULL|None|[nN]a[nN]|[+-]?[iI]nf(?:inity)?|undefined|\.\.\."
    r"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
)
"""Literals and numbers; more than those of JSON (`None`, `007`), so that no plain string looks like one."""


class PlainTextRule:
    """Decides which strings need no quotes in one kind of place.

    In every place, quotes are needed for the empty string, a literal, `-`, and a string that begins with a sign of the
    notation or a blank, ends with a blank or a colon, or contains a character of HIDDEN or a triple quote. What a
    reader sees as a blank is one.
    """

    _FIRST: Final = rf'(?!-?$|["\[{{&*!$(…{BLANKS}]|(?:{_LITERAL_TEXT})$)'

    def __init__(self, stops: str = "", *, first: str = "", comma: bool = False) -> None:
        """Write the rule of a place; it is compiled at its first use.

        Args:
            stops: Characters that end a string, as in a character class of a regular expression.
            first: Characters that a string may not begin with, besides those of every place.
            comma: Whether a comma before a blank or one of TIGHT ends a string.
        """
        stops = stops.replace(" ", BLANKS)
        rest = rf'[^{HIDDEN}"{stops}{"," if comma else ""}]*+'
        signs = r'"(?!"")' + (rf"|,(?![ {TIGHT}]|$)" if comma else "")
        self._text: Final = rf"{self._FIRST}(?![{first}{BLANKS}]){rest}(?:(?:{signs}){rest})*+(?<![{BLANKS}:])$"

    @functools.cached_property
    def allows(self) -> Callable[[str], object]:
        """Returns something truthy if a string needs no quotes."""
        return re.compile(self._text, re.MULTILINE).fullmatch

    @functools.cached_property
    def _not_allowed(self) -> re.Pattern[str]:
        # A search for a line break is many times faster than one for `^`.
        return re.compile(rf"\n(?!{self._text})", re.MULTILINE)

    def allows_all(self, texts: list[str]) -> bool:
        """Return whether none of `texts` needs quotes; faster than one call for each."""
        lines = "\n".join(["", *texts])
        return lines.count("\n") == len(texts) and self._not_allowed.search(lines) is None


LINE: Final = PlainTextRule()
"""The rest of a line, such as the last cell of a row."""
WORD: Final = PlainTextRule(" ")
"""A cell that a blank ends."""
CELL: Final = PlainTextRule(comma=True)
"""A cell that a comma ends."""
NESTED_LAST: Final = PlainTextRule(r";\[\]{}")
"""The last cell of a row inside brackets."""
NESTED_WORD: Final = PlainTextRule(r" ;\[\]{}")
"""A cell inside brackets that a blank ends."""
NESTED_CELL: Final = PlainTextRule(r";\[\]{}", comma=True)
"""A cell inside brackets that a comma ends."""
INLINE: Final = PlainTextRule(r",;\[\]{}", first=":")
"""A member of an array or a map in one line."""
CONSTANT: Final = PlainTextRule(" )$")
"""The value of a constant in a header."""

_DERIVED: Final = re.compile(r"([^\s$]*)\$\{([^\s{}$]+)\}([^\s$]*)")
_IN_KEY: Final = rf'[^\s"{{}}\[\],;:=?{HIDDEN}]*+'
_PLAIN_KEY: Final = lazy_pattern(rf"(?![()&*!:-]|$){_IN_KEY}(?::(?! |$){_IN_KEY})*+")


def is_plain_key(text: str) -> bool:
    """Return whether a key needs no quotes."""
    return _PLAIN_KEY.fullmatch(text) is not None


@functools.lru_cache(maxsize=4096)
def write_key(key: str) -> str:
    """Return a key as it is written in a pair or a header."""
    return key if is_plain_key(key) else quote(key)


def write_inline_key(key: str) -> str:
    """Return a key as it is written in a map in one line, where a colon would look like the end of the key."""
    return quote(key) if ":" in key else write_key(key)


def write_name(name: str) -> str:
    """Return a name of a table or a column as a line about it says it: as in a map in one line, nothing in it hidden.

    What is not printed, such as U+202E, which turns the line around, or U+2028, which ends it, stands as `\\u202e`.
    """
    if name.isprintable():
        return write_inline_key(name)
    return "".join(sign if sign.isprintable() else encode_basestring_ascii(sign)[1:-1] for sign in quote(name))


def write_derived(derived: Derived) -> str:
    """Return a string with the name of the value that it contains: `${name}`."""
    return f"{derived.before}${{{derived.name}}}{derived.behind}"


def read_derived(text: str) -> Derived | None:
    """Return the string that `write_derived` wrote; None if `text` is no such string."""
    found = _DERIVED.fullmatch(text)
    return None if found is None else Derived(*found.groups())


def fence_of(text: str) -> str:
    """Return what stands above and below a text: more quotes than the text has next to each other, at least three."""
    return '"' * (1 + max(map(len, FENCE.findall(text)), default=len(TEXT_BLOCK) - 1))


def separator_before(text: str, sign: str) -> str:
    """Return `sign`, and a blank unless `text` begins with one of TIGHT."""
    return sign if text[0] in _TIGHT else f"{sign} "


def join_members(texts: Iterable[str], sign: str) -> str:
    """Return `texts` with `sign` between each and the next one."""
    parts: list[str] = []
    for text in texts:
        parts += (separator_before(text, sign), text)
    return "".join(parts[1:])


def quote(text: str) -> str:
    """Return `text` as a JSON string, in raw Unicode but for what is HIDDEN; no view shows that as it is."""
    quoted = encode_basestring(text)
    if quoted.isascii() and quoted.isprintable():
        return quoted
    return _ESCAPED.sub(lambda each: encode_basestring_ascii(each[0])[1:-1], quoted)


def visible(text: str) -> str:
    """Return a text with an escape of JSON for each character that shows nothing or ends a line for some readers."""
    return HIDDEN_SIGN.sub(lambda found: quote(found[0])[1:-1], text)


# The explanation of the notation for a reader who meets it for the first time (see `notation`).

LEGEND: Final = (
    "Notation: [n] columns, n rows, comma ends a cell; - absent; (k=v) all rows; k? where k=v; "
    "&1 marks, *1 repeats a value."
)
"""The whole explanation in one line, for a place that does not know the view."""

_HEADER: Final = re.compile(r"(?:^|(?<= ))[\[{][0-9]+[\]}] (\S.*)|[\[{]:(\S[^\n]{0,200}?): ", re.MULTILINE)
"""The rest of a line behind a count, or the text between `[:` or `{:` and the next colon and blank."""
_IN_HEADERS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("{n} key: columns, each row begins with its key", re.compile("^key: ", re.MULTILINE)),
    ("a comma ends a cell", re.compile(r"\S,(?:[ }\]]|$)", re.MULTILINE)),
    ("k{a b}, k[a b] nested", re.compile(r"[^\s\[{:(=$][\[{](?![/?+])|(?:^|[ {\[])[^ (]+=\{", re.MULTILINE)),
    ("(k=v) in every row", re.compile(r"(?:^|[ {\[])\(\S", re.MULTILINE)),
    ("k==key as the key of the row", re.compile(r"\S==key")),
    ("k? only in rows with k=", re.compile(r"\S\?,?(?:[ }\];]|$)", re.MULTILINE)),
)
"""What is said of each construct of a header, and what a header with it contains."""
_IN_VIEW: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    ("[:columns: row;row] a table", re.compile(r"[\[{]:\S")),
    (
        "in k=${a}/b, ${a} is the value of a",
        re.compile(r"^[^ =\n]+=[^ $\n]*\$\{[^ \n]*$|\([^()\n]*=[^ $\"()\n]*\$\{", re.MULTILINE),
    ),
    ("- absent", re.compile(r"(?:^|[ \[{;,])-(?:$|[ ;,\]}])", re.MULTILINE)),
    ("&1 marks a value, *1 repeats it", re.compile(r"(?:^|[ \[(=;,])&[0-9]{1,10}:? ", re.MULTILINE)),
    ("!json a string that holds this as JSON", re.compile(rf"!json(?:{STYLE_CODE}|{BESIDE}) ")),
    ("!view a text whose tables are written so", re.compile("!view ")),
)
"""The same of the constructs outside headers; a text that looks like one may be explained, too."""


def legend_for(view: str, *, known: Collection[str] = ()) -> str:
    """Return the explanation, in one line, of what a view has that JSON has not; "" if a reader needs none.

    The same view gives the same line, so that it may stand above the view in a prompt that a provider caches.

    Args:
        view: The text of a view.
        known: The `explanations` that the reader has read already.
    """
    parts = [part for part in explanations(view) if part not in known]
    return f"Notation: {'; '.join(parts)}." if parts else ""


def explanations(view: str) -> list[str]:
    """Return the explanation of each construct that a view has and JSON has not, always in the same order."""
    headers = "\n".join([header[1] or header[2] for header in _HEADER.finditer(view)])
    places = (headers, _IN_HEADERS), (view, _IN_VIEW)
    return [text for place, constructs in places for text, pattern in constructs if pattern.search(place)]
