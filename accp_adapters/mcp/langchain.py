"""An interceptor for langchain-mcp-adapters: the agent reads a view, and programs find the value in the artifact."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from accp_adapters.mcp.shim.decoder import Decoder
from accp_adapters.mcp.shim.protocol import JsonObject
from accp_adapters.mcp.shim.results.duplicate_content import find_duplicate
from accp_adapters.tokens import count_o200k
from accp_core.ports import TokenCounter

__all__ = ["ViewInterceptor"]

_REQUEST: Final[JsonObject] = {"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": {}}


class ViewInterceptor:
    """`MultiServerMCPClient(…, tool_interceptors=[ViewInterceptor()])`: tool results as views, from any server.

    It also reads the views of a server with `policy="always"`. It cannot negotiate; `wrap_transport` can.
    """

    def __init__(self, *, counter: TokenCounter = count_o200k) -> None:
        """Count the tokens of the agent's model with `counter`."""
        self._counter: Final = counter

    async def __call__(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the tool's result as a model reads it; its JSON value is `artifact["structured_content"]`."""
        result = await handler(request)
        if not hasattr(result, "structuredContent"):
            return result  # a ToolMessage or Command of another interceptor
        plain = _decode(Decoder(), result.model_dump(by_alias=True, mode="json", exclude_unset=True))
        return type(result).model_validate(self._show_view(_with_value(plain)))

    def _show_view(self, result: JsonObject) -> JsonObject:
        decoder = Decoder(view="view", counter=self._counter)
        decoder.from_client(_REQUEST)
        return _decode(decoder, result)


def _decode(decoder: Decoder, result: JsonObject) -> JsonObject:
    decoded: JsonObject = decoder.from_server({"jsonrpc": "2.0", "id": 0, "result": result})["result"]
    return decoded


def _with_value(result: JsonObject) -> JsonObject:
    """Return a result with the value of its JSON text as `structuredContent`, if the server sent only the text."""
    found = None if result.get("isError") or "structuredContent" in result else find_duplicate(result)
    if found is None:
        return result
    value = found[1]
    return {**result, "structuredContent": value if isinstance(value, dict) else {"result": value}}
