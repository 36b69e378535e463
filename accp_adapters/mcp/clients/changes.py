"""A configuration file with our words put before its servers, and without them: text in, text out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.mcp.clients.entries import ClientEntry, EntryPlace, entries
from accp_adapters.mcp.clients.jsonc import Edit, edited, parse_jsonc, refuse
from accp_adapters.mcp.clients.wrapping import is_wrapped, obstacle, unwrap, wrap
from accp_core.errors import DecodeError

__all__ = ["Change", "Original", "Wrapped", "unwrap_text", "wrap_text"]


@dataclass(frozen=True, slots=True)
class Change:
    """What became of one server."""

    place: EntryPlace
    outcome: str
    """"wrapped", "rewritten", "unwrapped", "unchanged" or "left"."""
    reason: str = ""
    """Why it is unchanged, was written again, or was left wrapped."""
    difference: Sequence[str] = ()
    """The lines of the entry that go and come, without secrets."""


@dataclass(frozen=True, slots=True)
class Original:
    """A server that was wrapped."""

    place: EntryPlace
    text: str
    """The entry as the user wrote it."""
    written: Any
    """The value of the wrapped entry."""


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A file after wrapping."""

    text: str
    changes: Sequence[Change]
    originals: Sequence[Original]


_ALREADY: Final = "it already starts accp mcp"


def wrap_text(
    text: str,
    command: str,
    *,
    names: Collection[str] = (),
    options: Sequence[str] = (),
    named: Collection[EntryPlace] = (),
) -> Wrapped:
    """Return a file whose servers `command` starts.

    Args:
        text: The file.
        command: The path of this program.
        names: The servers to wrap; empty: all.
        options: Options of `accp mcp`, such as "--fetch"; those without a value last.
        named: Places that are wrapped even if their server may ask for a login.

    Raises:
        DecodeError: E1001, the file is not understood.
    """
    edits: list[Edit] = []
    changes: list[Change] = []
    wrapped: list[ClientEntry] = []
    for entry in entries(text):
        if not (entry.place in named or not names or entry.name in names):
            continue
        is_named = entry.place in named or entry.name in names
        reason = _ALREADY if is_wrapped(entry) else obstacle(entry, is_named=is_named)
        changes.append(Change(entry.place, "unchanged" if reason else "wrapped", reason))
        if not reason:
            edits += wrap(entry, text, command, options)
            wrapped.append(entry)
    written = edited(text, edits)
    values = _checked(text, written, {entry.place for entry in wrapped})
    originals = [Original(each.place, text[each.node.start : each.node.end], values[each.place]) for each in wrapped]
    return Wrapped(written, changes, originals)


def unwrap_text(
    text: str, originals: Sequence[Original], *, names: Collection[str] = ()
) -> tuple[str, Sequence[Change]]:
    """Return a file without our words, and what became of each server that has them.

    An entry that is as we wrote it becomes what it was, byte for byte. From one that was edited since, our words are
    taken, and the edit stays.

    Args:
        text: The file.
        originals: The entries before they were wrapped.
        names: The servers to unwrap; empty: all.

    Raises:
        DecodeError: E1001, the file is not understood.
    """
    before = {original.place: original for original in originals}
    edits: list[Edit] = []
    changes: list[Change] = []
    for entry in entries(text):
        if is_wrapped(entry) and (not names or entry.name in names):
            change, own = _unwrap_entry(entry, text, before.get(entry.place))
            changes.append(change)
            edits += own
    written = edited(text, edits)
    _checked(text, written, {change.place for change in changes})
    return written, changes


def _unwrap_entry(entry: ClientEntry, text: str, original: Original | None) -> tuple[Change, list[Edit]]:
    if original is not None and entry.node.value == original.written:
        return Change(entry.place, "unwrapped"), [(entry.node.start, entry.node.end, original.text)]
    try:
        edits = unwrap(entry, text)
    except DecodeError as error:
        return Change(entry.place, "left", error.reason), []
    return Change(entry.place, "unwrapped", "edited since it was wrapped" if original else "not recorded here"), edits


def _checked(before: str, after: str, changed: Collection[EntryPlace]) -> Mapping[EntryPlace, Any]:
    """Return the values of the `changed` entries of `after`, once it is sure that nothing else is different.

    Raises:
        DecodeError: E1001, an edit would do harm; nothing may be written.
    """
    old, new = entries(before), {entry.place: entry.node.value for entry in entries(after)}
    same = {entry.place for entry in old} == set(new)
    same = same and all(new[entry.place] == entry.node.value for entry in old if entry.place not in changed)
    if not same or _without(before, changed) != _without(after, changed):
        refuse(before, 0, "a file that can be edited in place")
    return {place: new[place] for place in changed}


def _without(text: str, places: Collection[EntryPlace]) -> Any:
    """Return the value of a document with None at `places`."""
    root = parse_jsonc(text).value
    for *way, name in places:
        node = root
        for step in way:
            node = node[step]
        node[name] = None
    return root
