"""Writes the canonical text of a frame, in the draft's literal grammar (ACCP sections 3.1, 3.1.1, 3.3 and 3.5)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Context, Decimal
from json import dumps
from types import NoneType
from typing import Any, Final, Literal, TypeAlias

from accp_core.accp import frame as frames
from accp_core.accp import grammar
from accp_core.accp.grammar import DEFAULT_LIMITS, GrammarLimits
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError, WouldRound

__all__ = ["check_size", "serialize_envelope", "serialize_frame", "serialize_parts"]

DecimalRule: TypeAlias = Literal["exact", "round6", "refuse"]

SIX_PLACES: Final = Decimal("0.000001")


@dataclass(slots=True)
class _WriteState:
    """The options of one call, and its counter."""

    hidden: re.Pattern[str]
    """The characters that must be percent-encoded."""
    decimal: DecimalRule
    limits: GrammarLimits
    members: int = 0
    """Number of members written so far."""
    layouts: dict[tuple[object, ...], list[tuple[str, str]]] = field(default_factory=dict)
    """The keys of a map as they came, to the same keys in the order and in the form in which they are written."""


def serialize_frame(
    frame: frames.Frame,
    *,
    ascii_only: bool = False,
    decimal: DecimalRule = "exact",
    limits: GrammarLimits = DEFAULT_LIMITS,
) -> str:
    """Return the text of `frame`: one line, the same for equal frames, without the draft's errata.

    Args:
        frame: The frame.
        ascii_only: Whether the text is literally in the draft's ABNF; False: printable characters above U+00A0 are
            written as they are.
        decimal: "exact" writes all places of a decimal; "round6" rounds half to even to six places; "refuse" writes no
            decimal of more.
        limits: How much a frame may hold.

    Raises:
        EncodeError: E1001, a name or reference is outside its alphabet, or a limit is exceeded; E2003, the frame is too
            long; E1002, the intent is unknown; E1004, a value cannot be written: NaN, an infinity, a key that is not a
            string, another type, REMOVED outside a delta, a reference below the depth limit, white space in the
            envelope.
        WouldRound: E1004, a decimal has more than six places, by "refuse".
    """
    return "".join(serialize_parts(frame, ascii_only=ascii_only, decimal=decimal, limits=limits))


def serialize_parts(
    frame: frames.Frame,
    *,
    ascii_only: bool = False,
    decimal: DecimalRule = "exact",
    limits: GrammarLimits = DEFAULT_LIMITS,
) -> tuple[str, str]:
    """Return the text of `frame` in two parts: header and body, and the metadata block, "" without a field.

    Args and errors: as `serialize_frame`.
    """
    state = _WriteState(grammar.HIDDEN_IN_ASCII if ascii_only else grammar.HIDDEN, decimal, limits)
    body = f"{write_header(frame)}{{{write_payload(frame, state)}}}"
    metadata = write_envelope(frame.envelope, state)
    check_size(body, metadata, limits)
    return body, metadata


def serialize_envelope(
    envelope: frames.Envelope, *, ascii_only: bool = False, limits: GrammarLimits = DEFAULT_LIMITS
) -> str:
    """Return the metadata block alone, for a frame whose body is written already; errors as `serialize_frame`."""
    return write_envelope(
        envelope, _WriteState(grammar.HIDDEN_IN_ASCII if ascii_only else grammar.HIDDEN, "exact", limits)
    )


def check_size(body: str, metadata: str, limits: GrammarLimits) -> None:
    """Refuse a frame that is too long; a character has at most four bytes."""
    if 4 * (len(body) + len(metadata)) <= limits.frame_bytes:
        return
    if len(body.encode()) + len(metadata.encode()) > limits.frame_bytes:
        reason = f"expected a frame of at most {limits.frame_bytes} bytes{_IN_PARTS}"
        raise EncodeError(reason, code=ErrorCode.BUDGET_EXCEEDED)


def unwritable(value: object, reason: str) -> EncodeError:
    """Return the exception that refuses a value that cannot be written."""
    return EncodeError(f"{reason}, found {type(value).__name__}", code=ErrorCode.INVALID_TYPE)


def write_word(word: str, pattern: re.Pattern[str], name: str) -> str:
    """Return `word`, which must match `pattern`."""
    if not pattern.fullmatch(word):
        raise EncodeError(f"expected {name}", code=ErrorCode.PARSE_ERROR)
    return word


# header = "@" agent-id ">" intent
# body   = ":" operation "{" [payload] "}"
def write_header(frame: frames.Frame) -> str:
    """Return everything before the opening brace."""
    if frame.intent not in frames.INTENTS:
        raise EncodeError("expected a known intent", code=ErrorCode.INVALID_INTENT)
    sender = write_word(frame.sender, grammar.AGENT_ID, "an agent-id")
    return f"@{sender}>{frame.intent}:{write_word(frame.operation, grammar.NAME, 'an operation')}"


_IN_PARTS: Final = "; give a longer value in parts, as a handler that is a generator streams them"


def count_members(members: int, state: _WriteState) -> None:
    """Count members; refuse more than a frame may have."""
    state.members += members
    if state.members > state.limits.members:
        reason = f"expected at most {state.limits.members} members in a frame{_IN_PARTS}"
        raise EncodeError(reason, code=ErrorCode.PARSE_ERROR)


# payload = param *( "|" param )
# param   = key ":" value
def write_payload(frame: frames.Frame, state: _WriteState) -> str:
    """Return the parameters in their own order."""
    count_members(len(frame.params), state)
    return "|".join([f"{frames.write_param_key(key)}:{write_param(frame, key, state)}" for key in frame.params])


def write_param(frame: frames.Frame, key: str, state: _WriteState) -> str:
    """Return the value of a parameter; in a delta, REMOVED is written as null."""
    value = frame.params[key]
    if key == "delta" and frames.is_delta(frame.intent, frame.operation, key) and isinstance(value, Mapping):
        return write_map(value, 1, state, write_delta_member)
    return write_value(value, 1, state)


# value = typed-literal / array / map / ref / null
def write_value(value: frames.Value, level: int, state: _WriteState) -> str:
    """Return any value; an array or map is at nesting level `level`, which starts with 1."""
    return (WRITERS.get(type(value)) or find_writer(WRITERS, value))(value, level, state)


Writer: TypeAlias = Callable[[Any, int, _WriteState], str]


def find_writer(writers: Mapping[type, Writer], value: object) -> Writer:
    """Return the writer of values of this type, or of the type from which it derives."""
    known = writers.get(type(value))
    return known or next((found for kind, found in writers.items() if isinstance(value, kind)), refuse_value)


def refuse_value(value: object, level: int, state: _WriteState) -> str:
    """Refuse a value that has no writer."""
    raise unwritable(value, "expected a value that a frame can hold here")


def write_null(value: None, level: int, state: _WriteState) -> str:
    """Return null."""
    return "~"


# "removed_key:null" (section 5.4): so null in a delta needs another spelling, and `~` removes.
def write_delta_member(value: frames.Value, level: int, state: _WriteState) -> str:
    """Return a direct member of a delta."""
    if value is frames.REMOVED:
        return "~"
    return "=null" if value is None else write_value(value, level, state)


def write_boolean(value: bool, level: int, state: _WriteState) -> str:
    """Return a boolean, as JSON writes it."""
    return "true" if value else "false"


def write_integer(value: int, level: int, state: _WriteState) -> str:
    """Return an integer, as JSON writes it."""
    # Four bits a digit are more than enough; counting the digits of more would take quadratic time.
    if value.bit_length() > 4 * state.limits.digits:
        raise too_many_digits(state.limits)
    try:
        text = int.__repr__(value)
    except ValueError:
        raise too_many_digits(state.limits) from None
    return check_digits(text, state.limits)


def too_many_digits(limits: GrammarLimits) -> EncodeError:
    """Return the exception that refuses a long number."""
    return EncodeError(f"expected a number of at most {limits.digits} digits", code=ErrorCode.PARSE_ERROR)


def check_digits(text: str, limits: GrammarLimits) -> str:
    """Return the text of a number, unless it is too long."""
    if len(text) - text.count("-") - text.count(".") > limits.digits:
        raise too_many_digits(limits)
    return text


# "Decimal values MUST be serialized with up to 6 decimal places, trailing zeros stripped. Encoders MUST NOT
# use scientific notation." (section 3.1.1) More places are written as a JSON literal, so that nothing is lost.
def write_decimal(value: float | Decimal, level: int, state: _WriteState) -> str:
    """Return a decimal, or its JSON literal."""
    text = write_positional(value, level, state)
    return text if len(text) - text.index(".") <= 7 else f"={text}"


def write_positional(value: float | Decimal, level: int, state: _WriteState) -> str:
    """Return a decimal with at least one place and without other trailing zeros, as JSON may write it."""
    number = value if isinstance(value, Decimal) else Decimal(float.__repr__(value))
    if not number.is_finite():
        raise unwritable(value, "expected a finite number")
    # A large exponent would become as many zeros.
    if max(number.adjusted(), -int(number.as_tuple().exponent)) > state.limits.digits:
        raise too_many_digits(state.limits)
    if state.decimal != "exact":
        rounded = round_to_six(number, state.limits)
        if state.decimal == "refuse" and rounded != number:
            reason = f"expected a decimal of at most six places, found {str(number)[:30]}"
            raise WouldRound(reason, code=ErrorCode.INVALID_TYPE)
        number = rounded
    whole, _, places = format(number, "f").partition(".")
    return check_digits(f"{whole}.{places.rstrip('0') or '0'}", state.limits)


def round_to_six(number: Decimal, limits: GrammarLimits) -> Decimal:
    """Return the number rounded to six places, independently of the caller's decimal context."""
    return number.quantize(SIX_PLACES, context=Context(prec=limits.digits + 8, rounding=ROUND_HALF_EVEN, traps=[]))


# string = 1*( safe-char / escaped-char )
def write_string(value: str, level: int, state: _WriteState) -> str:
    """Return a plain string where that is read as the same string, else the quoted form."""
    text = str.__str__(value)
    if grammar.PLAIN_TEXT.fullmatch(text):
        return text
    if " " in text and grammar.SPACED_TEXT.fullmatch(text):
        return f'"{text.replace(" ", "_")}"'
    if grammar.LOOKALIKE.match(text) or state.hidden.search(text):
        return grammar.quote(text, state.hidden)
    return grammar.escape(text)


# ref = "$" ref-key
def write_ref(value: frames.Ref, level: int, state: _WriteState) -> str:
    """Return a reference."""
    return f"${write_word(value.key, grammar.REF_KEY, 'a ref-key')}"


Items: TypeAlias = list[Any] | tuple[Any, ...]


# array = "[" [ value *( "," value ) ] "]"
def write_array(value: Items, level: int, state: _WriteState) -> str:
    """Return an array."""
    if value and level >= state.limits.depth:
        return write_json_literal(value, state)
    count_members(len(value), state)
    return f"[{','.join([write_value(item, level + 1, state) for item in value])}]"


# map = "{" [ key ":" value *( "," key ":" value ) ] "}", "keys sorted ascending" (section 3.1.1)
def write_map(value: Mapping[Any, Any], level: int, state: _WriteState, write_member: Writer = write_value) -> str:
    """Return a map; the keys of maps with the same keys are checked and sorted once."""
    if value and level >= state.limits.depth:
        return write_json_literal(value, state)
    count_members(len(value), state)
    names = tuple(value)
    layout = state.layouts.get(names)
    if layout is None:
        layout = state.layouts[names] = [(key, frames.write_key(key)) for key in frames.sorted_keys(value)]
    entries = [f"{word}:{write_member(value[key], level + 1, state)}" for key, word in layout]
    return f"{{{','.join(entries)}}}"


def write_json_literal(value: Items | Mapping[Any, Any], state: _WriteState) -> str:
    """Return what is nested too deep as compact JSON within a string, for peers that count levels in another way."""
    return f"={grammar.escape(write_json(value, 1, state))}"


def write_json(value: Any, level: int, state: _WriteState) -> str:
    """Return a value as canonical JSON: compact, in visible ASCII, keys sorted, numbers without exponents."""
    return find_writer(JSON_WRITERS, value)(value, level, state)


def check_json_level(level: int, state: _WriteState) -> None:
    """Refuse an array or object that is nested too deep in its literal."""
    if level > state.limits.json_depth:
        reason = f"expected a JSON literal that nests at most {state.limits.json_depth} deep"
        raise EncodeError(reason, code=ErrorCode.PARSE_ERROR)


def write_json_null(value: None, level: int, state: _WriteState) -> str:
    """Return null."""
    return "null"


def write_json_string(value: str, level: int, state: _WriteState) -> str:
    """Return a string."""
    # JSON reads a high and a low surrogate as one character, so that the string would change.
    if grammar.SPLIT_SURROGATES.search(value):
        raise unwritable(value, "expected no surrogates side by side in a JSON literal")
    return dumps(str.__str__(value)).replace(" ", "\\u0020")


def write_json_array(value: Items, level: int, state: _WriteState) -> str:
    """Return an array."""
    check_json_level(level, state)
    return f"[{','.join([write_json(item, level + 1, state) for item in value])}]"


def write_json_object(value: Mapping[Any, Any], level: int, state: _WriteState) -> str:
    """Return an object."""
    check_json_level(level, state)
    members = [
        f"{write_json_string(key, level, state)}:{write_json(value[key], level + 1, state)}"
        for key in frames.sorted_keys(value)
    ]
    return f"{{{','.join(members)}}}"


# metadata = "[" meta-pairs "]"
def write_envelope(envelope: frames.Envelope, state: _WriteState) -> str:
    """Return the metadata block, "" without a field; the fields of Table 4 come first, in its order."""
    fields = [
        f"{short}:{write_field(name, value, state)}"
        for name, short in frames.ENVELOPE_FIELDS.items()
        if (value := getattr(envelope, name)) is not None
    ]
    fields += [f"{write_extra_key(key)}:{write_field(key, envelope.extra[key], state)}" for key in envelope.extra]
    count_members(len(fields), state)
    return f"[{','.join(fields)}]" if fields else ""


def write_extra_key(key: str) -> str:
    """Return the key of a field that is not in Table 4."""
    word = frames.write_key(key)
    if key in frames.FIELD_NAMES:
        raise unwritable(key, "expected a field that is not in Table 4")
    return word


def write_field(name: str, value: object, state: _WriteState) -> str:
    """Return the value of a field as plain text; the envelope has no quoted form."""
    if name in frames.INTEGER_FIELDS:
        if type(value) is not int or value < 0:
            raise unwritable(value, f"expected a whole number from 0 as {name}")
        return write_integer(value, 1, state)
    if type(value) is str and len(value) <= state.limits.msg_id_chars and grammar.PLAIN_ID.fullmatch(value):
        return value
    if not isinstance(value, str) or not value or state.hidden.search(value):
        raise unwritable(value, "expected printable characters in a field")
    if name == "msg_id" and len(value) > state.limits.msg_id_chars:
        reason = f"expected a msg_id of at most {state.limits.msg_id_chars} characters"
        raise EncodeError(reason, code=ErrorCode.PARSE_ERROR)
    return grammar.escape(value)


JSON_WRITERS: Final[dict[type, Writer]] = {
    str: write_json_string,
    bool: write_boolean,
    int: write_integer,
    float: write_positional,
    Decimal: write_positional,
    NoneType: write_json_null,
    list: write_json_array,
    tuple: write_json_array,
    dict: write_json_object,
    Mapping: write_json_object,
}
WRITERS: Final[dict[type, Writer]] = {
    str: write_string,
    bool: write_boolean,
    int: write_integer,
    float: write_decimal,
    Decimal: write_decimal,
    NoneType: write_null,
    frames.Ref: write_ref,
    list: write_array,
    tuple: write_array,
    dict: write_map,
    Mapping: write_map,
}
