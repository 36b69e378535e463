"""Errors of MCP as error frames of ACCP (sections 3.6 and 10.2).

"Tool errors MUST use schema "ER" with code E4002 TOOL_EXEC_FAILED." Servers differ in what they report as a JSON-RPC
error, what as a result with `isError`, and in the words, so the code follows from the tools that the server listed:

    tools/call, the tool is not listed                             E4001
                the arguments violate inputSchema                  E4003
                any other isError                                  E4002
                the result violates outputSchema                   E4003
    resources/read, -32602 or -32002                               E2001
    -32001 timed out, -32000 closed                                E3001
    -32700, -32600, -32020, -32022                                 E1001
    -32601                                                         E1002
    -32021, -32042                                                 E5001
    anything else                                                  E9999

The JSON-RPC code and message stay as they are; the frame is added to `error.data` or to the result's `_meta`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from accp_adapters.mcp.shim.meta import read_metadata, remove_metadata
from accp_adapters.mcp.shim.pending import OpenRequest
from accp_adapters.mcp.shim.protocol import EXTENSION, SENDER, JsonObject
from accp_adapters.mcp.shim.results.frames import codec
from accp_adapters.mcp.shim.tools.schema_check import violates
from accp_adapters.mcp.shim.tools.tool_catalog import ToolCatalog
from accp_adapters.wire_log import log_frame
from accp_core.accp import Envelope, ErrorCode, error_message, serialize_frame
from accp_core.accp.debug import Direction
from accp_core.errors import ProtocolError

__all__ = [
    "JSON_RPC_CODES",
    "code_of_error",
    "code_of_result",
    "depends_on_tools",
    "json_rpc_error",
    "remove_frame",
    "write_error_frame",
]

JSON_RPC_CODES: Final[Mapping[int, ErrorCode]] = MappingProxyType(
    {
        -32700: ErrorCode.PARSE_ERROR,
        -32600: ErrorCode.PARSE_ERROR,
        -32020: ErrorCode.PARSE_ERROR,
        -32022: ErrorCode.PARSE_ERROR,
        -32601: ErrorCode.INVALID_INTENT,
        -32001: ErrorCode.TIMEOUT,
        -32000: ErrorCode.TIMEOUT,
        -32021: ErrorCode.POLICY_DENIED,
        -32042: ErrorCode.POLICY_DENIED,
    }
)
"""JSON-RPC error code to our code, for every method."""
_INVALID_PARAMS: Final = -32602
_NOT_FOUND: Final = frozenset({_INVALID_PARAMS, -32002})
_MAX_REASON: Final = 500
"""Characters of an error message that its frame repeats."""


def code_of_error(error: JsonObject, request: OpenRequest, catalog: ToolCatalog) -> ErrorCode:
    """Return the code for the JSON-RPC error `error` that answers `request`."""
    code = error.get("code")
    if request.method == "resources/read" and code in _NOT_FOUND:
        return ErrorCode.REF_NOT_FOUND
    known = JSON_RPC_CODES.get(code) if isinstance(code, int) else None
    if request.method == "tools/call" and (known is None or known is ErrorCode.INVALID_INTENT):
        return _fault_of_call(request.params, catalog) or known or ErrorCode.INTERNAL_ERROR
    return known or ErrorCode.INTERNAL_ERROR


def code_of_result(result: JsonObject, request: OpenRequest, catalog: ToolCatalog) -> ErrorCode | None:
    """Return the code for the result of a tool call, None if the call succeeded."""
    if result.get("isError"):
        return _fault_of_call(request.params, catalog) or ErrorCode.TOOL_EXEC_FAILED
    tool = catalog.tools.get(str(request.params.get("name")), {})
    broken = "structuredContent" in result and violates(tool.get("outputSchema"), result["structuredContent"])
    return ErrorCode.TOOL_SCHEMA_MISMATCH if broken else None


def _fault_of_call(params: Any, catalog: ToolCatalog) -> ErrorCode | None:
    """Return what is wrong with a call by the server's list of tools, None if nothing is known to be."""
    tool = catalog.tools.get(str(params.get("name")))
    if tool is None:
        return ErrorCode.TOOL_NOT_FOUND if catalog.is_complete else None
    arguments = params.get("arguments", {})
    return ErrorCode.TOOL_SCHEMA_MISMATCH if violates(tool.get("inputSchema"), arguments) else None


def depends_on_tools(response: JsonObject) -> bool:
    """Return whether the code of the response to a tool call depends on which tools the server has."""
    error, result = response.get("error"), response.get("result")
    if isinstance(error, dict):
        return JSON_RPC_CODES.get(error.get("code", 0)) in (None, ErrorCode.INVALID_INTENT)
    return isinstance(result, dict) and bool(result.get("isError"))


def write_error_frame(code: ErrorCode, reason: str, envelope: Envelope) -> str:
    """Return the `fail:error` frame with its envelope; a long reason is cut, since the message has all of it."""
    message = replace(error_message(SENDER, code, reason[:_MAX_REASON]), envelope=envelope)
    (frame,) = codec().encode(message).frames
    text = serialize_frame(frame)
    log_frame(Direction.SENT, "mcp", text)
    return text


def json_rpc_error(error: ProtocolError) -> JsonObject:
    """Return the JSON-RPC error with which the shim refuses to read one of its own resources."""
    return {"code": _INVALID_PARAMS, "message": str(error), "data": {EXTENSION: {"code": error.code}}}


def remove_frame(holder: JsonObject, member: str) -> JsonObject:
    """Return an error (`member`: "data") or a result ("_meta") as it was before a frame was added."""
    return remove_metadata(holder, member) if "frame" in read_metadata(holder, member) else holder
