"""The notation of phrases, and the places of a text where a phrase is.

    <fetch> (salary|pay) records [for {period}]

Words stand for themselves in any case; `(a|b c)` is one of several, `[a|b]` may be missing, `<fetch>` is a part of the
table or of `english`. `{period}` is an argument: a value that a reader takes out of the text. `{start:period}` names
a reader other than that of its name, `{zones:zone*}` takes one or several values with "," or "and" between them,
`{amount,currency:money}` two values, and `{_:column}` a value that becomes no argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from accp_core.aacp.patterns.tokens import Sentence
from accp_core.aacp.patterns.values import FoundValue, Reader
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Captures", "Phrase", "invalid", "merge", "read_phrase", "several"]

MAX_SYMBOLS: Final = 1_000
"""Words, slots and brackets of one phrase, with all parts that it names."""
MAX_DEPTH: Final = 20
"""Brackets within brackets."""
ANYTHING: Final = "{}"
"""Stands for the first word of a slot."""
Captures: TypeAlias = "Mapping[str, FoundValue]"
"""Arguments that were read, by name."""
_SYMBOL: Final = re.compile(r"[()\[\]|]|\{\w+(?:,\w+)*(?::\w+\*?)?\}|[^\s()\[\]|{}]+")


@dataclass(frozen=True, slots=True)
class _Slot:
    """A value: the names of its arguments, and its reader."""

    names: tuple[str, ...]
    read: Reader


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of several sequences."""

    options: tuple[tuple[_Node, ...], ...]


_Node: TypeAlias = "str | _Slot | _Choice"
"""A part of a phrase; text is a word that stands for itself."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that was read from its notation."""

    nodes: tuple[_Node, ...]
    """Its parts, in order."""
    first: frozenset[str]
    """The words with which it may begin; `ANYTHING` where it may begin with a slot."""
    words: frozenset[str]
    """All words in it."""
    arguments: frozenset[str]
    """The arguments of all slots in it."""

    def find(self, sentence: Sentence, at: int) -> Iterator[tuple[int, Captures]]:
        """Yield each way to read the phrase at the token `at`: where it ends, what its slots have read."""
        if at < len(sentence.tokens) and (ANYTHING in self.first or sentence.tokens[at].word in self.first):
            yield from _follow(self.nodes, sentence, at, {})


def _follow(
    nodes: tuple[_Node, ...], sentence: Sentence, at: int, captures: Captures
) -> Iterator[tuple[int, Captures]]:
    """Yield each way to read `nodes` one after the other from the token `at`."""
    if not nodes:
        yield at, captures
        return
    node, rest = nodes[0], nodes[1:]
    if isinstance(node, str):
        if sentence.word(at) == node:
            yield from _follow(rest, sentence, at + 1, captures)
    elif isinstance(node, _Slot):
        if found := node.read(sentence, _after_colon(sentence, at)):
            both = merge(captures, _captured(node, found[1]))
            if both is not None:
                yield from _follow(rest, sentence, found[0], both)
    else:
        word = sentence.word(at)
        for option in node.options:
            # most options begin with another word, which is not worth a call
            if not option or not isinstance(option[0], str) or option[0] == word:
                yield from _follow((*option, *rest), sentence, at, captures)


def _captured(slot: _Slot, value: FoundValue) -> Captures:
    values = dict(zip(slot.names, value, strict=True)) if len(slot.names) > 1 else {slot.names[0]: value}
    return {name: value for name, value in values.items() if name != "_"}


def _after_colon(sentence: Sentence, at: int) -> int:
    """Return the place after the ":" between a word and its value ("risk: high"), `at` where there is none."""
    return at + 1 if sentence.word(at) == ":" and at and sentence.source(at - 1).isalpha() else at


def merge(captures: Captures, more: Captures) -> Captures | None:
    """Return both; None where a name has two values."""
    if any(captures.get(name, value) != value for name, value in more.items()):
        return None
    return {**captures, **more}


def several(read: Reader) -> Reader:
    """Return a reader of one value, or of several with "," or "and" between them; a value may be some itself."""

    def read_several(sentence: Sentence, at: int) -> tuple[int, FoundValue] | None:
        items: list[str] = []
        end = at
        while found := read(sentence, at):
            end, value = found
            items += (value,) if isinstance(value, str) else value
            at = _after_separator(sentence, end)
            if at == end:
                break
        return (end, tuple(items)) if items else None

    return read_several


def _after_separator(sentence: Sentence, at: int) -> int:
    """Return the place after ", and the" or a part of it, `at` where there is none."""
    end = at
    for words in ((",", "->", "\u2192"), ("and", "&"), ("the", "a")):
        if sentence.word(end) in words and (end > at or words[0] != "the"):
            end += 1
    return end


def read_phrase(source: str, readers: Mapping[str, Reader]) -> Phrase:
    """Return the phrase of a notation without parts.

    Raises:
        ProtocolError: E1004, the brackets are not pairs, a character has no meaning, or there is no such reader.
    """
    symbols = _SYMBOL.findall(source)
    if "".join(symbols) != "".join(source.split()) or len(symbols) > MAX_SYMBOLS:
        raise _no_phrase(source)
    options, rest = _read_options(source, symbols, readers, "", MAX_DEPTH)
    first = _first(options[0])
    if rest or "" in first:
        raise _no_phrase(source)
    leaves = list(_leaves(options[0]))
    words = {leaf for leaf in leaves if isinstance(leaf, str)}
    names = {name for leaf in leaves if isinstance(leaf, _Slot) for name in leaf.names if name != "_"}
    return Phrase(options[0], frozenset(first), frozenset(words), frozenset(names))


def _read_options(
    source: str, symbols: list[str], readers: Mapping[str, Reader], end: str, depth: int
) -> tuple[tuple[tuple[_Node, ...], ...], list[str]]:
    """Return the sequences up to the closing symbol `end`, and the symbols after it."""
    options: list[list[_Node]] = [[]]
    while symbols and symbols[0] != end:
        symbol, *symbols = symbols
        if symbol in ("(", "[") and depth:
            inner, symbols = _read_options(source, symbols, readers, {"(": ")", "[": "]"}[symbol], depth - 1)
            options[-1].append(_Choice((*inner, ()) if symbol == "[" else inner))
        elif symbol == "|" and end:
            options.append([])
        elif symbol in ("|", "(", "[", ")", "]"):
            raise _no_phrase(source)
        else:
            options[-1].append(_read_slot(symbol, readers) if symbol.startswith("{") else symbol.lower())
    if end and not symbols:
        raise _no_phrase(source)
    return tuple(map(tuple, options)), symbols[1:]


def _read_slot(symbol: str, readers: Mapping[str, Reader]) -> _Slot:
    text, _, kind = symbol[1:-1].partition(":")
    names = tuple(text.split(","))
    read = readers.get((kind or text).removesuffix("*"))
    if read is None or (kind == "money") != (len(names) == 2) or len(names) > 2:
        raise invalid(f"expected a kind of value that the table has, two names for money, found {symbol!r}")
    return _Slot(names, several(read) if kind.endswith("*") else read)


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
            found.add(node if isinstance(node, str) else ANYTHING)
    return found


def _leaves(nodes: tuple[_Node, ...]) -> Iterator[str | _Slot]:
    for node in nodes:
        if isinstance(node, _Choice):
            for option in node.options:
                yield from _leaves(option)
        else:
            yield node


def _no_phrase(source: str) -> ProtocolError:
    return invalid(f"expected words, {{slot}}, (a|b) and [a|b], found {source[:200]!r}")


def invalid(reason: str) -> ProtocolError:
    """Return the exception for a table that says nothing: E1004."""
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)
