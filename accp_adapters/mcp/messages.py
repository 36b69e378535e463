"""The names of MCP and of our extension, and JSON-RPC messages in both eras of the protocol (ACCP section 11.3).

The handshake era (up to 2025-11-25) starts with `initialize`; from 2026-07-28 on, every request carries the client's
capabilities in its `_meta`, and every result has a `resultType`. What the shim adds to a message stands under the id of
the extension, and is removed again:

    {"content": […], "_meta": {EXTENSION: {…}}}                              a result
    {"code": …, "message": …, "data": {EXTENSION: {…}}}                      an error
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

from accp_core.strict_json import compact_json

__all__ = [
    "CLIENT_CAPABILITIES", "COLD_URI", "EXTENSION", "FRAME_MEDIA_TYPE", "MAX_RESULT_CHARS", "REGISTRY_URI", "SENDER",
    "JsonObject", "MessageId", "add_metadata", "extend_metadata", "has_room_for_metadata", "is_modern",
    "is_same_result", "message_id", "read_metadata", "remove_metadata", "text_block", "tool_result",
    "unchanged_on_error", "without",
]  # fmt: skip

_LOG: Final = logging.getLogger(__name__)

EXTENSION: Final = "org.ietf.datatracker/draft-benzing-accp-00"
"""The id of the extension: the key in capabilities, in `_meta` of results and in `error.data`."""
FRAME_MEDIA_TYPE: Final = "application/accp"
"""The MIME type of a frame (section 11.3)."""
REGISTRY_URI: Final = "accp://registry"
"""The resource that holds the whole schema registry, as a `sync:registry` frame."""
COLD_URI: Final = "accp://cold/"
"""The prefix of the resources that hold the full text of a reference."""
SENDER: Final = "mcp"
"""The agent id in the frames of a server."""
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""The key in a request's `_meta` that holds the client's capabilities, from 2026-07-28 on."""
MAX_RESULT_CHARS: Final = 2_000_000
"""Characters of a result that is rewritten, which takes one or two seconds; a longer one is only stored or passed."""
_WAS_EMPTY: Final = "empty"
"""The flag in our metadata which says that the member was there before, as an empty object."""

JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object."""
MessageId: TypeAlias = tuple[type, str | int | float]
"""A JSON-RPC id as a dictionary key: 1 and "1" are different ids."""


def message_id(message: JsonObject) -> MessageId | None:
    """Return the id of a request or response; None for a notification and for an id that JSON-RPC does not allow."""
    value = message.get("id")
    return (type(value), value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def is_modern(params: object) -> bool:
    """Return whether `params` belong to a request of the era that starts with 2026-07-28."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and CLIENT_CAPABILITIES in meta


def without(members: JsonObject, *names: str) -> JsonObject:
    """Return a copy of `members` without `names`."""
    return {name: value for name, value in members.items() if name not in names}


def is_same_result(left: JsonObject, right: JsonObject) -> bool:
    """Return whether two results are equal in values and types and, in `structuredContent`, in the order of keys.

    Raises:
        EncodeError: E1004, a result is not JSON.
    """
    structured = "structuredContent"
    if (structured in left) != (structured in right):
        return False
    one, other = left.get(structured), right.get(structured)
    if one is not other and compact_json(one) != compact_json(other):
        return False
    rest = [compact_json(without(result, structured), sort_keys=True) for result in (left, right)]
    return rest[0] == rest[1]


def text_block(text: str) -> JsonObject:
    """Return a content block that holds `text`."""
    return {"type": "text", "text": text}


def tool_result(content: list[JsonObject], *, is_error: bool = False) -> JsonObject:
    """Return the result of one of the shim's own tools, valid in both eras."""
    return {"resultType": "complete", "content": content, "isError": is_error}


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


def unchanged_on_error(
    rewrite: Callable[[JsonObject], JsonObject], message: JsonObject, failed: Callable[[], None] = lambda: None
) -> JsonObject:
    """Return `rewrite(message)`, or `message` itself if that fails or the message is not an object.

    The original message is always correct, so no fault of the shim may stop it. `failed` is called after each fault;
    the first fault of each kind is logged.
    """
    if type(message) is not dict:
        return message
    try:
        return rewrite(message)
    except Exception as error:
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        _warn(f"{type(error).__name__}{'' if last is None else f' in {last.tb_frame.f_code.co_name}'}")
        # The text of the error may quote the message.
        _LOG.debug("the shim failed", exc_info=error)
        failed()
        return message


@cache
def _warn(kind: str) -> None:
    _LOG.warning("the shim failed, and the message passes unchanged; this is logged once: %s", kind)
