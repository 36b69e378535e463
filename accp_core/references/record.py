"""A text in a store, which a reference opens (ACCP section 5.1, tier 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from accp_core.references.key import key_of, reference_to, reference_to_uri

__all__ = ["HANDED_TEXTS_KEY", "StoredText"]

HANDED_TEXTS_KEY: Final = "accp_texts"
"""The key, in the state of a graph, of texts that another agent handed over, key to text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """A text and its key, to be put into the store of its session before any text that cites it is sent."""

    key: str
    """The key under which it is stored, such as "cold.05736180442795560163228944101"."""
    text: str
    """The whole text."""
    expires_at: int | None = None
    """The last second, counted from the Unix epoch, in which the text may be read; None: no limit."""

    @classmethod
    def of(cls, text: str, *, expires_at: int | None = None) -> StoredText:
        """Return the record of `text` under its own key."""
        return cls(key=key_of(text), text=text, expires_at=expires_at)

    @property
    def reference(self) -> str:
        """The reference as a frame holds it: "$cold.…"; a model reads the `short_reference`."""
        return reference_to(self.key)

    @property
    def uri(self) -> str:
        """The reference as an AgentContext holds it: "accp://cold/…"."""
        return reference_to_uri(self.reference)
