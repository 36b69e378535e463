"""The keys of a message and the shorter keys of its frame (ACCP section 4.2)."""

from collections.abc import Mapping
from typing import Final

from accp_core.accp.frame import LiteralKey
from accp_core.accp.vocabulary import ABBREVIATIONS

__all__ = ["PLAIN_KEYS", "SCHEMA_KEY", "KeyTable"]

SCHEMA_KEY: Final = "schema"
"""The parameter that names the schema; a sender's own `schema` is escaped, and no schema has such a field."""


# "Use shortest unambiguous key names" (section 3.3, item 2)
class KeyTable:
    """Both ways between the full keys of a message and the keys of its frame, top level only (section 4.2).

    A key that would be expanded, although the sender means it as it is, travels as a LiteralKey.
    """

    __slots__ = ("_full", "_wire")

    def __init__(self, aliases: Mapping[str, str]) -> None:
        """Take abbreviation to full key; `aliases` go before Table 8."""
        self._full = {**ABBREVIATIONS, **aliases}
        self._wire: dict[str, str] = {short: LiteralKey(short) for short in (*self._full, SCHEMA_KEY)}
        for short, full in (*ABBREVIATIONS.items(), *aliases.items()):
            if self._full[short] == full:
                self._wire[full] = short

    def to_wire(self, key: str) -> str:
        """Return the key that a frame has for this key of a message."""
        return self._wire.get(key, key)

    def to_full(self, key: str) -> str:
        """Return the key that a message has for this key of a frame; a full key may stand in a frame, too."""
        full = self._full.get(key)
        return str.__str__(key) if full is None else full


PLAIN_KEYS: Final = KeyTable({})
"""The keys of a frame that names no schema."""
