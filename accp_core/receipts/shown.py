"""What an agent was shown, to look claims up in: words, numbers, dates, and the nearest of each."""

from __future__ import annotations

import difflib
import functools
import itertools
import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from accp_core.receipts.claims import ClaimKind, StatedValue, claims_in
from accp_core.receipts.indexed import IndexedTable
from accp_core.receipts.moments import moments_in, times_in
from accp_core.receipts.spelling import decimal_of, numbers_in, plain
from accp_core.receipts.values import has_words, unescaped_forms
from accp_core.tables import open_text

__all__ = ["ShownTexts"]

_OMISSION: Final = re.compile(r"\s*(?:\[?(?:…|\.\.\.)\]?)\s*")
_SCALES: Final = {"k": 1_000, "m": 1_000_000, "bn": 1_000_000_000}
_MAX_CANDIDATES: Final = 100_000
_MAX_DATES: Final = 2_000
_MAX_NEAREST: Final = 200
"""Characters of the nearest quotation."""
_MAX_TABLES: Final = 100
_MAX_ROWS: Final = 20_000
"""Rows of a table that is counted and summed."""


class ShownTexts:
    """The texts that an agent was shown; what is made of them is made when it is first asked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Look claims up in `texts`."""
        self._texts: Final = [form for text in texts for form in unescaped_forms(text)]

    def holds(self, claim: StatedValue) -> bool:
        """Return whether a text holds what `claim` states, as it is or in another spelling."""
        if claim.kind is ClaimKind.QUOTATION:
            return self._holds_quotation(claim.text)
        if any(claim.text + claim.unit in text and has_words(text, claim.text + claim.unit) for text in self._texts):
            return True
        if claim.kind is ClaimKind.NUMBER:
            return decimal_of(claim.text) in self.numbers
        if claim.kind is ClaimKind.TIME:
            return bool(times_in(claim.text) & self._times)
        if claim.kind is ClaimKind.DATE:
            return any(self._holds_moment(*moment) for moment in moments_in(claim.text))
        return self._holds_quotation(claim.text)

    def rounds_to(self, number: Decimal, unit: str) -> Decimal | None:
        """Return a number that is rounded to `number`, of which `unit` says the scale: thousands, percent."""
        exponent = Decimal((0, (1,), number.as_tuple().exponent))  # type: ignore[arg-type]  # a finite number
        scale = _SCALES.get(unit.casefold(), 1)
        scales = {Decimal(scale), Decimal("0.01")} if unit == "%" else {Decimal(scale)}
        return next(
            (
                shown
                for shown in self.numbers
                for each in scales
                if number and abs(shown / each - number) < 1 and (each != 1 or _decimals(shown) > _decimals(number))
                if (shown / each).quantize(exponent, ROUND_HALF_UP) == number
            ),
            None,
        )

    def nearest(self, claim: StatedValue) -> str:
        """Return the value shown that is most like that of `claim`; "" where none is alike."""
        if claim.kind is ClaimKind.QUOTATION:
            return self._nearest_line(claim.text)
        if claim.kind in (ClaimKind.DATE, ClaimKind.TIME):
            dates = self._candidates[ClaimKind.DATE] + self._candidates[ClaimKind.TIME]
            return next(iter(difflib.get_close_matches(claim.text, dates[:_MAX_DATES], n=1, cutoff=0.4)), "")
        value = claim.text.replace(",", "") if claim.kind is ClaimKind.NUMBER else claim.text
        near = min(self._candidates[claim.kind], key=lambda shown: _difference(value, shown), default="")
        return near if 3 * _difference(value, near)[0] <= 2 * max(3, len(value), len(near)) else ""

    @functools.cached_property
    def numbers(self) -> dict[Decimal, None]:
        """All numbers."""
        return dict.fromkeys(number for text in self._texts for number in numbers_in(text))

    @functools.cached_property
    def tables(self) -> list[IndexedTable]:
        """The tables of all texts, within a bound."""
        found = (table for text in self._texts for table in open_text(text).tables() if len(table.rows) <= _MAX_ROWS)
        return list(map(IndexedTable, itertools.islice(found, _MAX_TABLES)))

    @functools.cached_property
    def _plain(self) -> list[str]:
        return list(map(plain, self._texts))

    @functools.cached_property
    def _times(self) -> set[str]:
        return {shown for text in self._texts for time in times_in(text) for shown in (time, time[:5])}

    @functools.cached_property
    def _moments(self) -> set[tuple[int | None, int, int, str]]:
        found = {moment for text in self._texts for moment in moments_in(text)}
        # Year 0 stands for any: a claim may name none.
        return {
            (any_year, month, day, part)
            for year, month, day, time in found
            for any_year in (year, 0)
            for part in (time, time[:5], "")
        }

    def _holds_moment(self, year: int | None, month: int, day: int, time: str) -> bool:
        return any((each, month, day, time) in self._moments for each in ((year, None) if year else (0,)))

    def _holds_quotation(self, words: str) -> bool:
        parts = [part.strip(" .,:;!?") for part in _OMISSION.split(plain(words))]
        return any(all(has_words(text, part) for part in parts if part) for text in self._plain)

    @functools.cached_property
    def _candidates(self) -> dict[ClaimKind, list[str]]:
        found: dict[ClaimKind, dict[str, None]] = {kind: {} for kind in ClaimKind}
        claims = (claim for text in self._texts for claim in claims_in(text.replace('"', " ").replace("`", " ")))
        for claim in itertools.islice(claims, _MAX_CANDIDATES):
            found[claim.kind][claim.text] = None
        numbers = (f"{number.normalize():f}" for number in self.numbers)
        return {kind: list(texts) for kind, texts in found.items()} | {ClaimKind.NUMBER: list(numbers)}

    def _nearest_line(self, words: str) -> str:
        wanted = set(plain(words).split())
        lines = (line for text in self._texts for line in text.split("\n"))
        near = max(lines, key=lambda line: len(wanted.intersection(plain(line).split())), default="")
        return near.strip()[:_MAX_NEAREST] if 2 * len(wanted.intersection(plain(near).split())) >= len(wanted) else ""


def _decimals(number: Decimal) -> int:
    return -int(number.as_tuple().exponent)


def _difference(text: str, other: str) -> tuple[int, int]:
    """Return how many characters of both lie between what they begin and end with alike, and how far those end."""
    length = min(len(text), len(other))
    start = next((i for i in range(length) if text[i] != other[i]), length)
    end = next((i for i in range(length - start) if text[-1 - i] != other[-1 - i]), length - start)
    return max(len(text), len(other)) - start - end, end
