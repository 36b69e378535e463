"""The names of MCP and of our extension that all modules of the shim use, in both eras (ACCP section 11.3).

The handshake era (up to 2025-11-25) starts with `initialize`; from 2026-07-28 on, every request carries the client's
capabilities in its `_meta`, and every result has a `resultType`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from accp_core.strict_json import compact_json

__all__ = [
    "CLIENT_CAPABILITIES",
    "COLD_URI",
    "EXTENSION",
    "MAX_RESULT_CHARS",
    "MEDIA_TYPE",
    "REGISTRY_URI",
    "SENDER",
    "JsonObject",
    "MessageId",
    "is_longer_than",
    "is_modern",
    "is_same_result",
    "message_id",
    "text_block",
    "tool_result",
    "unchanged_on_error",
    "visible_text",
    "without",
]

_LOG: Final = logging.getLogger(__name__)

EXTENSION: Final = "org.ietf.datatracker/draft-benzing-accp-00"
"""The id of the extension: the key in capabilities, in `_meta` of results and in `error.data`."""
MEDIA_TYPE: Final = "application/accp"
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
"""Characters of a result that is rewritten, which takes one or two seconds; a longer one passes unchanged."""

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


def is_longer_than(value: object, limit: int) -> bool:
    """Return whether the characters, keys and members of `value` add up to more than `limit`; stops once they do."""
    left, waiting = limit, [value]
    while waiting and left >= 0:
        part = waiting.pop()
        if isinstance(part, str):
            left -= len(part)
        elif isinstance(part, dict):
            left -= len(part)
            if left >= 0:
                waiting += part
                waiting += part.values()
        elif isinstance(part, list):
            left -= len(part)
            if left >= 0:
                waiting += part
        else:
            left -= 1
    return left < 0


def visible_text(result: JsonObject) -> str:
    """Return what a host may show its model of a result: texts as they are, everything else as JSON, no `_meta`.

    Raises:
        EncodeError: E1004, the result is not JSON.
    """
    content = result.get("content")
    parts = [_block_text(block) for block in content] if isinstance(content, list) else [compact_json(content)]
    if "structuredContent" in result:
        parts.append(compact_json(result["structuredContent"]))
    return "\n".join(parts)


def _block_text(block: Any) -> str:
    is_text = isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    return str(block["text"]) if is_text else compact_json(block)


def is_same_result(left: JsonObject, right: JsonObject) -> bool:
    """Return whether two results are equal in values and types and, in `structuredContent`, in the order of keys.

    Raises:
        EncodeError: E1004, a result is not JSON.
    """
    structured = "structuredContent"
    return compact_json(left.get(structured)) == compact_json(right.get(structured)) and compact_json(
        left, sort_keys=True
    ) == compact_json(right, sort_keys=True)


def text_block(text: str) -> JsonObject:
    """Return a content block that holds `text`."""
    return {"type": "text", "text": text}


def tool_result(content: list[JsonObject], *, is_error: bool = False) -> JsonObject:
    """Return the result of one of the shim's own tools, valid in both eras."""
    return {"resultType": "complete", "content": content, "isError": is_error}


def unchanged_on_error(rewrite: Callable[[JsonObject], JsonObject], message: JsonObject) -> JsonObject:
    """Return `rewrite(message)`, or `message` itself if that fails or the message is not an object.

    The original message is always correct, so no failure of the shim may stop it.
    """
    if type(message) is not dict:
        return message
    try:
        return rewrite(message)
    except Exception:
        _LOG.debug("the shim failed; the message passes unchanged", exc_info=True)
        return message
