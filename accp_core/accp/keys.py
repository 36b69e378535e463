"""The keys of a message, the shorter keys of its frame, and how a frame writes them (ACCP sections 3.1 and 4.2)."""

from collections.abc import Mapping
from typing import Any, Final

from accp_core.accp import grammar
from accp_core.accp.frame import LiteralKey
from accp_core.accp.vocabulary import ABBREVIATIONS
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["PLAIN_KEYS", "SCHEMA_KEY", "KeyTable", "sorted_keys", "write_key", "write_param_key"]

SCHEMA_KEY: Final = "schema"
"""The parameter that names the schema; a sender's own key `schema` is escaped, and no schema has such a field."""


# "Use shortest unambiguous key names" (section 3.3, item 2)
class KeyTable:
    """Converts between the full keys of a message and the keys of its frame, at the top level only (section 4.2).

    A key of a message that looks like an abbreviation is sent as a LiteralKey, which is not expanded.
    """

    __slots__ = ("_full", "_wire")

    def __init__(self, aliases: Mapping[str, str]) -> None:
        """Use `aliases`, abbreviation to full key, before those of Table 8."""
        self._full = {**ABBREVIATIONS, **aliases}
        self._wire: dict[str, str] = {short: LiteralKey(short) for short in (*self._full, SCHEMA_KEY)}
        for short, full in (*ABBREVIATIONS.items(), *aliases.items()):
            if self._full[short] == full:
                self._wire[full] = short

    def to_wire(self, key: str) -> str:
        """Return the key in a frame for a key of a message."""
        return self._wire.get(key, key)

    def to_full(self, key: str) -> str:
        """Return the key of a message for a key in a frame, which may be a full key already."""
        full = self._full.get(key)
        return str.__str__(key) if full is None else full


PLAIN_KEYS: Final = KeyTable({})
"""The keys of a frame without a schema."""


def write_param_key(key: str) -> str:
    """Return the key of a parameter; in a literal key the first character is escaped, so that it is not expanded."""
    if type(key) is str and grammar.PLAIN_KEY.fullmatch(key):
        return key
    word = write_key(str.__str__(key) if isinstance(key, LiteralKey) else key)
    # A key that had to be escaped is not an abbreviation.
    if isinstance(key, LiteralKey) and len(word) == len(key):
        return f"_x{ord(word[0]):x}_{word[1:]}"
    return word


def sorted_keys(value: Mapping[Any, Any]) -> list[str]:
    """Return the keys by code point, which is the order of their UTF-8 bytes."""
    return sorted(map(check_key, value))


def check_key(key: object) -> str:
    """Return the key, which must be a string."""
    if type(key) is str:
        return key
    if not isinstance(key, str) or isinstance(key, LiteralKey):
        reason = "expected a string as the key, and a literal key for a parameter only"
        raise EncodeError(f"{reason}, found {type(key).__name__}", code=ErrorCode.INVALID_TYPE)
    return str.__str__(key)


def write_key(key: object) -> str:
    """Return a key in the alphabet of the ABNF."""
    if type(key) is str and grammar.PLAIN_KEY.fullmatch(key):
        return key
    return grammar.escape_key(check_key(key))
