"""A tool in one line: `list_orders(owner, page?:int) Lists orders.`

Required arguments come first, `?` marks the others. A type stands where it is not text. A summary is left out where
the name says it already.
"""

from __future__ import annotations

import re
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject

__all__ = ["argument_names", "says_all", "schema_of", "signature", "words_of"]

_MAX_ARGUMENTS: Final = 8
"""Arguments in the line of a tool."""
_MAX_SUMMARY: Final = 60
"""Characters of the summary in the line of a tool."""
_TYPES: Final = {"integer": "int", "number": "num", "boolean": "bool", "array": "[]", "object": "{}", "string": ""}
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|\n")
_WORD: Final = re.compile(r"[^\W\d_]+")
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
"""A word in a name such as `listOrders`, `list_orders`, `HTTPGet`."""
_ENDINGS: Final = ("ing", "ies", "es", "s", "ed", "d", "e", "y")
_FUNCTION_WORDS: Final = frozenset(
    [*("a", "an", "all", "and", "by", "for", "from", "given", "in", "is", "it", "its"),
     *("of", "on", "or", "specific", "that", "the", "this", "to", "with")]
)  # fmt: skip
"""Words that say nothing about what a tool does."""


def signature(tool: JsonObject) -> str:
    """Return a tool in one line."""
    schema = schema_of(tool)
    required = _required(schema)
    names = sorted(argument_names(tool), key=lambda name: name not in required)
    shown = [_argument(name, schema["properties"][name], name in required) for name in names[:_MAX_ARGUMENTS]]
    listed = shown + ["…"] * (len(names) > _MAX_ARGUMENTS)
    return f"{tool.get('name')}({', '.join(listed)}) {_summary(tool)}".rstrip()


def says_all(tool: JsonObject) -> bool:
    """Return whether the line of a tool says what a call needs: few arguments, of types any value of which fits."""
    properties = schema_of(tool).get("properties") or {}
    return len(properties) <= _MAX_ARGUMENTS and all(map(_is_plain, properties.values()))


def argument_names(tool: JsonObject) -> list[str]:
    """Return the names of a tool's arguments."""
    properties = schema_of(tool).get("properties")
    return list(properties) if isinstance(properties, dict) else []


def schema_of(tool: JsonObject) -> dict[str, Any]:
    """Return a tool's inputSchema; an empty one where it is none."""
    schema = tool.get("inputSchema")
    return schema if isinstance(schema, dict) else {}


def words_of(name: str) -> list[str]:
    """Return the words in the name of a tool, in lower case."""
    return [word.lower() for word in _PART.findall(name)]


def _required(schema: dict[str, Any]) -> set[str]:
    required = schema.get("required")
    return {name for name in required if isinstance(name, str)} if isinstance(required, list) else set()


def _argument(name: str, schema: object, is_required: bool) -> str:
    kind = _TYPES.get(_type_of(schema), "")
    return f"{name}{'' if is_required else '?'}{f':{kind}' if kind else ''}"


def _type_of(schema: object) -> str:
    """Return the JSON type of an argument, the first one besides null where there are several; empty: any."""
    if not isinstance(schema, dict):
        return ""
    kinds = schema.get("type")
    if isinstance(kinds, str):
        return kinds
    for kind in kinds if isinstance(kinds, list) else ():
        if isinstance(kind, str) and kind != "null":
            return kind
    choices = schema.get("anyOf") or schema.get("oneOf")
    for choice in choices if isinstance(choices, list) else ():
        kind = choice.get("type") if isinstance(choice, dict) else None
        if isinstance(kind, str) and kind != "null":
            return kind
    return ""


def _is_plain(schema: object) -> bool:
    is_limited = isinstance(schema, dict) and any(name in schema for name in ("enum", "pattern", "format", "const"))
    return not is_limited and _type_of(schema) in ("string", "integer", "number", "boolean")


def _summary(tool: JsonObject) -> str:
    description = str(tool.get("description") or tool.get("title") or "").strip()
    summary = _SENTENCE_END.split(description, maxsplit=1)[0].rstrip(".")
    said = set(map(_stem, words_of(str(tool.get("name")))))
    words = {word.lower() for word in _WORD.findall(summary)} - _FUNCTION_WORDS
    if len({word for word in words if _stem(word) not in said}) <= 1:
        return ""
    return summary if len(summary) <= _MAX_SUMMARY else f"{summary[:_MAX_SUMMARY].rsplit(' ', 1)[0]}…"


def _stem(word: str) -> str:
    """Return a word without its ending, so that "lists" and "list" are the same."""
    word = word.lower()
    endings = (ending for ending in _ENDINGS if word.endswith(ending) and len(word) - len(ending) >= 3)
    return word.removesuffix(next(endings, ""))
