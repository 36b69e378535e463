"""The keys of a message and the shorter keys of its frame (ACCP section 4.2)."""

from collections.abc import Mapping
from typing import Final

from accp_core.accp.frame import LiteralKey
from accp_core.accp.vocabulary import ABBREVIATIONS

__all__ = ["PLAIN_KEYS", "SCHEMA_KEY", "KeyTable"]

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
