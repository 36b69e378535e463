"""What an agent's words about one step mean: done, failed, or not understood (ACI section 5.2).

An undone step must never pass as done, while a done step that is not recognised costs one more question. So nothing
decides but the words that `brief` asks for:

1. "done: result" is done, with whatever follows; whether the result is right, or says that nothing was done, is for the
   verifier to judge. "Done." alone is done without a result, which `evaluate` leaves unverified.
2. "not done: why" is a failure.
3. Both about one step, and all other words, are not understood.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from accp_core.aci.checks import violation
from accp_core.aci.items import Outcome
from accp_core.error_codes import ErrorCode

__all__ = ["MARK", "SAYS_BOTH", "ItemAnswer", "not_understood", "read_outcome", "says_nothing", "without_fences"]

MARK: Final = r"[*_`]{0,3}(?P<not>not[ \t]+)?done[*_`]{0,3}[ \t]*:[*_`]{0,3}"
"""Pattern of the words with which an answer begins, in any case: "done:", "**Not done:**"."""
SAYS_BOTH: Final = "says both `done:` and `not done:`"
_EXPECTED: Final = "does not begin with `done:` or `not done:`"
_MAX_EXCERPT_CHARS: Final = 80
"""Characters of an answer that a remark about it quotes."""

_BEGIN: Final = re.compile(rf"[ \t*_`#•+-]{{0,20}}{MARK}", re.IGNORECASE)
_LINE: Final = re.compile(f"^{MARK}", re.IGNORECASE | re.MULTILINE)
_BARE: Final = re.compile(r"[\W_]{0,20}(?P<not>not[ \t]+)?done[*_`.!]{0,5}", re.IGNORECASE)
_NOTHING: Final = re.compile(r"[\W_]*(?:done[\W_]*)?", re.IGNORECASE)
_FENCED: Final = re.compile(r"(```|~~~).*?(?:\1|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ItemAnswer:
    """What an agent answered about one item."""

    outcome: Outcome
    """Whether the item is done."""
    text: str = ""
    """The result, or why the item is not done, or the words that were not understood."""
    problem: str = ""
    """What was not understood; empty for the other outcomes, and where "done" came without a result."""

    def __post_init__(self) -> None:
        """Check the outcome (ProtocolError E1004)."""
        if not isinstance(self.outcome, Outcome):
            raise violation(ErrorCode.INVALID_TYPE, "an Outcome", self.outcome)


def read_outcome(text: str) -> ItemAnswer:
    """Return what the words about one step mean."""
    shown = text.strip()
    mark = _BEGIN.match(shown) or _BARE.fullmatch(shown)
    if mark is None:
        return not_understood(shown, _EXPECTED)
    result = shown[mark.end() :].strip()
    if _contradicts(result, is_failure=bool(mark["not"])):
        return not_understood(shown, SAYS_BOTH)
    if mark["not"]:
        return ItemAnswer(Outcome.FAILED, result)
    return ItemAnswer(Outcome.DONE, "" if says_nothing(result) else result)


def _contradicts(result: str, *, is_failure: bool) -> bool:
    """Return whether the words after a mark are, or have a line that begins with, the other one."""
    marks = (_BARE.fullmatch(result), *_LINE.finditer(without_fences(result)))
    return any(mark is not None and bool(mark["not"]) != is_failure for mark in marks)


def not_understood(text: str, problem: str) -> ItemAnswer:
    """Return the answer that `text` is where it cannot be used, for `problem`."""
    excerpt = " ".join(text.split())
    if len(excerpt) > _MAX_EXCERPT_CHARS:
        excerpt = excerpt[: _MAX_EXCERPT_CHARS - 1] + "…"
    quoted = f'"{excerpt}"' if excerpt else "the answer"
    return ItemAnswer(Outcome.UNVERIFIED, text, f"not understood: {quoted} {problem}")


def says_nothing(text: str) -> bool:
    """Return whether `text` is no result: without a letter or a digit, or the word "done" alone."""
    return bool(_NOTHING.fullmatch(text))


def without_fences(text: str) -> str:
    """Return `text` with blanks for what is in code blocks, so that all other places stay where they are."""
    return _FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), text)
