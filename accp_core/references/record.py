"""A text that a store keeps and a reference opens (ACCP section 5.1, tier 3)."""

from __future__ import annotations

from dataclasses import dataclass

from accp_core.references.key import key_of, reference_to, reference_to_uri

__all__ = ["StoredText"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """A text and its key; it must be in the store of its session before anything that cites it is sent."""

    key: str
    """Under which it is stored, such as "cold.05736180442795560163228944101"."""
    text: str
    """The whole text."""
    expires_at: int | None = None
    """The last second of the Unix epoch at which it may be read; None: as long as the store keeps it."""

    @classmethod
    def of(cls, text: str, *, expires_at: int | None = None) -> StoredText:
        """Return the record of `text` under its own key."""
        return cls(key=key_of(text), text=text, expires_at=expires_at)

    @property
    def reference(self) -> str:
        """What a model reads and passes to the tool that opens it: "$cold.…"."""
        return reference_to(self.key)

    @property
    def uri(self) -> str:
        """The same as an AgentContext holds it: "accp://cold/…"."""
        return reference_to_uri(self.reference)
