"""What a preview writes in place of what it leaves out: `[…57 lines]`, `[…base64, 41,200 characters]`.

No text of a source looks like one of these marks: the sign that begins them does not occur in the source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["Marks"]

_SIGN: Final = "…"
_MIN_BLOB_CHARS: Final = 64
"""Characters of a run without blanks that may be binary data or a hash; a shorter one is shown."""
_RUN: Final = re.compile(rf"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{{{_MIN_BLOB_CHARS},}}+")
_HEX: Final = re.compile(r"[0-9a-fA-F]++")
_WORDLIKE: Final = re.compile(r"[a-z]{12}|[/_-][a-z]{3,16}[/_-]")
"""What base64 hardly has: a path or a name of many words is no blob."""
_MIN_KINDS: Final = 16
"""Different characters that a blob has; a ruler of dashes has fewer."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Writes the marks of one preview."""

    sign: str
    """What every mark begins with, such as `[…`."""

    @classmethod
    def for_source(cls, source: str) -> Marks:
        """Return the marks whose sign does not occur in `source`."""
        sign = f"[{_SIGN}"
        while sign in source:
            sign += _SIGN
        return cls(sign)

    def gap(self, what: object) -> str:
        """Return the mark for `what` was left out, such as "57 lines"."""
        return f"{self.sign}{what}]"

    def size_blobs(self, text: str, min_chars: int = _MIN_BLOB_CHARS) -> str:
        """Return `text` with the size of each blob (base64, hex) of at least `min_chars`, 64 or more, in its place."""
        return _RUN.sub(lambda run: self._sized(run) if len(run.group()) >= min_chars else run.group(), text)

    def _sized(self, run: re.Match[str]) -> str:
        blob = run.group()
        head = blob[:4096]
        if len(set(head)) < _MIN_KINDS and not _HEX.fullmatch(head):
            return blob
        if _HEX.fullmatch(head):
            return self.gap(f"hex, {len(blob):,} characters")
        return blob if _WORDLIKE.search(head) else self.gap(f"base64, {len(blob):,} characters")
