r"""The key of a stored text and the ways to write it (ACCP section 5.1, ACI section 5.2).

    key               cold.05736180442795560163228944101          "cold." and 29 digits: 96 bits of the text's SHA-256
    reference         $cold.05736180442795560163228944101         in a frame
    URI               accp://cold/05736180442795560163228944101   in an AgentContext
    short reference   $cold.057361804427                          in a text that a model reads

The key depends on the text alone: the same text has the same key everywhere, and a text that a store returns is checked
against it. The owner of a text is not part of the key; it is the namespace of the store. The digits are decimal because
they cost a model fewer tokens than 24 hexadecimal ones: 10 instead of 13 or 14 (o200k_base reads three digits as one
token). The first twelve of them cost 4. They name the one granted text whose key begins so; `check_grant` refuses them
where there are two.

A context may also cite the other tiers of a session (`$warm.ckpt_1`) and keys of another form that a peer chose
(`$cold.c9523506b4bd`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable
from hashlib import sha256
from typing import Final

__all__ = [
    "KEY_BITS",
    "find_references",
    "is_hash_key",
    "is_named",
    "is_reference",
    "key_of",
    "match_keys",
    "mistyped_references",
    "parse_reference",
    "reference_to",
    "reference_to_uri",
    "replace_references",
    "short_key",
    "short_reference",
    "split_reference",
    "uri_to_key",
    "uri_to_reference",
]  # fmt: skip

KEY_BITS: Final = 96
_DIGITS: Final = 29
"""Decimal digits of the largest number of 96 bits."""
_SHORT_DIGITS: Final = 12
"""Digits of a short key: two texts with the same ones are made in 2^40 attempts, those with six in a second."""
_PART: Final = 100_000
"""Characters of a text that are encoded at once: encoding takes four times their number for a while."""

_HASH_KEY: Final = re.compile(rf"cold\.[0-9]{{{_DIGITS}}}")
_SHORT_LENGTH: Final = len("cold.") + _SHORT_DIGITS
# `\b` would count a CJK character beside a key as part of the word.
_IN_TEXT: Final = re.compile(
    rf"(?<![0-9A-Za-z_])(?:cold\.|accp://cold/)([0-9]{{{_DIGITS}}}|[0-9]{{{_SHORT_DIGITS}}})(?![0-9A-Za-z_])"
)
_WRITTEN: Final = re.compile(rf"\$?{_IN_TEXT.pattern}")
_MISTYPED: Final = re.compile(rf"\$(cold\.(?!(?:[0-9]{{{_DIGITS}}}|[0-9]{{{_SHORT_DIGITS}}})\b)[0-9]+)\b")
_AT_START: Final = re.compile(r"\s*(?:accp_fetch\s+)?(\$cold\.[0-9]\w*)(.*)", re.DOTALL)
# A scheme of one letter is the drive of a file name; a blank makes it a sentence ("note: call back").
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:\S+")
_REFERENCE: Final = re.compile(r"\$([a-z]+)\.([A-Za-z0-9_.]+)")
_STATE_URI: Final = re.compile(r"accp://([a-z]+)/([A-Za-z0-9_.]+)")


def key_of(text: str) -> str:
    """Return the key of `text`: "cold." and 96 bits of a hash of the text alone, as 29 decimal digits."""
    digest = sha256()
    for start in range(0, len(text), _PART):
        digest.update(text[start : start + _PART].encode("utf-8", "surrogatepass"))
    return f"cold.{int.from_bytes(digest.digest()[: KEY_BITS // 8]):0{_DIGITS}d}"


def is_hash_key(key: str) -> bool:
    """Return whether `key` has the form of `key_of`, so that a text can be checked against it."""
    return _HASH_KEY.fullmatch(key) is not None


def short_key(key: str) -> str:
    """Return as much of a key as a model reads: "cold." and twelve digits; a key of another form is not shortened."""
    return key[:_SHORT_LENGTH] if is_hash_key(key) else key


def reference_to(key: str) -> str:
    """Return the reference to the text under `key`, as a frame holds it: "$cold.…"."""
    return f"${key}"


def short_reference(key: str) -> str:
    """Return the reference to the text under `key` as a model reads it: "$cold." and twelve digits."""
    return reference_to(short_key(key))


def parse_reference(written: str) -> str:
    """Return the key, whole or short, in a reference, a bare key or a URI; any other text without blanks around it.

    The result is not checked: `check_grant` decides whether it opens anything.
    """
    word = written.strip()
    return uri_to_key(word) or word.removeprefix("$")


def find_references(text: str) -> list[str]:
    """Return the keys of stored texts that `text` names in any way, whole or short as written, each once, in order."""
    return [f"cold.{digits}" for digits in dict.fromkeys(_IN_TEXT.findall(text))]


def mistyped_references(text: str) -> list[str]:
    """Return the keys of references in `text` that have another number of digits than a key has."""
    return _MISTYPED.findall(text)


def split_reference(text: str) -> tuple[str, str] | None:
    """Return the reference with which `text` begins, which may be mistyped, and what stands behind it, or None."""
    found = _AT_START.fullmatch(text)
    return (found[1], found[2]) if found else None


def is_named(key: str, names: Container[str]) -> bool:
    """Return whether a key is, whole or short, among `names`, such as those of `find_references`."""
    return key in names or short_key(key) in names


def match_keys(names: Iterable[str], keys: Iterable[str]) -> dict[str, str]:
    """Return by each of `names`, whole keys or short ones, the key that it means: the only one that begins so."""
    by_name: dict[str, set[str]] = {}
    for key in keys:
        for name in (key, short_key(key)):
            by_name.setdefault(name, set()).add(key)
    return {name: next(iter(by_name[name])) for name in names if len(by_name.get(name, ())) == 1}


def replace_references(text: str, replacement: Callable[[str], str | None]) -> str:
    """Return `text` with each name of a stored text, written in any way, replaced.

    Args:
        text: Any text.
        replacement: Returns what stands in place of a key, whole or short as written; None: its name stays.
    """

    def replace(match: re.Match[str]) -> str:
        new = replacement(f"cold.{match[1]}")
        return match[0] if new is None else new

    return _WRITTEN.sub(replace, text)


def is_reference(text: str) -> bool:
    """Return whether `text` is an address: a URI, or a reference to an ACCP state such as `$warm.ckpt_1`."""
    return bool(_URI.fullmatch(text) or _REFERENCE.fullmatch(text))


def reference_to_uri(reference: str) -> str:
    """Return a reference as a context holds it: `accp://cold/c95` for `$cold.c95`; any other text is unchanged."""
    parts = _REFERENCE.fullmatch(reference)
    return f"accp://{parts[1]}/{parts[2]}" if parts else reference


def uri_to_key(uri: str) -> str | None:
    """Return the key that a URI of an ACCP state names, such as "cold.c95"; None for any other text."""
    parts = _STATE_URI.fullmatch(uri)
    return f"{parts[1]}.{parts[2]}" if parts else None


def uri_to_reference(uri: str) -> str:
    """Return a URI as a frame holds it: `$cold.c95` for `accp://cold/c95`; any other text is unchanged."""
    key = uri_to_key(uri)
    return uri if key is None else reference_to(key)
