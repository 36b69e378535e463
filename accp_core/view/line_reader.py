"""Reads a view line by line, with the text blocks below a line, and finds the position of an error."""

from __future__ import annotations

import re
from collections import deque
from typing import Final, NoReturn

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.view.notation import FENCE, TEXT_BLOCK

__all__ = ["LineReader"]

_NEVER: Final = re.compile(r"[\x00-\x08\x0b-\x1f]")
"""Characters that no view holds; a tab stands in text blocks only."""


class LineReader:
    """The lines of a view, read from top to bottom; truthy while there are more."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        # A source that ends with a line break has one behind its view, too.
        self.lines: Final = (text.rstrip("\r\n") if text.endswith("\n") else text).split("\n")
        self.number = 0
        """The index of the next line."""
        self.blocks: deque[str] = deque()
        """The text blocks of the current line that were not used yet."""
        # Most texts hold no such character, and to look at them line by line takes much longer.
        if not self.text.replace("\n", "").isprintable() and (never := _NEVER.search("\n".join(self.lines))):
            reason = f"expected no control character, found {never[0]!r}"
            raise DecodeError(reason, code=ErrorCode.PARSE_ERROR, text=text, position=never.start())

    def __bool__(self) -> bool:
        return self.number < len(self.lines)

    def next_line(self) -> str:
        """Return the next line and put the text blocks below it into `blocks`.

        Raises:
            DecodeError: E1001, the text ends here, or within a block; the line holds a tab or ends with a blank.
        """
        if self.number >= len(self.lines):
            self.fail("expected another line, found the end of the text", 0)
        line = self.lines[self.number]
        self.number += 1
        if line.endswith(" ") or "\t" in line:
            at = line.find("\t") if "\t" in line else len(line.rstrip())
            self.fail(f"expected no tab, and no blank at the end of a line, found {line[at]!r}", at)
        if TEXT_BLOCK in line:
            for fence in FENCE.findall(line):
                self.blocks.append(self._next_block(fence))
        return line

    def peek(self, count: int) -> list[str]:
        """Return the next `count` lines, or fewer if the text ends, without moving on."""
        return self.lines[self.number : self.number + count]

    def _next_block(self, fence: str) -> str:
        try:
            end = self.lines.index(fence, self.number)
        except ValueError:
            self.fail(f"expected a line {fence!r} at the end of a text block, found the end of the text", 0)
        block = "\n".join(self.lines[self.number : end])
        self.number = end + 1
        return block

    def fail(self, reason: str, column: int, *, code: ErrorCode = ErrorCode.PARSE_ERROR) -> NoReturn:
        """Refuse the text at `column` of the current line.

        Raises:
            DecodeError: `code`, always.
        """
        before = sum(len(line) + 1 for line in self.lines[: max(self.number - 1, 0)])
        raise DecodeError(reason, code=code, text=self.text, position=min(before + column, len(self.text)))
