"""Receipts: where each value of an answer comes from."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, localcontext
from enum import StrEnum
from typing import Final

from accp_core.receipts.claims import ClaimKind, StatedValue, claims_in
from accp_core.receipts.derived import derive
from accp_core.receipts.shown import ShownTexts

__all__ = ["Origin", "Receipt", "check"]

_MAX_CLAIMS: Final = 1_000
"""Values of an answer that are checked; those after them are not."""

_END: Final = re.compile(r"[.!?](?=\s)|\n")


class Origin(StrEnum):
    """Where a value of an answer comes from."""

    SHOWN = "shown"
    """It stands in what the agent was shown."""
    DERIVED = "derived"
    """It is a count, a sum, a difference, a share or a rounded form of values that were shown."""
    OWN = "own"
    """It stands only in what the agent itself wrote before, such as the arguments of its calls."""
    NOWHERE = "nowhere"
    """It stands in none of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Where one value of an answer comes from."""

    kind: ClaimKind
    """What the value is."""
    text: str
    """The value as the answer writes it."""
    start: int
    """Its position in the answer, in characters."""
    origin: Origin
    """Where it comes from."""
    derivation: str = ""
    """Of a derived number how it follows, such as "count of rows where status=open"."""
    nearest: str = ""
    """Of a value that stands nowhere the one shown that is most like it; "" where none is alike."""


def check(answer: str, shown: Iterable[str], *, own: Iterable[str] = (), request: str = "") -> tuple[Receipt, ...]:
    """Return where each number, identifier, date and quotation of `answer` comes from, in its order.

    A value is looked up wherever it stands: one that is right in another row is not told from the right one. Numbers of
    one digit, plain words and names are not checked.

    Args:
        answer: A final answer, or what one agent hands to another.
        shown: The texts that the agent was shown or fetched, instructions and the user's words among them.
        own: What the agent wrote itself.
        request: The request that is answered; a count or a sum may follow from what it names.
    """
    texts, written = ShownTexts(shown), ShownTexts(own)
    claims = itertools.islice(claims_in(answer), _MAX_CLAIMS)
    # Whatever others wrote as a number, such as NaN or 9e999999, a comparison or a sum of it is no error.
    with localcontext(Context(traps=[])):
        return tuple(_receipt(claim, f"{request}\n{_sentence(answer, claim)}", texts, written) for claim in claims)


def _receipt(claim: StatedValue, context: str, shown: ShownTexts, own: ShownTexts) -> Receipt:
    origin, derivation, nearest = Origin.NOWHERE, "", ""
    if shown.holds(claim):
        origin = Origin.SHOWN
    elif claim.kind is ClaimKind.NUMBER and (derivation := derive(claim, context, shown)):
        origin = Origin.DERIVED
    elif own.holds(claim):
        origin = Origin.OWN
    else:
        nearest = shown.nearest(claim)
    return Receipt(
        kind=claim.kind, text=claim.text, start=claim.start, origin=origin, derivation=derivation, nearest=nearest
    )


def _sentence(answer: str, claim: StatedValue) -> str:
    """Return the sentence of a claim without the claim itself, which proves nothing."""
    end = claim.start + len(claim.text)
    starts = [match.end() for match in _END.finditer(answer, 0, claim.start)]
    behind = _END.search(answer, end)
    return answer[starts[-1] if starts else 0 : claim.start] + answer[end : behind.start() if behind else len(answer)]
