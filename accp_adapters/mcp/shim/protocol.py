"""The names of MCP that the shim stands on, in both eras of the protocol, and ours beside them (ACCP section 11.3).

The handshake era (up to 2025-11-25) begins with `initialize`; from 2026-07-28 on every request carries the client's
capabilities in its `_meta` and every result says its `resultType`.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypeAlias

__all__ = [
    "CLIENT_CAPABILITIES",
    "COLD_URI",
    "EXTENSION",
    "LARGEST",
    "MEDIA_TYPE",
    "REGISTRY_URI",
    "SENDER",
    "Json",
    "MessageId",
    "compact",
    "id_of",
    "is_longer_than",
    "is_modern",
    "read_part",
    "same_result",
    "text_block",
    "tool_result",
    "without",
]

EXTENSION: Final = "org.ietf.datatracker/draft-benzing-accp-00"
"""The extension's id: in capabilities, in `_meta` of results, in `error.data`."""
MEDIA_TYPE: Final = "application/accp"
"""The MIME type of a frame (section 11.3)."""
REGISTRY_URI: Final = "accp://registry"
"""The resource that is the whole schema registry, as a `sync:registry` frame."""
COLD_URI: Final = "accp://cold/"
"""What the URI of a reference's full text begins with."""
SENDER: Final = "mcp"
"""The agent-id in the frames of a server."""
CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
"""The key in a request's `_meta` that holds the client's capabilities from 2026-07-28 on."""

LARGEST: Final = 2_000_000
"""Characters of a result that is looked into: a second or two of work; a larger one passes as it came."""

Json: TypeAlias = dict[str, Any]
"""A JSON object, decoded."""
MessageId: TypeAlias = tuple[type, str | int | float]
"""A JSON-RPC id that can be a key: 1 and "1" are two."""


def compact(value: object) -> str:
    """Return the compact JSON of a decoded message or a part of it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def id_of(message: Json) -> MessageId | None:
    """Return the id of a request or response; None for a notification and for an id that JSON-RPC does not allow."""
    found = message.get("id")
    return (type(found), found) if isinstance(found, (str, int, float)) and not isinstance(found, bool) else None


def is_modern(params: object) -> bool:
    """Tell whether the params are those of a request of the era that begins with 2026-07-28."""
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and CLIENT_CAPABILITIES in meta


def without(members: Json, *names: str) -> Json:
    """Return `members` less `names`."""
    return {name: value for name, value in members.items() if name not in names}


def is_longer_than(value: object, limit: int) -> bool:
    """Tell whether the texts, keys and members of `value` come to more than `limit`, looking at no more of it."""
    left, waiting = limit, [value]
    while waiting and left >= 0:
        each = waiting.pop()
        if isinstance(each, str):
            left -= len(each)
        elif isinstance(each, dict):
            left -= len(each)
            if left >= 0:
                waiting += each
                waiting += each.values()
        elif isinstance(each, list):
            left -= len(each)
            if left >= 0:
                waiting += each
        else:
            left -= 1
    return left < 0


def read_part(result: Json) -> str:
    """Return what a reader is shown of a result: texts as they are, the rest of both forms as JSON, no `_meta`."""
    content = result.get("content")
    parts = [_shown(block) for block in content] if isinstance(content, list) else [compact(content)]
    if "structuredContent" in result:
        parts.append(compact(result["structuredContent"]))
    return "\n".join(parts)


def _shown(block: Any) -> str:
    is_text = isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    return str(block["text"]) if is_text else compact(block)


def same_result(left: Json, right: Json) -> bool:
    """Tell whether two results are one JSON value in types, too, and in the order of keys of what a program reads."""
    structured = "structuredContent"
    return compact(left.get(structured)) == compact(right.get(structured)) and json.dumps(
        left, sort_keys=True
    ) == json.dumps(right, sort_keys=True)


def text_block(text: str) -> Json:
    """Return a content block of text."""
    return {"type": "text", "text": text}


def tool_result(content: list[Json], *, is_error: bool = False) -> Json:
    """Return the result of a tool of our own; both eras read it."""
    return {"resultType": "complete", "content": content, "isError": is_error}
