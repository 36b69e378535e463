"""Parses the text of a frame, whole or not at all, or its metadata alone (ACCP sections 3.1, 3.5 and 9, item 2).

The functions have one shape: they take the text and the position at which their rule starts, and return the position
after it together with the value. Positions count characters from 0.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from json import JSONDecodeError
from math import inf
from typing import Any, Final, TypeAlias

from accp_core.accp import frame, grammar
from accp_core.accp.grammar import DEFAULT_LIMITS, HIDDEN, GrammarLimits, metadata_start
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError

__all__ = [
    "ParseState", "check_characters", "check_level", "count_member", "frame_envelope", "frame_head", "parse_frame",
    "refusal",
]  # fmt: skip

_SLICE: Final = 32_768
"""Characters that a pattern reads at once: it holds the interpreter, so that no other thread runs meanwhile."""

# What the functions of the parser share: the options of one call, its counters, and how a text is refused.


@dataclass(slots=True)
class ParseState:
    """The options of one call, and its counters."""

    errata: bool
    compat: bool
    decimal_type: type[float] | type[Decimal]
    limits: GrammarLimits
    hidden: re.Pattern[str]
    """The characters that no id may have."""
    header: tuple[str, str] = ("", "")
    """Intent and operation, which decide whether a parameter is a delta."""
    members: int = 0
    """Number of members read so far."""


def refusal(text: str, position: int, reason: str, code: ErrorCode = ErrorCode.PARSE_ERROR) -> DecodeError:
    """Return the exception that refuses `text` at `position`."""
    return DecodeError(reason, code=code, text=text, position=position)


def count_member(text: str, position: int, state: ParseState) -> None:
    """Count a member; refuse one over the limit."""
    state.members += 1
    if state.members > state.limits.members:
        raise refusal(text, position, f"expected at most {state.limits.members} members in a frame")


def check_level(text: str, position: int, level: int, state: ParseState) -> None:
    """Refuse an array or map that is nested too deep."""
    if level > state.limits.depth:
        raise refusal(text, position, f"expected arrays and maps that nest at most {state.limits.depth} deep")


def check_characters(text: str, limits: GrammarLimits) -> None:
    """Refuse a text that is too long or contains forbidden characters."""
    # A character has one to four bytes: most texts need not be encoded to know that they are short, or too long.
    is_short, is_long = 4 * len(text) <= limits.frame_bytes, len(text) > limits.frame_bytes
    if not is_short and (is_long or len(text.encode("utf-8", "surrogatepass")) > limits.frame_bytes):
        raise refusal(text, 0, f"expected a frame of at most {limits.frame_bytes} bytes")
    if text.isascii() and not text.encode().translate(None, grammar.GRAPHIC):
        return
    if match := grammar.FORBIDDEN.search(text):
        raise refusal(text, match.start(), "expected no white space, control characters or surrogates in a frame")


def parse_frame(
    text: str,
    *,
    strict: bool = False,
    compat: bool = False,
    decimal_type: type[float] | type[Decimal] = float,
    limits: GrammarLimits = DEFAULT_LIMITS,
    ascii_ids: bool = False,
) -> frame.Frame:
    """Return the frame that `text` spells (ACCP section 3.1).

    Four forms of the draft's own examples, which its grammar lacks, are accepted unless `strict`: `@agent` and
    `@agent:operation` as a value, `key:value` as an array element, `null` as a member of a `sync:state` delta, and,
    only with `compat`, `$42.30` as a string.

    Args:
        text: One line without its line end.
        strict: Whether only the draft's grammar is accepted, whose strings may be raw UTF-8.
        compat: Whether an amount such as `$42.30` is a string.
        decimal_type: The type of decimals. With float, one whose digits a float does not hold is a Decimal.
        limits: How much a frame may hold.
        ascii_ids: Whether ids have to be in ASCII, because the answers are.

    Raises:
        DecodeError: with the first position that cannot be read. E1001, the grammar or a limit; E1002, the intent is
            unknown; E1004, a sequence, timestamp or ttl is not a whole number, or a decimal is beyond float64.
    """
    hidden = grammar.HIDDEN_IN_ASCII if ascii_ids else grammar.HIDDEN
    state = ParseState(not strict, compat and not strict, decimal_type, limits, hidden)
    check_characters(text, limits)
    position, (sender, intent, operation) = parse_header(text)
    state.header = intent, operation
    position, params = parse_pairs(text, position, "|", "}", parse_param, state)
    envelope = frame.Envelope() if position == len(text) else read_usual_envelope(text, position, state)
    if envelope is None:
        position, fields = parse_metadata(text, position, state)
        if position != len(text):
            raise refusal(text, position, "expected the end of the frame")
    known = read_intent(text, len(sender) + 2, intent)
    if envelope is None:
        envelope = read_envelope(text, fields, state)
    return frame.Frame(sender=sender, intent=known, operation=operation, params=params, envelope=envelope)


def parse_word(text: str, position: int, pattern: re.Pattern[str], name: str) -> tuple[int, str]:
    """Read one word that matches `pattern`."""
    match = pattern.match(text, position)
    if not match:
        raise refusal(text, position, f"expected {name}")
    return match.end(), match[0]


def skip_delimiter(text: str, position: int, delimiter: str) -> int:
    """Return the position after `delimiter`."""
    if text.startswith(delimiter, position):
        return position + 1
    raise refusal(text, position, f"expected {delimiter!r}")


# header = "@" agent-id ">" intent
# body   = ":" operation "{" [payload] "}"
def parse_header(text: str) -> tuple[int, tuple[str, str, str]]:
    """Read sender, intent and operation, up to and including the opening brace."""
    if match := grammar.HEADER.match(text):
        return match.end(), (match[1], match[2], match[3])
    position = skip_delimiter(text, 0, "@")
    position, sender = parse_word(text, position, grammar.AGENT_ID, "an agent-id")
    position = skip_delimiter(text, position, ">")
    position, intent = parse_word(text, position, grammar.INTENT, "an intent")
    position = skip_delimiter(text, position, ":")
    position, operation = parse_word(text, position, grammar.NAME, "an operation")
    return skip_delimiter(text, position, "{"), (sender, intent, operation)


def read_intent(text: str, position: int, code: str) -> frame.Intent:
    """Return the intent with that code; called after parsing, because errors of the grammar come first."""
    known = frame.INTENTS.get(code)
    if known is None:
        raise refusal(text, position, "expected a known intent", ErrorCode.INVALID_INTENT)
    return known


PairParser: TypeAlias = Callable[[str, int, ParseState], tuple[int, tuple[str, Any]]]


# payload    = param *( "|" param )
# map        = "{" [ key ":" value *( "," key ":" value ) ] "}"
# meta-pairs = param *( "," param )
def parse_pairs(
    text: str, position: int, separator: str, close: str, parse_pair: PairParser, state: ParseState
) -> tuple[int, dict[str, Any]]:
    """Read pairs up to and including `close`; each key may occur once, in any spelling."""
    pairs: dict[str, Any] = {}
    if text.startswith(close, position):
        return position + 1, pairs
    delimiter = separator
    while delimiter == separator:
        count_member(text, position, state)
        end, (key, value) = parse_pair(text, position, state)
        if key in pairs:
            raise refusal(text, position, "expected each key once, found a duplicate key")
        pairs[key] = value
        delimiter, position = text[end : end + 1], end + 1
    if delimiter != close:
        raise refusal(text, end, f"expected {separator!r} or {close!r}")
    return position, pairs


# param = key ":" value
def parse_param(text: str, position: int, state: ParseState) -> tuple[int, tuple[str, frame.Value]]:
    """Read a parameter; in a delta, null is read as REMOVED."""
    position, key = parse_key(text, position, frame.LiteralKey)
    if key == "delta" and frame.is_delta(*state.header, key) and text.startswith("{", position):
        position, delta = parse_map(text, position, 1, state, parse_delta_member)
        return position, (key, delta)
    position, value = parse_value(text, position, 1, state)
    return position, (key, value)


def parse_key(text: str, position: int, literal: type[str]) -> tuple[int, str]:
    """Read a key and its colon; a key that was escaped without need becomes a `literal`."""
    match = grammar.KEY.match(text, position)
    if not match:
        end, _ = parse_word(text, position, grammar.NAME, "a key")
        raise refusal(text, end, "expected ':'")
    word = match[1]
    if "_x" not in word:
        return match.end(), word
    try:
        key = grammar.unescape_key(word)
    except ValueError:
        raise refusal(text, position, "expected the escape of a code point in the key") from None
    return match.end(), literal(key) if key != word and grammar.escape_key(key) == key else key


# value = typed-literal / array / map / ref / null
def parse_value(text: str, position: int, level: int, state: ParseState) -> tuple[int, frame.Value]:
    """Read any value; an array or map is at nesting level `level`, which starts with 1."""
    return VALUE_PARSERS.get(text[position : position + 1], parse_atom)(text, position, level, state)


# null = "~"
def parse_null(text: str, position: int, level: int, state: ParseState) -> tuple[int, None]:
    """Read null."""
    return position + 1, None


# "removed_key:null" (section 5.4): against the grammar, the draft removes a key with the word.
def parse_delta_member(text: str, position: int, level: int, state: ParseState) -> tuple[int, frame.Value]:
    """Read a direct member of a delta, in which null removes the key."""
    if text.startswith("~", position):
        return position + 1, frame.REMOVED
    if state.errata and (match := grammar.NULL_MEMBER.match(text, position)):
        return match.end(), frame.REMOVED
    return parse_value(text, position, level, state)


# ref = "$" ref-key
def parse_ref(text: str, position: int, level: int, state: ParseState) -> tuple[int, frame.Ref | str]:
    """Read a reference; with `compat` an amount such as `$42.30` (section 3.2) is a string."""
    end, key = parse_word(text, position + 1, grammar.REF_KEY, "a ref-key")
    if state.compat and grammar.NUMBER.fullmatch(key) and not grammar.LEADING_ZERO.match(key):
        return end, f"${key}"
    return end, frame.Ref(key)


# "nx:@strategy:plan", "who:@dev_team" (section 3.2): against the grammar, a value may name an agent.
def parse_mention(text: str, position: int, level: int, state: ParseState) -> tuple[int, str]:
    """Read the name of an agent, with or without an operation, as a string."""
    match = grammar.MENTION.match(text, position)
    if not (state.errata and match):
        raise refusal(text, position, "expected a value, found an unescaped '@'")
    return match.end(), match[0]


# array = "[" [ value *( "," value ) ] "]"
def parse_array(text: str, position: int, level: int, state: ParseState) -> tuple[int, list[frame.Value]]:
    """Read an array with its brackets."""
    check_level(text, position, level, state)
    items: list[frame.Value] = []
    if text.startswith("]", position + 1):
        return position + 2, items
    delimiter, position = ",", position + 1
    while delimiter == ",":
        count_member(text, position, state)
        end, item = parse_element(text, position, level + 1, state)
        items.append(item)
        delimiter, position = text[end : end + 1], end + 1
    if delimiter != "]":
        raise refusal(text, end, "expected ',' or ']'")
    return position, items


# "f:[rev:-12%QoQ,ent_seg:decline]" (section 3.2): against the grammar, an element may be a pair.
def parse_element(text: str, position: int, level: int, state: ParseState) -> tuple[int, frame.Value]:
    """Read an element of an array; a pair counts as a map of one entry."""
    parse = VALUE_PARSERS.get(text[position : position + 1])
    if parse is not None or not (state.errata and grammar.PAIR.match(text, position)):
        return (parse or parse_atom)(text, position, level, state)
    check_level(text, position, level, state)
    count_member(text, position, state)
    position, key = parse_key(text, position, str)
    position, value = parse_value(text, position, level + 1, state)
    return position, {key: value}


ValueParser: TypeAlias = Callable[[str, int, int, ParseState], tuple[int, frame.Value]]


def parse_map(
    text: str, position: int, level: int, state: ParseState, parse_member: ValueParser | None = None
) -> tuple[int, dict[str, frame.Value]]:
    """Read a map with its braces; `parse_member` reads the values of one whose values are special."""
    check_level(text, position, level, state)
    parse = parse_member or parse_value

    def parse_entry(text: str, position: int, state: ParseState) -> tuple[int, tuple[str, frame.Value]]:
        position, key = parse_key(text, position, str)
        position, value = parse(text, position, level + 1, state)
        return position, (key, value)

    return parse_pairs(text, position + 1, ",", "}", parse_entry, state)


# typed-literal = boolean / integer / decimal / string
def parse_atom(text: str, position: int, level: int, state: ParseState) -> tuple[int, frame.Value]:
    """Read up to the next unescaped delimiter, and return the typed value (section 3.1.1)."""
    end, word = parse_text(text, position)
    first = word[0]
    # "string = 1*( safe-char / escaped-char )": one that begins like a form of ours and is none is a string.
    if (
        first in '="'
        and (own := (parse_quoted if first == '"' else parse_json)(text, position, word, state)) is not None
    ):
        return end, own[0]
    if "\\" in word:
        # A word with an escape is a string, whatever it looks like without it.
        return end, grammar.unescape(word)
    if first in "-0123456789" and grammar.NUMBER.fullmatch(word):
        return end, read_number(text, position, word, state)
    return end, grammar.BOOLEANS.get(word, word)


# string = 1*( safe-char / escaped-char )
def parse_text(text: str, position: int) -> tuple[int, str]:
    """Read a string with its escapes; a backslash must stand before a delimiter."""
    end, is_long = position, True
    while is_long:
        start, match = end, grammar.ATOM.match(text, end, end + _SLICE)
        end = match.end() if match else end
        is_long = end - start >= _SLICE - 1  # an escape may begin with the last character
    if end == position:
        raise refusal(text, position, "expected a value")
    return end, text[position:end]


def parse_quoted(text: str, position: int, word: str, state: ParseState) -> tuple[str] | None:
    """Read a quoted form, our spelling of strings that the grammar lacks (section 3.3, item 1); None: it is none."""
    match = grammar.QUOTED.fullmatch(word[:-1]) if word.endswith('"') and len(word) > 1 else None
    if match is None:
        return None
    try:
        return (grammar.unquote(match[1]),)
    except UnicodeDecodeError:
        return None


# "Integer: Decimal, no leading zeros" (section 3.1.1)
def read_number(text: str, position: int, word: str, state: ParseState) -> int | float | Decimal:
    """Return the number that `word` spells."""
    if grammar.LEADING_ZERO.match(word):
        raise refusal(text, position, "expected a number without leading zeros")
    try:
        number = grammar.read_number(word, state.decimal_type, state.limits)
    except ValueError as error:
        raise refusal(text, position, str(error)) from None
    if abs(number) == inf:
        raise refusal(text, position, "expected a decimal within float64", ErrorCode.INVALID_TYPE)
    return number


def parse_json(text: str, position: int, word: str, state: ParseState) -> tuple[Any] | None:
    """Read a JSON literal, our spelling of long decimals, deep arrays and maps, and null in a delta; None: it is none.

    We never write a text, a boolean or an integer so.
    """
    literal = grammar.unescape(word[1:])
    if not literal.startswith(("[", "{", "null")) and not grammar.DECIMAL_LITERAL.fullmatch(literal):
        return None
    try:
        return (grammar.read_json_literal(literal, state.decimal_type, state.limits),)
    except JSONDecodeError:
        return None
    except (ValueError, RecursionError):  # it is one of ours, and over a limit
        raise refusal(text, position, "expected a JSON literal within the limits") from None


def read_usual_envelope(text: str, position: int, state: ParseState) -> frame.Envelope | None:
    """Return the envelope of a metadata block as we write it, in ASCII; None for any other one."""
    match, limits = grammar.USUAL_METADATA.match(text, position), state.limits
    if match is None or limits.digits < grammar.USUAL_DIGITS:
        return None
    mid, seq, ts, cid, aid, sid, ttl, ack = match.groups()
    if len(mid) > limits.msg_id_chars or state.members + match.re.groups > limits.members:
        return None
    return frame.Envelope(
        msg_id=mid,
        sequence=int(seq),
        timestamp=int(ts),
        correlation_id=cid,
        causation_id=aid,
        session_id=sid,
        ttl=None if ttl is None else int(ttl),
        extra={} if ack is None else {frame.ACKNOWLEDGED: ack},
    )


Fields: TypeAlias = dict[str, tuple[int, str]]


# metadata = "[" meta-pairs "]"
def parse_metadata(text: str, position: int, state: ParseState) -> tuple[int, Fields]:
    """Read the metadata block, if there is one: field name to the position and the text of its value."""
    if not text.startswith("[", position):
        return position, {}
    if text.startswith("]", position + 1):
        raise refusal(text, position + 1, "expected a field in the metadata block")
    return parse_pairs(text, position + 1, ",", "]", parse_field, state)


def parse_field(text: str, position: int, state: ParseState) -> tuple[int, tuple[str, tuple[int, str]]]:
    """Read one field, in its long or short spelling; the value is plain text."""
    start, key = parse_key(text, position, str)
    end, word = parse_text(text, start)
    return end, (frame.FIELD_NAMES.get(key, key), (start, grammar.unescape(word)))


def read_envelope(text: str, fields: Fields, state: ParseState) -> frame.Envelope:
    """Return the envelope; the name of a field decides its type (Table 4)."""
    known: dict[str, Any] = {}
    extra: dict[str, str] = {}
    for name, (position, word) in fields.items():
        if name in frame.INTEGER_FIELDS:
            known[name] = read_unsigned(text, position, word, state)
        elif name in frame.FIELD_NAMES:
            known[name] = word
        else:
            extra[name] = word
    for name in known.keys() & frame.ID_FIELDS:
        # An id that cannot be written again could never be answered.
        if hidden := state.hidden.search(known[name]):
            position = fields[name][0] + hidden.start()
            raise refusal(text, position, f"expected printable characters in {name}, found {hidden[0]!r}")
    if len(known.get("msg_id", "")) > state.limits.msg_id_chars:
        raise refusal(text, fields["msg_id"][0], f"expected a msg_id of at most {state.limits.msg_id_chars} characters")
    return frame.Envelope(extra=extra, **known)


def read_unsigned(text: str, position: int, word: str, state: ParseState) -> int | float | Decimal:
    """Return a sequence, timestamp or ttl."""
    if not grammar.UNSIGNED.fullmatch(word):
        raise refusal(text, position, "expected a whole number without leading zeros", ErrorCode.INVALID_TYPE)
    return read_number(text, position, word, state)


VALUE_PARSERS: Final[dict[str, ValueParser]] = {
    "~": parse_null,
    "$": parse_ref,
    "@": parse_mention,
    "[": parse_array,
    "{": parse_map,
}


# Sender and metadata of a frame, for those who only route, store or count it (ACCP section 3.5).


def frame_head(text: str, *, limits: GrammarLimits = DEFAULT_LIMITS) -> frame.Frame:
    """Return a frame without its parameters, which are not read: they may be malformed.

    Args:
        text: One line without its line end.
        limits: How much a frame may hold.

    Raises:
        DecodeError: with the first position that cannot be read: E1001, E1002 and E1004 as `parse_frame`, for the
            header and the metadata.
    """
    sender, intent, operation, envelope = _read(text, limits)
    known = read_intent(text, len(sender) + 2, intent)
    return frame.Frame(sender=sender, intent=known, operation=operation, envelope=envelope)


def frame_envelope(text: str, *, limits: GrammarLimits = DEFAULT_LIMITS) -> tuple[str, frame.Envelope]:
    """Return sender and metadata of a frame, whatever its intent and its parameters are.

    Raises:
        DecodeError: as `frame_head`, but not E1002.
    """
    sender, _, _, envelope = _read(text, limits)
    return sender, envelope


def _read(text: str, limits: GrammarLimits) -> tuple[str, str, str, frame.Envelope]:
    check_characters(text, limits)
    start, (sender, intent, operation) = parse_header(text)
    state = ParseState(True, False, float, limits, HIDDEN)
    position = max(start, metadata_start(text))
    envelope = read_usual_envelope(text, position, state)
    if envelope is None:
        end, fields = parse_metadata(text, position, state)
        if end != len(text) or not text.endswith(("}", "]")):
            raise refusal(text, end, "expected the end of the frame")
        envelope = read_envelope(text, fields, state)
    return sender, intent, operation, envelope
