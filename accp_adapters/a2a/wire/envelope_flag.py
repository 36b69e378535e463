"""The sign on an A2A object that its parts are frames, and how ids that repeat are left out and put back.

    metadata.accp = true              parts are frames
                    false             the same, and its metadata were there, but empty
                    {"was": value}    the same, and its metadata had such a key already

An object that has the key for reasons of its own is always encoded, so that what a peer opens is always ours.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from google.protobuf.struct_pb2 import Value

__all__ = ["KEY", "MEDIA_TYPE", "Event", "has_key", "is_marked", "lengthen", "mark", "shorten", "unmark"]

Event: TypeAlias = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent
"""What crosses between A2A peers with parts in it."""

MEDIA_TYPE: Final = "application/accp"
"""The media type of a part that is a frame (ACCP section 12.1)."""
KEY: Final = "accp"
_WAS: Final = "was"


def has_key(event: Event) -> bool:
    """Return whether the metadata have the key of the mark, whoever wrote it."""
    # Asking for a key that is not there would create it.
    return event.HasField("metadata") and KEY in event.metadata.fields


def is_marked(event: Event) -> bool:
    """Return whether the object is marked as one with frames."""
    if not has_key(event):
        return False
    value = event.metadata.fields[KEY]
    if value.WhichOneof("kind") == "struct_value":
        return list(value.struct_value.fields) == [_WAS]
    return value.WhichOneof("kind") == "bool_value"


def mark(event: Event) -> None:
    """Mark the object, keeping what its metadata were."""
    value = Value(bool_value=not event.HasField("metadata") or bool(event.metadata.fields))
    if has_key(event):
        value.struct_value.fields[_WAS].CopyFrom(event.metadata.fields[KEY])
    event.metadata.fields[KEY].CopyFrom(value)


def unmark(event: Event) -> None:
    """Undo `mark`."""
    value = Value()
    value.CopyFrom(event.metadata.fields[KEY])
    del event.metadata.fields[KEY]
    if value.WhichOneof("kind") == "struct_value":
        event.metadata.fields[KEY].CopyFrom(value.struct_value.fields[_WAS])
    elif value.bool_value and not event.metadata.fields:
        event.ClearField("metadata")


def shorten(own: str, outer: str) -> str:
    """Return the id of a message as it stands inside an object with the id `outer`: nothing where both are one."""
    if own == outer:
        return ""
    return f" {own}" if not own or own.startswith(" ") else own


def lengthen(own: str, outer: str) -> str:
    """Undo `shorten`."""
    return own.removeprefix(" ") if own else outer
