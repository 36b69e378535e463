"""Whether an answer is right, by the rules of TOON's benchmark (`benchmarks/src/normalize.ts` of toon-format/toon)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, TypeAlias

__all__ = ["ANSWER_TYPES", "is_right"]

_INTEGER: Final = re.compile(r"[$€£¥]?\s*-?[0-9][0-9,]*")
_NUMBER: Final = re.compile(r"[$€£¥]?\s*-?[0-9][0-9,]*(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?%?", re.IGNORECASE)
_SIGNS: Final = re.compile(r"[$€£¥,%\s]")
_QUOTES: Final = re.compile(r"^[\"']|[\"']$")
_FENCED: Final = re.compile(r"```(?:\w+\n)?(.*?)```", re.DOTALL)
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TOLERANCE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class _Rules:
    """How two answers are compared."""

    decimal_places: int | None
    case_sensitive: bool


_Normalize: TypeAlias = Callable[[str, _Rules], Any]
"""Returns what an answer means, None where it means nothing."""


def is_right(answer: str, expected: str, kind: str = "string", normalize: Mapping[str, Any] | None = None) -> bool:
    """Return whether an answer means what is expected.

    Args:
        answer: What a model wrote.
        expected: The right answer.
        kind: One of `ANSWER_TYPES`. Of numbers, the first in the text counts; of dates, the ISO date it begins with.
        normalize: "decimalPlaces" to which numbers are rounded (without it they may differ by a millionth), and
            "caseSensitive", without which texts are compared in lower case.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in ANSWER_TYPES:
        raise ValueError(f"expected an answer type of {', '.join(ANSWER_TYPES)}, found {kind!r}")
    given = normalize or {}
    rules = _Rules(given.get("decimalPlaces"), bool(given.get("caseSensitive")))
    found, wanted = (ANSWER_TYPES[kind](text, rules) for text in (answer, expected))
    if found is None or wanted is None:
        return False
    if kind == "number" and rules.decimal_places is None:
        return bool(abs(found - wanted) <= _TOLERANCE)
    return bool(found == wanted)


def _integer(text: str, rules: _Rules) -> int | None:
    match = _INTEGER.search(text)
    return int(_SIGNS.sub("", match[0])) if match and len(match[0]) < 1_000 else None


def _number(text: str, rules: _Rules) -> float | None:
    match = _NUMBER.search(text)
    if match is None:
        return None
    value = float(_SIGNS.sub("", match[0])) / (100 if match[0].endswith("%") else 1)
    if rules.decimal_places is None or not math.isfinite(value):
        return value
    # As Math.round does: a half is rounded up, not to the even neighbour.
    factor = 10.0**rules.decimal_places
    return math.floor(value * factor + 0.5) / factor


def _boolean(text: str, rules: _Rules) -> bool | None:
    word = text.strip().lower()
    return True if word in ("true", "yes", "y", "1") else False if word in ("false", "no", "n", "0") else None


def _date(text: str, rules: _Rules) -> str | None:
    match = _DATE.match(_QUOTES.sub("", text.strip()))
    return match[0] if match else None


def _string(text: str, rules: _Rules) -> str:
    plain = _QUOTES.sub("", text.strip())
    if fenced := _FENCED.fullmatch(plain):
        plain = fenced[1]
    return plain.strip() if rules.case_sensitive else plain.strip().lower()


def _list(text: str, rules: _Rules) -> list[str]:
    items = (item.strip() for item in _QUOTES.sub("", text.strip()).split(","))
    return [item if rules.case_sensitive else item.lower() for item in items if item]


ANSWER_TYPES: Final[Mapping[str, _Normalize]] = MappingProxyType(
    {
        "integer": _integer,
        "number": _number,
        "boolean": _boolean,
        "date": _date,
        "string": _string,
        "csv-list-ordered": _list,
        "csv-list-unordered": lambda text, rules: sorted(_list(text, rules)),
    }
)
"""The type of an answer to what it means."""
