"""Which values debug mode hides (ACCP section 9, item 1)."""

from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

__all__ = ["DEFAULT_REDACTION", "HIDDEN_VALUE", "Redaction"]

HIDDEN_VALUE: Final = "[redacted]"
"""Shown instead of a hidden value."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """Hides each value whose key ends in one of `endings`, with everything in it.

    Only letters and digits are compared, in any case and any width: "apikey" hides `api_key`, `X-Api-Key` and `apiKey`.
    Only keys are examined; a password in a sentence is shown.
    """

    endings: frozenset[str]
    """Endings of keys, in lower case and without punctuation."""

    @classmethod
    def of(cls, *keys: str) -> "Redaction":
        """Return the rule that hides the values of `keys`, in any spelling."""
        return cls(frozenset(map(_normalize_key, keys)) - {""})

    def adding(self, *keys: str) -> "Redaction":
        """Return the rule that hides the values of `keys` as well."""
        return Redaction(self.endings | Redaction.of(*keys).endings)

    def hides(self, key: str) -> bool:
        """Return whether the value of `key` is hidden."""
        return _normalize_key(key).endswith(tuple(self.endings))


def _normalize_key(key: str) -> str:
    return "".join(filter(str.isalnum, normalize("NFKC", str.__str__(key)))).casefold()


DEFAULT_REDACTION: Final = Redaction.of(
    "access_key", "api_key", "authorization", "cookie", "cookies", "credential", "credentials", "jwt", "passphrase",
    "passwd", "password", "passwords", "private_key", "pwd", "secret", "secret_key", "secrets", "token",
)  # fmt: skip
"""The rule that applies unless another is given."""
