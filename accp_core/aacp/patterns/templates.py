"""Patterns learned from a model's answers: an instruction and its packet with slots for the values (AACP 6.3).

    Fetch absence records of E-17       FETCH|HR|…|res:absence|filter:emp=E-17
    fetch absence records of {E-9}      FETCH|HR|…|res:absence|filter:emp={1}

One answer makes a pattern only where every value of the text (a period, a date, an amount with its currency, a number
with or without letters, a user) stands in the packet exactly as it is written in the text or in its canonical form,
and the packet has no other number and no name of a month. All other words, a "not" and an "if" as well, must be the
same in the next instruction, and so must the letters of an identifier, the currency and the number of values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from accp_core.aacp.instruction import Instruction, digest, spellings
from accp_core.aacp.packet import Packet
from accp_core.aacp.patterns.tokens import Sentence, read_sentence
from accp_core.aacp.patterns.values import MONTHS, is_user, read_date, read_money, read_period
from accp_core.aacp.vocabulary import PRIORITY, RETURN, VERSION_KEY
from accp_core.error_codes import ErrorCode
from accp_core.errors import EncodeError

__all__ = ["SentenceShape", "fill_template", "make_template", "read_shape"]

_NUMBERED: Final = re.compile(r"[A-Za-z]{0,8}(?:[-/_]?\d{1,15})+")
"""A number, or letters and numbers: "17", "E-17", "INV-2024-03"."""
_SLOT: Final = re.compile(r"\{(\d{1,3})\}")
_STAMPED: Final = frozenset({RETURN, PRIORITY, VERSION_KEY})
"""Fields that every packet gets from its caller."""


@dataclass(frozen=True, slots=True)
class SentenceShape:
    """An instruction without its values."""

    key: str
    """Identifies all instructions of this domain and this shape; empty where there are no values."""
    values: tuple[str, ...] = ()
    """The values, in the order of the text, as a packet has them."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A value in a text."""

    end: int
    """The token after it."""
    kind: str
    """What must be the same in another instruction of the shape."""
    value: str
    """The value as a packet has it."""


def read_shape(instruction: Instruction) -> SentenceShape:
    """Return the shape of an instruction; politeness and articles are no part of it."""
    sentence = read_sentence(" ".join(spellings(instruction.wording)))
    if sentence is None:
        return SentenceShape("")
    words: list[str] = []
    values: list[str] = []
    at = 0
    while at < len(sentence.tokens):
        if found := _find_value(sentence, at):
            words.append(f"{{{found.kind}}}")
            values.append(found.value)
            at = found.end
        else:
            words.append(sentence.tokens[at].source)
            at += 1
    return SentenceShape(digest("shape", instruction.domain, *words), tuple(values)) if values else SentenceShape("")


def _find_value(sentence: Sentence, at: int) -> _Found | None:
    """Return the value at the token `at`, None where there is none."""
    if date := read_date(sentence, at):
        return _Found(date[0], "date", date[1])
    if period := read_period(sentence, at):
        return _Found(period[0], "period", period[1])
    if money := read_money(sentence, at):
        return _Found(money[0], f"money {money[1].currency}", money[1].amount)
    source = sentence.tokens[at].source
    if _NUMBERED.fullmatch(source):
        return _Found(at + 1, re.sub(r"\d+", "9", source), source)
    return _Found(at + 1, "user", source) if "." in source and is_user(source) else None


def make_template(instruction: Instruction, shape: SentenceShape, packet: Packet) -> Packet | None:
    """Return `packet` with slots "{1}", "{2}" for the values of the text; None where that is not safe."""
    own = {key: value for key, value in packet.fields.items() if key not in _STAMPED}
    if len(set(shape.values)) < len(shape.values) or any(set("{}") & set(value) for value in own.values()):
        return None
    fields = dict(own)
    for number, value in sorted(enumerate(shape.values, 1), key=lambda row: -len(row[1])):
        bounded = re.compile(rf"(?<![\w.{{-]){re.escape(value)}(?![\w}}-]|\.\w)")
        replaced = {key: bounded.sub(f"{{{number}}}", text) for key, text in fields.items()}
        if replaced == fields:
            return None
        fields = replaced
    literals = [_SLOT.sub(" ", text) for text in fields.values()]
    if any(_may_vary(literal, instruction) for literal in literals):
        return None
    return Packet(task=packet.task, domain=packet.domain, fields={**packet.fields, **fields})


def _may_vary(literal: str, instruction: Instruction) -> bool:
    """Return whether text of a packet may come from a value: a number that the text does not have, or a month."""
    words = {word.strip(".,;:!?") for word in instruction.english.split()}
    numbers = re.findall(r"[\w.-]*\d[\w.-]*", literal)
    return any(number not in words for number in numbers) or not MONTHS.keys().isdisjoint(_letters(literal))


def _letters(text: str) -> Iterator[str]:
    yield from re.findall("[a-z]+", text.lower())


def fill_template(template: Packet, values: tuple[str, ...]) -> Packet:
    """Return the packet of a template for other values of the same shape.

    Raises:
        EncodeError: E1004, the template has a slot that the shape has not.
    """

    def fill(slot: re.Match[str]) -> str:
        number = int(slot[1])
        if not 0 < number <= len(values):
            reason = f"expected slots for {len(values)} values, found {slot[0]!r}"
            raise EncodeError(reason, code=ErrorCode.INVALID_TYPE)
        return values[number - 1]

    fields = {key: text if key in _STAMPED else _SLOT.sub(fill, text) for key, text in template.fields.items()}
    return Packet(task=template.task, domain=template.domain, fields=fields)
