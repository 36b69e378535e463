r"""The key of a stored text and the ways to write it (ACCP section 5.1, ACI section 5.2).

    key         cold.05736180442795560163228944101   "cold." and 29 decimal digits: 96 bits of the text's SHA-256
    reference   $cold.05736180442795560163228944101  what a model reads and what a frame holds
    URI         accp://cold/05736180442795560163228944101, what an AgentContext holds

The key says nothing but the text: the same text has one key everywhere, and a text that comes back is checked against
it. Whose text it is says the namespace of the store. Decimal digits cost a model fewer tokens than the 24 hexadecimal
ones (o200k_base reads three digits as one token): 10 against 13 or 14.

Contexts may also cite the other tiers of a session (`$warm.ckpt_1`) and keys that others chose (`$cold.c9523506b4bd`).
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

__all__ = [
    "KEY_BITS", "find_references", "is_hash_key", "is_reference", "key_of", "parse_reference", "reference_to",
    "reference_to_uri", "uri_to_key", "uri_to_reference",
]  # fmt: skip

KEY_BITS: Final = 96
_DIGITS: Final = 29
"""Decimal digits of a number of 96 bits."""

_HASH_KEY: Final = re.compile(rf"cold\.[0-9]{{{_DIGITS}}}")
_IN_TEXT: Final = re.compile(rf"\bcold\.[0-9]{{{_DIGITS}}}(?![0-9])")
# A scheme of one letter is the drive of a file name; a blank makes a sentence of it ("note: call back").
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:\S+")
_REFERENCE: Final = re.compile(r"\$([a-z]+)\.([A-Za-z0-9_.]+)")
_STATE_URI: Final = re.compile(r"accp://([a-z]+)/([A-Za-z0-9_.]+)")


def key_of(text: str) -> str:
    """Return the key of `text`: "cold." and a hash of the text alone, 96 bits as 29 decimal digits."""
    digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
    return f"cold.{int.from_bytes(digest[: KEY_BITS // 8]):0{_DIGITS}d}"


def is_hash_key(key: str) -> bool:
    """Return whether `key` is one that `key_of` can give, so that its text can be checked."""
    return _HASH_KEY.fullmatch(key) is not None


def reference_to(key: str) -> str:
    """Return the reference to the text under `key`: "$cold.…"."""
    return f"${key}"


def parse_reference(written: str) -> str:
    """Return the key that somebody wrote as a reference, a bare key or a URI; other words as they are.

    Whether it opens anything is not said: `check_grant` decides that.
    """
    word = written.strip()
    return uri_to_key(word) or word.removeprefix("$")


def find_references(text: str) -> list[str]:
    """Return the keys of stored texts that stand in `text`, each once, in order."""
    return list(dict.fromkeys(_IN_TEXT.findall(text)))


def is_reference(text: str) -> bool:
    """Return whether `text` is an address: a URI, or a reference of an ACCP state such as `$warm.ckpt_1`."""
    return bool(_URI.fullmatch(text) or _REFERENCE.fullmatch(text))


def reference_to_uri(reference: str) -> str:
    """Return a reference as a context holds it: `$cold.c95` is `accp://cold/c95`; a URI stays."""
    found = _REFERENCE.fullmatch(reference)
    return f"accp://{found[1]}/{found[2]}" if found else reference


def uri_to_key(uri: str) -> str | None:
    """Return the key that a URI of an ACCP state names, such as "cold.c95"; None for any other URI."""
    found = _STATE_URI.fullmatch(uri)
    return f"{found[1]}.{found[2]}" if found else None


def uri_to_reference(uri: str) -> str:
    """Return a URI of an ACCP state as a model reads it: `accp://cold/c95` is `$cold.c95`; any other URI stays."""
    key = uri_to_key(uri)
    return uri if key is None else reference_to(key)
