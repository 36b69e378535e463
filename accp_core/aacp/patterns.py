"""Instructions in English that say a step of a workflow, encoded without a model (AACP section 6.3, tier 2).

    give {username} vpn access
    [create|raise] ticket for {supplier:company} [with] risk {risk=low/high}

A phrase is words; `(a|b c)` is one of several, `[a|b]` may be missing. `{username}` is an argument: one word that is
quoted or has a digit, a sign or an inner capital, because a plain word ("nobody", "everyone") may mean more than a
name. `{risk=low/high}` is one of these words, `{period:period}` a kind of value, `{amount,currency:money}` two
arguments.

An instruction means a step if a phrase covers all of its words; politeness, articles and commas do not count. Two
phrases with different packets mean nothing, and no packet has a filter that nobody said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from accp_core.aacp.instruction import DROPPED, FETCHING, Instruction, is_identifier
from accp_core.aacp.packet import Packet
from accp_core.aacp.steps import PHRASE_SLOT, PLACEHOLDER, Workflow, WorkflowStep, invalid_table
from accp_core.aacp.templates import is_user, read_money, read_period, read_sentence

__all__ = ["Phrasebook"]

FILTER: Final = "filter"
"""The field whose defaults no phrase uses."""
_SYMBOL: Final = re.compile(r"[()\[\]|]|\{[^{}]*\}|[^\s()\[\]|{}]+")
_BRACKETS: Final = {"(": "(?:", "[": "(?:", ")": ")", "]": ")?", "|": "|"}
_GAP: Final = ",? "
"""What stands before each word."""
_Values: TypeAlias = "tuple[str, ...] | None"
"""The values of the arguments of a slot; None: the text is no such value."""


def _word(text: str) -> _Values:
    value = text.strip("\"'").rstrip(",;:")
    return (value,) if value and not _is_plain(text) else None


def _is_plain(word: str) -> bool:
    """Return whether `word` may be a plain English word instead of a name."""
    return word.rstrip(",;:").isalpha() and not is_identifier(word)


def _period(text: str) -> _Values:
    sentence = read_sentence(text)
    found = read_period(sentence, 0) if sentence else None
    return (found[1],) if sentence and found and found[0] == len(sentence.tokens) else None


def _money(text: str) -> _Values:
    sentence = read_sentence(text)
    found = read_money(sentence, 0) if sentence else None
    return tuple(found[1]) if sentence and found and found[0] == len(sentence.tokens) else None


def _user(text: str) -> _Values:
    value = text.strip("\"'").rstrip(",;:")
    return (value,) if is_user(value) or (value != text and "@" not in value and _word(text)) else None


def _same(text: str) -> _Values:
    return (text,)


def _lower(text: str) -> _Values:
    return (text.lower(),)


_KINDS: Final[Mapping[str, tuple[str, Callable[[str], _Values]]]] = MappingProxyType(
    {
        "word": (r"\S+", _word),
        "period": (r"\S*\d{4}\S*|[A-Za-z]{3,9}\.?,? \d{4}|q[1-4],? \d{4}", _period),
        "money": (r"\S*\d\S*(?: [A-Za-z]{3,7})?|[A-Za-z]{3} \d\S*", _money),
        # Words with a capital; the case of letters counts.
        "company": (r"(?-i:[A-Z][\w&.'-]*(?: (?:&|[A-Z][\w&.'-]*)){0,4})", _same),
        "user": (r"\S+", _user),
        "identifier": (r"[a-z]+(?:_[a-z0-9]+)+", _same),
        "order": (r"po-?[\w-]*\d[\w-]*", _same),
        "section": (r"s?(?:\d{1,3})", lambda text: (f"s{text.lower().removeprefix('s')}",)),
    }
)
"""The kinds of values: the form in which they stand in a text, and what they are."""


class _Phrase:
    """One phrase, as a regular expression."""

    def __init__(self, source: str) -> None:
        """Read a phrase (ProtocolError E1004: it has a bracket, a kind or a character without meaning)."""
        self._readers: Final[dict[str, tuple[tuple[str, ...], Callable[[str], _Values]]]] = {}
        try:
            first, *others = _SYMBOL.findall(source) or [""]
            symbols = ["fetch" if first.lower() in FETCHING else first, *others]
            self._pattern: Final = re.compile("".join(map(self._part, symbols)), re.IGNORECASE)
        except (re.error, KeyError) as error:
            raise invalid_table(
                f"phrase {source!r}: expected words, (a|b), [a] and {{argument}}, found {error}"
            ) from None

    def read(self, text: str) -> dict[str, str] | None:
        """Return the arguments in a text that is this phrase; None for any other text."""
        found = self._pattern.fullmatch(text)
        if found is None:
            return None
        arguments: dict[str, str] = {}
        for group, (names, read) in self._readers.items():
            if found[group] is None:
                continue
            values = read(found[group])
            if values is None:
                return None
            arguments |= zip(names, values, strict=True)
        return arguments

    def _part(self, symbol: str) -> str:
        if symbol in _BRACKETS:
            return _BRACKETS[symbol]
        if not symbol.startswith("{"):
            return "" if symbol.lower() in DROPPED else f"{_GAP}{re.escape(symbol)}"
        slot = PHRASE_SLOT.fullmatch(symbol)
        if slot is None:
            raise KeyError(symbol)
        names, choices = tuple(slot[1].split(",")), slot[3]
        if names[0] in self._readers:
            # An argument that stands twice has one value.
            return f"{_GAP}(?-i:(?P={names[0]}))"
        form, read = ("|".join(map(re.escape, choices.split("/"))), _lower) if choices else _KINDS[slot[2] or "word"]
        self._readers[names[0]] = names, read
        return f"{_GAP}(?P<{names[0]}>{form})"


class Phrasebook:
    """The phrases of workflows by domain."""

    def __init__(self, workflows: Iterable[Workflow]) -> None:
        """Take the phrases of all steps.

        Raises:
            ProtocolError: E1004, a phrase has a part without meaning.
        """
        self._known: Final[dict[str, list[tuple[WorkflowStep, _Phrase]]]] = {}
        for workflow in workflows:
            for step in workflow.steps.values():
                known = self._known.setdefault(step.domain.upper(), [])
                known += ((step, _Phrase(phrase)) for phrase in step.phrases)

    def match(self, instruction: Instruction) -> Packet | None:
        """Return the packet of the step that the instruction means, None where it means none or may mean two.

        Raises:
            EncodeError: E1004, a packet cannot carry a value of the instruction.
        """
        words = (word.spelling if word.spelling == "fetch" else word.source for word in instruction.wording)
        text = "".join(f" {word}" for word in words)
        packets = set[str]()
        packet = None
        for step, phrase in self._known.get(instruction.domain.upper(), ()):
            if (arguments := phrase.read(text)) is not None:
                packet = _encode(step, arguments, instruction)
                packets.add(str(packet))
        return packet if len(packets) == 1 else None


def _encode(step: WorkflowStep, arguments: Mapping[str, str], instruction: Instruction) -> Packet:
    """Return the packet of a step; an argument of the filter that was not said has no value, whatever its default."""
    unsaid = {name: "" for name, _ in PLACEHOLDER.findall(step.fields.get(FILTER, "")) if name in step.defaults}
    return step.encode({**unsaid, **arguments}, return_agent=instruction.return_agent, priority=instruction.priority)
