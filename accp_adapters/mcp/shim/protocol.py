"""The names of MCP and of our extension that all modules of the shim use, in both eras (ACCP section 11.3).

The handshake era (up to 2025-11-25) starts with `initialize`; from 2026-07-28 on, every request carries the client's
capabilities in its `_meta`, and every result has a `resultType`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, Final, TypeAlias

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.strict_json import compact_json

__all__ = [
    "CLIENT_CAPABILITIES",
    "COLD_URI",
    "EXTENSION",
    "FRAME_MEDIA_TYPE",
    "MAX_RESULT_CHARS",
    "REGISTRY_URI",
    "SENDER",
    "JsonObject",
    "MessageId",
    "cancellation",
    "check_names",
    "is_modern",
    "is_same_result",
    "message_id",
    "text_block",
    "tool_result",
    "unchanged_on_error",
    "warn_once",
    "without",
]

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
"""Characters of a result that is rewritten, which takes one or two seconds; a longer one passes unchanged."""

_NAMED_BY: Final = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
}
"""The member of the params that says what a request is about, by method."""
_WITHOUT: Final = frozenset({"resources/subscribe", "resources/unsubscribe"})
"""Methods that servers of 2026-07-28 do not have, which they say whatever the params lack."""

JsonObject: TypeAlias = dict[str, Any]
"""A decoded JSON object."""
MessageId: TypeAlias = tuple[type, str | int | float]
"""A JSON-RPC id as a dictionary key: 1 and "1" are different ids."""


def message_id(message: JsonObject) -> MessageId | None:
    """Return the id of a request or response; None for a notification and for an id that JSON-RPC does not allow."""
    value = message.get("id")
    return (type(value), value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else None


def check_names(message: JsonObject) -> None:
    """Check that what a request names is a text: a server may make one of anything else, after our rules have looked.

    Raises:
        ProtocolError: E1004, the method, or the name or URI that it needs, is none.
    """
    method, params = message.get("method", ""), message.get("params")
    if not isinstance(method, str):
        raise ProtocolError(f"expected 'method' to be a text, found {method!r:.200}", code=ErrorCode.INVALID_TYPE)
    member = _NAMED_BY.get(method)
    missing = "" if method in _WITHOUT else None
    given = params.get(member, missing) if member is not None and isinstance(params, dict) else ""
    if not isinstance(given, str):
        raise ProtocolError(f"expected {member!r} to be a text, found {given!r:.200}", code=ErrorCode.INVALID_TYPE)


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


def cancellation(request_id: object) -> JsonObject:
    """Return the notification that the response to a request is not awaited any more."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


def text_block(text: str) -> JsonObject:
    """Return a content block that holds `text`."""
    return {"type": "text", "text": text}


def tool_result(content: list[JsonObject], *, is_error: bool = False) -> JsonObject:
    """Return the result of one of the shim's own tools, valid in both eras."""
    return {"resultType": "complete", "content": content, "isError": is_error}


def unchanged_on_error(rewrite: Callable[[JsonObject], JsonObject], message: JsonObject) -> JsonObject:
    """Return `rewrite(message)`, or `message` itself if that fails or the message is not an object.

    The original message is always correct, so no failure of the shim may stop it; the first of each kind is logged.
    """
    if type(message) is not dict:
        return message
    try:
        return rewrite(message)
    except Exception as error:
        warn_once(error)
        return message


def warn_once(error: Exception) -> None:
    """Log where the shim failed, the first time that it fails there in this way.

    The text of the error stays out of the warning, since it may quote the message.
    """
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = "" if last is None else f" in {last.tb_frame.f_code.co_name}"
    _warn(f"{type(error).__name__}{place}")
    _LOG.debug("the shim failed", exc_info=error)


@cache
def _warn(kind: str) -> None:
    _LOG.warning("the shim failed, and the message passes unchanged; this is logged once: %s", kind)
