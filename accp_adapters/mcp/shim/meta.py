"""What the shim writes beside a result or an error, under the extension's id, and takes out again."""

from __future__ import annotations

from typing import Final

from accp_adapters.mcp.shim.protocol import EXTENSION, Json, without

__all__ = ["has_room", "note_in", "with_note", "without_note"]

_EMPTY: Final = "empty"
"""Says in a note that its place was there before, with nothing in it."""


def has_room(holder: Json, place: str = "_meta") -> bool:
    """Tell whether a note may be put at `place`: it is an object without one, or missing."""
    there = holder.get(place, {})
    return isinstance(there, dict) and EXTENSION not in there


def note_in(holder: object, place: str = "_meta") -> Json:
    """Return the note at `place` of a result or an error; an empty one where there is none."""
    there = holder.get(place) if isinstance(holder, dict) else None
    note = there.get(EXTENSION) if isinstance(there, dict) else None
    return note if isinstance(note, dict) else {}


def with_note(holder: Json, note: Json, place: str = "_meta") -> Json:
    """Return a result or an error with a note; `has_room` was asked before."""
    there = holder.get(place, {})
    if place in holder and not there:
        note = {**note, _EMPTY: True}
    return {**holder, place: {**there, EXTENSION: note}}


def without_note(holder: Json, place: str = "_meta") -> Json:
    """Return what `with_note` was given."""
    note, left = note_in(holder, place), without(holder[place], EXTENSION)
    return {**holder, place: left} if left or _EMPTY in note else without(holder, place)
