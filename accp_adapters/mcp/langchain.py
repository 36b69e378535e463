"""An interceptor for langchain-mcp-adapters: the agent reads a view, programs find the plain value in the artifact."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from accp_adapters.mcp.shim.decoder import Decoder
from accp_adapters.mcp.shim.protocol import Json
from accp_adapters.mcp.shim.results.duplicate_content import find_copy
from accp_adapters.tokens import count_o200k
from accp_core.ports import TokenCounter

__all__ = ["ViewInterceptor"]

_MESSAGE: Final[Json] = {"jsonrpc": "2.0", "id": 0, "method": "tools/call", "params": {}}


class ViewInterceptor:
    """`MultiServerMCPClient(…, tool_interceptors=[ViewInterceptor()])`: tool results as views, from any server.

    A server that shows views to everybody (`policy="always"`) is read, too. It cannot negotiate: that needs the
    transport (`wrap_transport`).
    """

    def __init__(self, *, counter: TokenCounter = count_o200k) -> None:
        """Count what the model reads with `counter`."""
        self._counter: Final = counter

    async def __call__(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return the tool's result as a model reads it; its JSON value is `artifact["structured_content"]`."""
        result = await handler(request)
        if not hasattr(result, "structuredContent"):
            return result  # a ToolMessage or Command of another interceptor
        plain = _plain(result.model_dump(by_alias=True, mode="json", exclude_unset=True))
        return type(result).model_validate(self._shown(_with_value(plain)))

    def _shown(self, result: Json) -> Json:
        decoder = Decoder(view="view", counter=self._counter)
        decoder.c2s(_MESSAGE)
        shown: Json = decoder.s2c({"jsonrpc": "2.0", "id": 0, "result": result})["result"]
        return shown


def _plain(result: Json) -> Json:
    restored: Json = Decoder().s2c({"jsonrpc": "2.0", "id": 0, "result": result})["result"]
    return restored


def _with_value(result: Json) -> Json:
    """Return a result with the value of its JSON text for programs, where the server gave only the text."""
    found = None if result.get("isError") or "structuredContent" in result else find_copy(result)
    if found is None:
        return result
    value = found[1]
    return {**result, "structuredContent": value if isinstance(value, dict) else {"result": value}}
