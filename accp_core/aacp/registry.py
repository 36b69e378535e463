"""Packets found without a model: by a phrase of a workflow, or by a wording encoded before (AACP sections 6.3 and 13).

A registry is kept in memory or read from another's file:

    [{"english": …, "domain": …, "aacp_packet": …, "times_seen": …}, …]       unknown_patterns.json of the reference
    {"rules": [{"id": …, "name": …, "description": …, "dom": …, "packet": …}, …]}, that list, or one rule alone

`read_registry` ignores members that are not named here. A packet must be valid and belong to the domain of its entry;
it gets our version. Each item that is refused is reported with its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias

from accp_core.aacp.instruction import DROPPED, FETCHING, Instruction, find_unusable, is_identifier, validate
from accp_core.aacp.packet import VERSION, VERSION_KEY, Packet, parse_packet, serialize_packet, with_fields
from accp_core.aacp.steps import PHRASE_SLOT, PLACEHOLDER, Workflow, WorkflowStep, invalid_table
from accp_core.aacp.templates import is_user, read_money, read_period, read_sentence
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["ImportedEntries", "InstructionRegistry", "InstructionStore", "Phrasebook", "RegistryEntry", "read_registry"]


# Instructions in English that say a step of a workflow, encoded without a model (AACP section 6.3, tier 2).
#
#     give {username} vpn access
#     [create|raise] ticket for {supplier:company} [with] risk {risk=low/high}
#
# A phrase is words; `(a|b c)` is one of several, `[a|b]` may be missing. `{username}` is an argument: one word that is
# quoted or has a digit, a sign or an inner capital, because a plain word ("nobody", "everyone") may mean more than a
# name. `{risk=low/high}` is one of these words, `{period:period}` a kind of value, `{amount,currency:money}` two
# arguments.
#
# An instruction means a step if a phrase covers all of its words; politeness, articles and commas do not count. Two
# phrases with different packets mean nothing, and no packet has a filter that nobody said.

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


MAX_ITEMS: Final = 1_000_000
"""Items of an imported file."""
MAX_TIMES_SEEN: Final = (1 << 62) - 1
"""A larger `times_seen` of an imported pattern is read as 1; SQLite holds no larger ones for long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryEntry:
    """One wording and its packet, or one shape of wordings and the template of their packets."""

    pattern: str
    """Identifies the instructions that get this packet, see `Instruction.pattern`; or `Shape.key` of a template."""
    key: str
    """Identifies the instruction that the packet was made for, see `Instruction.key`."""
    packet: str
    """The text of a valid packet; that of a template has slots such as "{1}"."""
    source: str
    """Where the packet comes from: "model", or the name of the imported file."""
    english: str = ""
    """The text of the instruction, for people; empty unless it is to be kept."""
    times_seen: int = 1
    """How often the wording was asked for, the first time included."""


class InstructionStore(Protocol):
    """Where a `FallbackEncoder` finds entries and keeps new ones."""

    def find(self, *patterns: str) -> RegistryEntry | None:
        """Return the entry of the first of `patterns` that has one, counted once more; None where none has."""
        ...

    def get_or_create(self, pattern: str, make: Callable[[], RegistryEntry], /, *, shape: str = "") -> RegistryEntry:
        """Return what `find(pattern, shape)` returns; without an entry, store and return the result of `make`.

        `make` runs once per shape, or per pattern where there is no shape, in all threads and processes that share the
        store; concurrent callers wait for its result. The entry is stored under its own pattern. Exceptions of `make`
        are raised, and nothing is stored then.

        Args:
            pattern: See `Instruction.pattern`.
            make: Makes a new entry, for `pattern` or for `shape`.
            shape: The pattern of a template that serves this instruction, too; empty where it cannot have one.
        """
        ...

    def add(self, entries: Iterable[RegistryEntry], /) -> int:
        """Store the entries whose pattern is new; return how many entries there are more than before."""
        ...

    def forget(self, pattern: str, /) -> bool:
        """Remove the entry of `pattern`; return whether there was one."""
        ...


class InstructionRegistry:
    """A store in memory, for one thread; `SqliteInstructionRegistry` serves threads and processes and is durable."""

    def __init__(self, entries: Iterable[RegistryEntry] = (), *, max_entries: int = 10_000) -> None:
        """Keep at most `max_entries`; those that were not asked for longest are removed first."""
        self._entries: Final[BoundedDict[str, RegistryEntry]] = BoundedDict(max_entries)
        self.add(entries)

    def find(self, *patterns: str) -> RegistryEntry | None:
        """Return the entry of the first of `patterns` that has one, counted once more; None where none has."""
        known = next((entry for pattern in patterns if (entry := self._entries.get(pattern))), None)
        if known is None:
            return None
        entry = replace(known, times_seen=known.times_seen + 1)
        self._entries.put(entry.pattern, entry)
        return entry

    def get_or_create(self, pattern: str, make: Callable[[], RegistryEntry], /, *, shape: str = "") -> RegistryEntry:
        """Return the entry of `pattern` or `shape`, counted once more, or a new one; see `InstructionStore`."""
        if entry := self.find(pattern, shape):
            return entry
        made = make()
        self._entries.put(made.pattern, made)
        return made

    def add(self, entries: Iterable[RegistryEntry], /) -> int:
        """Keep the entries whose wording is not known yet; return how many entries there are more than before."""
        before = len(self)
        for entry in entries:
            self._entries.put(entry.pattern, self._entries.get(entry.pattern, entry))
        return len(self) - before

    def entries(self) -> list[RegistryEntry]:
        """Return all entries, the one that was asked for last at the end."""
        return list(self._entries.values())

    def forget(self, pattern: str, /) -> bool:
        """Remove the entry of `pattern`; return whether there was one."""
        return self._entries.pop(pattern, None) is not None

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedEntries:
    """The entries of an imported file."""

    entries: tuple[RegistryEntry, ...]
    """One for each wording."""
    refused: tuple[str, ...]
    """Place and reason of each item that was refused."""


def read_registry(data: object, *, source: str = "import", keep_english: bool = False) -> ImportedEntries:
    """Return the entries of a parsed JSON document; an item that is wrong is refused, the others are read.

    A rule gives one entry for its description and one for its name. Of two different packets for one wording the
    second is refused.

    Args:
        data: The document, in one of the two forms above.
        source: The `RegistryEntry.source` of each entry.
        keep_english: Whether the entries hold the text of their instruction.

    Raises:
        ProtocolError: E1001, the document has neither form.
    """
    entries: dict[str, RegistryEntry] = {}
    refused = []
    for index, item in enumerate(_items(data)):
        try:
            for entry in _read_item(item, source, keep_english):
                known = entries.setdefault(entry.pattern, entry)
                if known.packet != entry.packet:
                    reason = f"expected the packet of the same wording, {known.packet!r}, found {entry.packet!r}"
                    raise ProtocolError(reason, code=ErrorCode.POLICY_DENIED)
        except ProtocolError as error:
            refused.append(f"{_name_of(item, index)}: {error.reason}")
    return ImportedEntries(entries=tuple(entries.values()), refused=tuple(refused))


def _items(data: object) -> list[object]:
    if isinstance(data, Mapping):
        data = data.get("rules", [data] if "packet" in data else None)
    if not isinstance(data, list) or len(data) > MAX_ITEMS:
        reason = f'expected at most {MAX_ITEMS} patterns or {{"rules": […]}}, found {type(data).__name__}'
        raise ProtocolError(reason, code=ErrorCode.PARSE_ERROR)
    return data


def _name_of(item: object, index: int) -> str:
    name = f"item {index + 1}"
    return f"{name} ({item['id']!r})" if isinstance(item, Mapping) and "id" in item else name


def _read_item(item: object, source: str, keep_english: bool) -> Iterator[RegistryEntry]:
    """Yield the entries of one pattern or rule."""
    if not isinstance(item, Mapping):
        raise ProtocolError(f"expected an object, found {item!r}", code=ErrorCode.INVALID_TYPE)
    is_rule = "aacp_packet" not in item
    packet = _read_packet(_text_of(item, "packet" if is_rule else "aacp_packet"))
    domain = item.get("dom" if is_rule else "domain", packet.domain)
    if domain != packet.domain:
        raise ProtocolError(f"expected a packet for {domain!r}, found {packet.domain!r}", code=ErrorCode.INVALID_TYPE)
    seen = item.get("times_seen", 1)
    texts = ("description", "name") if is_rule else ("english",)
    for name in [name for name in texts if name in item] or texts[:1]:
        instruction = Instruction(
            english=_text_of(item, name),
            domain=packet.domain,
            return_agent=packet.return_agent,
            priority=packet.priority,
        )
        yield RegistryEntry(
            pattern=instruction.pattern,
            key=instruction.key,
            packet=serialize_packet(packet),
            source=source,
            english=instruction.english if keep_english else "",
            times_seen=seen if type(seen) is int and 0 < seen <= MAX_TIMES_SEEN else 1,
        )


def _read_packet(text: str) -> Packet:
    """Return a valid packet of any version as one of our version."""
    packet = validate(with_fields(parse_packet(text), **{VERSION_KEY: VERSION})).check()
    for finding in find_unusable(packet):
        raise ProtocolError(finding.reason, code=ErrorCode.INVALID_TYPE)
    return packet


def _text_of(item: Mapping[Any, Any], name: str) -> str:
    value = item.get(name)
    if not isinstance(value, str):
        raise ProtocolError(f"{name}: expected text, found {value!r}", code=ErrorCode.INVALID_TYPE)
    return value
