"""The values that patterns take out of an instruction: how each is recognised, and what becomes of it.

A reader yields where a value ends and what it is. It takes only what looks like such a value and like nothing else: a
plain word is no user, a number without a currency no amount. What no reader takes stays uncovered, so that the model
is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_core.aacp.patterns import values
from accp_core.aacp.patterns.names import read_name, read_quoted
from accp_core.aacp.patterns.tokens import Sentence
from accp_core.aacp.patterns.words import (
    ATTACHMENTS,
    BLOCKS,
    BOTH_DIRECTORS,
    CONTRACT_TYPES,
    FORMATS,
    ISSUE_WORDS,
    MESSAGES,
    RECIPIENTS,
    RECOMMENDATIONS,
    RISKS,
    STATUSES,
    STOP_WORDS,
    SYSTEMS,
    ZONES,
)

__all__ = ["ANYTHING", "Captures", "Value", "is_user", "read_slot"]

ANYTHING: Final = "{}"
"""Stands for the first word of a slot."""
Value: TypeAlias = "str | tuple[str, ...]"
Captures: TypeAlias = "Mapping[str, Value]"
Found: TypeAlias = "Iterator[tuple[int, Value]]"

MAX_ISSUE_WORDS: Final = 6
"""Words of the name of an issue."""
_USER: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:[._-][A-Za-z0-9]+)+|[a-z]+\d+[a-z]*|[A-Z][A-Z][a-z]+")
_FILE_ENDS: Final = ("com", "org", "net", "pdf", "csv", "xlsx", "txt", "json", "doc", "docx", "e.g", "i.e")
_LOGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]+")
_AGENT: Final = re.compile(r"[A-Z][A-Z0-9]+(?:[-_][A-Za-z0-9]+)*")
_REFERENCE: Final = re.compile(r"[A-Za-z]{0,8}[-/_]?\d[A-Za-z0-9]*(?:[-/_][A-Za-z0-9]+)*")
_ORDER: Final = re.compile(r"PO[-_]?[A-Za-z]{0,4}\d[A-Za-z0-9]*(?:[-/][A-Za-z0-9]+)*", re.IGNORECASE)
_CLAUSE: Final = re.compile(r"s?\.?(\d{1,3}(?:\.\d{1,3})*[a-z]?)")
_RULES: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")
_VERSION: Final = re.compile(r"v?(\d{1,3})")
_DAYS: Final = re.compile(r"(\d{1,3})")
_NET: Final = re.compile(r"net(\d{1,3})")
_FLAG: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+")


def _token(pattern: re.Pattern[str]) -> Callable[[Sentence, int], Found]:
    """Return a reader of one word of this form, as it is written."""

    def read(sentence: Sentence, at: int) -> Found:
        if at < len(sentence.tokens) and pattern.fullmatch(sentence.tokens[at].source):
            yield at + 1, sentence.tokens[at].source

    return read


def _choice(table: Mapping[str, Value]) -> Callable[[Sentence, int], Found]:
    """Return a reader of the longest of these phrases, which have these values."""
    phrases = sorted(((tuple(key.split()), value) for key, value in table.items()), key=lambda row: -len(row[0]))

    def read(sentence: Sentence, at: int) -> Found:
        for words, value in phrases:
            if tuple(token.word for token in sentence.tokens[at : at + len(words)]) == words:
                yield at + len(words), value
                return

    return read


def _list(item: Callable[[Sentence, int], Found]) -> Callable[[Sentence, int], Found]:
    """Return a reader of one item, or of several with "," or "and" between them."""

    def read(sentence: Sentence, at: int) -> Found:
        items: list[str] = []
        end = at
        while found := next(item(sentence, at), None):
            end, value = found
            items.append(str(value))
            at = _after_separator(sentence, end)
            if at == end:
                break
        if items:
            yield end, tuple(items)

    return read


def _after_separator(sentence: Sentence, at: int) -> int:
    """Return the place after ", and the" or a part of it, `at` where there is none."""
    end = at
    for words in ((",", "->", "\u2192"), ("and", "&"), ("the", "a")):
        if values.word_at(sentence, end) in words and (end > at or words[0] != "the"):
            end += 1
    return end


def _plain(read: Callable[[Sentence, int], tuple[int, str] | None]) -> Callable[[Sentence, int], Found]:
    """Return a reader made of a function that finds one value or none."""

    def found(sentence: Sentence, at: int) -> Found:
        if value := read(sentence, at):
            yield value

    return found


def is_user(word: str) -> bool:
    """Return whether a word looks like the name of an account and not like a plain word or a file."""
    return bool(_USER.fullmatch(word)) and not word.lower().endswith(_FILE_ENDS)


def _read_user(sentence: Sentence, at: int) -> Found:
    if quoted := read_quoted(sentence, at):
        if " " not in quoted[1] and "@" not in quoted[1]:
            yield quoted
    elif at < len(sentence.tokens):
        source = sentence.tokens[at].source
        if is_user(source):
            yield at + 1, source


def _read_login(sentence: Sentence, at: int) -> Found:
    """Yield a name after a word such as "username", which may look like any other word."""
    if at < len(sentence.tokens):
        token = sentence.tokens[at]
        if _LOGIN.fullmatch(token.source) and token.word not in STOP_WORDS:
            yield at + 1, token.source


def _read_order(sentence: Sentence, at: int) -> Found:
    """Yield the number of a purchase order, "PO-441" for "PO 441"."""
    yield from _token(_ORDER)(sentence, at)
    number = values.word_at(sentence, at + 1)
    if values.word_at(sentence, at) == "po" and number.isdecimal():
        yield at + 2, f"PO-{number}"


def _read_reference(sentence: Sentence, at: int) -> Found:
    if not (values.read_period(sentence, at) or values.read_date(sentence, at)):
        yield from _token(_REFERENCE)(sentence, at)


def _read_section(sentence: Sentence, at: int) -> Found:
    """Yield the number of a section, "s7" for "7"."""
    if match := _CLAUSE.fullmatch(values.word_at(sentence, at)):
        yield at + 1, f"s{match[1]}"


def _read_clause(sentence: Sentence, at: int) -> Found:
    """Yield the number of a clause as it is written."""
    if _CLAUSE.fullmatch(word := values.word_at(sentence, at)):
        yield at + 1, word


def _read_section_sign(sentence: Sentence, at: int) -> Found:
    """Yield a number that says itself that it is a section's: "s7"."""
    word = values.word_at(sentence, at)
    if word.startswith(("s", "\u00a7")) and (match := _CLAUSE.fullmatch(word.replace("\u00a7", "s"))):
        yield at + 1, f"s{match[1]}"


def _read_issue(sentence: Sentence, at: int) -> Found:
    """Yield the name of an issue: an identifier, or words of law only."""
    yield from _token(_FLAG)(sentence, at)
    end = at
    while end - at < MAX_ISSUE_WORDS and values.word_at(sentence, end) in ISSUE_WORDS:
        end += 1
    if end > at and "of" not in (values.word_at(sentence, at), values.word_at(sentence, end - 1)):
        yield end, sentence.between(at, end).lower()


def _read_version(sentence: Sentence, at: int) -> Found:
    """Yield the name of the payroll rules of a version: "payroll_v3" for "v3" or "3"."""
    if match := _VERSION.fullmatch(values.word_at(sentence, at)):
        yield at + 1, f"payroll_v{int(match[1])}"


def _read_terms(sentence: Sentence, at: int) -> Found:
    """Yield terms of payment: "net30" for "net30", "net 30" and "net 30 days"."""
    word, after = values.word_at(sentence, at), values.word_at(sentence, at + 1)
    if match := _NET.fullmatch(word):
        yield at + 1, f"net{match[1]}"
    if word == "net" and _DAYS.fullmatch(after):
        yield at + (3 if values.word_at(sentence, at + 2) == "days" else 2), f"net{after}"


def _read_days(sentence: Sentence, at: int) -> Found:
    """Yield terms of payment for a number of days: "30 days", "30-day"."""
    word = values.word_at(sentence, at)
    if word.endswith("-day") and _DAYS.fullmatch(word.removesuffix("-day")):
        yield at + 1, f"net{word.removesuffix('-day')}"
    if _DAYS.fullmatch(word) and values.word_at(sentence, at + 1) in ("days", "day"):
        yield at + 2, f"net{word}"


def _read_recipients(sentence: Sentence, at: int) -> Found:
    yield from _choice(BOTH_DIRECTORS)(sentence, at)
    yield from _list(_choice(RECIPIENTS))(sentence, at)


def _read_message(sentence: Sentence, at: int) -> Found:
    """Yield a status, or a message in quotation marks, with "_" for blanks."""
    yield from _choice(MESSAGES)(sentence, at)
    if quoted := read_quoted(sentence, at):
        yield quoted[0], quoted[1].replace(" ", "_")


_READERS: Final[Mapping[str, Callable[[Sentence, int], Found]]] = MappingProxyType(
    {
        "period": _plain(values.read_period),
        "month_end": _plain(values.read_month_end),
        "date": _plain(values.read_date),
        "username": _read_user,
        "login": _read_login,
        "actor": _token(_AGENT),
        "chain": _list(_token(_AGENT)),
        "systems": _list(_choice(SYSTEMS)),
        "zones": _list(_choice(ZONES)),
        "to": _read_recipients,
        "formats": _list(_choice(FORMATS)),
        "attachment": _choice(ATTACHMENTS),
        "flags": _list(_token(_FLAG)),
        "flag_msg": _read_message,
        "status": _choice(STATUSES),
        "rules": _token(_RULES),
        "version": _read_version,
        "supplier": _plain(read_name),
        "party": _plain(read_name),
        "purchase_order": _read_order,
        "terms": _read_terms,
        "days": _read_days,
        "invoice_ref": _read_reference,
        "contract_type": _choice(CONTRACT_TYPES),
        "risk": _choice(RISKS),
        "section": _read_section,
        "clause": _read_clause,
        "section_sign": _read_section_sign,
        "issue": _read_issue,
        "block_action": _choice(BLOCKS),
        "recommendation": _choice(RECOMMENDATIONS),
    }
)


def read_slot(reader: str, name: str, sentence: Sentence, at: int) -> Iterator[tuple[int, Captures]]:
    """Yield each value of this kind at the token `at`: where it ends, and it under its name.

    "money" gives "amount" and "currency".
    """
    if reader == "money":
        if money := values.read_money(sentence, at):
            yield money[0], {"amount": money[1].amount, "currency": money[1].currency}
        return
    for end, value in _READERS[reader](sentence, at):
        yield end, {name: value}
