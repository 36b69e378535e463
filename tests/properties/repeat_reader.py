"""A reader of repeat markers that knows nothing of how they are made: it looks up, and takes what it finds first."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field

__all__ = ["Reader"]

_MARKER = re.compile(r'\[as above: ([0-9]+) lines? from (the last )?"(.*)…"\]')


@dataclass
class Reader:
    """Reads a conversation from the top, and puts in place of each marker what it means."""

    sees_blanks: bool
    """Whether blanks at the beginning of a line and of the quote of lines matter to this reader."""
    lines: list[str] = field(default_factory=list)
    """The lines that were sent, markers as they are."""

    def read(self, text: str, markers: Collection[int]) -> str:
        """Return the source of the next text, whose lines of the numbers `markers` are markers."""
        source = []
        for number, line in enumerate(text.split("\n")):
            source.append(self._meant(line) if number in markers else line)
            self.lines.append(line)
        return "\n".join(source)

    def _meant(self, line: str) -> str:
        marker = _MARKER.fullmatch(line)
        if marker is None:
            raise ValueError(f"expected a marker, found {line!r}")
        count, is_last, quote = int(marker[1]), marker[2], marker[3]
        found = [index for index, each in enumerate(self.lines) if self._begins(each, quote)]
        if len(found) > 1 and not is_last and self.sees_blanks:
            found = [index for index in found if self.lines[index].startswith(quote)]
        if not found or (len(found) > 1 and not is_last):
            raise ValueError(f"expected one line above that begins with {quote!r}, found {len(found)}")
        return "\n".join(self.lines[found[-1] : found[-1] + count])

    def _begins(self, line: str, quote: str) -> bool:
        return line.startswith(quote) if self.sees_blanks else line.lstrip().startswith(quote.lstrip())
