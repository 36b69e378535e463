"""What the server's side of the shim does with each result: by method, for the client that sent the request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.mcp.shim import error_frames
from accp_adapters.mcp.shim.negotiation import ClientSettings, ResultForms, announce_registry
from accp_adapters.mcp.shim.options import EncoderOptions
from accp_adapters.mcp.shim.pending import PendingRequest
from accp_adapters.mcp.shim.protocol import JsonObject, is_longer_than, visible_text, without
from accp_adapters.mcp.shim.registry import REGISTRY_RESOURCE
from accp_adapters.mcp.shim.results.frames import FrameSettings, write_frame
from accp_adapters.mcp.shim.results.views import ViewSettings, write_view
from accp_adapters.mcp.shim.session_state import SessionState
from accp_adapters.mcp.shim.stored_results import FETCH_TOOL, list_stored
from accp_adapters.mcp.shim.tools import tool_index
from accp_core.accp import Envelope
from accp_core.strict_json import compact_json

__all__ = ["ResultRewriter"]

_Rewrite: TypeAlias = "Callable[[ResultRewriter, JsonObject, PendingRequest], JsonObject]"

_METHOD_NOT_FOUND: Final = -32601
_MAX_REQUEST: Final = 2_000
"""Characters of a call's arguments that rank what a preview keeps."""


@dataclass(frozen=True, slots=True)
class ResultRewriter:
    """Rewrites the results of one session."""

    options: EncoderOptions
    session: SessionState

    def rewrite(self, message: JsonObject, request: PendingRequest) -> JsonObject:
        """Return the response to `request` as its client gets it; the same object if it is unchanged."""
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            return self._rewrite_error(message, error, request)
        rewrite = _REWRITES.get(request.method)
        # An interim result, or that of a task or an extension, has a shape that is not known here.
        if rewrite is None or not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
            return message
        written = rewrite(self, result, request)
        return message if written is result else {**message, "result": written}

    def _rewrite_error(self, message: JsonObject, error: JsonObject, request: PendingRequest) -> JsonObject:
        lists_resources = request.method == "resources/list" and error.get("code") == _METHOD_NOT_FOUND
        if lists_resources and self._own_resources(request):
            empty = {"resultType": "complete", "resources": [], "ttlMs": 0, "cacheScope": "private"}
            listed = self._list_resources(empty if request.is_modern else {"resources": []}, request)
            return {**without(message, "error"), "result": listed}
        if request.client_settings is None:
            return message
        code = error_frames.code_of_error(error, request, self.session.catalog)
        frame = error_frames.write_error_frame(code, str(error.get("message", "")), self._envelope(request))
        written = error_frames.add_to_error(error, frame)
        return message if written is error else {**message, "error": written}

    def _announce(self, result: JsonObject, request: PendingRequest) -> JsonObject:
        if request.client_settings is None:
            return result
        return _as_private(announce_registry(result, request.method, self.options.registry))

    def _list_tools(self, result: JsonObject, request: PendingRequest) -> JsonObject:
        catalog = self.session.catalog
        catalog.add(result, request.params)
        tools = result["tools"]
        if self.options.tools == "lazy" and tool_index.INDEX_NAME not in catalog.tools:
            # The index covers all pages, so it is returned with the last of them.
            tools = tool_index.listed_tools(catalog, self.options.counter) if catalog.is_complete else []
        if self._drops_structured(request):
            tools = [without(tool, "outputSchema") for tool in tools]
        if self._cites(request) and catalog.is_complete and FETCH_NAME not in catalog.tools:
            tools = [*tools, FETCH_TOOL]
        return result if tools == result["tools"] else _as_private({**result, "tools": tools})

    def _list_resources(self, result: JsonObject, request: PendingRequest) -> JsonObject:
        own = [] if result.get("nextCursor") else self._own_resources(request)
        return _as_private({**result, "resources": [*result["resources"], *own]}) if own else result

    def _own_resources(self, request: PendingRequest) -> list[JsonObject]:
        stored = self.session.stored_results
        lists_stored = stored is not None and self.session.is_session and self._cites(request)
        references = list_stored(stored) if stored is not None and lists_stored else []
        if request.client_settings is None:
            return references
        return [REGISTRY_RESOURCE, *references] if request.client_settings.listed else []

    def _rewrite_call(self, result: JsonObject, request: PendingRequest) -> JsonObject:
        is_large = is_longer_than(result, self.options.max_chars)
        if request.client_settings is not None and not is_large:
            code = error_frames.code_of_result(result, request, self.session.catalog)
            if code is not None:
                frame = error_frames.write_error_frame(code, _first_text(result), self._envelope(request))
                return error_frames.add_to_result(result, frame)
        if result.get("isError") or (is_large and not self._cites(request)):
            return result
        return self._compress_result(result, request, is_large=is_large) or result

    def _compress_result(self, result: JsonObject, request: PendingRequest, *, is_large: bool) -> JsonObject | None:
        """Return what is sent instead of a result; None where the result itself is sent."""
        count = self.options.counter

        def gains(written: JsonObject) -> bool:
            return count(visible_text(result)) - count(visible_text(written)) >= self.options.min_gain

        if self._shows_views(request):
            shown = write_view(result, self._view_settings(request), is_large=is_large)
            return shown if shown is not None and (is_large or gains(shown)) else None
        if request.client_settings is None:
            return None
        return write_frame(result, self._frame_settings(request, request.client_settings), gains)

    def _shows_views(self, request: PendingRequest) -> bool:
        """Return whether the client gets views: it asked for them, or asked for nothing and `policy` is "always"."""
        if request.client_settings is not None:
            return request.client_settings.results == "view"
        return self.options.policy == "always"

    def _cites(self, request: PendingRequest) -> bool:
        """Return whether the client gets references, and the tool that opens them."""
        is_wanted = request.client_settings is None or request.client_settings.fetch
        return self.session.stored_results is not None and is_wanted and self._shows_views(request)

    def _drops_structured(self, request: PendingRequest) -> bool:
        """Return whether the client gets no `structuredContent`; an `outputSchema` would make it insist on one."""
        if request.client_settings is not None and request.client_settings.structured == "drop":
            return True
        return self._shows_views(request) and self._result_forms(request) == "drop"

    def _result_forms(self, request: PendingRequest) -> ResultForms:
        wanted = request.client_settings.structured if request.client_settings else None
        return wanted or self.options.structured

    def _view_settings(self, request: PendingRequest) -> ViewSettings:
        return ViewSettings(
            counter=self.options.counter,
            structured=self._result_forms(request),
            stored_results=self.session.stored_results if self._cites(request) else None,
            limits=self.options.limits,
            request=compact_json(request.params.get("arguments"))[:_MAX_REQUEST],
        )

    def _frame_settings(self, request: PendingRequest, client_settings: ClientSettings) -> FrameSettings:
        return FrameSettings(
            tool=str(request.params["name"]),
            envelope=self._envelope(request),
            carrier=self.options.carrier,
            drop_structured=client_settings.restores or client_settings.structured == "drop",
            columns=client_settings.columns,
        )

    def _envelope(self, request: PendingRequest) -> Envelope:
        return Envelope(
            msg_id=self.options.new_id(),
            sequence=next(self.session.sequence),
            timestamp=int(self.options.now()),
            correlation_id=request.correlation_id,
        )


_REWRITES: Final[dict[str, _Rewrite]] = {
    "initialize": ResultRewriter._announce,
    "server/discover": ResultRewriter._announce,
    "tools/list": ResultRewriter._list_tools,
    "resources/list": ResultRewriter._list_resources,
    "tools/call": ResultRewriter._rewrite_call,
}


def _as_private(result: JsonObject) -> JsonObject:
    """Return a result that depends on its client, so that no cache gives it to another one."""
    return {**result, "cacheScope": "private"} if result.get("cacheScope") == "public" else result


def _first_text(result: JsonObject) -> str:
    """Return the first text of a result, which is where a failed tool gives its reason."""
    texts = [block["text"] for block in result.get("content", []) if isinstance(block.get("text"), str)]
    return texts[0] if texts else ""
