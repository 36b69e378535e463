r"""The lexical grammar of a frame: patterns, and conversions between Python values and words (ACCP section 3.1).

    agent-id    = 1*( ALPHA / DIGIT / "-" / "_" )
    intent      = 1*( ALPHA )
    operation   = 1*( ALPHA / DIGIT / "_" )
    key         = 1*( ALPHA / DIGIT / "_" )
    ref-key     = 1*( ALPHA / DIGIT / "_" / "." )
    string      = 1*( safe-char / escaped-char )
    safe-char   = VCHAR except delimiter
    escaped-char = "\" delimiter
    delimiter   = "@" / ">" / ":" / "{" / "}" / "[" / "]"
                / "|" / "$" / "," / "~" / "\"

Every repetition is possessive, so that no pattern backtracks. Literals are case-sensitive, although RFC 5234 says
otherwise: section 3.1.1 writes "true or false", and `TRUE` must survive as a string.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from itertools import accumulate
from math import inf
from typing import Any, Final

from accp_core.strict_json import strict_decoder

__all__ = [
    "AGENT_ID", "ATOM", "BOOLEANS", "DECIMAL_LITERAL", "DEFAULT_LIMITS", "FORBIDDEN", "GRAPHIC", "HEADER", "HIDDEN",
    "HIDDEN_IN_ASCII", "INTENT", "KEY", "LEADING_ZERO", "LOOKALIKE", "MENTION", "NAME", "NULL_MEMBER", "NUMBER",
    "PAIR", "PLAIN_ID", "PLAIN_KEY", "PLAIN_TEXT", "QUOTED", "REF_KEY", "SPACED_TEXT", "SPLIT_SURROGATES", "UNSIGNED",
    "USUAL_DIGITS", "USUAL_METADATA", "GrammarLimits", "escape", "escape_key", "metadata_start", "quote",
    "read_decimal", "read_json_literal", "read_number", "unescape", "unescape_key", "unquote",
]  # fmt: skip


_SURE_CHARS: Final = 16
"""Characters of a decimal without exponent up to which a float has all its digits, of which there are 15 at most."""
USUAL_DIGITS: Final = 18
"""Digits of the usual numbers of an envelope; there are limits that allow fewer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarLimits:
    """How much one frame may hold; more is refused with E1001 in both directions.

    Raises:
        ValueError: a depth is outside 1..100; the recursion would come near the interpreter's limit.
    """

    frame_bytes: int = 1 << 20
    """Bytes of the frame in UTF-8."""
    digits: int = 1_000
    """Digits of one number."""
    depth: int = 5
    """Levels of nested arrays and maps; an array that is the value of a parameter is at level 1."""
    json_depth: int = 64
    """Levels of nested arrays and objects within one JSON literal."""
    members: int = 10_000
    """Parameters, elements, map entries and metadata fields together; a JSON literal counts as one value."""
    msg_id_chars: int = 64
    """Characters of a msg_id; Table 4 says 12."""

    def __post_init__(self) -> None:
        if not (1 <= self.depth <= 100 and 1 <= self.json_depth <= 100):
            raise ValueError(f"expected depth and json_depth in 1..100, found {self.depth!r} and {self.json_depth!r}")


DEFAULT_LIMITS: Final = GrammarLimits()

_DELIMITER = r"[@>:{}\[\]|$,~\\]"
_SAFE = r"[^@>:{}\[\]|$,~\\]"
# VCHAR of ASCII without the delimiters, as ranges: what is left out would take many times as long to compile.
_PLAIN = r"[!-#%-+\--9;-=?A-Z^-z]"
_PLAIN_START = r"[!#%-+\--9;<?A-Z^-z]"
_KEY = r"(?:[A-Za-z0-9]++|_(?!x))++"
_ID = rf"{_PLAIN}++"
_COUNT = rf"0|[1-9][0-9]{{0,{USUAL_DIGITS - 1}}}+"
_LIKE_NUMBER = r"-?[0-9]++(?:\.[0-9]++)?"
HEADER: Final = re.compile(r"@([A-Za-z0-9_-]++)>([A-Za-z]++):([A-Za-z0-9_]++)\{")
# The metadata of nearly all frames is read by one match, in half of the time; any other is read rule by rule.
USUAL_METADATA: Final = re.compile(
    rf"\[mid:({_ID}),seq:({_COUNT}),ts:({_COUNT})(?:,cid:({_ID}))?(?:,aid:({_ID}))?(?:,sid:({_ID}))?"
    rf"(?:,ttl:({_COUNT}))?(?:,ack:({_COUNT}))?\]\Z"
)

# What stands for itself, whatever the options.
PLAIN_TEXT: Final = re.compile(rf"(?!(?:true|false|null|{_LIKE_NUMBER})\Z){_PLAIN_START}{_PLAIN}*+")
SPACED_TEXT: Final = re.compile(r"[ !#&-+\--9;-=?A-Z^`a-z]++")
PLAIN_KEY: Final = re.compile(_KEY)
PLAIN_ID: Final = re.compile(rf"{_PLAIN}++")

AGENT_ID: Final = re.compile(r"[A-Za-z0-9_-]++")
INTENT: Final = re.compile(r"[A-Za-z]++")
NAME: Final = re.compile(r"[A-Za-z0-9_]++")
KEY: Final = re.compile(r"([A-Za-z0-9_]++):")
REF_KEY: Final = re.compile(r"[A-Za-z0-9_.]++")
ATOM: Final = re.compile(rf"{_SAFE}*+(?:\\{_DELIMITER}{_SAFE}*+)*+")
BOOLEANS: Final = {"true": True, "false": False}

# integer = ["-"] 1*DIGIT, decimal = ["-"] 1*DIGIT "." 1*DIGIT; section 3.1.1 then takes leading zeros out.
NUMBER: Final = re.compile(_LIKE_NUMBER)
LEADING_ZERO: Final = re.compile(r"-?0[0-9]")
UNSIGNED: Final = re.compile(r"0|[1-9][0-9]*+")

# Two forms of our own, which are strings in the draft's grammar: "text_with_%25", =json.
QUOTED: Final = re.compile(rf'"((?:[^"%{_DELIMITER[1:-1]}]++|\\{_DELIMITER}|%[0-9A-F]{{2}})*+)')
DECIMAL_LITERAL: Final = re.compile(r"-?\d++(?:\.\d++(?:[eE][-+]?\d++)?|[eE][-+]?\d++)", re.ASCII)
"""A number of JSON with a point or an exponent."""
# Two code points in a Python string, but one character once JSON has been read.
SPLIT_SURROGATES: Final = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")

# The draft's own examples that its grammar refuses (sections 3.2 and 5.4).
MENTION: Final = re.compile(r"@[A-Za-z0-9_-]++(?::[A-Za-z0-9_]++)?")
PAIR: Final = re.compile(r"(?!(?:true|false|[0-9]++):)([A-Za-z0-9_]++):")
NULL_MEMBER: Final = re.compile(r"null(?=[,}])")

# A plain string that would be read as something else: empty, a quoted form, JSON, boolean, null or number.
LOOKALIKE: Final = re.compile(r'["=]|(?:true|false|null|-?[0-9]++(?:\.[0-9]++)?)?\Z')

# "Frames MUST NOT contain spaces, tabs, or newlines" (3.3); C1 controls and U+00A0 are refused too, and no
# UTF-8 text holds a surrogate.
FORBIDDEN: Final = re.compile(r"[\x00-\x20\x7f-\xa0\ud800-\udfff]")
GRAPHIC: Final = bytes(range(0x21, 0x7F))
"""What else there is in ASCII."""

# White space, format characters, surrogates, private use, noncharacters and the blocks reserved for them. Listed here,
# because str.isprintable depends on the interpreter's Unicode version and canonical bytes must not.
_UNPRINTABLE = (
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u3000\ud800-\uf8ff\ufdd0-\ufdef\ufeff\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe-\U000e00ff"
    r"\U000e01f0-\U0010ffff"
)
HIDDEN: Final = re.compile(rf"[\x00-\x20\x7f-\xa0{_UNPRINTABLE}]++")
HIDDEN_IN_ASCII: Final = re.compile(r"[^!-~]++")

# The closing quote is optional, or every quote of a string without one would be a new place to try.
_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"?')
_JSON_BRACKET = re.compile(r"[\[\]{}]")
_DELIMITERS = "@>:{}[]|$,~\\"
_ESCAPES = str.maketrans({delimiter: f"\\{delimiter}" for delimiter in _DELIMITERS})
# One replacement after the other takes a fifth of the time of `str.translate`, and other threads run between them.
_QUOTED_ESCAPES = (
    ("%", "%25"),
    ("\\", "\\\\"),
    *((delimiter, f"\\{delimiter}") for delimiter in _DELIMITERS if delimiter != "\\"),
    ("_", "%5F"),
    (" ", "_"),
    ('"', "%22"),
)
_ESCAPED = re.compile(rf"\\({_DELIMITER})")
_PERCENT_RUN = re.compile(r"(?:%[0-9A-F]{2})++")
_KEY_OFFENDER = re.compile(r"[^A-Za-z0-9_]|_(?=x)")
_KEY_ESCAPE = re.compile(r"_x([0-9a-f]{1,6})_")


def metadata_start(text: str) -> int:
    """Return where the metadata block of a frame begins, the length of the text where it has none."""
    # Everywhere else a bracket after a brace follows a separator or a backslash.
    return text.find("}[") + 1 or len(text)


def escape(text: str) -> str:
    """Return `text` with a backslash before every delimiter."""
    return text.translate(_ESCAPES)


def unescape(text: str) -> str:
    """Undo `escape`."""
    # In a word of a frame a backslash stands before a delimiter only, which may be another backslash.
    return _ESCAPED.sub(r"\1", text) if "\\\\" in text else text.replace("\\", "")


def quote(text: str, hidden: re.Pattern[str]) -> str:
    r"""Return the quoted form of `text`: `_` for a space, `%HH` for a byte of UTF-8; delimiters are escaped.

    Args:
        text: Any string.
        hidden: HIDDEN or HIDDEN_IN_ASCII: the characters that must be percent-encoded.
    """
    for sign, escaped in _QUOTED_ESCAPES:
        text = text.replace(sign, escaped)
    return f'"{hidden.sub(_percent_encode, text)}"'


def unquote(body: str) -> str:
    """Return the string whose quoted form has `body` between its quotes.

    Raises:
        UnicodeDecodeError: the percent-encoded bytes are not UTF-8 (lone surrogates are accepted).
    """
    text = unescape(body).replace("_", " ")
    return _PERCENT_RUN.sub(_percent_decode, text) if "%" in text else text


def escape_key(key: str) -> str:
    """Return `key` in the alphabet of the ABNF; a key in that alphabet stays as it is, unless it contains `_x`.

    Each other character, and each `_` before an `x`, becomes `_x<hex>_` with its code point in lower case; the empty
    key becomes `_x_`. Different keys have different escapes.
    """
    return _KEY_OFFENDER.sub(lambda offender: f"_x{ord(offender[0]):x}_", key) or "_x_"


def unescape_key(word: str) -> str:
    """Undo `escape_key`.

    Raises:
        ValueError: an escape names no code point.
    """
    return "" if word == "_x_" else _KEY_ESCAPE.sub(lambda found: chr(int(found[1], 16)), word)


def read_number(word: str, decimal_type: type[float] | type[Decimal], limits: GrammarLimits) -> int | float | Decimal:
    """Return the number that `word` spells; one with a point or an exponent is a decimal.

    Raises:
        ValueError: it has too many digits, written without exponent.
    """
    # A short word without exponent cannot be a long number.
    if len(word) > limits.digits or "e" in word or "E" in word:
        _check_digits(word, limits)
    return int(word) if word.isdigit() or word[1:].isdigit() else read_decimal(word, decimal_type)


# "`amount` MUST be serialized as decimal (not string) to avoid precision loss." (section 10.3)
def read_decimal(word: str, decimal_type: type[float] | type[Decimal]) -> float | Decimal:
    """Return a decimal: a Decimal where a float has other digits; beyond float64 an infinite float."""
    number = decimal_type(word)
    is_short = len(word) <= _SURE_CHARS and "e" not in word and "E" not in word
    if is_short or isinstance(number, Decimal) or abs(number) == inf:
        return number
    exact = Decimal(word)
    return number if Decimal(repr(number)) == exact else exact


def read_json_literal(source: str, decimal_type: type[float] | type[Decimal], limits: GrammarLimits) -> Any:
    """Return the value of a JSON text.

    Args:
        source: The text.
        decimal_type: The type of numbers with a point or an exponent.
        limits: Bounds nesting and digits.

    Raises:
        ValueError: it is malformed, repeats a member's name, nests too deep, or has a number that is too long or, as a
            float, beyond float64.
    """
    brackets = _JSON_BRACKET.findall(_JSON_STRING.sub("", source))
    # The depth is checked first, because the decoder is recursive.
    if max(accumulate(1 if bracket in "[{" else -1 for bracket in brackets), default=0) > limits.json_depth:
        raise ValueError(f"expected a JSON literal that nests at most {limits.json_depth} deep")
    decode = strict_decoder(
        read_int=partial(read_number, decimal_type=decimal_type, limits=limits),
        read_float=partial(_read_finite, decimal_type=decimal_type, limits=limits),
    )
    return decode(source)


def _check_digits(word: str, limits: GrammarLimits) -> None:
    mantissa, _, exponent = word.lower().partition("e")
    digits = len(mantissa) - mantissa.count("-") - mantissa.count(".")
    if max(digits, abs(int(exponent or 0))) > limits.digits:
        raise ValueError(f"expected a number of at most {limits.digits} digits")


def _read_finite(word: str, decimal_type: type[float] | type[Decimal], limits: GrammarLimits) -> int | float | Decimal:
    number = read_number(word, decimal_type, limits)
    # A Decimal has no such bound; with many places it is written as a JSON literal.
    if abs(number) == inf:
        raise ValueError("expected a number within float64")
    return number


def _percent_encode(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))


def _percent_decode(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "surrogatepass")
