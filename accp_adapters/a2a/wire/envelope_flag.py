"""The flag in the metadata of an A2A object whose parts are frames (ACCP section 11.4).

    metadata.accp = true              the parts are frames
                    false             the same; the object had metadata, and they were empty
                    {"was": value}    the same; its metadata had the key "accp" already, with this value

The flag alone means nothing: others may use the key, too. An object is ours where it has the flag and at least one of
its parts is a frame with the ids of its place; `encode` frames every part of others that could be taken for one.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from a2a.types import Message, Task, TaskArtifactUpdateEvent, TaskStatusUpdateEvent
from google.protobuf.struct_pb2 import Value

__all__ = ["METADATA_KEY", "A2aEvent", "clear_flag", "has_flag_key", "is_flagged", "set_flag"]

A2aEvent: TypeAlias = Task | Message | TaskStatusUpdateEvent | TaskArtifactUpdateEvent
"""An A2A object that has parts; the SDK's event queues call it by this name, too."""

METADATA_KEY: Final = "accp"
"""The key of the flag in metadata, and of our error codes in the data of an A2A error."""
_PREVIOUS: Final = "was"


def has_flag_key(event: A2aEvent) -> bool:
    """Return whether the metadata have the key of the flag, written by us or by others."""
    # Reading a key that is not there would create it.
    return event.HasField("metadata") and METADATA_KEY in event.metadata.fields


def is_flagged(event: A2aEvent) -> bool:
    """Return whether the flag says that the parts are frames."""
    if not has_flag_key(event):
        return False
    value = event.metadata.fields[METADATA_KEY]
    if value.WhichOneof("kind") == "struct_value":
        return list(value.struct_value.fields) == [_PREVIOUS]
    return value.WhichOneof("kind") == "bool_value"


def set_flag(event: A2aEvent) -> None:
    """Set the flag, and keep in it what `clear_flag` needs to restore the metadata."""
    value = Value(bool_value=not event.HasField("metadata") or bool(event.metadata.fields))
    if has_flag_key(event):
        value.struct_value.fields[_PREVIOUS].CopyFrom(event.metadata.fields[METADATA_KEY])
    event.metadata.fields[METADATA_KEY].CopyFrom(value)


def clear_flag(event: A2aEvent) -> None:
    """Remove the flag and restore the metadata; the inverse of `set_flag`."""
    value = Value()
    value.CopyFrom(event.metadata.fields[METADATA_KEY])
    del event.metadata.fields[METADATA_KEY]
    if value.WhichOneof("kind") == "struct_value":
        event.metadata.fields[METADATA_KEY].CopyFrom(value.struct_value.fields[_PREVIOUS])
    elif value.bool_value and not event.metadata.fields:
        event.ClearField("metadata")
