"""Reading a model's answers and telling the right ones from the wrong ones, with the class of each error."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from accp_adapters.evaluation.reading.questions import Question
from accp_adapters.evaluation.reading.tables import Scalar

__all__ = ["Grade", "grade", "read_answers"]

_NUMBERED: Final = re.compile(r"^\W{0,4}?(\d{1,3})[ \t]*[.:)]\**[ \t]*(.*)$", re.MULTILINE)
_MARKED: Final = re.compile(r"(\*\*|`+)(.+)\1")
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,6})?")
_REFERENCE: Final = re.compile(r"[*&]\d+$")
_MAX_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Whether an answer is right."""

    right: bool
    """Whether it is what the data say."""
    error: str | None = None
    """"format" (no answer found), "repeated value" (a mark such as `*1` instead of its value), "row" (the value of
    another entry), "column" (another value of the entry), "other"; None where it is right."""


def read_answers(text: str, count: int) -> list[str | None]:
    """Return the answers in the words of a model to `count` questions, None for one that is not there.

    A line is `2: the answer`. A single question may be answered without a number.
    """
    found = {int(number): answer.strip()[:_MAX_CHARS] for number, answer in _NUMBERED.findall(text)}
    if count == 1 and 1 not in found:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return [lines[-1][:_MAX_CHARS] if lines else None]
    return [found.get(number) or None for number in range(1, count + 1)]


def grade(question: Question, answer: str | None) -> Grade:
    """Return whether `answer` is right; blanks around it, quotes and backticks do not count, nor does how a number is
    written. A text that looks like a number, such as "007", is a text.
    """
    if answer is None:
        return Grade(right=False, error="format")
    expected = question.answer
    if isinstance(expected, tuple):
        return Grade(right=True) if _are_all(expected, _items(answer)) else Grade(right=False, error="other")
    given = _unquoted(answer)
    if _is(expected, given):
        return Grade(right=True)
    return Grade(right=False, error=_class_of(given, question.distractors))


def _class_of(answer: str, distractors: Mapping[str, Sequence[str]]) -> str:
    if _REFERENCE.fullmatch(answer):
        return "repeated value"
    wrong = _number(answer)
    return next((name for name, values in distractors.items() if answer in values or _has(values, wrong)), "other")


def _has(values: Sequence[str], number: Decimal | None) -> bool:
    return number is not None and number in map(_number, values)


def _are_all(expected: Sequence[Scalar], found: list[str]) -> bool:
    """Return whether each expected value is found once, and nothing else."""
    left = list(found)
    for value in expected:
        match = next((number for number, given in enumerate(left) if _is(value, given)), None)
        if match is None:
            return False
        del left[match]
    return not left


def _items(answer: str) -> list[str]:
    """Return the items of an answer that is a list, as they would be written alone."""
    value = _json(answer)
    if isinstance(value, list):
        return [item if isinstance(item, str) else json.dumps(item) for item in value]
    return [_unquoted(part) for part in answer.strip("[] ").split(",") if part.strip()]


def _unquoted(answer: str) -> str:
    """Return an answer without Markdown and quotes."""
    plain = answer.strip()
    if marked := _MARKED.fullmatch(plain):
        plain = marked[2].strip()
    value = _json(plain)
    return value if isinstance(value, str) else plain.strip("'\"")


def _json(text: str) -> object:
    """Return the value of JSON, None for anything else."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is(expected: Scalar, given: str) -> bool:
    """Return whether a model that wrote `given` means `expected`."""
    if isinstance(expected, str):
        return given == expected
    if expected is None:
        return given.lower() in ("null", "none")
    if isinstance(expected, bool):
        return given.lower() == json.dumps(expected)
    return _number(given) == Decimal(repr(expected))


def _number(text: str) -> Decimal | None:
    """Return the exact number that a text is, None for any other text."""
    if not _NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except ArithmeticError:  # an exponent beyond all measure
        return None
