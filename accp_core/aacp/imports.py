"""Registries of others: the reference package's patterns and community rule files (AACP sections 6.3 and 13).

    [{"english": …, "domain": …, "aacp_packet": …, "times_seen": …}, …]       unknown_patterns.json
    {"rules": [{"id": …, "name": …, "description": …, "dom": …, "packet": …}, …]}, the list, or one rule alone

Members that are not named here are passed over. What a packet says must be valid, in the domain that its entry says;
it gets our version. Everything that is not taken is told, with its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accp_core.aacp.instruction import Instruction
from accp_core.aacp.packet import Packet, parse_packet, serialize_packet, stamp
from accp_core.aacp.registry import Entry
from accp_core.aacp.validation import validate
from accp_core.aacp.vocabulary import VERSION, VERSION_KEY
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["Imported", "read_registry"]

MOST: Final = 1_000_000
"""Items of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What a file gave."""

    entries: tuple[Entry, ...]
    refused: tuple[str, ...]
    """Place and reason of each item that was not taken."""


def read_registry(data: object, *, source: str = "import", keep_english: bool = False) -> Imported:
    """Return the entries of a parsed JSON document; `source` is noted in each.

    A rule gives one entry for its description and one for its name. Of two packets for one wording the first is
    taken. Nothing is raised for an item that is wrong.

    Raises: ProtocolError E1001 when the document is neither of the two.
    """
    entries: dict[str, Entry] = {}
    refused = []
    for place, item in enumerate(items(data)):
        try:
            for entry in read_item(item, source, keep_english):
                known = entries.setdefault(entry.pattern, entry)
                if known.packet != entry.packet:
                    raise ProtocolError(
                        f"another packet for one wording: {known.packet!r}", code=ErrorCode.POLICY_DENIED
                    )
        except ProtocolError as error:
            refused.append(f"{name_of(item, place)}: {error.reason}")
    return Imported(entries=tuple(entries.values()), refused=tuple(refused))


def items(data: object) -> list[object]:
    """Return the items of a document."""
    if isinstance(data, Mapping):
        data = data.get("rules", [data] if "packet" in data else None)
    if not isinstance(data, list) or len(data) > MOST:
        raise ProtocolError(
            f'expected at most {MOST} patterns or {{"rules": […]}}, found {type(data).__name__}',
            code=ErrorCode.PARSE_ERROR,
        )
    return data


def name_of(item: object, place: int) -> str:
    """Return how an item is called."""
    return f"item {place + 1} ({item['id']!r})" if isinstance(item, Mapping) and "id" in item else f"item {place + 1}"


def read_item(item: object, source: str, keep_english: bool) -> Iterator[Entry]:
    """Yield the entries of one pattern or rule."""
    if not isinstance(item, Mapping):
        raise ProtocolError(f"expected an object, found {item!r}", code=ErrorCode.INVALID_TYPE)
    rule = "aacp_packet" not in item
    packet = read_packet(text_of(item, "packet" if rule else "aacp_packet"))
    domain = item.get("dom" if rule else "domain", packet.domain)
    if domain != packet.domain:
        raise ProtocolError(f"the packet is for {packet.domain}, its entry for {domain!r}", code=ErrorCode.INVALID_TYPE)
    seen = item.get("times_seen", 1)
    texts = ("description", "name") if rule else ("english",)
    for name in [name for name in texts if name in item] or texts[:1]:
        instruction = Instruction(
            english=text_of(item, name),
            domain=packet.domain,
            return_agent=packet.return_agent,
            priority=packet.priority,
        )
        yield Entry(
            pattern=instruction.pattern,
            key=instruction.key,
            packet=serialize_packet(packet),
            source=source,
            english=instruction.english if keep_english else "",
            times_seen=seen if type(seen) is int and 0 < seen < 1 << 62 else 1,
        )


def read_packet(text: str) -> Packet:
    """Return a packet of any version as one of ours, if it is valid."""
    return validate(stamp(parse_packet(text), **{VERSION_KEY: VERSION})).check()


def text_of(item: Mapping[Any, Any], name: str) -> str:
    """Return the member of that name, if it is text."""
    value = item.get(name)
    if not isinstance(value, str):
        raise ProtocolError(f"{name}: expected text, found {value!r}", code=ErrorCode.INVALID_TYPE)
    return value
