"""From the text of a frame to a Frame, whole or not at all (ACCP sections 3.1, 3.5 and 9, item 2).

Functions have one shape: they take the text and the position where their rule begins, and return the position
after it together with the value. Positions count characters from 0.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import inf
from typing import Any, Final, TypeAlias

from accp_core.accp import grammar
from accp_core.accp.frame import REMOVED, Envelope, Frame, LiteralKey, Ref, Value
from accp_core.accp.grammar import DEFAULT_LIMITS, GrammarLimits
from accp_core.accp.vocabulary import FIELD_NAMES, INTEGER_FIELDS, Intent, is_delta
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError

__all__ = ["parse_frame"]


@dataclass(slots=True)
class Reading:
    """The options of one call and what it has seen so far."""

    errata: bool
    compat: bool
    decimal_type: type[float] | type[Decimal]
    limits: GrammarLimits
    header: tuple[str, str] = ("", "")
    """Intent and operation, by which a parameter may be a delta."""
    members: int = 0
    """Those counted so far."""


def parse_frame(
    text: str,
    *,
    strict: bool = False,
    compat: bool = False,
    decimal_type: type[float] | type[Decimal] = float,
    limits: GrammarLimits = DEFAULT_LIMITS,
) -> Frame:
    """Return the frame that `text`, one line without its line end, says (ACCP section 3.1).

    Four forms that the draft's own examples use and its grammar lacks are read unless `strict`: `@agent` and
    `@agent:operation` as a value, `key:value` as an array element, bare `null` as a member of a `sync:state`
    delta, and, only with `compat`, `$42.30` as a string. Decimals become `decimal_type`.

    Raises: DecodeError with the first position that cannot be read: E1001 for the grammar and the limits,
        E1002 for an unknown intent, E1004 for a sequence, timestamp or ttl that is no whole number and for a
        decimal beyond float64.
    """
    reading = Reading(not strict, compat and not strict, decimal_type, limits)
    check_characters(text, limits)
    position, (sender, intent, operation) = parse_header(text)
    reading.header = intent, operation
    position, params = parse_pairs(text, position, "|", "}", parse_param, reading)
    position, fields = parse_metadata(text, position, reading)
    if position != len(text):
        raise refusal(text, position, "nothing may follow the frame")
    return Frame(
        sender=sender,
        intent=read_intent(text, len(sender) + 2, intent),
        operation=operation,
        params=params,
        envelope=read_envelope(text, fields, reading),
    )


def refusal(text: str, position: int, reason: str, code: ErrorCode = ErrorCode.PARSE_ERROR) -> DecodeError:
    """Return the exception that refuses `text` at `position`."""
    return DecodeError(reason, code=code, text=text, position=position)


def check_characters(text: str, limits: GrammarLimits) -> None:
    """Refuse a text that is too long or holds what no frame holds."""
    # A character is at least one byte, so a long text is refused before it is encoded.
    if len(text) > limits.frame_bytes or len(text.encode("utf-8", "surrogatepass")) > limits.frame_bytes:
        raise refusal(text, 0, f"a frame has at most {limits.frame_bytes} bytes")
    if found := grammar.FORBIDDEN.search(text):
        raise refusal(text, found.start(), "white space, controls and surrogates cannot stand in a frame")


def parse_word(text: str, position: int, pattern: re.Pattern[str], name: str) -> tuple[int, str]:
    """Read one word of the alphabet that `pattern` names."""
    found = pattern.match(text, position)
    if not found:
        raise refusal(text, position, f"expected {name}")
    return found.end(), found[0]


def parse_mark(text: str, position: int, mark: str) -> int:
    """Return the position after `mark`."""
    if text.startswith(mark, position):
        return position + 1
    raise refusal(text, position, f"expected {mark!r}")


# header = "@" agent-id ">" intent
# body   = ":" operation "{" [payload] "}"
def parse_header(text: str) -> tuple[int, tuple[str, str, str]]:
    """Read sender, intent and operation, up to and with the opening brace."""
    position = parse_mark(text, 0, "@")
    position, sender = parse_word(text, position, grammar.AGENT_ID, "an agent-id")
    position = parse_mark(text, position, ">")
    position, intent = parse_word(text, position, grammar.INTENT, "an intent")
    position = parse_mark(text, position, ":")
    position, operation = parse_word(text, position, grammar.NAME, "an operation")
    return parse_mark(text, position, "{"), (sender, intent, operation)


def read_intent(text: str, position: int, code: str) -> Intent:
    """Return the intent of that code; only after the grammar, which is the first thing to refuse a frame."""
    try:
        return Intent(code)
    except ValueError:
        raise refusal(text, position, "unknown intent", ErrorCode.INVALID_INTENT) from None


def parse_separator(text: str, position: int, separator: str, close: str) -> tuple[int, bool]:
    """Read a separator, after which another member must follow (True), or the closing bracket (False)."""
    mark = text[position : position + 1]
    if mark == separator:
        return position + 1, True
    if mark == close:
        return position + 1, False
    raise refusal(text, position, f"expected {separator!r} or {close!r}")


def count_member(text: str, position: int, reading: Reading) -> None:
    """Refuse the member that is one too many for the frame."""
    reading.members += 1
    if reading.members > reading.limits.members:
        raise refusal(text, position, f"a frame has at most {reading.limits.members} members")


PairParser: TypeAlias = Callable[[str, int, Reading], tuple[int, tuple[str, Any]]]


# payload    = param *( "|" param )
# map        = "{" [ key ":" value *( "," key ":" value ) ] "}"
# meta-pairs = param *( "," param )
def parse_pairs(
    text: str, position: int, separator: str, close: str, parse_pair: PairParser, reading: Reading
) -> tuple[int, dict[str, Any]]:
    """Read pairs up to and with `close`; no key may stand twice, however it is spelled."""
    pairs: dict[str, Any] = {}
    if text.startswith(close, position):
        return position + 1, pairs
    more = True
    while more:
        count_member(text, position, reading)
        end, (key, value) = parse_pair(text, position, reading)
        if key in pairs:
            raise refusal(text, position, "duplicate key")
        pairs[key] = value
        position, more = parse_separator(text, end, separator, close)
    return position, pairs


# param = key ":" value
def parse_param(text: str, position: int, reading: Reading) -> tuple[int, tuple[str, Value]]:
    """Read a parameter; the one that is a delta has a null of its own."""
    position, key = parse_key(text, position, LiteralKey)
    if is_delta(*reading.header, key) and text.startswith("{", position):
        position, delta = parse_map(text, position, 1, reading, parse_delta_member)
        return position, (key, delta)
    position, value = parse_value(text, position, 1, reading)
    return position, (key, value)


def parse_key(text: str, position: int, literal: type[str]) -> tuple[int, str]:
    """Read a key and its colon; one that was escaped without need becomes a `literal`."""
    found = grammar.KEY.match(text, position)
    if not found:
        end, _ = parse_word(text, position, grammar.NAME, "a key")
        raise refusal(text, end, "expected ':'")
    word = found[1]
    if "_x" not in word:
        return found.end(), word
    try:
        key = grammar.unescape_key(word)
    except ValueError:
        raise refusal(text, position, "no such code point in the key") from None
    return found.end(), literal(key) if key != word and grammar.escape_key(key) == key else key


# value = typed-literal / array / map / ref / null
def parse_value(text: str, position: int, level: int, reading: Reading) -> tuple[int, Value]:
    """Read any value; an array or map among them stands at `level`, of which the first is 1."""
    return VALUE_PARSERS.get(text[position : position + 1], parse_atom)(text, position, level, reading)


# null = "~"
def parse_null(text: str, position: int, level: int, reading: Reading) -> tuple[int, None]:
    """Read null."""
    return position + 1, None


# "removed_key:null" (section 5.4): against the grammar, the draft removes a key with the word.
def parse_delta_member(text: str, position: int, level: int, reading: Reading) -> tuple[int, Value]:
    """Read a direct member of a delta, where null means that the key is gone."""
    if text.startswith("~", position):
        return position + 1, REMOVED
    if reading.errata and (found := grammar.NULL_MEMBER.match(text, position)):
        return found.end(), REMOVED
    return parse_value(text, position, level, reading)


# ref = "$" ref-key
def parse_ref(text: str, position: int, level: int, reading: Reading) -> tuple[int, Ref | str]:
    """Read a reference; with `compat` an amount such as `$42.30` (section 3.2) is a string."""
    end, key = parse_word(text, position + 1, grammar.REF_KEY, "a ref-key")
    if reading.compat and grammar.NUMBER.fullmatch(key) and not grammar.LEADING_ZERO.match(key):
        return end, f"${key}"
    return end, Ref(key)


# "nx:@strategy:plan", "who:@dev_team" (section 3.2): against the grammar, a value may name an agent.
def parse_mention(text: str, position: int, level: int, reading: Reading) -> tuple[int, str]:
    """Read the name of an agent, and of an operation of it, as a string."""
    found = grammar.MENTION.match(text, position)
    if not (reading.errata and found):
        raise refusal(text, position, "a string cannot begin with an unescaped '@'")
    return found.end(), found[0]


def check_level(text: str, position: int, level: int, reading: Reading) -> None:
    """Refuse the array or map that stands too deep."""
    if level > reading.limits.depth:
        raise refusal(text, position, f"arrays and maps nest at most {reading.limits.depth} deep")


# array = "[" [ value *( "," value ) ] "]"
def parse_array(text: str, position: int, level: int, reading: Reading) -> tuple[int, list[Value]]:
    """Read an array, its brackets included."""
    check_level(text, position, level, reading)
    items: list[Value] = []
    if text.startswith("]", position + 1):
        return position + 2, items
    position, more = position + 1, True
    while more:
        count_member(text, position, reading)
        position, item = parse_element(text, position, level + 1, reading)
        items.append(item)
        position, more = parse_separator(text, position, ",", "]")
    return position, items


# "f:[rev:-12%QoQ,ent_seg:decline]" (section 3.2): against the grammar, an element may be a pair.
def parse_element(text: str, position: int, level: int, reading: Reading) -> tuple[int, Value]:
    """Read an element of an array; a pair is a map of one entry, and as deep as one."""
    if not (reading.errata and grammar.PAIR.match(text, position)):
        return parse_value(text, position, level, reading)
    check_level(text, position, level, reading)
    count_member(text, position, reading)
    position, key = parse_key(text, position, str)
    position, value = parse_value(text, position, level + 1, reading)
    return position, {key: value}


ValueParser: TypeAlias = Callable[[str, int, int, Reading], tuple[int, Value]]


def parse_map(
    text: str, position: int, level: int, reading: Reading, parse_member: ValueParser = parse_value
) -> tuple[int, dict[str, Value]]:
    """Read a map, its braces included."""

    def parse_entry(text: str, position: int, reading: Reading) -> tuple[int, tuple[str, Value]]:
        position, key = parse_key(text, position, str)
        position, value = parse_member(text, position, level + 1, reading)
        return position, (key, value)

    check_level(text, position, level, reading)
    return parse_pairs(text, position + 1, ",", "}", parse_entry, reading)


# typed-literal = boolean / integer / decimal / string
def parse_atom(text: str, position: int, level: int, reading: Reading) -> tuple[int, Value]:
    """Read up to the next unescaped delimiter, and type what was read (section 3.1.1)."""
    end, word = parse_text(text, position)
    first = word[0]
    if first == '"':
        return parse_quoted(text, position)
    if first == "=":
        return parse_json(text, position, reading)
    if "\\" in word:
        # What needed an escape is a string, whatever it looks like without it.
        return end, grammar.unescape(word)
    if first in "-0123456789" and grammar.NUMBER.fullmatch(word):
        return end, read_number(text, position, word, reading)
    return end, grammar.BOOLEANS.get(word, word)


# string = 1*( safe-char / escaped-char )
def parse_text(text: str, position: int) -> tuple[int, str]:
    """Read a string with its escapes; a backslash before anything but a delimiter cannot be part of it."""
    found = grammar.ATOM.match(text, position)
    if not (found and found[0]):
        raise refusal(text, position, "expected a value")
    return found.end(), found[0]


def parse_quoted(text: str, position: int) -> tuple[int, str]:
    """Read a quoted form, our spelling of the strings that the grammar cannot write (section 3.3, item 1)."""
    end, word = parse_word(text, position, grammar.QUOTED, "a quoted form")
    try:
        return parse_mark(text, end, '"'), grammar.unquote(word[1:])
    except UnicodeDecodeError:
        raise refusal(text, position, "the percent-encoded bytes are not UTF-8") from None


# "Integer: Decimal, no leading zeros" (section 3.1.1)
def read_number(text: str, position: int, word: str, reading: Reading) -> int | float | Decimal:
    """Return the number that `word` is."""
    if grammar.LEADING_ZERO.match(word):
        raise refusal(text, position, "a number has no leading zeros")
    try:
        number = grammar.read_number(word, reading.decimal_type, reading.limits)
    except ValueError as error:
        raise refusal(text, position, str(error)) from None
    if abs(number) == inf:
        raise refusal(text, position, "the decimal is beyond float64", ErrorCode.INVALID_TYPE)
    return number


def parse_json(text: str, position: int, reading: Reading) -> tuple[int, Any]:
    """Read a JSON literal, our spelling of long decimals, deep arrays and maps, and null in a delta."""
    end, word = parse_text(text, position)
    try:
        return end, grammar.read_json(grammar.unescape(word[1:]), reading.decimal_type, reading.limits)
    except (ValueError, RecursionError):
        raise refusal(text, position, "malformed JSON literal") from None


Fields: TypeAlias = dict[str, tuple[int, str]]


# metadata = "[" meta-pairs "]"
def parse_metadata(text: str, position: int, reading: Reading) -> tuple[int, Fields]:
    """Read the metadata block, where there is one, as field name to position and text of the value."""
    if not text.startswith("[", position):
        return position, {}
    if text.startswith("]", position + 1):
        raise refusal(text, position + 1, "a metadata block has at least one field")
    return parse_pairs(text, position + 1, ",", "]", parse_field, reading)


def parse_field(text: str, position: int, reading: Reading) -> tuple[int, tuple[str, tuple[int, str]]]:
    """Read one field, in either spelling; its value is always plain text."""
    start, key = parse_key(text, position, str)
    end, word = parse_text(text, start)
    return end, (FIELD_NAMES.get(key, key), (start, grammar.unescape(word)))


def read_envelope(text: str, fields: Fields, reading: Reading) -> Envelope:
    """Return the envelope; a field's type goes by its name and never by how its value looks (Table 4)."""
    known: dict[str, Any] = {}
    extra: dict[str, str] = {}
    for name, (position, word) in fields.items():
        if name in INTEGER_FIELDS:
            known[name] = read_unsigned(text, position, word, reading)
        elif name in FIELD_NAMES:
            known[name] = word
        else:
            extra[name] = word
    if len(known.get("msg_id", "")) > reading.limits.msg_id_chars:
        raise refusal(text, fields["msg_id"][0], f"a msg_id has at most {reading.limits.msg_id_chars} characters")
    return Envelope(extra=extra, **known)


def read_unsigned(text: str, position: int, word: str, reading: Reading) -> int | float | Decimal:
    """Return a sequence, timestamp or ttl."""
    if not grammar.UNSIGNED.fullmatch(word):
        raise refusal(text, position, "expected a whole number without leading zeros", ErrorCode.INVALID_TYPE)
    return read_number(text, position, word, reading)


VALUE_PARSERS: Final[dict[str, ValueParser]] = {
    "~": parse_null,
    "$": parse_ref,
    "@": parse_mention,
    "[": parse_array,
    "{": parse_map,
}
