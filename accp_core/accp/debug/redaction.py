"""Which values are not shown (ACCP section 9, item 1)."""

from dataclasses import dataclass
from typing import Final
from unicodedata import normalize

__all__ = ["DEFAULT_REDACTION", "HIDDEN_VALUE", "Redaction"]

HIDDEN_VALUE: Final = "[redacted]"


@dataclass(frozen=True, slots=True)
class Redaction:
    """Which values are not shown: those under a key that ends in one of `endings`, and all within them.

    Only letters and digits count, in any case and any width: "apikey" hides `api_key`, `X-Api-Key` and `apiKey`.
    Values are judged by their keys alone; a password in a sentence is shown.
    """

    endings: frozenset[str]
    """In lower case without punctuation."""

    @classmethod
    def of(cls, *keys: str) -> "Redaction":
        """Return the rule that hides what stands under these keys, however they are spelled."""
        return cls(frozenset(map(_plain, keys)) - {""})

    def adding(self, *keys: str) -> "Redaction":
        """Return the rule that hides these, too."""
        return Redaction(self.endings | Redaction.of(*keys).endings)

    def hides(self, key: str) -> bool:
        """Return whether the value under `key` is not shown."""
        return _plain(key).endswith(tuple(self.endings))


def _plain(key: str) -> str:
    return "".join(filter(str.isalnum, normalize("NFKC", str.__str__(key)))).casefold()


DEFAULT_REDACTION: Final = Redaction.of(
    "access_key", "api_key", "authorization", "cookie", "cookies", "credential", "credentials", "jwt", "passphrase",
    "passwd", "password", "passwords", "private_key", "secret", "secret_key", "secrets", "token",
)  # fmt: skip
"""What is hidden unless somebody says otherwise."""
