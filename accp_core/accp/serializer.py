"""From a Frame to its one canonical text, in the literal grammar (ACCP sections 3.1, 3.1.1, 3.3 and 3.5)."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from json import dumps
from types import NoneType
from typing import Any, Final, Literal, TypeAlias

from accp_core.accp import grammar
from accp_core.accp.frame import REMOVED, Envelope, Frame, LiteralKey, Ref, Value
from accp_core.accp.grammar import DEFAULT_LIMITS, GrammarLimits
from accp_core.accp.vocabulary import ENVELOPE_FIELDS, FIELD_NAMES, INTEGER_FIELDS, Intent, is_delta
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["serialize_frame"]

DecimalRule: TypeAlias = Literal["exact", "round6"]

INTENTS: Final = frozenset(Intent)
SIX_PLACES: Final = Decimal("0.000001")


@dataclass(slots=True)
class Writing:
    """The options of one call and what it has written so far."""

    hidden: re.Pattern[str]
    """The characters that cannot stand for themselves."""
    decimal: DecimalRule
    limits: GrammarLimits
    members: int = 0
    """Those counted so far."""


def serialize_frame(
    frame: Frame, *, ascii_only: bool = False, decimal: DecimalRule = "exact", limits: GrammarLimits = DEFAULT_LIMITS
) -> str:
    """Return the text of `frame`: one line, always the same for equal frames, never an erratum of the draft.

    With `ascii_only` the text is in the draft's ABNF to the letter; otherwise printable characters above
    U+00A0 stand for themselves. Decimals of more than six places are carried in full, or, with
    `decimal="round6"`, rounded half to even.

    Raises: EncodeError: E1001 for a name or reference outside its alphabet and for what exceeds the limits,
        E1002 for an unknown intent, E1004 for what has no spelling: NaN, infinities, keys that are no string,
        other types, REMOVED outside a delta, references below the depth limit, white space in the envelope.
    """
    writing = Writing(grammar.HIDDEN_IN_ASCII if ascii_only else grammar.HIDDEN, decimal, limits)
    text = f"{write_header(frame)}{{{write_payload(frame, writing)}}}{write_envelope(frame.envelope, writing)}"
    if len(text.encode()) > limits.frame_bytes:
        raise EncodeError(f"a frame has at most {limits.frame_bytes} bytes", code=ErrorCode.PARSE_ERROR)
    return text


def uncarried(value: object, reason: str) -> EncodeError:
    """Return the exception that refuses a value which has no spelling."""
    return EncodeError(f"{type(value).__name__}: {reason}", code=ErrorCode.INVALID_TYPE)


def write_word(word: str, pattern: re.Pattern[str], name: str) -> str:
    """Return `word`, which must be of the alphabet that `pattern` names."""
    if not pattern.fullmatch(word):
        raise EncodeError(f"not {name}", code=ErrorCode.PARSE_ERROR)
    return word


# header = "@" agent-id ">" intent
# body   = ":" operation "{" [payload] "}"
def write_header(frame: Frame) -> str:
    """Return everything before the opening brace."""
    if frame.intent not in INTENTS:
        raise EncodeError("unknown intent", code=ErrorCode.INVALID_INTENT)
    sender = write_word(frame.sender, grammar.AGENT_ID, "an agent-id")
    return f"@{sender}>{frame.intent}:{write_word(frame.operation, grammar.NAME, 'an operation')}"


def count_members(members: int, writing: Writing) -> None:
    """Refuse more members than a frame may have."""
    writing.members += members
    if writing.members > writing.limits.members:
        raise EncodeError(f"a frame has at most {writing.limits.members} members", code=ErrorCode.PARSE_ERROR)


# payload = param *( "|" param )
# param   = key ":" value
def write_payload(frame: Frame, writing: Writing) -> str:
    """Return the parameters in their own order."""
    count_members(len(frame.params), writing)
    return "|".join([f"{write_param_key(key)}:{write_param(frame, key, writing)}" for key in frame.params])


def write_param_key(key: str) -> str:
    """Return the key of a parameter; a literal one has its first character escaped, and nobody expands it."""
    word = write_key(str.__str__(key) if isinstance(key, LiteralKey) else key)
    # Whatever had to be escaped is no abbreviation.
    if isinstance(key, LiteralKey) and len(word) == len(key):
        return f"_x{ord(word[0]):x}_{word[1:]}"
    return word


def write_param(frame: Frame, key: str, writing: Writing) -> str:
    """Return the value of a parameter; the one that is a delta has a null of its own."""
    value = frame.params[key]
    if is_delta(frame.intent, frame.operation, key) and isinstance(value, Mapping):
        return write_map(value, 1, writing, write_delta_member)
    return write_value(value, 1, writing)


# value = typed-literal / array / map / ref / null
def write_value(value: Value, level: int, writing: Writing) -> str:
    """Return any value; an array or map among them stands at `level`, of which the first is 1."""
    return find_writer(WRITERS, value)(value, level, writing)


Writer: TypeAlias = Callable[[Any, int, Writing], str]


def find_writer(writers: Mapping[type, Writer], value: object) -> Writer:
    """Return what writes values of this type, or of the type it derives from."""
    writer = writers.get(type(value))
    if writer is None:
        writer = next((found for kind, found in writers.items() if isinstance(value, kind)), refuse_value)
    return writer


def refuse_value(value: object, level: int, writing: Writing) -> str:
    """Refuse a value that no frame, or no JSON literal, carries."""
    raise uncarried(value, "has no spelling here")


def write_null(value: None, level: int, writing: Writing) -> str:
    """Return null."""
    return "~"


# "removed_key:null" (section 5.4): so null in a delta needs another spelling, and `~` removes.
def write_delta_member(value: Value, level: int, writing: Writing) -> str:
    """Return a direct member of a delta."""
    if value is REMOVED:
        return "~"
    return "=null" if value is None else write_value(value, level, writing)


def write_boolean(value: bool, level: int, writing: Writing) -> str:
    """Return a boolean; JSON spells it alike."""
    return "true" if value else "false"


def write_integer(value: int, level: int, writing: Writing) -> str:
    """Return an integer; JSON spells it alike."""
    # Four bits a digit are more than enough; counting the digits of more would take quadratic time.
    if value.bit_length() > 4 * writing.limits.digits:
        raise too_many_digits(writing.limits)
    try:
        text = int.__repr__(value)
    except ValueError:
        raise too_many_digits(writing.limits) from None
    return check_digits(text, writing.limits)


def too_many_digits(limits: GrammarLimits) -> EncodeError:
    """Return the exception that refuses a long number."""
    return EncodeError(f"a number has at most {limits.digits} digits", code=ErrorCode.PARSE_ERROR)


def check_digits(text: str, limits: GrammarLimits) -> str:
    """Return the number, unless it is too long."""
    if len(text) - text.count("-") - text.count(".") > limits.digits:
        raise too_many_digits(limits)
    return text


# "Decimal values MUST be serialized with up to 6 decimal places, trailing zeros stripped. Encoders MUST NOT
# use scientific notation." (section 3.1.1) More places go into a JSON literal, so that nothing is lost.
def write_decimal(value: float | Decimal, level: int, writing: Writing) -> str:
    """Return a decimal, or the JSON literal of one."""
    text = write_positional(value, level, writing)
    return text if len(text) - text.index(".") <= 7 else f"={text}"


def write_positional(value: float | Decimal, level: int, writing: Writing) -> str:
    """Return a decimal with at least one place and no other zeros at its end; JSON spells it alike."""
    number = value if isinstance(value, Decimal) else Decimal(float.__repr__(value))
    if not number.is_finite():
        raise uncarried(value, "only finite numbers can be carried")
    # The zeros that an exponent stands for could fill the memory.
    if max(number.adjusted(), -int(number.as_tuple().exponent)) > writing.limits.digits:
        raise too_many_digits(writing.limits)
    if writing.decimal == "round6":
        number = round_to_six(number, writing.limits)
    whole, _, places = format(number, "f").partition(".")
    return check_digits(f"{whole}.{places.rstrip('0') or '0'}", writing.limits)


def round_to_six(number: Decimal, limits: GrammarLimits) -> Decimal:
    """Return the number to six places, whatever the caller's decimal context is."""
    return number.quantize(SIX_PLACES, context=Context(prec=limits.digits + 8, rounding=ROUND_HALF_EVEN, traps=[]))


# string = 1*( safe-char / escaped-char )
def write_string(value: str, level: int, writing: Writing) -> str:
    """Return a plain string where one is read as the same string, else the quoted form."""
    text = str.__str__(value)
    if grammar.LOOKALIKE.match(text) or writing.hidden.search(text):
        return grammar.quote(text, writing.hidden)
    return grammar.escape(text)


# ref = "$" ref-key
def write_ref(value: Ref, level: int, writing: Writing) -> str:
    """Return a reference."""
    return f"${write_word(value.key, grammar.REF_KEY, 'a ref-key')}"


Items: TypeAlias = list[Any] | tuple[Any, ...]


# array = "[" [ value *( "," value ) ] "]"
def write_array(value: Items, level: int, writing: Writing) -> str:
    """Return an array."""
    if value and level >= writing.limits.depth:
        return write_json_literal(value, writing)
    count_members(len(value), writing)
    return f"[{','.join([write_value(item, level + 1, writing) for item in value])}]"


# map = "{" [ key ":" value *( "," key ":" value ) ] "}", "keys sorted ascending" (section 3.1.1)
def write_map(value: Mapping[Any, Any], level: int, writing: Writing, write_member: Writer = write_value) -> str:
    """Return a map."""
    if value and level >= writing.limits.depth:
        return write_json_literal(value, writing)
    count_members(len(value), writing)
    entries = [f"{write_key(key)}:{write_member(value[key], level + 1, writing)}" for key in sorted_keys(value)]
    return f"{{{','.join(entries)}}}"


def sorted_keys(value: Mapping[Any, Any]) -> list[str]:
    """Return the keys by code point, which is the order of their UTF-8 bytes."""
    return sorted(map(check_key, value))


def check_key(key: object) -> str:
    """Return the key, if it can be one."""
    if not isinstance(key, str) or isinstance(key, LiteralKey):
        raise uncarried(key, "only a string is a key, and only a parameter's key can be literal")
    return str.__str__(key)


def write_key(key: object) -> str:
    """Return a key in the alphabet of the ABNF."""
    return grammar.escape_key(check_key(key))


def write_json_literal(value: Items | Mapping[Any, Any], writing: Writing) -> str:
    """Return what stands too deep as compact JSON within a string; so peers may count levels either way."""
    return f"={grammar.escape(write_json(value, 1, writing))}"


def write_json(value: Any, level: int, writing: Writing) -> str:
    """Return a value as canonical JSON: compact, in visible ASCII, keys sorted, numbers without exponents."""
    return find_writer(JSON_WRITERS, value)(value, level, writing)


def check_json_level(level: int, writing: Writing) -> None:
    """Refuse the array or object that stands too deep in its literal."""
    if level > writing.limits.json_depth:
        reason = f"a JSON literal nests at most {writing.limits.json_depth} deep"
        raise EncodeError(reason, code=ErrorCode.PARSE_ERROR)


def write_json_null(value: None, level: int, writing: Writing) -> str:
    """Return null."""
    return "null"


def write_json_string(value: str, level: int, writing: Writing) -> str:
    """Return a string."""
    # JSON makes one character of a high and a low surrogate, so it would not be the same string.
    if grammar.SPLIT_SURROGATES.search(value):
        raise uncarried(value, "a JSON literal cannot carry two surrogates side by side")
    return dumps(str.__str__(value)).replace(" ", "\\u0020")


def write_json_array(value: Items, level: int, writing: Writing) -> str:
    """Return an array."""
    check_json_level(level, writing)
    return f"[{','.join([write_json(item, level + 1, writing) for item in value])}]"


def write_json_object(value: Mapping[Any, Any], level: int, writing: Writing) -> str:
    """Return an object."""
    check_json_level(level, writing)
    members = [
        f"{write_json_string(key, level, writing)}:{write_json(value[key], level + 1, writing)}"
        for key in sorted_keys(value)
    ]
    return f"{{{','.join(members)}}}"


# metadata = "[" meta-pairs "]"
def write_envelope(envelope: Envelope, writing: Writing) -> str:
    """Return the metadata block, nothing when no field is set; Table 4's fields come first, in its order."""
    fields = [
        f"{short}:{write_field(name, getattr(envelope, name), writing)}"
        for name, short in ENVELOPE_FIELDS.items()
        if getattr(envelope, name) is not None
    ]
    fields += [f"{write_extra_key(key)}:{write_field(key, envelope.extra[key], writing)}" for key in envelope.extra]
    count_members(len(fields), writing)
    return f"[{','.join(fields)}]" if fields else ""


def write_extra_key(key: str) -> str:
    """Return the key of a field that Table 4 does not know."""
    word = write_key(key)
    if key in FIELD_NAMES:
        raise uncarried(key, "a field of Table 4 has an attribute of its own")
    return word


def write_field(name: str, value: object, writing: Writing) -> str:
    """Return the value of a field: plain text, for which the envelope has no quoted form."""
    if name in INTEGER_FIELDS:
        if type(value) is not int or value < 0:
            raise uncarried(value, f"{name} is a whole number from 0")
        return write_integer(value, 1, writing)
    if not isinstance(value, str) or not value or writing.hidden.search(value):
        raise uncarried(value, "a field is text of printable characters and not empty")
    if name == "msg_id" and len(value) > writing.limits.msg_id_chars:
        reason = f"a msg_id has at most {writing.limits.msg_id_chars} characters"
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
    Ref: write_ref,
    list: write_array,
    tuple: write_array,
    dict: write_map,
    Mapping: write_map,
}
