"""What was encoded before: each wording with its packet, in memory or read from another's file (AACP 6.3 and 13).

    [{"english": …, "domain": …, "aacp_packet": …, "times_seen": …}, …]       unknown_patterns.json of the reference
    {"rules": [{"id": …, "name": …, "description": …, "dom": …, "packet": …}, …]}, that list, or one rule alone

`read_registry` ignores members that are not named here. A packet must be valid and belong to the domain of its entry;
it gets our version. Each item that is refused is reported with its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from accp_core.aacp.instruction import Instruction
from accp_core.aacp.packet import Packet, parse_packet, serialize_packet, with_fields
from accp_core.aacp.validation import find_unusable, validate
from accp_core.aacp.vocabulary import VERSION, VERSION_KEY
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["ImportedEntries", "InstructionRegistry", "InstructionStore", "RegistryEntry", "read_registry"]

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
