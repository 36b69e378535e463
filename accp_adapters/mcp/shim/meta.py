"""The metadata that the shim adds to a result or an error under the id of the extension, and removes again.

{"content": […], "_meta": {EXTENSION: {…}}}      a result
{"code": …, "message": …, "data": {EXTENSION: {…}}}      an error
"""

from __future__ import annotations

from typing import Final

from accp_adapters.mcp.shim.protocol import EXTENSION, JsonObject, without

__all__ = ["add_metadata", "extend_metadata", "has_room_for_metadata", "read_metadata", "remove_metadata"]

_WAS_EMPTY: Final = "empty"
"""The flag in our metadata which says that the member was there before, as an empty object."""


def has_room_for_metadata(holder: JsonObject, member: str = "_meta") -> bool:
    """Return whether metadata can be added to `member`: it is missing, or an object without metadata of ours."""
    value = holder.get(member, {})
    return isinstance(value, dict) and EXTENSION not in value


def read_metadata(holder: object, member: str = "_meta") -> JsonObject:
    """Return our metadata in `member` of a result or error; an empty object if there is none."""
    value = holder.get(member) if isinstance(holder, dict) else None
    metadata = value.get(EXTENSION) if isinstance(value, dict) else None
    return metadata if isinstance(metadata, dict) else {}


def add_metadata(holder: JsonObject, metadata: JsonObject, member: str = "_meta") -> JsonObject:
    """Return a result or error with `metadata` in `member`; check `has_room_for_metadata` first."""
    value = holder.get(member, {})
    if member in holder and not value:
        metadata = {**metadata, _WAS_EMPTY: True}
    return {**holder, member: {**value, EXTENSION: metadata}}


def extend_metadata(holder: JsonObject, metadata: JsonObject, member: str = "_meta") -> JsonObject:
    """Return a result or error that is ours, or has metadata of ours, with more of it."""
    return {**holder, member: {**holder.get(member, {}), EXTENSION: {**read_metadata(holder, member), **metadata}}}


def remove_metadata(holder: JsonObject, member: str = "_meta") -> JsonObject:
    """Return a result or error as it was before `add_metadata`."""
    metadata, rest = read_metadata(holder, member), without(holder[member], EXTENSION)
    return {**holder, member: rest} if rest or _WAS_EMPTY in metadata else without(holder, member)
