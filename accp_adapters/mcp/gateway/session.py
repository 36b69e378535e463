"""One client of a gateway and all its servers: requests go to the server they name, and what servers ask comes back.

The protocol is that up to 2025-11-25, whose sessions let servers ask (sampling, elicitation, roots); a client of
2026-07-28 falls back to it, since `server/discover` is answered by "method not found". Message ids, progress tokens and
cancellations of client and servers never meet: each side's are renamed for the other.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from importlib import metadata
from typing import Any, Final, TypeAlias

from accp_adapters.mcp.gateway.configuration import ServerSettings
from accp_adapters.mcp.gateway.names import Names, server_of_name, server_of_uri
from accp_adapters.mcp.gateway.questions import Questions
from accp_adapters.mcp.gateway.upstream import LIST_METHODS, ServerEnded, Upstream
from accp_adapters.mcp.links.link import Deliver, Ended, Link
from accp_adapters.mcp.links.process_link import ProcessLink
from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.shim.protocol import JsonObject, MessageId, message_id, text_block, tool_result, without
from accp_adapters.serving.bodies import Leases
from accp_core.error_codes import ErrorCode

__all__ = ["GatewaySession"]

_LOG: Final = logging.getLogger(__name__)

_VERSIONS: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""The revisions of the protocol that have sessions, the newest first."""
_PASSED_ON: Final = ("roots", "sampling", "elicitation")
"""The client's capabilities that servers may use through a gateway."""
_PATIENCE: Final = 3.0
"""Seconds that the handshake and a list wait for all servers together; what comes later is announced."""
_DRAIN_SECONDS: Final = 2.0
"""How long pending calls are awaited after the client has closed."""
_PATIENCE_ALONE: Final = 30.0
"""The same for a single server, which keeps no other one waiting."""
_MAX_TASKS: Final = 1_000
"""Answers of the gateway itself that servers have not read; beyond, a server that asks gets none."""
_INVALID_REQUEST: Final = -32600
_METHOD_NOT_FOUND: Final = -32601
_INVALID_PARAMS: Final = -32602
_INTERNAL_ERROR: Final = -32603

_Answer: TypeAlias = JsonObject
"""The members `result` or `error` of a response."""


class _Refused(Exception):
    """A request that no server gets."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class GatewaySession:
    """The servers of one client."""

    def __init__(
        self,
        servers: Sequence[ServerSettings],
        *,
        is_bare: bool = False,
        patience: float | None = None,
        leases: Leases | None = None,
    ) -> None:
        """Prepare to serve a client.

        Args:
            servers: The servers, which are started by the client's handshake.
            is_bare: Whether names have no prefix, since there is one server.
            patience: Seconds that the handshake and a list wait for servers; None: the default.
            leases: The bytes that the messages of the servers may take; None: 256 MiB of each.
        """
        self._upstreams: Final = {
            each.name: Upstream(Names(each.name, is_bare), _link(each, leases), self._from_server) for each in servers
        }
        self._bare: Final = servers[0].name if is_bare else ""
        self._questions: Final = Questions(self._tell)
        default = _PATIENCE if len(servers) > 1 else _PATIENCE_ALONE
        self._patience: Final = default if patience is None else patience
        self._listings: Final[dict[tuple[str, str], asyncio.Task[None]]] = {}
        self._tasks: Final[set[asyncio.Task[None]]] = set()
        self._calls: Final[dict[MessageId, asyncio.Task[None]]] = {}
        self._is_shaking_hands = False
        self._has_shaken_hands: Final = asyncio.Event()

    async def start(self, deliver: Deliver, ended: Ended) -> None:
        """Prepare to deliver messages for the client; the servers are started by its handshake."""
        self._deliver = deliver

    async def send(self, received: Message) -> None:
        """Take a message of the client; its answer is delivered when it is there."""
        message = received.meaning
        if message is None:
            error = {"code": -32700, "message": "expected one JSON object in a message"}
            await self._tell({"jsonrpc": "2.0", "id": None, "error": error})
        elif not isinstance(message.get("method"), str):
            await self._questions.answer(message)
        elif (identity := message_id(message)) is None:
            await self._notice(message["method"], message.get("params"))
        else:
            task = self._run(self._serve(message))
            self._calls[identity] = task
            task.add_done_callback(lambda done: self._forget(identity, done))

    async def close(self, *, drain: bool = False) -> None:
        """Cancel what is in flight, and end all servers; with `drain`, wait for pending calls first."""
        if drain and self._calls:
            await asyncio.wait(list(self._calls.values()), timeout=_DRAIN_SECONDS)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(upstream.close() for upstream in self._upstreams.values()), return_exceptions=True)

    async def _tell(self, message: JsonObject) -> None:
        await self._deliver(Message.of(message))

    def _forget(self, identity: MessageId, task: asyncio.Task[None]) -> None:
        if self._calls.get(identity) is task:
            del self._calls[identity]

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _serve(self, message: JsonObject) -> None:
        params = message.get("params")
        try:
            answer = await self._answer(message["method"], params if isinstance(params, dict) else {})
        except _Refused as refused:
            answer = {"error": {"code": refused.code, "message": str(refused)}}
        except ServerEnded as ended:
            answer = _failure(message["method"], f"{ErrorCode.TIMEOUT}: {ended}; the other servers go on")
        except Exception as error:  # any failure: the client must not wait for ever
            _LOG.warning("a request could not be served: %r", error)
            answer = {"error": {"code": _INTERNAL_ERROR, "message": f"the gateway failed: {type(error).__name__}"}}
        await self._tell({"jsonrpc": "2.0", "id": message["id"], **answer})

    async def _answer(self, method: str, params: JsonObject) -> _Answer:
        if method in _METHODS - {"initialize", "ping"}:
            if not self._is_shaking_hands:
                raise _Refused(_INVALID_REQUEST, f"expected 'initialize' first, found {method!r}")
            await self._has_shaken_hands.wait()
        if method in LIST_METHODS:
            return await self._list(method)
        if method in _BY_SESSION:
            return await _BY_SESSION[method](self, params)
        if method in _BY_NAME:
            return await self._ask(self._by_name(params.get("name")), method, params)
        if method in _BY_URI:
            return await self._ask(self._by_uri(params.get("uri")), method, params)
        raise _Refused(_METHOD_NOT_FOUND, f"Method not found: {method!r}")

    async def _initialize(self, params: JsonObject) -> _Answer:
        if self._is_shaking_hands:
            raise _Refused(_INVALID_REQUEST, "expected 'initialize' once, found it again")
        self._is_shaking_hands = True
        asked = params.get("protocolVersion")
        version = asked if asked in _VERSIONS else _VERSIONS[0]
        declared = params.get("capabilities")
        passed = {name: declared[name] for name in _PASSED_ON if name in declared} if isinstance(declared, dict) else {}
        given = {**without(params, "_meta"), "protocolVersion": version, "capabilities": passed}
        starts = [self._run(self._start(upstream, given)) for upstream in self._upstreams.values()]
        _, late = await asyncio.wait(starts, timeout=self._patience)
        for task in late:
            task.add_done_callback(lambda _: self._announce(*(change for *_, change in LIST_METHODS.values())))
        own = {"name": "accp-mcp-gateway", "version": metadata.version("accp-middleware")}
        result = {"protocolVersion": version, "capabilities": self._capabilities(), "serverInfo": own}
        self._has_shaken_hands.set()
        instructions = self._instructions()
        return {"result": {**result, "instructions": instructions} if instructions else result}

    async def _start(self, upstream: Upstream, params: JsonObject) -> None:
        try:
            await upstream.start(params)
        except ServerEnded as ended:
            _LOG.warning("%s", ended)

    def _capabilities(self) -> JsonObject:
        servers = list(self._upstreams.values())

        def have(capability: str) -> bool:
            """Return whether a server has a capability, or may have it once it is up."""
            return any(each.handshake is None or each.has(capability) for each in servers)

        found: JsonObject = {kind: {"listChanged": True} for kind in ("tools", "prompts", "resources") if have(kind)}
        if "resources" in found:
            found["resources"]["subscribe"] = True
        return found | {kind: {} for kind in ("logging", "completions") if have(kind)}

    def _instructions(self) -> str:
        members = {name: (each.handshake or {}).get("instructions") for name, each in self._upstreams.items()}
        texts = {name: text for name, text in members.items() if isinstance(text, str) and text}
        return "\n\n".join(text if self._bare else f"{name}: {text}" for name, text in texts.items())

    def _announce(self, *notifications: str) -> None:
        for notification in dict.fromkeys(notifications):
            self._run(self._questions.tell({"jsonrpc": "2.0", "method": notification}))

    async def _list(self, method: str) -> _Answer:
        servers = self._upstreams.values()
        _, late = await asyncio.wait([self._reading(each, method) for each in servers], timeout=self._patience)
        for task in late:
            task.add_done_callback(lambda _: self._announce(LIST_METHODS[method][2]))
        return {"result": {LIST_METHODS[method][1]: [item for each in servers for item in each.listed(method)]}}

    def _reading(self, upstream: Upstream, method: str) -> asyncio.Task[None]:
        """Return the task that reads a list of a server, one at a time."""
        key = (upstream.names.server, method)
        if key not in self._listings:
            self._listings[key] = self._run(upstream.read(method))
            self._listings[key].add_done_callback(lambda _: self._listings.pop(key))
        return self._listings[key]

    async def _ping(self, params: JsonObject) -> _Answer:
        return {"result": {}}

    async def _set_level(self, params: JsonObject) -> _Answer:
        logging_ones = [each for each in self._upstreams.values() if each.has("logging")]
        asked = (each.request("logging/setLevel", params) for each in logging_ones)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), self._patience)
        return {"result": {}}

    async def _complete(self, params: JsonObject) -> _Answer:
        reference = params.get("ref")
        given = reference if isinstance(reference, dict) else {}
        if "uri" in given:
            upstream = self._by_uri(given["uri"])
            own = {**given, "uri": upstream.names.own_uri(given["uri"])}
        else:
            upstream = self._by_name(given.get("name"))
            own = {**given, "name": upstream.names.own_name(given["name"])}
        return await self._ask(upstream, "completion/complete", {**params, "ref": own})

    def _by_name(self, name: object) -> Upstream:
        return self._upstream(self._bare or server_of_name(name), f"Unknown name: {name!r}")

    def _by_uri(self, uri: object) -> Upstream:
        return self._upstream(self._bare or server_of_uri(uri), f"Resource not found: {uri!r}")

    def _upstream(self, server: str, reason: str) -> Upstream:
        if server not in self._upstreams:
            raise _Refused(_INVALID_PARAMS, f"{reason}; expected one of the servers {sorted(self._upstreams)}")
        return self._upstreams[server]

    async def _ask(self, upstream: Upstream, method: str, params: JsonObject) -> _Answer:
        """Return what a server answers, in the names outside."""
        names, own = upstream.names, dict(params)
        if method in _BY_NAME and isinstance(params.get("name"), str):
            own["name"] = names.own_name(params["name"])
        if method in _BY_URI and isinstance(params.get("uri"), str):
            own["uri"] = names.own_uri(params["uri"])
        meta = params.get("_meta")
        token = repr(meta.get("progressToken")) if isinstance(meta, dict) and "progressToken" in meta else ""
        upstream.progress_tokens.add(token)
        try:
            answer = await upstream.request(method, own)
        finally:
            upstream.progress_tokens.discard(token)
        if isinstance(answer.get("result"), dict):
            return {"result": names.result(answer["result"])}
        return without(answer, "jsonrpc", "id")

    async def _notice(self, method: str, params: Any) -> None:
        """Take a notification of the client."""
        if method == "notifications/initialized":
            await self._questions.open()
        elif method == "notifications/cancelled" and isinstance(params, dict):
            identity = message_id({"id": params.get("requestId")})
            if identity in self._calls:
                self._calls[identity].cancel()
        elif method == "notifications/progress":
            await self._questions.progress(params)
        elif method == "notifications/roots/list_changed":
            for each in self._upstreams.values():
                self._run(each.notify(method, params))

    async def _from_server(self, upstream: Upstream, message: JsonObject) -> None:
        """Take a request or a notification of a server."""
        if message_id(message) is not None:
            await self._ask_client(upstream, message)
        elif upstream.forget_lists(message["method"]):
            await self._questions.tell(message)
        else:
            await self._tell_client(upstream, message)

    async def _ask_client(self, upstream: Upstream, message: JsonObject) -> None:
        if message["method"] in _SERVER_REQUESTS:
            await self._questions.ask(upstream, message)
        elif len(self._tasks) - len(self._calls) < _MAX_TASKS:
            refusal = {"code": _METHOD_NOT_FOUND, "message": f"a gateway does not pass on {message['method']!r}"}
            answer = {"result": {}} if message["method"] == "ping" else {"error": refusal}
            self._run(upstream.respond({"jsonrpc": "2.0", "id": message["id"], **answer}))

    async def _tell_client(self, upstream: Upstream, message: JsonObject) -> None:
        method, params = message["method"], message.get("params")
        given = params if isinstance(params, dict) else {}
        if method == "notifications/cancelled":
            await self._questions.cancel(upstream, given)
        elif method == "notifications/progress":
            if repr(given.get("progressToken")) in upstream.progress_tokens:
                await self._questions.tell(message)
        elif method == "notifications/message":
            logger = f"{upstream.names.server}:{given['logger']}" if given.get("logger") else upstream.names.server
            await self._questions.tell({**message, "params": {**given, "logger": logger}})
        elif method == "notifications/resources/updated" and isinstance(given.get("uri"), str):
            await self._questions.tell({**message, "params": {**given, "uri": upstream.names.uri(given["uri"])}})
        elif method == "notifications/elicitation/complete":
            await self._questions.tell(message)


def _link(settings: ServerSettings, leases: Leases | None) -> Link:
    """Return the link to a server.

    Raises:
        ImportError: A remote server needs the extra `mcp`.
    """
    if settings.command:
        return ProcessLink(settings.command, settings.environment, settings.folder, leases)
    from accp_adapters.mcp.links.url_link import UrlLink  # noqa: PLC0415  needs an extra

    return UrlLink(settings.url, extra=settings.headers, leases=leases)


def _failure(method: str, reason: str) -> _Answer:
    """Return the answer for a server that has failed: a tool's failure is one that the model reads."""
    if method == "tools/call":
        return {"result": without(tool_result([text_block(reason)], is_error=True), "resultType")}
    return {"error": {"code": _INTERNAL_ERROR, "message": reason}}


_SessionMethod: TypeAlias = Callable[[GatewaySession, JsonObject], Awaitable[_Answer]]

_BY_SESSION: Final[dict[str, _SessionMethod]] = {
    "initialize": GatewaySession._initialize,
    "ping": GatewaySession._ping,
    "logging/setLevel": GatewaySession._set_level,
    "completion/complete": GatewaySession._complete,
}
_BY_NAME: Final = frozenset({"tools/call", "prompts/get"})
_BY_URI: Final = frozenset({"resources/read", "resources/subscribe", "resources/unsubscribe"})
_METHODS: Final = frozenset({*LIST_METHODS, *_BY_SESSION, *_BY_NAME, *_BY_URI})
_SERVER_REQUESTS: Final = frozenset({"sampling/createMessage", "elicitation/create", "roots/list"})
