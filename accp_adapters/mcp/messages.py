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
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Any, Final, TypeAlias

from accp_core.documents.json_styles import STYLES, read_styled_json, write_styled_json
from accp_core.packing.expansion import Expansion
from accp_core.strict_json import compact_json, read_json

__all__ = [
    "CLIENT_CAPABILITIES", "COLD_URI", "EXTENSION", "FRAME_MEDIA_TYPE", "MAX_RESULT_CHARS", "REGISTRY_URI", "SENDER",
    "ContentBlock", "DuplicateContent", "JsonObject", "MessageId", "add_metadata", "extend_metadata", "find_duplicate",
    "has_room_for_metadata", "is_modern", "is_plain_text", "is_same_result", "is_text", "message_id",
    "read_metadata", "remove_metadata", "text_block", "tool_result", "unchanged_on_error", "without",
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


_MAX_OPENED: Final = 10_000_000
"""Characters of a JSON text that is compared with `structuredContent`, which takes a second and 110 MB."""
_MAX_STARTS: Final = 8
"""Blocks at which duplicate content may start: a server may describe in words first what follows."""

ContentBlock: TypeAlias = Any
"""A content block as the server sent it; a hostile server's may be any value."""


def is_text(block: ContentBlock) -> bool:
    """Return whether a content block is text."""
    return isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)


def is_plain_text(block: ContentBlock) -> bool:
    """Return whether a content block is text and nothing else: no annotations, no `_meta`, no unknown members."""
    return is_text(block) and len(block) == 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateContent:
    """A run of text blocks, and how they are written from one value."""

    at: int
    """The index of the first block in `content`."""
    count: int
    """The number of blocks."""
    each: bool
    """Whether the value is a list and every block holds one item; otherwise one block holds the whole value."""
    style: str | None
    """The code of the JSON style (see `json_styles`); None: the blocks hold strings without quotes."""
    key: str | None = None
    """The only key of `structuredContent`, where the value is under one; None: `structuredContent` is the value."""
    structured: bool = True
    """Whether the result has `structuredContent`, with the value."""

    def write(self, value: object, expansion: Expansion | None = None) -> list[JsonObject]:
        """Return the blocks that hold `value`; the inverse of `read`.

        Args:
            value: The value in the blocks.
            expansion: What the texts may have in characters; None: any number.

        Raises:
            ExpansionError: The texts would have more characters than `expansion` has left.
            KeyError, TypeError, ValueError: It is not a value of this shape.
        """
        if self.key is not None:
            if not isinstance(value, dict):
                raise TypeError(f"expected an object with the key {self.key!r}, found {type(value).__name__!r}")
            value = value[self.key]
        if self.each and not isinstance(value, list):
            raise TypeError(f"expected a list of {self.count} items, found {type(value).__name__!r}")
        items = value if self.each and isinstance(value, list) else [value]
        return [text_block(_write(item, self.style, expansion)) for item in items]

    def read(self, content: list[ContentBlock]) -> object:
        """Return the value in the blocks of `content`; the inverse of `write`.

        Raises:
            LookupError, TypeError, ValueError: The blocks do not hold such a value.
        """
        texts = [block["text"] for block in content[self.at : self.at + self.count]]
        items = [text if self.style is None else read_json(text) for text in texts]
        value = items if self.each else items[0]
        return value if self.key is None else {self.key: value}

    def to_json(self) -> JsonObject:
        """Return the metadata that travels in `_meta`."""
        metadata: JsonObject = {"at": self.at}
        if self.each:
            metadata["each"] = self.count
        for name, value in (("style", self.style), ("key", self.key)):
            if value is not None:
                metadata[name] = value
        return metadata if self.structured else {**metadata, "alone": True}

    @classmethod
    def from_json(cls, metadata: JsonObject) -> DuplicateContent:
        """Return what `to_json` was called on.

        Raises:
            ValueError: `metadata` is malformed.
        """
        at, each, style, key = (metadata.get(name) for name in ("at", "each", "style", "key"))
        if type(at) is not int or at < 0 or not (each is None or (type(each) is int and each > 0)):
            raise ValueError(f"expected an index and a number of blocks, found {metadata!r}")
        if not (style is None or style in STYLES) or not (key is None or isinstance(key, str)):
            raise ValueError(f"expected a style of JSON and a key, found {metadata!r}")
        return cls(
            at=at, count=each or 1, each=bool(each), style=style, key=key, structured=metadata.get("alone") is not True
        )


def _write(item: object, style: str | None, expansion: Expansion | None = None) -> str:
    if style is not None:
        return write_styled_json(item, style, expansion)
    if not isinstance(item, str):
        raise TypeError(f"expected a string, found {type(item).__name__!r}")
    return item


def find_duplicate(result: JsonObject) -> tuple[DuplicateContent, object] | None:
    """Return how the texts of a result repeat its `structuredContent`; without one, how they hold one JSON value.

    The second item is the value from which both forms can be written: the whole `structuredContent`, else the value of
    the texts. None: the texts hold something else, or are not JSON and there is no `structuredContent`.
    """
    content = result.get("content")
    if not isinstance(content, list):
        return None
    if "structuredContent" not in result:
        return _value_of_texts(content)
    structured = result["structuredContent"]
    candidates: list[tuple[str | None, object]] = [(None, structured)]
    if isinstance(structured, dict) and len(structured) == 1:
        candidates += structured.items()
    runs = _runs(content)
    for key, value in candidates:
        duplicate = _find_value(value, runs, key)
        if duplicate is not None:
            return duplicate, structured
    return None


@dataclass(frozen=True, slots=True)
class _Run:
    """Consecutive plain text blocks."""

    at: int
    """The index of the first block."""
    texts: list[str]
    """Their texts."""
    opened: tuple[object, str] | None
    """The JSON value of the first text, and its style; None if it holds none."""


def _runs(content: list[ContentBlock]) -> list[_Run]:
    """Return the runs that start at one of the first blocks."""
    starts = [index for index, block in enumerate(content[:_MAX_STARTS]) if is_plain_text(block)]
    found = ((at, _run_of_texts(content, at)) for at in starts)
    return [_Run(at, texts, read_styled_json(texts[0]) if len(texts[0]) < _MAX_OPENED else None) for at, texts in found]


def _find_value(value: object, runs: list[_Run], key: str | None) -> DuplicateContent | None:
    """Return which run of blocks holds `value`; None if none does."""
    forms = [(False, [value]), *([(True, value)] if isinstance(value, list) and value else [])]
    for run in runs:
        for each, items in forms:
            for style in _possible_styles(run, items[0]) if len(items) <= len(run.texts) else ():
                is_first_known = style is not None and run.opened is not None and style == run.opened[1]
                if _holds(run.texts[is_first_known:], items[is_first_known:], style):
                    return DuplicateContent(at=run.at, count=len(items), each=each, style=style, key=key)
    return None


def _possible_styles(run: _Run, item: object) -> tuple[str | None, ...]:
    """Return the styles in which the first text of a run may hold `item`, None for a string without quotes."""
    # Compared in C, unlike what writing with indents takes.
    if run.opened is None or not _is_same_json(run.opened[0], item):
        return (None,)
    style = run.opened[1].removesuffix("u")
    # A first item in ASCII fits both the escaped and the raw Unicode form of its style.
    return style, f"{style}u", None


def _is_same_json(left: object, right: object) -> bool:
    try:
        # Equal values may still differ in types (1, true) and in the order of keys.
        return left == right and compact_json(left) == compact_json(right)
    except (ValueError, RecursionError):
        return False


def _holds(texts: list[str], items: list[Any], style: str | None) -> bool:
    try:
        return all(_write(item, style) == text for item, text in zip(items, texts, strict=False))
    except (TypeError, ValueError, RecursionError):
        return False


def _run_of_texts(content: list[ContentBlock], at: int) -> list[str]:
    """Return the texts of the consecutive plain text blocks from index `at` on."""
    return [block["text"] for block in takewhile(is_plain_text, content[at:])]


def _value_of_texts(content: list[ContentBlock]) -> tuple[DuplicateContent, object] | None:
    """Return the value of the first run of text blocks: one JSON document, or one for each block."""
    at = next((index for index, block in enumerate(content) if is_plain_text(block)), None)
    if at is None:
        return None
    texts = _run_of_texts(content, at)
    opened = [each for text in texts if (each := read_styled_json(text)) is not None]
    if len(opened) < len(texts):
        return None
    values = [value for value, _ in opened]
    style = max((style for _, style in opened), key=len)
    others = [(text, value) for text, (value, own) in zip(texts, opened, strict=True) if own != style]
    if not _holds([text for text, _ in others], [value for _, value in others], style):
        return None
    several = len(values) > 1
    duplicate = DuplicateContent(at=at, count=len(values), each=several, style=style, structured=False)
    return duplicate, values if several else values[0]
