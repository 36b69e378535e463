"""The lines of a view with the text blocks that stand below them, and where in the text each line begins."""

from __future__ import annotations

from collections import deque
from typing import Final, NoReturn

from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.view.notation import TEXT_BLOCK

__all__ = ["LineReader"]


class LineReader:
    """A view, read from top to bottom."""

    def __init__(self, text: str) -> None:
        self.text: Final = text
        self.all: Final = text.split("\n")
        self.number = 0
        self.blocks: deque[str] = deque()

    def __bool__(self) -> bool:
        return self.number < len(self.all)

    def take(self) -> str:
        """Return the next line, with the text blocks that it announces ready in `blocks`.

        Raises:
            DecodeError: E1001, the text ends here, or in a block.
        """
        if self.number >= len(self.all):
            self.fail("expected another line, the text ends", 0)
        line = self.all[self.number]
        self.number += 1
        if TEXT_BLOCK in line:
            for _ in range(line.count(TEXT_BLOCK)):
                self.blocks.append(self._take_block())
        return line

    def ahead(self, count: int) -> list[str]:
        """Return the next `count` lines, fewer if the text ends before, without taking them."""
        return self.all[self.number : self.number + count]

    def _take_block(self) -> str:
        try:
            end = self.all.index(TEXT_BLOCK, self.number)
        except ValueError:
            self.fail(f"expected a line {TEXT_BLOCK!r} at the end of a block of text, the text ends", 0)
        block = "\n".join(self.all[self.number : end])
        self.number = end + 1
        return block

    def fail(self, reason: str, column: int) -> NoReturn:
        """Refuse the text, at `column` of the line that was taken last."""
        before = sum(len(line) + 1 for line in self.all[: max(self.number - 1, 0)])
        raise DecodeError(
            reason, code=ErrorCode.PARSE_ERROR, text=self.text, position=min(before + column, len(self.text))
        )
