"""The HTTP headers that repeat parts of a JSON-RPC request, for a client that does not write them itself.

From 2026-07-28 on, headers repeat the version, method and name of a request, and the arguments that a tool's schema
marks with `x-mcp-header`. Up to 2025-11-25 a header repeats the negotiated version only.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.serving.hosts import Headers

__all__ = [
    "ROUTING_FIELD",
    "HeaderArguments",
    "fits",
    "header_arguments",
    "reroute",
    "routing_fields",
    "routing_headers",
]

ROUTING_FIELD: Final = re.compile(rb"mcp-method|mcp-name|mcp-param-.*")
"""The names of the headers that repeat the method, the name and the arguments of a request."""

_VERSION: Final = "io.modelcontextprotocol/protocolVersion"

HeaderArguments: TypeAlias = Mapping[str, Mapping[tuple[str, ...], str]]
"""For each tool: the paths of its marked arguments, and the names of their headers without the prefix."""

_NAME_PARAMS: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_PLAIN_VALUE: Final = re.compile(r"(?! )[\x20-\x7e]*(?<! )")
_ENCODED_VALUE: Final = re.compile(r"=\?base64\?.*\?=")
_FIELD_NAME: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_MAX_NESTING: Final = 32


def _params(message: JsonObject) -> Mapping[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def _version(message: JsonObject) -> str:
    meta = _params(message).get("_meta")
    version = meta.get(_VERSION) if isinstance(meta, dict) else None
    return version if isinstance(version, str) else ""


def routing_headers(message: JsonObject, marked: HeaderArguments) -> dict[str, str]:
    """Return the headers that repeat parts of `message`; none for a message of the era up to 2025-11-25."""
    version, method = _version(message), message.get("method")
    if not version or not isinstance(method, str):
        return {}
    headers = {"mcp-protocol-version": version, "mcp-method": method}
    params = _params(message)
    name = params.get(_NAME_PARAMS.get(method, ""))
    if isinstance(name, str):
        headers["mcp-name"] = _field_value(name)
        if method == "tools/call":
            headers |= _argument_headers(marked.get(name, {}), params.get("arguments"))
    return headers


def routing_fields(message: JsonObject, marked: HeaderArguments) -> list[tuple[bytes, bytes]]:
    """Return the headers of `message` that `ROUTING_FIELD` names; the client itself writes the version."""
    named = ((name.lower().encode(), value.encode()) for name, value in routing_headers(message, marked).items())
    return [(name, value) for name, value in named if ROUTING_FIELD.fullmatch(name)]


def reroute(
    headers: Headers, received: JsonObject, sent: JsonObject, marked: HeaderArguments
) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request whose body was rewritten.

    Headers that did not fit the body before stay as they are: the server refuses such a request, and so it must be
    refused behind the proxy.

    Args:
        headers: The fields of the request, names in lower case.
        received: Its message as the client sent it.
        sent: Its message as the server gets it.
        marked: The arguments of the server's tools that headers repeat.
    """
    if not fits(headers, received):
        return list(headers)
    return [*(field for field in headers if not ROUTING_FIELD.fullmatch(field[0])), *routing_fields(sent, marked)]


def fits(headers: Headers, message: JsonObject) -> bool:
    """Return whether the headers of a request repeat its message, which has no marked arguments."""
    given = [field for field in headers if ROUTING_FIELD.fullmatch(field[0])]
    return sorted(given) == sorted(routing_fields(message, {}))


def _argument_headers(names: Mapping[tuple[str, ...], str], arguments: object) -> dict[str, str]:
    texts = {name: _argument_text(_value_at(arguments, path)) for path, name in names.items()}
    return {f"mcp-param-{name}": _field_value(text) for name, text in texts.items() if text is not None}


def _value_at(value: object, path: tuple[str, ...]) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _argument_text(value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else None


def _field_value(text: str) -> str:
    """Return `text` as the value of a header; one with characters that a header cannot hold is encoded as Base64."""
    if _PLAIN_VALUE.fullmatch(text) and not _ENCODED_VALUE.fullmatch(text):
        return text
    return f"=?base64?{base64.b64encode(text.encode('utf-8', 'replace')).decode()}?="


def header_arguments(result: object) -> dict[str, dict[tuple[str, ...], str]]:
    """Return the arguments that the tools in a result of tools/list mark with `x-mcp-header`."""
    tools = result.get("tools") if isinstance(result, dict) else None
    objects = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    return {str(tool.get("name")): dict(_marked_paths(tool.get("inputSchema"), ())) for tool in objects}


def _marked_paths(schema: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    properties = schema.get("properties") if isinstance(schema, dict) and len(path) < _MAX_NESTING else None
    for key, subschema in properties.items() if isinstance(properties, dict) else ():
        name = subschema.get("x-mcp-header") if isinstance(subschema, dict) else None
        if isinstance(name, str) and _FIELD_NAME.fullmatch(name):
            yield (*path, key), name
        yield from _marked_paths(subschema, (*path, key))
