"""What a preview writes in place of what it leaves out: `[…57 lines]`, `[…base64, 41,200 characters]`.

While a preview is composed, its marks begin with a private sign that nothing shown of the source holds. At the end the
source's own text is escaped (`accp_core.markers`), and then each private sign becomes `[…`: however the pieces, cells
and names of a source come to stand together, only the marks written here look like marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from accp_core.markers import MarkerStart, escape_markers
from accp_core.ports import TokenCounter
from accp_core.tables import Table
from accp_core.view.layout import CUT_LINE, replace_cut_lines
from accp_core.view.notation import visible

__all__ = ["Marks"]

_PRIVATE: Final = "\ufdd0"
"""A noncharacter, which no text should hold; a source that holds it makes the private sign longer."""
_IN_ASCII: Final = f"\\u{ord(_PRIVATE):04x}"
"""The same in a cell with half a surrogate pair, which is quoted in ASCII."""
_CUT: Final = CUT_LINE.removeprefix("\n[")
_MIN_BLOB_CHARS: Final = 64
"""Characters of a run without blanks that may be binary data or a hash; a shorter one is shown."""
_LINE_END: Final = r"(?:\r?\n[ \t]*|(?:\\r)?\\n)"
"""The end of a line, also as JSON escapes it."""
_RUN: Final = re.compile(
    rf"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{{{_MIN_BLOB_CHARS},}}+(?:(?:{_LINE_END}[A-Za-z0-9+/]{{60,}}+)++"
    rf"(?:{_LINE_END}(?:[A-Za-z0-9+/]{{16,75}}+=?=?|[A-Za-z0-9+/]{{2,15}}+==?)(?![^\s\\\"'])|=?=?))?"
)
"""A run, or base64 in lines: the last one is short, and ends like base64 or is no word."""
_ENDS: Final = re.compile(_LINE_END)
_HEX: Final = re.compile(r"[0-9a-fA-F]++")
_WORDLIKE: Final = re.compile(r"[a-z]{12}|[/_-][a-z]{3,16}[/_-]")
"""What base64 hardly has: a path or a name of many words is no blob."""
_CHARS_PER_WORD: Final = 400
"""In a path or a name a word begins at least that often; random base64 has one in about 25,000 characters."""
_MIN_KINDS: Final = 16
"""Different characters that a blob has; a ruler of dashes has fewer."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Writes the marks of one preview."""

    length: int = 1
    """The number of private characters in the sign."""

    @classmethod
    def apart_from(cls, text: str, tables: Sequence[Table] = ()) -> Marks:
        """Return the marks for a preview of parts of `text` and `tables`, whose source may escape the sign."""
        cells = (repr(part) for table in tables for part in (table.name, table.columns, *table.rows))
        length = 1
        for each in chain([text], cells):
            while _PRIVATE * length in each or _IN_ASCII * length in each:
                length += 1
        return cls(length)

    def gap(self, what: object) -> str:
        """Return the mark for `what` was left out, such as "57 lines"."""
        return f"[{_PRIVATE * self.length}{what}]"

    @property
    def cut_line(self) -> str:
        """The line of a view behind JSON that its source cut off, as a mark, so that no line of the source passes."""
        return f"[{_PRIVATE * self.length}{_CUT}"

    def keep_cuts(self, text: str, layout: str) -> str:
        """Return a view whose own lines on what its source cut off are marks."""
        return replace_cut_lines(text, layout, self.cut_line)

    def show(self, text: str) -> str:
        """Return a composed text as a model reads it: the source's own escaped, the marks with their usual sign."""
        return self._reveal(visible(escape_markers(text)))

    def counting(self, counter: TokenCounter) -> TokenCounter:
        """Return a counter of the tokens that a composed text will have, but for what is escaped."""
        return lambda text: counter(self._reveal(text))

    def _reveal(self, text: str) -> str:
        text = text.replace(self.cut_line, f"[{_CUT}")
        for private in (_PRIVATE, _IN_ASCII):
            text = text.replace(f"[{private * self.length}", MarkerStart.GAP)
        return text

    def size_blobs(self, text: str, min_chars: int = _MIN_BLOB_CHARS, *, keeps_lines: bool = False) -> str:
        """Return `text` with the size of each blob (base64, hex) in its place.

        Args:
            text: The text.
            min_chars: Characters of a blob at least, 64 or more.
            keeps_lines: Whether the line feeds of a blob in lines stay, since the lines of `text` are numbered.
        """

        def sized(run: re.Match[str]) -> str:
            lines = _ENDS.split(run[0])
            if len(set(map(len, lines[:-1]))) > 1 or all(map(_HEX.fullmatch, lines)):
                # Each line has a blob of its own, or is none.
                ends = ["", *_ENDS.findall(run[0])]
                return "".join(
                    end + (self._sized(line) if len(line) >= min_chars else line)
                    for end, line in zip(ends, lines, strict=True)
                )
            blob = "".join(lines)
            mark = self._sized(blob) if len(blob) >= min_chars else blob
            return run[0] if mark == blob else mark + "\n" * run[0].count("\n") * keeps_lines

        return _RUN.sub(sized, text)

    def _sized(self, blob: str) -> str:
        """Return the mark for a blob, or the text that is none."""
        head = blob[:4096]
        if _HEX.fullmatch(head):
            return self.gap(f"hex, {len(blob):,} characters")
        is_text = len(_WORDLIKE.findall(head)) * _CHARS_PER_WORD > len(head)
        return blob if is_text or len(set(head)) < _MIN_KINDS else self.gap(f"base64, {len(blob):,} characters")
