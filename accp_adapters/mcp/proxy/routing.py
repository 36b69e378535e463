"""The headers that a streamable HTTP request has beside its body, for a client that does not write them itself.

From 2026-07-28 on, version, method and name of a request stand in headers, too, and so do the arguments that a tool's
schema marks with `x-mcp-header`; up to 2025-11-25 only the version does, once it is negotiated.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from accp_adapters.mcp.proxy.relay import Message

__all__ = ["Marked", "marked_arguments", "routing_headers"]

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"

Marked: TypeAlias = Mapping[str, Mapping[tuple[str, ...], str]]
"""Tool to the paths of its marked arguments, and the names of their headers less the prefix."""

_NAMES: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN: Final = re.compile(r"(?! )[\x20-\x7e]*(?<! )")
_ENCODED: Final = re.compile(r"=\?base64\?.*\?=")
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NESTING: Final = 32


def _params(message: Message) -> Mapping[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _version(message: Message) -> str:
    meta = _params(message).get("_meta")
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else ""


def routing_headers(message: Message, marked: Marked) -> dict[str, str]:
    """Return the headers that stand beside `message`, none for one up to 2025-11-25."""
    version, method = _version(message), message.get("method")
    if not version or not isinstance(method, str):
        return {}
    headers = {"mcp-protocol-version": version, "mcp-method": method}
    params = _params(message)
    name = params.get(_NAMES.get(method, ""))
    if isinstance(name, str):
        headers["mcp-name"] = _field(name)
        if method == "tools/call":
            headers |= _arguments(marked.get(name, {}), params.get("arguments"))
    return headers


def _arguments(paths: Mapping[tuple[str, ...], str], arguments: object) -> dict[str, str]:
    found = {name: _text(_at(arguments, path)) for path, name in paths.items()}
    return {f"mcp-param-{name}": _field(text) for name, text in found.items() if text is not None}


def _at(value: object, path: tuple[str, ...]) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else None


def _field(value: str) -> str:
    """Return `value` as the value of a field; one that a field cannot hold as it is stands in Base64."""
    if _PLAIN.fullmatch(value) and not _ENCODED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


def marked_arguments(result: object) -> dict[str, dict[tuple[str, ...], str]]:
    """Return what the tools of a tools/list `result` mark with `x-mcp-header`."""
    tools = result.get("tools") if isinstance(result, dict) else None
    named = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return {str(tool.get("name")): dict(_marks(tool.get("inputSchema"), ())) for tool in named}


def _marks(schema: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    properties = schema.get("properties") if isinstance(schema, dict) and len(path) < _NESTING else None
    for key, each in properties.items() if isinstance(properties, dict) else ():
        mark = each.get("x-mcp-header") if isinstance(each, dict) else None
        if isinstance(mark, str) and _TOKEN.fullmatch(mark):
            yield (*path, key), mark
        yield from _marks(each, (*path, key))
