"""What the functions of the parser share: the options of one call, its counters, and how a text is refused."""

import re
from dataclasses import dataclass
from decimal import Decimal

from accp_core.accp import grammar
from accp_core.accp.grammar import GrammarLimits
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError

__all__ = ["ParseState", "check_characters", "check_level", "count_member", "refusal"]


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
    if text.isascii() and text.isprintable() and " " not in text:
        return
    if match := grammar.FORBIDDEN.search(text):
        raise refusal(text, match.start(), "expected no white space, control characters or surrogates in a frame")
