"""Errors of MCP as error frames of ACCP (sections 3.6 and 10.2).

"Tool errors MUST use schema "ER" with code E4002 TOOL_EXEC_FAILED." Servers disagree on what is a JSON-RPC error and
what a result with `isError`, and on the words, so neither decides: the tools that the server listed do.

    tools/call, its name not listed                                E4001
               its arguments are not what inputSchema wants        E4003
               isError otherwise                                   E4002
               a result that is not what outputSchema wants        E4003
    resources/read, -32602 or -32002                               E2001
    -32001 timed out, -32000 closed                                E3001
    -32700, -32600, -32020, -32022                                 E1001
    -32601                                                         E1002
    -32021, -32042                                                 E5001
    anything else                                                  E9999

JSON-RPC code and message stay as they are; the frame stands beside them, in `error.data` or in the result's `_meta`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from accp_adapters.mcp.shim.meta import has_room, note_in, with_note, without_note
from accp_adapters.mcp.shim.pending import Asked
from accp_adapters.mcp.shim.protocol import EXTENSION, SENDER, Json
from accp_adapters.mcp.shim.results.frames import CODEC
from accp_adapters.mcp.shim.tools.tool_catalog import Catalog, violates
from accp_core.accp import Envelope, ErrorCode, error_message, serialize_frame
from accp_core.errors import ProtocolError

__all__ = [
    "CODES",
    "code_of_error",
    "code_of_result",
    "frame_of",
    "in_error",
    "in_result",
    "refusal",
    "without_frame",
]

CODES: Final[Mapping[int, ErrorCode]] = MappingProxyType(
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
"""JSON-RPC error code to ours, whatever was asked."""
_NOT_FOUND: Final = frozenset({-32602, -32002})
_LONGEST: Final = 500
"""Characters of a message that its frame repeats."""


def code_of_error(error: Json, asked: Asked, catalog: Catalog) -> ErrorCode:
    """Return the code for a JSON-RPC error that answers `asked`."""
    code = error.get("code")
    if asked.method == "resources/read" and code in _NOT_FOUND:
        return ErrorCode.REF_NOT_FOUND
    known = CODES.get(code) if isinstance(code, int) else None
    if asked.method == "tools/call" and (known is None or known is ErrorCode.INVALID_INTENT):
        fault = _fault_of_call(asked.params, catalog)
        return fault or known or ErrorCode.INTERNAL_ERROR
    return known or ErrorCode.INTERNAL_ERROR


def code_of_result(result: Json, asked: Asked, catalog: Catalog) -> ErrorCode | None:
    """Return the code for the result of a call, None for one that is as it should be."""
    if result.get("isError"):
        return _fault_of_call(asked.params, catalog) or ErrorCode.TOOL_EXEC_FAILED
    tool = catalog.tools.get(str(asked.params.get("name")), {})
    broken = "structuredContent" in result and violates(tool.get("outputSchema"), result["structuredContent"])
    return ErrorCode.TOOL_SCHEMA_MISMATCH if broken else None


def _fault_of_call(params: Any, catalog: Catalog) -> ErrorCode | None:
    """Return what is wrong with a call, as far as the server's list of tools tells."""
    tool = catalog.tools.get(str(params.get("name")))
    if tool is None:
        return ErrorCode.TOOL_NOT_FOUND if catalog.is_complete else None
    arguments = params.get("arguments", {})
    return ErrorCode.TOOL_SCHEMA_MISMATCH if violates(tool.get("inputSchema"), arguments) else None


def frame_of(code: ErrorCode, reason: str, envelope: Envelope) -> str:
    """Return the `fail:error` frame with its envelope; a long reason is cut, it stands beside in full."""
    message = replace(error_message(SENDER, code, reason[:_LONGEST]), envelope=envelope)
    (frame,) = CODEC.encode(message).frames
    return serialize_frame(frame)


def refusal(error: ProtocolError) -> Json:
    """Return the JSON-RPC error by which the shim refuses to read a resource of its own."""
    return {"code": -32602, "message": str(error), "data": {EXTENSION: {"code": error.code}}}


def in_error(error: Json, frame: str) -> Json:
    """Return a JSON-RPC error with a frame in its data; the same error where the data has no room for it."""
    return _with_frame(error, "data", frame)


def in_result(result: Json, frame: str) -> Json:
    """Return a result with a frame in its `_meta`; the same result where that has no room for it."""
    return _with_frame(result, "_meta", frame)


def _with_frame(holder: Json, place: str, frame: str) -> Json:
    return with_note(holder, {"frame": frame}, place) if has_room(holder, place) else holder


def without_frame(holder: Json, place: str) -> Json:
    """Return an error (`place`: "data") or a result ("_meta") as it was before a frame was put in."""
    return without_note(holder, place) if "frame" in note_in(holder, place) else holder
