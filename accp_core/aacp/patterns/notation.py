"""The notation of phrases, and the places of a text where a phrase stands.

    fetch (salary|pay) records [for {period}]

Words stand for themselves in any case; `(a|b c)` is one of several, `[a|b]` may be missing, `{period}` is a slot: a
value that a reader of `slots` takes out of the text. `{period:month_end}` names a reader other than that of its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from accp_core.aacp.patterns.slots import ANYTHING, Captures, read_slot
from accp_core.aacp.patterns.tokens import Sentence
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Phrase", "read_phrase"]

_SYMBOL: Final = re.compile(r"[()\[\]|]|\{\w+(?::\w+)?\}|[^\s()\[\]|{}]+")
Reading: TypeAlias = tuple[int, Captures]
"""Where a phrase ends, in tokens, and what its slots have read."""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word that stands for itself."""

    word: str


@dataclass(frozen=True, slots=True)
class _Slot:
    """A value."""

    name: str
    reader: str


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of several sequences."""

    options: tuple[tuple[_Node, ...], ...]


_Node: TypeAlias = "_Word | _Slot | _Choice"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that was read from its notation."""

    source: str
    """The notation."""
    nodes: tuple[_Node, ...]
    """Its parts, in order."""
    first: frozenset[str]
    """The words with which it may begin; `ANYTHING` where it may begin with a slot."""
    words: frozenset[str]
    """All words in it."""

    def find(self, sentence: Sentence, at: int) -> Iterator[Reading]:
        """Yield each way in which the phrase stands at the token `at`."""
        if at < len(sentence.tokens) and (ANYTHING in self.first or sentence.tokens[at].word in self.first):
            yield from _follow(self.nodes, sentence, at, {})


def _follow(nodes: tuple[_Node, ...], sentence: Sentence, at: int, captures: Captures) -> Iterator[Reading]:
    """Yield each way in which `nodes` stand one after the other from the token `at`."""
    if not nodes:
        yield at, captures
        return
    node, rest = nodes[0], nodes[1:]
    if isinstance(node, _Word):
        if at < len(sentence.tokens) and sentence.tokens[at].word == node.word:
            yield from _follow(rest, sentence, at + 1, captures)
    elif isinstance(node, _Slot):
        for end, value in read_slot(node.reader, node.name, sentence, after_colon(sentence, at)):
            if (both := merge(captures, value)) is not None:
                yield from _follow(rest, sentence, end, both)
    else:
        for option in node.options:
            yield from _follow((*option, *rest), sentence, at, captures)


def after_colon(sentence: Sentence, at: int) -> int:
    """Return the place after the ":" between a word and its value ("risk: high"), `at` where there is none."""
    tokens = sentence.tokens
    return at + 1 if 0 < at < len(tokens) and tokens[at].word == ":" and tokens[at - 1].source.isalpha() else at


def merge(captures: Captures, more: Mapping[str, str | tuple[str, ...]]) -> Captures | None:
    """Return both; None where a name has two values."""
    if any(captures.get(name, value) != value for name, value in more.items()):
        return None
    return {**captures, **more}


def read_phrase(source: str) -> Phrase:
    """Return the phrase of a notation.

    Raises:
        ProtocolError: E1004, the brackets are not pairs, or a character has no meaning.
    """
    symbols = _SYMBOL.findall(source)
    if "".join(symbols) != "".join(source.split()):
        raise _invalid(source)
    (nodes,), rest = _read_options(source, symbols, "")
    first = _first(nodes)
    if rest or "" in first:
        raise _invalid(source)
    return Phrase(source, nodes, frozenset(first), frozenset(_words(nodes)))


def _read_options(source: str, symbols: list[str], end: str) -> tuple[tuple[tuple[_Node, ...], ...], list[str]]:
    """Return the sequences up to the closing symbol `end`, and the symbols after it."""
    options: list[list[_Node]] = [[]]
    while symbols and symbols[0] != end:
        symbol, *symbols = symbols
        if symbol in ("(", "["):
            inner, symbols = _read_options(source, symbols, {"(": ")", "[": "]"}[symbol])
            options[-1].append(_Choice((*inner, ()) if symbol == "[" else inner))
        elif symbol == "|" and end:
            options.append([])
        elif symbol in ("|", ")", "]"):
            raise _invalid(source)
        else:
            options[-1].append(_read_node(symbol))
    if end and not symbols:
        raise _invalid(source)
    return tuple(map(tuple, options)), symbols[1:]


def _read_node(symbol: str) -> _Node:
    if not symbol.startswith("{"):
        return _Word(symbol.lower())
    name, _, reader = symbol[1:-1].partition(":")
    return _Slot(name, reader or name)


def _first(nodes: tuple[_Node, ...]) -> set[str]:
    """Return the words with which a sequence may begin; "" where it may be empty."""
    found = {""}
    for node in nodes:
        if "" not in found:
            break
        found.discard("")
        if isinstance(node, _Choice):
            found.update(*map(_first, node.options))
        else:
            found.add(node.word if isinstance(node, _Word) else ANYTHING)
    return found


def _words(nodes: tuple[_Node, ...]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, _Word):
            yield node.word
        elif isinstance(node, _Choice):
            for option in node.options:
                yield from _words(option)


def _invalid(source: str) -> ProtocolError:
    reason = f"expected words, {{slot}}, (a|b) and [a|b], found {source!r}"
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)
