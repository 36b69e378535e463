"""The server's side of the shim: it sees every message of a connection, rewrites results, answers its own requests.

It knows no transport and no SDK; messages are decoded JSON-RPC objects. A message that stays the same is returned as
the very object that was passed in. That includes every message that is not understood and every one that cannot be
rewritten.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args

from accp_adapters.fetching import FETCH_NAME, passed_requests, passed_text, read_request, with_references
from accp_adapters.mcp import messages, negotiation, sessions
from accp_adapters.mcp.frames import code_of_error, write_error_frame, write_frame
from accp_adapters.mcp.hosts import HOSTS, Host, client_name, host_named, is_gain, shown_text
from accp_adapters.mcp.index import INDEX_NAME, answer_index_call, call_in_index, listed_tools
from accp_adapters.mcp.messages import EXTENSION, MAX_RESULT_CHARS, JsonObject, text_block
from accp_adapters.mcp.resources import write_framed_contents
from accp_adapters.mcp.sessions import FETCH_TOOL, OpenRequest, SessionState, SessionTexts
from accp_adapters.mcp.views import ViewSettings, has_escapes, references_in, write_view
from accp_adapters.policy import is_disabled
from accp_adapters.serving.threads import size_of
from accp_adapters.stores import embedded_store
from accp_adapters.telemetry import RewritingRecord, Telemetry
from accp_adapters.tokens import count_o200k
from accp_core.accp import BUILT_IN, Envelope, SchemaRegistry
from accp_core.bounded import BoundedDict
from accp_core.compression import ResultLimits
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.markers import escape_markers
from accp_core.ports import ColdStore, TokenCounter
from accp_core.projection import Resolve, ToolForm, ToolForms, check_tool_forms
from accp_core.strict_json import compact_json
from accp_core.token_counts import RememberingCounter

__all__ = ["Encoder", "EncoderOptions", "RewritePolicy"]

RewritePolicy: TypeAlias = Literal["negotiate", "always"]
"""Whose results are rewritten: those of clients that declared the extension, or of all clients."""

_PREVIEWED_CHARS: Final = 2_000_000
"""Characters of a text that a preview is made of, which bounds its time to a few seconds of a thread of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderOptions:
    """The settings of an `Encoder`; an invalid one raises ValueError."""

    policy: RewritePolicy | None = None
    """With "always", clients that did not declare the extension get views; with "negotiate", unchanged results.

    None: "always" if `fetch` is on, else "negotiate".
    """
    host: str = "auto"
    """The program that shows the results to a model, one of `HOSTS`; "auto": by the name that its client gives."""
    index: bool = False
    """Whether every client gets one tool, `accp_tools`, in place of the definitions of all tools."""
    tools: Mapping[str, ToolForm] = field(default_factory=dict)
    """What is special to the results of some tools that are shown as views, as in `Policy.tools`."""
    fetch: bool = False
    """Whether a large result becomes a preview with a reference that `accp_fetch` opens, for clients that get views."""
    store: ColdStore | None = None
    """Where the full texts are kept; None: in the memory of this process."""
    inline_limit: int = 2_500
    """A view of more tokens becomes a preview with a reference."""
    preview_limit: int = 1_000
    """Tokens of a preview, at least 60."""
    fetch_limit: int = 4_000
    """Tokens of one answer of `accp_fetch`."""
    min_gain: int = 1
    """Tokens that rewriting must save; a negative number allows results that take so many more."""
    counter: TokenCounter = count_o200k
    """Counts the tokens of the model in use."""
    telemetry: Telemetry | None = field(default_factory=lambda: Telemetry("mcp"))
    """Reports what all sessions do to OpenTelemetry, and counts it; None: nothing is reported."""
    registry: SchemaRegistry = BUILT_IN
    """The schema registry that is announced."""
    new_id: Callable[[], str] = lambda: secrets.token_hex(6)
    """Returns the message id of a new frame."""
    now: Callable[[], float] = time.time
    """Returns the time in seconds of the Unix epoch, for the envelopes of frames."""

    def __post_init__(self) -> None:
        """Refuse an invalid setting (ValueError)."""
        for name, choices in (("policy", (*get_args(RewritePolicy), None)), ("host", ("auto", *HOSTS))):
            if getattr(self, name) not in choices:
                expected = ", ".join(map(repr, choices))
                raise ValueError(f"expected {name!r} to be one of {expected}, found {getattr(self, name)!r}")
        check_tool_forms(self.tools)
        if not self.fetch and any(isinstance(form, Resolve) for form in self.tools.values()):
            raise ValueError(f"expected 'fetch' to be True where arguments take references, found {self.fetch!r}")
        if self.store is not None and not hasattr(self.store, "purge"):  # a text may hold a password
            expected = "expected a ColdStore such as accp_adapters.stores.open_store('sqlite:PATH')"
            raise ValueError(f"{expected}, found {type(self.store).__name__}")
        _ = self.limits

    @property
    def is_for_all(self) -> bool:
        """Whether clients that did not declare the extension get views."""
        return self.policy == "always" or (self.policy is None and self.fetch)

    @property
    def limits(self) -> ResultLimits:
        """The limits of views, previews and fetched answers."""
        return ResultLimits(
            inline=self.inline_limit, preview=self.preview_limit, fetch=self.fetch_limit,
            previewed_chars=_PREVIEWED_CHARS,
        )  # fmt: skip

    def limits_of(self, tool: str) -> ResultLimits | None:
        """Return the limits of the results of `tool`; None: they stay as they are."""
        limits = ToolForms(self.tools).limits_of(tool, self.limits)
        return limits and replace(limits, previewed_chars=_PREVIEWED_CHARS)


_Gains: TypeAlias = Callable[[JsonObject], bool]
"""Returns whether a rewritten result is smaller for who reads it."""

_LOG: Final = logging.getLogger(__name__)
_INVALID_PARAMS: Final = -32602
_INTERNAL: Final = -32603
_METHOD_NOT_FOUND: Final = -32601
_MAX_PASSED: Final = 1_000
"""Calls that wait between `answer_own` and `from_client`."""
_CHARS_OF_TOKEN: Final = 4
"""An estimate, for operators, of results that take seconds to count."""
_MAX_REQUEST: Final = 2_000
"""Characters of a call's arguments that rank what a preview keeps."""


class Encoder:
    """The server's side of one connection, or of one HTTP exchange; threads may share it."""

    def __init__(
        self, options: EncoderOptions | None = None, *, session: SessionState | None = None, **settings: Any
    ) -> None:
        """Rewrite results as `options` say.

        Args:
            options: The settings; None: the defaults.
            session: The state that this encoder shares with others of the same session; None: a new one.
            settings: Fields of `EncoderOptions`, instead of those in `options`.

        Raises:
            ValueError: A setting is invalid.
        """
        self.options: Final = replace(options or EncoderOptions(), **settings)
        self.session: Final = session or SessionState()
        if self.options.fetch and self.session.has_owner and self.session.stored_results is None:
            self.session.stored_results = SessionTexts(self.options.store or embedded_store())
        self._forms: Final = ToolForms(self.options.tools)
        self._pending: Final = sessions.OpenRequests()
        self._passed: Final[BoundedDict[messages.MessageId, JsonObject]] = BoundedDict(_MAX_PASSED)
        """By the ids of calls the arguments that are references, and their texts."""
        self._rewriter: Final = _Rewriter(self.options, self.session)
        self._is_off: Final = is_disabled()

    def warm_up(self) -> None:
        """Load what the first result needs, the vocabulary of the counter above all; a later call does nothing new."""
        sample = Encoder(self.options, policy="always", fetch=False, tools={}, telemetry=None)
        blocks = [text_block(compact_json([{"id": number, "name": "a  b"} for number in range(3)]))]
        sample.from_client({"id": 0, "method": "tools/call", "params": {"name": "sample"}})
        sample.from_server({"id": 0, "result": {"content": blocks}})

    def close(self) -> None:
        """Delete the texts that were stored for this session alone; it is over."""
        if self.session.stored_results is not None:
            self.session.stored_results.close()

    def answer_own(self, message: JsonObject) -> JsonObject | None:
        """Return the response to a request that the shim answers itself; None for one that the server answers."""
        params = message.get("params") if type(message) is dict else None
        if self._is_off or not isinstance(params, dict) or messages.message_id(message) is None:
            return None
        response: JsonObject = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            result = self._own_result(message, params)
        except ProtocolError as error:
            refusal = {"code": _INVALID_PARAMS, "message": str(error), "data": {EXTENSION: {"code": error.code}}}
            return {**response, "error": self._rewriter.refuse(refusal, "data", error, self._open_request(message))}
        except Exception as error:
            _LOG.warning("the shim could not answer a request of its own: %s", type(error).__name__)
            _LOG.debug("the request failed with", exc_info=True)
            self._failed()
            if not self.may_take_long(message):
                return None
            # What is asked for is ours: the server would refuse it, or take a reference for the text itself.
            reason = f"accp failed ({type(error).__name__}), not the tool; nothing is lost. Try another query"
            failure = messages.tool_result([text_block(f"{ErrorCode.INTERNAL_ERROR}: {reason}")], is_error=True)
            is_call = message.get("method") == "tools/call"
            return response | ({"result": failure} if is_call else {"error": {"code": _INTERNAL, "message": reason}})
        return None if result is None else {**response, "result": result}

    def may_take_long(self, message: JsonObject) -> bool:
        """Return whether `answer_own` may query, search or read texts for this message, which can take seconds."""
        params = message.get("params")
        if not isinstance(params, dict):
            return False
        if message.get("method") == "resources/read":
            return str(params.get("uri")).startswith(messages.COLD_URI)
        is_own = params.get("name") in (FETCH_NAME, INDEX_NAME)
        return message.get("method") == "tools/call" and (is_own or self._forms.resolve(_name(params)) is not None)

    def from_client(self, message: JsonObject) -> JsonObject:
        """Return a client's message for the server; what it declares and requests is remembered."""
        return message if self._is_off else messages.unchanged_on_error(self._from_client, message, self._failed)

    def from_server(self, message: JsonObject) -> JsonObject:
        """Return a server's message for the client; the result of a known request is rewritten."""
        return message if self._is_off else messages.unchanged_on_error(self._from_server, message, self._failed)

    def _failed(self) -> None:
        """Count a fault of ours; counting may be what failed."""
        with suppress(Exception):
            if self.options.telemetry is not None:
                self.options.telemetry.projection_failed(1)

    def _own_result(self, message: JsonObject, params: JsonObject) -> JsonObject | None:
        if message.get("method") == "resources/read":
            return self._own_resource(str(params.get("uri")), modern=messages.is_modern(params))
        if message.get("method") != "tools/call":
            return None
        try:
            answer = self._own_tool(params)
            if answer is None:
                self._pass_on(message, self._unwrap_call(params))
            return answer
        except ProtocolError as error:
            refusal = messages.tool_result([text_block(str(error))], is_error=True)
            return self._rewriter.refuse(refusal, "_meta", error, self._open_request(message))

    def _own_resource(self, uri: str, *, modern: bool) -> JsonObject | None:
        if uri == messages.REGISTRY_URI:
            return negotiation.read_registry(self.options.registry, self._rewriter.envelope(), is_modern=modern)
        if uri.startswith(messages.COLD_URI) and self.session.stored_results is not None:
            return sessions.read_stored(self.session.stored_results, uri, is_modern=modern)
        return None

    def _own_tool(self, params: JsonObject) -> JsonObject | None:
        called, stored = self._unwrap_call(params), self.session.stored_results
        name, arguments = called.get("name"), called.get("arguments")
        if name == FETCH_NAME and self._is_own(FETCH_NAME) and stored is not None:
            return self._answer_fetch(stored, arguments, params.get("_meta"))
        if name == INDEX_NAME and self._is_own(INDEX_NAME):
            return answer_index_call(arguments, self.session.catalog, self.options.counter)
        return None

    def _is_own(self, name: str) -> bool:
        """Return whether a tool is one of ours: the option is on, and the server has none of that name."""
        is_on = self.options.index if name == INDEX_NAME else self.session.stored_results is not None
        return is_on and name not in self.session.catalog.tools

    def _answer_fetch(self, stored: SessionTexts, arguments: object, meta: object) -> JsonObject:
        telemetry = self.options.telemetry
        with telemetry.fetch(None, None, meta) if telemetry else nullcontext(), self._telling_refusal():
            answer = sessions.answer_fetch(
                stored, arguments, limit=self.options.limits.fetch, counter=self.options.counter
            )
            if telemetry:
                telemetry.opened([stored.key(each) for each in read_request(arguments).references])
            return answer

    def _pass_on(self, message: JsonObject, params: JsonObject) -> None:
        """Open the references in the arguments of a call, which `_from_client` then forwards.

        Raises:
            ProtocolError: One does not open; as `passed_text`.
        """
        name, stored, telemetry = _name(params), self.session.stored_results, self.options.telemetry
        resolved, key = self._forms.resolve(name), messages.message_id(message)
        requests = dict(passed_requests(params.get("arguments"), resolved))
        if not requests or resolved is None or stored is None or key is None:
            return
        passing = telemetry.passing_on(name, None, None, params.get("_meta")) if telemetry else nullcontext()
        with passing, self._telling_refusal():
            texts = {
                argument: passed_text(request, stored.open, max_chars=resolved.max_chars)
                for argument, request in requests.items()
            }
            if telemetry:
                keys = [stored.key(each) for request in requests.values() for each in request.references]
                telemetry.passed_on(name, keys, sum(map(len, texts.values())))
        self._passed.put(key, texts)

    @contextmanager
    def _telling_refusal(self) -> Iterator[None]:
        try:
            yield
        except ProtocolError as error:
            if self.options.telemetry:
                self.options.telemetry.refused(str(error))
            raise

    def _unwrap_call(self, params: JsonObject) -> JsonObject:
        """Return the params of the call inside a call of the tool index; any other params unchanged."""
        return (call_in_index(params) if self._is_own(INDEX_NAME) else None) or params

    def _from_client(self, message: JsonObject) -> JsonObject:
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return message
        if method == "notifications/cancelled":
            self._pending.cancel(params)
            return message
        if method == "initialize":
            self.session.client_settings = negotiation.settings_in_initialize(params)
            self.session.client_name = client_name(params)
        called = self._unwrap_call(params) if method == "tools/call" and isinstance(params, dict) else params
        if called is not params:
            message = {**message, "params": called}
        key = messages.message_id(message)
        if key is not None and (texts := self._passed.pop(key, None)):
            called = message["params"]
            message = {**message, "params": {**called, "arguments": {**called["arguments"], **texts}}}
        self._pending.add(message, self._open_request(message))
        return message

    def _open_request(self, message: JsonObject) -> OpenRequest:
        params = message.get("params")
        modern = messages.is_modern(params)
        settings = negotiation.settings_in_request(params) if modern else self.session.client_settings
        self.session.client_name = name = client_name(params) or self.session.client_name
        return OpenRequest.of(message, client_settings=settings, is_modern=modern, client_name=name)

    def _from_server(self, message: JsonObject) -> JsonObject:
        if message.get("method") == "notifications/tools/list_changed":
            self.session.catalog.clear()
        request = None if "method" in message else self._pending.pop(message)
        return message if request is None else self._rewriter.rewrite(message, request)


class _Rewriter:
    """What becomes of each result: by the method of its request, for the client that sent it."""

    def __init__(self, options: EncoderOptions, session: SessionState) -> None:
        self.options: Final = options
        self.session: Final = session

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
            return {**messages.without(message, "error"), "result": listed}
        if request.client_settings is None:
            text = str(error.get("message", ""))
            escaped = escape_markers(text) if self._shows_views(request) else text
            return message if escaped == text else {**message, "error": {**error, "message": escaped}}
        code = self._unknown_tool(request) or code_of_error(error, request.method)
        written = self._add_error_frame(error, "data", code, str(error.get("message", "")), request)
        return message if written is error else {**message, "error": written}

    def _unknown_tool(self, request: OpenRequest) -> ErrorCode | None:
        """Return E4001 where the tool that was called is not in the server's list."""
        catalog = self.session.catalog
        is_missing = request.method == "tools/call" and catalog.is_complete and request.tool not in catalog.tools
        return ErrorCode.TOOL_NOT_FOUND if is_missing else None

    def _announce(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        if request.client_settings is None:
            return result
        return _as_private(negotiation.announce_registry(result, request.method, self.options.registry, self.envelope))

    def _list_tools(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        catalog = self.session.catalog
        tools = catalog.of_server(result["tools"])
        catalog.add({**result, "tools": tools}, request.params)
        if self.options.index and INDEX_NAME not in catalog.tools:
            # The index covers all pages, so it is returned with the last of them.
            tools = listed_tools(catalog, self.options.counter) if catalog.is_complete else []
            catalog.own.update(tool["name"] for tool in tools if tool.get("name") == INDEX_NAME)
        if self._drops_structured(request):
            # An outputSchema would make the client insist on what it does not get.
            tools = [messages.without(tool, "outputSchema") for tool in tools]
        if self.session.stored_results is not None and FETCH_NAME in catalog.tools:
            _LOG.warning(
                "the server has a tool %r of its own: its results are shown whole, without references", FETCH_NAME
            )
        if self._cites(request):
            if catalog.is_complete:
                tools = [*tools, FETCH_TOOL]
                catalog.own.add(FETCH_NAME)
            named = [(tool, ToolForms(self.options.tools).resolve(_name(tool))) for tool in tools]
            tools = [with_references(tool, resolved) if resolved else tool for tool, resolved in named]
        return result if tools == result["tools"] else _as_private({**result, "tools": tools})

    def _list_resources(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        own = [] if result.get("nextCursor") else self._own_resources(request)
        return _as_private({**result, "resources": [*result["resources"], *own]}) if own else result

    def _own_resources(self, request: OpenRequest) -> list[JsonObject]:
        stored = self.session.stored_results
        lists_stored = stored is not None and self.session.is_session and self._cites(request)
        references = sessions.list_stored(stored) if stored is not None and lists_stored else []
        if request.client_settings is None:
            return references
        return [negotiation.REGISTRY_RESOURCE, *references] if request.client_settings.listed else []

    def _read_resource(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        options, settings = self.options, request.client_settings
        if settings is None or size_of(result, MAX_RESULT_CHARS) > MAX_RESULT_CHARS:
            return result
        envelope = partial(self.envelope, request.correlation_id)
        is_literal = not settings.restores
        framed = write_framed_contents(result, envelope, options.counter, options.min_gain, is_literal=is_literal)
        return framed or result

    def _rewrite_call(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        if self.options.limits_of(request.tool) is None:
            return result
        is_large = size_of(result, MAX_RESULT_CHARS) > MAX_RESULT_CHARS
        if request.client_settings is not None and not is_large and result.get("isError"):
            return self._write_failure(result, request)
        if is_large and not self._cites(request):
            return result
        return self._compress_result(result, request, is_large=is_large) or result

    def _write_failure(self, result: JsonObject, request: OpenRequest) -> JsonObject:
        """Return the result of a failed call with its frame, and with views for a client that reads them."""
        code, reason = self._unknown_tool(request) or ErrorCode.TOOL_EXEC_FAILED, _first_text(result)
        shown = self._compress_result(result, request, is_large=False) if self._shows_views(request) else None
        if shown is None:
            return self._add_error_frame(result, "_meta", code, reason, request)
        return messages.extend_metadata(shown, {"frame": self._error_frame(code, reason, request)})

    def refuse(self, holder: JsonObject, member: str, error: ProtocolError, request: OpenRequest) -> JsonObject:
        """Return an error of ours (`member`: "data") or a result ("_meta"), with a frame if the client negotiated."""
        if request.client_settings is None:
            return holder
        frame = self._error_frame(ErrorCode(error.code), error.reason, request)
        return messages.extend_metadata(holder, {"frame": frame}, member)

    def _add_error_frame(
        self, holder: JsonObject, member: str, code: ErrorCode, reason: str, request: OpenRequest
    ) -> JsonObject:
        if not messages.has_room_for_metadata(holder, member):
            return holder
        return messages.add_metadata(holder, {"frame": self._error_frame(code, reason, request)}, member)

    def _error_frame(self, code: ErrorCode, reason: str, request: OpenRequest) -> str:
        is_literal = request.client_settings is not None and not request.client_settings.restores
        return write_error_frame(code, reason, self.envelope(request.correlation_id), is_literal=is_literal)

    def _compress_result(self, result: JsonObject, request: OpenRequest, *, is_large: bool) -> JsonObject | None:
        """Return what is sent instead of a result, and tell it; None where the result itself is sent."""
        counter, telemetry = RememberingCounter(self.options.counter), self.options.telemetry
        if telemetry is None:
            return self._written(result, request, counter, is_large=is_large)
        form = self._host(request).forms[-1]  # of a host that may show either form, both count
        with telemetry.tool_result(request.tool, request.params.get("_meta")):
            written = self._written(result, request, counter, is_large=is_large)
            if written is not None:
                shown = [shown_text(each, form) for each in (result, written)]
                before, after = [len(text) // _CHARS_OF_TOKEN if is_large else counter(text) for text in shown]
                references = references_in(written)
                record = RewritingRecord(
                    source=request.tool, tokens_before=before, tokens_after=after, references=references
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
        envelope, is_literal = partial(self.envelope, request.correlation_id), not request.client_settings.restores
        return write_frame(result, request.tool, envelope, gains, is_literal=is_literal)

    def _choose_view(
        self, result: JsonObject, request: OpenRequest, counter: RememberingCounter, gains: _Gains, *, is_large: bool
    ) -> JsonObject | None:
        """Return a result in the forms that are wanted, else in both, if a model then reads less."""
        drops = self._drops_structured(request) and not result.get("isError")
        stored = self.session.stored_results if self._cites(request) else None
        settings = ViewSettings(
            counter=counter,
            stored_results=stored,
            limits=self.options.limits_of(request.tool) or self.options.limits,
            request=compact_json(request.params.get("arguments"))[:_MAX_REQUEST],
        )
        escaped: list[JsonObject] = []
        for drops_structured in dict.fromkeys((drops, False)):
            shown = write_view(result, replace(settings, drops_structured=drops_structured), is_large=is_large)
            if shown is not None and gains(shown):
                return shown
            adds_no_text = not drops_structured or "text" not in self._host(request).forms
            if shown is not None and adds_no_text and has_escapes(shown):
                escaped.append(shown)
        return escaped[0] if escaped else None

    def _shows_views(self, request: OpenRequest) -> bool:
        """Return whether the client gets views: it asked for them, or asked for nothing and `policy` is "always"."""
        if request.client_settings is not None:
            return request.client_settings.results == "view"
        return self.options.is_for_all

    def _cites(self, request: OpenRequest) -> bool:
        """Return whether the client gets references, and the tool that opens them."""
        is_wanted = request.client_settings is None or request.client_settings.fetch
        is_ours = self.session.stored_results is not None and FETCH_NAME not in self.session.catalog.tools
        return is_ours and is_wanted and self._shows_views(request)

    def _drops_structured(self, request: OpenRequest) -> bool:
        """Return whether the client gets no `structuredContent`, because its host would show that to the model."""
        return self._shows_views(request) and request.client_settings is None and self._host(request).drops_structured

    def _host(self, request: OpenRequest) -> Host:
        """Return who reads the results: a client that negotiated knows both forms, any other is a host."""
        return HOSTS["both" if request.client_settings else host_named(self.options.host, request.client_name)]

    def envelope(self, correlation_id: str | None = None) -> Envelope:
        """Return the metadata of the next frame of the session, which must be sent."""
        return Envelope(
            msg_id=self.options.new_id(),
            sequence=next(self.session.sequence),
            timestamp=int(self.options.now()),
            correlation_id=correlation_id,
        )


_REWRITES: Final[dict[str, Callable[[_Rewriter, JsonObject, OpenRequest], JsonObject]]] = {
    "initialize": _Rewriter._announce,
    "server/discover": _Rewriter._announce,
    "tools/list": _Rewriter._list_tools,
    "resources/list": _Rewriter._list_resources,
    "resources/read": _Rewriter._read_resource,
    "tools/call": _Rewriter._rewrite_call,
}


def _name(holder: JsonObject) -> str:
    return str(holder.get("name"))


def _as_private(result: JsonObject) -> JsonObject:
    """Return a result that depends on its client, so that no cache gives it to another one."""
    return {**result, "cacheScope": "private"} if result.get("cacheScope") == "public" else result


def _first_text(result: JsonObject) -> str:
    """Return the first text of a result, which is where a failed tool gives its reason."""
    return next((block["text"] for block in result.get("content", []) if isinstance(block.get("text"), str)), "")
