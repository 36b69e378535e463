"""The server's side of the shim: it sees every message of a connection, rewrites results, answers its own requests.

It knows no transport and no SDK; messages are decoded JSON-RPC objects. A message that stays the same is returned as
the very object that was passed in, so that the caller can forward the original bytes. That includes every message that
is not understood and every one that cannot be rewritten.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Final

from accp_adapters.fetching import (
    FETCH_NAME,
    passed_requests,
    passed_text,
    read_request,
)
from accp_adapters.mcp.shim import error_frames
from accp_adapters.mcp.shim.hosts import client_name
from accp_adapters.mcp.shim.negotiation import settings_in_initialize, settings_in_request
from accp_adapters.mcp.shim.options import EncoderOptions
from accp_adapters.mcp.shim.pending import OpenRequest, OpenRequests
from accp_adapters.mcp.shim.protocol import (
    COLD_URI,
    REGISTRY_URI,
    JsonObject,
    MessageId,
    check_names,
    is_modern,
    message_id,
    text_block,
    tool_result,
    unchanged_on_error,
)  # fmt: skip
from accp_adapters.mcp.shim.registry import read_registry
from accp_adapters.mcp.shim.result_rewriter import ResultRewriter
from accp_adapters.mcp.shim.session_state import SessionState
from accp_adapters.mcp.shim.stored_results import SessionTexts, answer_fetch, read_stored
from accp_adapters.mcp.shim.tools import tool_index
from accp_adapters.stores import embedded_store
from accp_core.bounded import BoundedDict
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.projection import ToolForms
from accp_core.projection.versions import Differences
from accp_core.strict_json import compact_json

__all__ = ["Encoder"]

_LOG: Final = logging.getLogger(__name__)
_MAX_PASSED: Final = 1_000
"""Calls that wait between `answer_own` and `from_client`."""
_MAX_ECHO: Final = 200
"""Characters of a name that an error repeats."""


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
        self._forms: Final = ToolForms(self.options.forms)
        self.session: Final = session or SessionState()
        if self.options.fetch and self.session.has_owner and self.session.stored_results is None:
            self.session.stored_results = SessionTexts(self.options.store or embedded_store())
        stored = self.session.stored_results
        # Without sessions, the texts of one client are not to be shown to another one.
        if self.options.changes and self.session.is_session and stored is not None and stored.differences is None:
            stored.differences = Differences(self.options.counter)
        self._pending: Final = OpenRequests()
        self._passed: Final[BoundedDict[MessageId, JsonObject]] = BoundedDict(_MAX_PASSED)
        """By the ids of calls the arguments that are references, and their texts."""
        self._rewriter: Final = ResultRewriter(self.options, self.session)

    def exchange(self) -> Encoder:
        """Return an encoder for another HTTP exchange of the same session, with pending requests of its own.

        Without a session, what one client declares says nothing of the next one.
        """
        session = self.session
        if not session.is_session:
            session = replace(session, client_settings=None, client_name="")
        return Encoder(self.options, session=session)

    def for_owner(self, owner: str, *, is_session: bool) -> Encoder:
        """Return an encoder for another owner: the same settings, and the same client where that declared itself.

        Args:
            owner: The namespace of its texts in `options.store`, the same in every process; empty: it has none, so
                that large results are shown whole.
            is_session: As in `SessionState`.
        """
        state = SessionState(is_session=is_session, has_owner=bool(owner))
        if is_session:
            state.client_settings, state.client_name = self.session.client_settings, self.session.client_name
        if owner and self.options.fetch and self.options.store is not None:
            state.stored_results = SessionTexts(self.options.store, owner, is_shared=True)
        return Encoder(self.options, session=state)

    def warm_up(self) -> None:
        """Load what the first result needs, the vocabulary of the counter above all; a later call does nothing new."""
        sample = Encoder(self.options, policy="always", fetch=False, changes=False, telemetry=None)
        blocks = [text_block(compact_json([{"id": number, "name": "a  b"} for number in range(3)]))]
        sample.from_client({"id": 0, "method": "tools/call", "params": {"name": "sample"}})
        sample.from_server({"id": 0, "result": {"content": blocks}})
        self.options.counter("warm up")

    def close(self) -> None:
        """Delete the texts that were stored for this session; it is over."""
        if self.session.stored_results is not None:
            self.session.stored_results.close()

    def release(self) -> None:
        """Free what this process keeps for the session; texts in a store that others share stay for them."""
        stored = self.session.stored_results
        if stored is not None and not stored.is_shared:
            stored.close()

    def answer_own(self, message: JsonObject) -> JsonObject | None:
        """Return the response to a request that the shim answers itself; None for one that the server answers."""
        if type(message) is not dict or message_id(message) is None:
            return None
        params = message.get("params")
        response: JsonObject = {"jsonrpc": "2.0", "id": message["id"]}
        try:
            if not self.options.is_off:
                check_names(message)
            result = self._own_result(message, params) if isinstance(params, dict) else None
        except ProtocolError as error:
            refusal = self._rewriter.refuse(
                error_frames.json_rpc_error(error), "data", error, self._pending_request(message)
            )
            return {**response, "error": refusal}
        except Exception:
            # The store failed, or the text cannot be shown: the server refuses what it does not have.
            _LOG.warning("the shim could not answer a request of its own; the server is asked")
            _LOG.debug("the request failed with", exc_info=True)
            return None
        return None if result is None else {**response, "result": result}

    def may_take_long(self, message: JsonObject) -> bool:
        """Return whether `answer_own` may query, search or read texts for this message, which can take seconds."""
        params = message.get("params")
        if not isinstance(params, dict):
            return False
        if message.get("method") == "resources/read":
            return str(params.get("uri")).startswith(COLD_URI)
        is_own = params.get("name") in (FETCH_NAME, tool_index.INDEX_NAME)
        return message.get("method") == "tools/call" and (is_own or self.passes_on(params))

    def from_client(self, message: JsonObject) -> JsonObject:
        """Return a client's message for the server; what it declares and requests is remembered."""
        return message if self.options.is_off else unchanged_on_error(self._from_client, message)

    def from_server(self, message: JsonObject) -> JsonObject:
        """Return a server's message for the client; the result of a known request is rewritten."""
        return message if self.options.is_off else unchanged_on_error(self._from_server, message)

    def needs_tools(self, response: JsonObject) -> JsonObject | None:
        """Return the params of a failed call whose error code cannot be told before the server's tools are known.

        None: they are known, `response` is of another kind, or its client did not negotiate.
        """
        request = None if self.session.catalog.is_complete else self._pending.get(response)
        if request is None or request.method != "tools/call" or request.client_settings is None:
            return None
        return request.params if error_frames.depends_on_tools(response) else None

    def learn_tools(self, result: JsonObject, params: object) -> None:
        """Take over a page of the server's tools, which the client has not asked for."""
        self.session.catalog.add({**result, "tools": self.options.offered(result["tools"])}, params)

    def serves(self, name: object) -> bool:
        """Return whether the shim serves the tool `name`; one of the server that had it before takes precedence."""
        serves = {
            tool_index.INDEX_NAME: self.options.tools != "full",
            FETCH_NAME: self.session.stored_results is not None,
        }
        return isinstance(name, str) and serves.get(name, False) and name not in self.session.catalog.tools

    def passes_on(self, params: JsonObject) -> bool:
        """Return whether a call has an argument that is a reference, and that the user named."""
        resolved = self._forms.resolve(str(params.get("name")))
        return resolved is not None and any(passed_requests(params.get("arguments"), resolved))

    def check_offered(self, name: str) -> None:
        """Check that the tool `name` may be called.

        Where some may not, neither may one that the server's list, once it is known, does not have: the server may
        take its name for that of another one.

        Raises:
            ProtocolError: E4001, it may not.
        """
        catalog = self.session.catalog
        is_known = not catalog.is_complete or name in catalog.tools
        if self.options.is_filtered and not (self.options.offers(name) and is_known):
            reason = f"expected the name of a tool, found {name[:_MAX_ECHO]!r}"
            raise ProtocolError(reason, code=ErrorCode.TOOL_NOT_FOUND)

    def _own_result(self, message: JsonObject, params: JsonObject) -> JsonObject | None:
        if message.get("method") == "resources/read":
            return self._own_resource(str(params.get("uri")), modern=is_modern(params))
        if message.get("method") != "tools/call":
            return None
        try:
            answer = self._own_tool(params)
            if answer is None:
                self._pass_on(message, self._unwrap_call(params))
            return answer
        except ProtocolError as error:
            refusal = tool_result([text_block(str(error))], is_error=True)
            return self._rewriter.refuse(refusal, "_meta", error, self._pending_request(message))

    def _pass_on(self, message: JsonObject, params: JsonObject) -> None:
        """Open the references in the arguments of a call, which `_from_client` then forwards.

        Raises:
            ProtocolError: One does not open; as `passed_text`.
        """
        name, stored, telemetry = str(params.get("name")), self.session.stored_results, self.options.telemetry
        resolved, key = self._forms.resolve(name), message_id(message)
        requests = dict(passed_requests(params.get("arguments"), resolved))
        if not requests or resolved is None or stored is None or key is None:
            return
        with telemetry.passing_on(name, None, None, params.get("_meta")) if telemetry else nullcontext():
            try:
                texts = {
                    argument: passed_text(request, stored.open, max_chars=resolved.max_chars)
                    for argument, request in requests.items()
                }
            except ProtocolError as refusal:
                if telemetry is not None:
                    telemetry.refused(str(refusal))
                raise
            if telemetry is not None:
                keys = [stored.key(each) for request in requests.values() for each in request.references]
                telemetry.passed_on(name, keys, sum(map(len, texts.values())))
        self._passed.put(key, texts)

    def _own_resource(self, uri: str, *, modern: bool) -> JsonObject | None:
        if uri == REGISTRY_URI and self.options.policy != "never":
            return read_registry(self.options.registry, self._rewriter.envelope(), is_modern=modern)
        if uri.startswith(COLD_URI) and self.session.stored_results is not None:
            return read_stored(self.session.stored_results, uri, is_modern=modern)
        return None

    def _own_tool(self, params: JsonObject) -> JsonObject | None:
        called = self._unwrap_call(params)
        name, arguments = called.get("name"), called.get("arguments")
        if not self.serves(name):
            self._check_call(called, is_wrapped=called is not params)
            return None
        stored, options = self.session.stored_results, self.options
        if name == FETCH_NAME and stored is not None:
            return self._answer_fetch(stored, arguments, params.get("_meta"))
        return tool_index.answer_index_call(arguments, self.session.catalog, options.counter)

    def _answer_fetch(self, stored: SessionTexts, arguments: object, meta: object) -> JsonObject:
        limit, counter, telemetry = self.options.limits.fetch, self.options.counter, self.options.telemetry
        if telemetry is None:
            return answer_fetch(stored, arguments, limit=limit, counter=counter)
        with telemetry.fetch(None, None, meta):
            try:
                answer = answer_fetch(stored, arguments, limit=limit, counter=counter)
            except ProtocolError as error:
                telemetry.refused(str(error))
                raise
            telemetry.opened([stored.key(each) for each in read_request(arguments).references])
            return answer

    def _check_call(self, params: JsonObject, *, is_wrapped: bool) -> None:
        """Check that a tool is offered and, where the host checked no arguments, that they fit its schema.

        Raises:
            ProtocolError: E4001, there is no such tool; E4003, the arguments violate its schema.
        """
        name = str(params.get("name"))
        self.check_offered(name)
        if is_wrapped:
            tool_index.check_call(name, params.get("arguments"), self.session.catalog)

    def _unwrap_call(self, params: JsonObject) -> JsonObject:
        """Return the params of the call inside a call of the tool index; any other params unchanged."""
        return (tool_index.call_in_index(params) if self.serves(tool_index.INDEX_NAME) else None) or params

    def _from_client(self, message: JsonObject) -> JsonObject:
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return message
        if method == "notifications/cancelled":
            self._pending.cancel(params)
            return message
        if method == "initialize":
            self.session.client_settings = settings_in_initialize(params)
            self.session.client_name = client_name(params)
        called = self._unwrap_call(params) if method == "tools/call" and isinstance(params, dict) else params
        if called is not params:
            message = {**message, "params": called}
        key = message_id(message)
        if key is not None and (texts := self._passed.pop(key, None)):
            called = message["params"]
            message = {**message, "params": {**called, "arguments": {**called["arguments"], **texts}}}
        self._pending.add(message, self._pending_request(message))
        return message

    def _pending_request(self, message: JsonObject) -> OpenRequest:
        params = message.get("params")
        modern = is_modern(params)
        settings = settings_in_request(params) if modern else self.session.client_settings
        if self.options.policy == "never":
            settings = None
        name = client_name(params) or self.session.client_name
        return OpenRequest.of(message, client_settings=settings, is_modern=modern, client_name=name)

    def _from_server(self, message: JsonObject) -> JsonObject:
        if message.get("method") == "notifications/tools/list_changed":
            self.session.catalog.clear()
        request = None if "method" in message else self._pending.pop(message)
        return message if request is None else self._rewriter.rewrite(message, request)
