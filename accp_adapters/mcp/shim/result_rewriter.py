"""What the server's side of the shim does with each result: by method, for the client that sent the request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final, TypeAlias

from accp_adapters.fetching import FETCH_NAME, with_references
from accp_adapters.mcp.shim import error_frames
from accp_adapters.mcp.shim.hosts import HOSTS, Host, host_named, is_gain, shown_text
from accp_adapters.mcp.shim.meta import add_metadata, extend_metadata, has_room_for_metadata
from accp_adapters.mcp.shim.negotiation import ClientSettings, ResultForms, announce_registry
from accp_adapters.mcp.shim.options import EncoderOptions
from accp_adapters.mcp.shim.pending import OpenRequest
from accp_adapters.mcp.shim.protocol import JsonObject, without
from accp_adapters.mcp.shim.registry import REGISTRY_RESOURCE
from accp_adapters.mcp.shim.results.frames import FrameSettings, write_frame
from accp_adapters.mcp.shim.results.resources import write_contents, write_framed_contents
from accp_adapters.mcp.shim.results.views import ViewSettings, has_escapes, references_in, write_alone, write_view
from accp_adapters.mcp.shim.session_state import SessionState
from accp_adapters.mcp.shim.stored_results import FETCH_TOOL, list_stored
from accp_adapters.mcp.shim.tools.levels import ListOptions, listed_tools
from accp_adapters.mcp.shim.tools.tool_index import INDEX_NAME
from accp_adapters.serving.off_loop import size_of
from accp_adapters.telemetry import RewritingRecord
from accp_core.accp import Envelope
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.projection import ToolForms
from accp_core.strict_json import compact_json
from accp_core.token_counts import RememberingCounter

__all__ = ["ResultRewriter"]

_Gains: TypeAlias = Callable[[JsonObject], bool]
"""Returns whether a rewritten result is smaller for who reads it."""
_Rewrite: TypeAlias = "Callable[[ResultRewriter, JsonObject, OpenRequest], JsonObject]"

_METHOD_NOT_FOUND: Final = -32601
_FALLBACK: Final[tuple[ResultForms, ...]] = ("keep",)
"""The forms of a result that is not smaller in the ones that are wanted."""
_CHARS_OF_TOKEN: Final = 4
"""An estimate, for operators, of results that take seconds to count."""
_MAX_SHORT_ERROR: Final = 500
"""Characters of the result of a failed call that stays as it is."""
_MAX_REQUEST: Final = 2_000
"""Characters of a call's arguments that rank what a preview keeps."""


@dataclass(frozen=True, slots=True)
class ResultRewriter:
    """Rewrites the results of one session."""

    options: EncoderOptions
    session: SessionState

    def rewrite(self, message: JsonObject, request: OpenRequest) -> JsonObject:
        """Return the response to `request` as its client gets it; the same object if it is unchanged."""
        error, result = message.get("error"), message.get("result")
        if isinstance(error, dict):
            return self._rewrite_error(message, error, request)
        rewrite = _REWRITES.get(request.method)
        # An interim result, and the result of a task or an extension, have shapes that are not known here.
        if rewrite is None or not isinstance(result, dict) or result.get("resultType", "complete") != "complete":
            return message
        written = rewrite(self, result, request)
        return message if written is result else {**message, "result": written}

    def _rewrite_error(self, message: JsonObject, error: JsonObject, request: OpenRequest) -> JsonObject:
        lists_resources = request.method == "resources/list" and error.get("code") == _METHOD_NOT_FOUND
        if lists_resources and self._own_resources(request):
            empty = {"resultType": "complete", "resources": [], "ttlMs": 0, "cacheScope": "private"}
            listed = self._list_resources(empty if request.is_modern else {"resources": []}, request)
            return {**without(message, "error"), "result": listed}
        if request.client_settings is None:
            return message
        code = error_frames.code_of_error(error, request, self.session.catalog)
        written = self._add_error_frame(error, "data", code, str(error.get("message", "")), request)
        return message if written is error else {**message, "error": written}

    def _announce(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        if request.client_settings is None:
            return result
        return _as_private(announce_registry(result, request.method, self.options.registry, self.envelope))

    def _list_tools(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        catalog, options = self.session.catalog, self.options
        tools = catalog.of_server(options.offered(result["tools"]))
        catalog.add({**result, "tools": tools}, request.params)
        if options.tools != "full" and INDEX_NAME not in catalog.tools:
            # The index covers all pages, so it is returned with the last of them.
            lists = ListOptions(options.tools, options.call_lists)
            tools = listed_tools(catalog, lists, options.counter) if catalog.is_complete else []
            catalog.own.update(tool["name"] for tool in tools if tool.get("name") == INDEX_NAME)
        if self._drops_structured(request):
            tools = [without(tool, "outputSchema") for tool in tools]
        if self._cites(request) and catalog.is_complete and FETCH_NAME not in catalog.tools:
            tools = [*tools, FETCH_TOOL]
            catalog.own.add(FETCH_NAME)
        if self._cites(request):
            named = [(tool, ToolForms(options.forms).resolve(str(tool.get("name")))) for tool in tools]
            tools = [with_references(tool, resolved) if resolved else tool for tool, resolved in named]
        return result if tools == result["tools"] else _as_private({**result, "tools": tools})

    def _list_resources(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        own = [] if result.get("nextCursor") else self._own_resources(request)
        return _as_private({**result, "resources": [*result["resources"], *own]}) if own else result

    def _own_resources(self, request: OpenRequest) -> list[JsonObject]:
        stored = self.session.stored_results
        lists_stored = stored is not None and self.session.is_session and self._cites(request)
        references = list_stored(stored) if stored is not None and lists_stored else []
        if request.client_settings is None:
            return references
        return [REGISTRY_RESOURCE, *references] if request.client_settings.listed else []

    def _rewrite_call(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        limits = self.options.limits_of(str(request.params.get("name")))
        if limits is None:
            return result
        is_large = size_of(result, self.options.max_chars) > self.options.max_chars
        if request.client_settings is not None and not is_large:
            code = error_frames.code_of_result(result, request, self.session.catalog)
            if code is not None:
                return self._write_failure(result, code, request)
        if (is_large and not self._cites(request)) or self._is_short_error(result):
            return result
        return self._compress_result(result, request, is_large=is_large) or result

    def _write_failure(self, result: JsonObject, code: ErrorCode, request: OpenRequest) -> JsonObject:
        """Return the result of a failed call with its frame, and with views for a client that reads them."""
        reason = _first_text(result)
        reads_views = self._shows_views(request) and not self._is_short_error(result)
        shown = self._compress_result(result, request, is_large=False) if reads_views else None
        if shown is None:
            return self._add_error_frame(result, "_meta", code, reason, request)
        return extend_metadata(shown, {"frame": self._error_frame(code, reason, request)})

    def refuse(self, holder: JsonObject, member: str, error: ProtocolError, request: OpenRequest) -> JsonObject:
        """Return an error of ours (`member`: "data") or a result ("_meta"), with a frame if the client negotiated."""
        if request.client_settings is None:
            return holder
        frame = self._error_frame(ErrorCode(error.code), error.reason, request)
        return extend_metadata(holder, {"frame": frame}, member)

    def _add_error_frame(
        self, holder: JsonObject, member: str, code: ErrorCode, reason: str, request: OpenRequest
    ) -> JsonObject:
        if not has_room_for_metadata(holder, member):
            return holder
        return add_metadata(holder, {"frame": self._error_frame(code, reason, request)}, member)

    def _error_frame(self, code: ErrorCode, reason: str, request: OpenRequest) -> str:
        return error_frames.write_error_frame(code, reason, self.envelope(request.correlation_id))

    def _is_short_error(self, result: JsonObject) -> bool:
        return bool(result.get("isError")) and size_of(result, _MAX_SHORT_ERROR) <= _MAX_SHORT_ERROR

    def _read_resource(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        options = self.options
        if size_of(result, options.max_chars) > options.max_chars:
            return result
        if self._shows_views(request):
            return write_contents(result, options.counter, options.min_gain) or result
        if request.client_settings is None:
            return result
        envelope = partial(self.envelope, request.correlation_id)
        return write_framed_contents(result, envelope, options.counter, options.min_gain) or result

    def _compress_result(self, result: JsonObject, request: OpenRequest, *, is_large: bool) -> JsonObject | None:
        """Return what is sent instead of a result, and tell it; None where the result itself is sent."""
        counter, telemetry = RememberingCounter(self.options.counter), self.options.telemetry
        if telemetry is None:
            return self._written(result, request, counter, is_large=is_large)
        tool, form = str(request.params.get("name")), self._host(request).forms[0]
        with telemetry.tool_result(tool, request.params.get("_meta")):
            written = self._written(result, request, counter, is_large=is_large)
            if written is not None:
                shown = [shown_text(each, form) for each in (result, written)]
                tokens = [len(text) // _CHARS_OF_TOKEN if is_large else counter(text) for text in shown]
                references = references_in(written)
                record = RewritingRecord(
                    source=tool, tokens_before=tokens[0], tokens_after=tokens[1], references=references
                )
                telemetry.rewritten([record])
            return written

    def _written(
        self, result: JsonObject, request: OpenRequest, counter: RememberingCounter, *, is_large: bool
    ) -> JsonObject | None:
        def gains(written: JsonObject) -> bool:
            # Counting the tokens of megabytes takes seconds; a preview is always shorter than its text.
            return is_gain(result, written, self._host(request), len if is_large else counter, self.options.min_gain)

        if self._shows_views(request):
            return self._choose_view(result, request, counter, gains, is_large=is_large)
        if request.client_settings is None:
            return None
        return self._choose_frame(result, request.client_settings, request, gains)

    def _choose_view(
        self, result: JsonObject, request: OpenRequest, counter: TokenCounter, gains: _Gains, *, is_large: bool
    ) -> JsonObject | None:
        """Return a result in the forms that are wanted, else in both, if a model then reads less."""
        wanted: ResultForms = "keep" if result.get("isError") else self._result_forms(request)
        escaped: list[JsonObject] = []
        settings = self._view_settings(request, counter)
        for forms in dict.fromkeys((wanted, *_FALLBACK)):
            shown = write_view(result, replace(settings, structured=forms), is_large=is_large)
            if shown is not None and gains(shown):
                return shown
            adds_no_text = forms == "keep" or "text" not in self._host(request).forms
            if shown is not None and adds_no_text and has_escapes(shown):
                escaped.append(shown)
        return escaped[0] if escaped else None

    def _choose_frame(
        self, result: JsonObject, client_settings: ClientSettings, request: OpenRequest, gains: _Gains
    ) -> JsonObject | None:
        """Return a result as a frame; where that saves nothing, only the texts that repeat its `structuredContent`."""
        settings = self._frame_settings(request, client_settings)
        framed = write_frame(result, settings, gains)
        if framed is not None or not settings.drop_structured:
            return framed
        alone = write_alone(result)
        return alone if alone is not None and gains(alone) else None

    def _shows_views(self, request: OpenRequest) -> bool:
        """Return whether the client gets views: it asked for them, or asked for nothing and `policy` is "always"."""
        if request.client_settings is not None:
            return request.client_settings.results == "view"
        return self.options.policy == "always"

    def _cites(self, request: OpenRequest) -> bool:
        """Return whether the client gets references, and the tool that opens them."""
        is_wanted = request.client_settings is None or request.client_settings.fetch
        return self.session.stored_results is not None and is_wanted and self._shows_views(request)

    def _drops_structured(self, request: OpenRequest) -> bool:
        """Return whether the client gets no `structuredContent`; an `outputSchema` would make it insist on one."""
        if request.client_settings is not None and request.client_settings.structured == "drop":
            return True
        return self._shows_views(request) and self._result_forms(request) == "drop"

    def _result_forms(self, request: OpenRequest) -> ResultForms:
        wanted = request.client_settings.structured if request.client_settings else None
        if wanted is not None:
            return wanted
        if self.options.structured == "auto":
            return "keep" if request.client_settings else self._host(request).result_forms
        return self.options.structured

    def _host(self, request: OpenRequest) -> Host:
        """Return who reads the results: a client that negotiated knows both forms, any other is a host."""
        return HOSTS["both"] if request.client_settings else host_named(self.options.host, request.client_name)

    def _view_settings(self, request: OpenRequest, counter: TokenCounter) -> ViewSettings:
        stored = self.session.stored_results if self._cites(request) else None
        differences = stored.differences if stored else None
        return ViewSettings(
            counter=counter,
            stored_results=stored,
            # A result is written once for each of its forms, but shown once.
            shorten=cache(differences.shorten_preview) if differences else None,
            limits=self.options.limits_of(str(request.params.get("name"))) or self.options.limits,
            request=compact_json(request.params.get("arguments"))[:_MAX_REQUEST],
        )

    def _frame_settings(self, request: OpenRequest, client_settings: ClientSettings) -> FrameSettings:
        return FrameSettings(
            tool=str(request.params["name"]),
            envelope=partial(self.envelope, request.correlation_id),
            carrier=self.options.carrier,
            drop_structured=client_settings.restores or client_settings.structured == "drop",
        )

    def envelope(self, correlation_id: str | None = None) -> Envelope:
        """Return the metadata of the next frame of the session, which must be sent."""
        return Envelope(
            msg_id=self.options.new_id(),
            sequence=next(self.session.sequence),
            timestamp=int(self.options.now()),
            correlation_id=correlation_id,
        )


_REWRITES: Final[dict[str, _Rewrite]] = {
    "initialize": ResultRewriter._announce,
    "server/discover": ResultRewriter._announce,
    "tools/list": ResultRewriter._list_tools,
    "resources/list": ResultRewriter._list_resources,
    "resources/read": ResultRewriter._read_resource,
    "tools/call": ResultRewriter._rewrite_call,
}


def _as_private(result: JsonObject) -> JsonObject:
    """Return a result that depends on its client, so that no cache gives it to another one."""
    return {**result, "cacheScope": "private"} if result.get("cacheScope") == "public" else result


def _first_text(result: JsonObject) -> str:
    """Return the first text of a result, which is where a failed tool gives its reason."""
    texts = [block["text"] for block in result.get("content", []) if isinstance(block.get("text"), str)]
    return texts[0] if texts else ""
