"""A judge's words about one result: a yes, or feedback (ACI section 5.2, second phase)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["NOT_JUDGED", "read_verdict"]

NOT_JUDGED: Final = "the result was not judged"
_YES: Final = re.compile(r"[\W_]*yes\b(?P<more>.*)", re.IGNORECASE | re.DOTALL)
_MORE: Final = re.compile(r"[^\W_]|\?")
_MAX_EXCERPT_CHARS: Final = 200


def read_verdict(answer: str) -> str | None:
    """Return None if `answer` is `yes` and nothing else, else the feedback for the agent.

    What follows a yes may limit it or take it back, and is no clear no, after which the work would be done again:
    such an answer, and one without words, is `NOT_JUDGED` with the reason.
    """
    yes = _YES.match(answer)
    if yes is None:
        return answer.strip() or NOT_JUDGED
    if not _MORE.search(yes["more"]):
        return None
    return f"{NOT_JUDGED}: expected `yes` alone, found {answer.strip()[:_MAX_EXCERPT_CHARS]!r}"
