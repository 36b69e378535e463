"""A reader of repeat markers that knows nothing of how they are made: it looks up, and takes what it finds first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

__all__ = ["Reader"]

_LINES = re.compile(r'\[as above: ([0-9]+) lines? from "(.*)…"\]')
_PASSAGE = re.compile(r'\[as above: "(.+) … (.+)"\]')


@dataclass
class Reader:
    """Reads a conversation from the top, and puts in place of each marker what it means."""

    sees_blanks: bool
    """Whether blanks at the beginning of a line and of the quote of lines matter to this reader."""
    lines: list[str] = field(default_factory=list)
    """The lines that were sent, markers as they are."""
    plain: list[list[str]] = field(default_factory=list)
    """The same lines, each in the parts between its markers."""

    def read(self, text: str, markers: Sequence[tuple[int, int]]) -> str:
        """Return the source of the next text, whose markers stand at `markers`; ValueError where one means nothing."""
        source = []
        start = 0
        for line in text.split("\n"):
            end = start + len(line)
            inside = [(first - start, last - start) for first, last in markers if start <= first and last <= end]
            source.append(self._read_line(line, inside))
            start = end + 1
        return "\n".join(source)

    def _read_line(self, line: str, markers: Sequence[tuple[int, int]]) -> str:
        source = ""
        self.plain.append([])
        done = 0
        for start, end in markers:
            self.plain[-1].append(line[done:start])
            source += line[done:start] + self._meant(line[start:end])
            done = end
        self.plain[-1].append(line[done:])
        self.lines.append(line)
        return source + line[done:]

    def _meant(self, marker: str) -> str:
        if lines := _LINES.fullmatch(marker):
            return self._lines_from(lines[2], int(lines[1]))
        passage = _PASSAGE.fullmatch(marker)
        if passage is None:
            raise ValueError(f"expected a marker, found {marker!r}")
        return self._passage(passage[1], passage[2])

    def _lines_from(self, quote: str, count: int) -> str:
        for index in reversed(range(len(self.lines))):
            line = self.lines[index]
            if line.startswith(quote) if self.sees_blanks else line.lstrip().startswith(quote.lstrip()):
                return "\n".join(self.lines[index : index + count])
        raise ValueError(f"expected a line above that begins with {quote!r}, found none")

    def _passage(self, first: str, last: str) -> str:
        for parts in reversed(self.plain):
            for part in reversed(parts):
                start = part.rfind(first)
                if start >= 0:
                    return part[start : part.index(last, start + len(first)) + len(last)]
        raise ValueError(f"expected {first!r} above, found it nowhere")
