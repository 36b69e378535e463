"""A judge's words about one result: a clear yes, or feedback (ACI section 5.2, second phase)."""

from __future__ import annotations

import re
from typing import Final

from accp_core.aci.replies import words
from accp_core.aci.replies.wording import is_foreign, plain

__all__ = ["NOT_JUDGED", "read_verdict"]

NOT_JUDGED: Final = "the result was not judged"
_YES: Final = re.compile(r"[\W_]*yes\b")
# Negations that praise; everything else that is negative, or limits the yes, makes it a no.
_PRAISE: Final = re.compile(
    r"\b(?:nothing (?:else )?(?:is |was )?(?:missing|lacking|needed)|nothing more is needed|no problems?|no errors?|"
    r"no issues?|without (?:any )?(?:problems?|errors?|gaps))\b"
)
_LIMIT: Final = re.compile(r"\b(?:only|if|unless|until|wrong|incorrect|instead|half|some|most|partly|mostly|or no)\b")


def read_verdict(answer: str) -> str | None:
    """Return None if `answer` is clearly a yes, else the feedback for the agent; `NOT_JUDGED` if there are no words."""
    simple = _PRAISE.sub(" ", plain(answer))
    patterns = (words.UNDONE, words.DOUBT, _LIMIT)
    if _YES.match(simple) and not any(pattern.search(simple) for pattern in patterns) and not is_foreign(answer):
        return None
    return answer.strip() or NOT_JUDGED
