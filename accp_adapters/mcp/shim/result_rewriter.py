"""What the server's side of the shim makes of each result: by method, for the client that asked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.mcp.shim import error_frames
from accp_adapters.mcp.shim.negotiation import Declared, Structured, announce
from accp_adapters.mcp.shim.options import Options
from accp_adapters.mcp.shim.pending import Asked, Shared
from accp_adapters.mcp.shim.protocol import Json, compact, is_longer_than, read_part, without
from accp_adapters.mcp.shim.registry import REGISTRY_RESOURCE
from accp_adapters.mcp.shim.results.frames import Wrapping, write_frame
from accp_adapters.mcp.shim.results.views import Showing, write_view
from accp_adapters.mcp.shim.stored_results import FETCH_TOOL, cold_resources
from accp_adapters.mcp.shim.tools import tool_index
from accp_core.accp import Envelope

__all__ = ["Results"]

_Rewrite: TypeAlias = "Callable[[Results, Json, Asked], Json]"

_METHOD_NOT_FOUND: Final = -32601
_LONGEST_REQUEST: Final = 2_000


@dataclass(frozen=True, slots=True)
class Results:
    """Rewrites results by `options`, knowing what is `shared` with the client."""

    options: Options
    shared: Shared

    def reply(self, message: Json, asked: Asked) -> Json:
        """Return the response to `asked` as its client is to see it; the same message where that is as it came."""
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            return self._failed(message, error, asked)
        rewrite = _REWRITES.get(asked.method)
        # An interim result, a task's, or an extension's is not ours to read.
        if rewrite is None or not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
            return message
        written = rewrite(self, result, asked)
        return message if written is result else {**message, "result": written}

    def _failed(self, message: Json, error: Json, asked: Asked) -> Json:
        if asked.method == "resources/list" and error.get("code") == _METHOD_NOT_FOUND and self._resources(asked):
            empty = {"resultType": "complete", "resources": [], "ttlMs": 0, "cacheScope": "private"}
            listed = self._listed_resources(empty if asked.is_modern else {"resources": []}, asked)
            return {**without(message, "error"), "result": listed}
        if asked.declared is None:
            return message
        code = error_frames.code_of_error(error, asked, self.shared.catalog)
        frame = error_frames.frame_of(code, str(error.get("message", "")), self._envelope(asked))
        written = error_frames.in_error(error, frame)
        return message if written is error else {**message, "error": written}

    def _started(self, result: Json, asked: Asked) -> Json:
        if asked.declared is None:
            return result
        return _as_private(announce(result, asked.method, self.options.registry))

    def _listed_tools(self, result: Json, asked: Asked) -> Json:
        catalog = self.shared.catalog
        catalog.add(result, asked.params)
        tools = result["tools"]
        if self.options.tools == "lazy" and tool_index.TOOLS_NAME not in catalog.tools:
            # Pages are gathered: a client that reads them all is given the whole index with the last.
            tools = tool_index.shown_tools(catalog, self.options.counter) if catalog.is_complete else []
        if self._does_without(asked):
            tools = [without(tool, "outputSchema") for tool in tools]
        if self._cites(asked) and catalog.is_complete and FETCH_NAME not in catalog.tools:
            tools = [*tools, FETCH_TOOL]
        return result if tools == result["tools"] else _as_private({**result, "tools": tools})

    def _listed_resources(self, result: Json, asked: Asked) -> Json:
        ours = [] if result.get("nextCursor") else self._resources(asked)
        return _as_private({**result, "resources": [*result["resources"], *ours]}) if ours else result

    def _resources(self, asked: Asked) -> list[Json]:
        shelf = self.shared.shelf
        cold = cold_resources(shelf) if shelf is not None and self.shared.is_session and self._cites(asked) else []
        if asked.declared is None:
            return cold
        return [REGISTRY_RESOURCE, *cold] if asked.declared.listed else []

    def _called(self, result: Json, asked: Asked) -> Json:
        large = is_longer_than(result, self.options.largest)
        if asked.declared is not None and not large:
            code = error_frames.code_of_result(result, asked, self.shared.catalog)
            if code is not None:
                return error_frames.in_result(
                    result, error_frames.frame_of(code, _reason(result), self._envelope(asked))
                )
        if result.get("isError") or (large and not self._cites(asked)):
            return result
        return self._written(result, asked, is_large=large) or result

    def _written(self, result: Json, asked: Asked, *, is_large: bool) -> Json | None:
        """Return what who asked is sent instead of a result, None where that is the result."""
        count = self.options.counter

        def gains(after: Json) -> bool:
            return count(read_part(result)) - count(read_part(after)) >= self.options.min_gain

        if self._shows_views(asked):
            shown = write_view(result, self._showing(asked), is_large=is_large)
            return shown if shown is not None and (is_large or gains(shown)) else None
        if asked.declared is None:
            return None
        return write_frame(result, self._wrapping(asked, asked.declared), gains)

    def _shows_views(self, asked: Asked) -> bool:
        """Tell whether who asked is shown texts: a host that wants them, or any where `policy` is "always"."""
        if asked.declared is not None:
            return asked.declared.results == "view"
        return self.options.policy == "always"

    def _cites(self, asked: Asked) -> bool:
        """Tell whether who asked is shown references, and so the tool that opens them."""
        wanted = asked.declared is None or asked.declared.fetch
        return self.shared.shelf is not None and wanted and self._shows_views(asked)

    def _does_without(self, asked: Asked) -> bool:
        """Tell whether who asked gets no `structuredContent`, which clients would miss where a tool promises it."""
        if asked.declared is not None and asked.declared.structured == "drop":
            return True
        return self._shows_views(asked) and self._structured(asked) == "drop"

    def _structured(self, asked: Asked) -> Structured:
        return (asked.declared.structured if asked.declared else None) or self.options.structured

    def _showing(self, asked: Asked) -> Showing:
        return Showing(
            counter=self.options.counter,
            structured=self._structured(asked),
            shelf=self.shared.shelf if self._cites(asked) else None,
            inline_limit=self.options.inline_limit,
            preview_limit=self.options.preview_limit,
            request=compact(asked.params.get("arguments"))[:_LONGEST_REQUEST],
        )

    def _wrapping(self, asked: Asked, declared: Declared) -> Wrapping:
        return Wrapping(
            tool=str(asked.params["name"]),
            envelope=self._envelope(asked),
            carrier=self.options.carrier,
            alone=declared.restores or declared.structured == "drop",
            columns=declared.columns,
        )

    def _envelope(self, asked: Asked) -> Envelope:
        return Envelope(
            msg_id=self.options.new_id(),
            sequence=next(self.shared.sequence),
            timestamp=int(self.options.now()),
            correlation_id=asked.correlation_id,
        )


_REWRITES: Final[dict[str, _Rewrite]] = {
    "initialize": Results._started,
    "server/discover": Results._started,
    "tools/list": Results._listed_tools,
    "resources/list": Results._listed_resources,
    "tools/call": Results._called,
}


def _as_private(result: Json) -> Json:
    """Return a result that was made for one client, so that no cache gives it to another."""
    return {**result, "cacheScope": "private"} if result.get("cacheScope") == "public" else result


def _reason(result: Json) -> str:
    """Return what a failed tool says."""
    texts = [block["text"] for block in result.get("content", []) if isinstance(block.get("text"), str)]
    return texts[0] if texts else ""
