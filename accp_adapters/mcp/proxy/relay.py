"""What every proxy does with a message: pass it to the shim, and send on what becomes of it.

What cannot be rewritten passes unchanged, unless some tools may not be called: a line that is not a JSON object, a
batch, a document that Python cannot write again with the same meaning (a name twice in an object, a number that no
float holds exactly), and a message at which the shim fails.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from math import inf
from typing import Final, NamedTuple, TypeAlias

from accp_adapters.mcp.lists.call_lists import router_of
from accp_adapters.mcp.proxy.message import Message, error_message
from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.protocol import JsonObject, message_id, warn_once
from accp_adapters.mcp.shim.router import Routed, Router
from accp_adapters.mcp.shim.tools.tool_index import INDEX_NAME
from accp_adapters.serving.off_loop import LONG, off_loop

__all__ = ["MAX_MESSAGE_BYTES", "Observe", "Relay", "Relayed", "encoder_relay", "read_lines", "refuse_unread"]

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a line, an event or a body that is passed to the shim; a longer one passes unchanged."""

_LOG: Final = logging.getLogger(__name__)

_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params", "name", "arguments", "uri", "_meta"})
"""The members of a request and of its params that say what is called."""
_INVALID_REQUEST: Final = -32600


class Relayed(NamedTuple):
    """What becomes of a message."""

    message: Message
    """The very message that was passed in where nothing is changed."""
    to_client: bool
    """Whether the client gets it; if not, the server does."""
    is_own: bool = False
    """Whether it is a request of ours, whose response is passed to `Relay.from_server` and never to the client."""


Observe: TypeAlias = Callable[[Encoder, JsonObject | None, JsonObject | None], None]
"""Takes a result as the server sent it (None: it is ours), and as the client gets it (None: the client does not)."""


class Relay:
    """The messages of one session, or of one HTTP exchange, in both directions; threads may share it."""

    def __init__(self, router: Router, encoder: Encoder | None = None, observe: Observe | None = None) -> None:
        """Send each message where `router` says.

        Args:
            router: Rewrites and answers messages.
            encoder: The encoder that it uses, which keeps texts and tools for the client; None: it uses none.
            observe: Sees each result; None: nobody does.
        """
        self.encoder: Final = encoder
        self._router: Final = router
        self._observe: Final = observe

    @property
    def passes_unread(self) -> bool:
        """Whether a client's message that cannot be understood goes to the server as it is.

        It may call any tool: servers read what we do not, such as NaN, a name twice in an object, or a batch.
        """
        return self.encoder is None or not self.encoder.options.is_filtered

    @property
    def stored_bytes(self) -> int:
        """The bytes of the texts that this process keeps for the client."""
        stored = None if self.encoder is None else self.encoder.session.stored_results
        return 0 if stored is None else stored.size

    @property
    def tools(self) -> list[JsonObject]:
        """The server's tools, as far as the client has listed them."""
        return [] if self.encoder is None else list(self.encoder.session.catalog.tools.values())

    async def relay_client(self, message: Message) -> Relayed:
        """Return `from_client(message)`, computed beside the event loop where it may take long."""
        return await self._beside_loop(self.from_client, await message.read())

    async def relay_server(self, message: Message) -> Relayed:
        """Return `from_server(message)`, computed beside the event loop where it may take long."""
        return await self._beside_loop(self.from_server, message)

    async def _beside_loop(self, work: Callable[[Message], Relayed], message: Message) -> Relayed:
        # A short message may be a query of megabytes; parsing a long one to learn that takes long itself.
        is_short = message.size <= LONG and message.value is not None
        takes_long = is_short and self._router.may_take_long(message.members)
        return await off_loop(inf if takes_long else message.size, work, message)

    def from_client(self, message: Message) -> Relayed:
        """Return what becomes of a client's message."""
        if self.passes_unread or _is_clear(message):
            return self._relayed(message, self._router.from_client, to_client=False)
        return Relayed(refuse_unread(), to_client=True)

    def from_server(self, message: Message) -> Relayed:
        """Return what becomes of a server's message."""
        return self._relayed(message, self._router.from_server, to_client=True)

    def _relayed(self, message: Message, route: Callable[[JsonObject], Routed], *, to_client: bool) -> Relayed:
        if message.value is None:
            return Relayed(message, to_client)
        try:
            routed = route(message.value)
        except Exception as error:  # any failure: the message must arrive
            warn_once(error)
            return Relayed(message, to_client)
        relayed = Relayed(message.changed(routed.message), routed.to_client, routed.is_own)
        if relayed.to_client:
            _ = relayed.message.data  # It is written here, since a large message passes in a thread.
        before = (message.value if routed.received is None else routed.received) if to_client else None
        after = routed.message if routed.to_client else None
        if self._observe and self.encoder and ("result" in (before or {}) or "result" in (after or {})):
            self._observe(self.encoder, before, after)
        return relayed

    def lacks_tools(self, message: Message) -> bool:
        """Return whether `message` calls the index of tools, but no client has listed them in this process."""
        encoder = self.encoder
        if encoder is None or encoder.options.tools == "full" or encoder.session.catalog.is_complete:
            return False
        params = message.members.get("params")
        return isinstance(params, dict) and params.get("name") == INDEX_NAME

    def learn_tools(self, request: JsonObject, response: JsonObject) -> None:
        """Take over a page of the server's tools, which the proxy itself has listed."""
        if self.encoder is not None:
            self.encoder.learn_tools(response["result"], request.get("params"))

    def exchange(self) -> Relay | None:
        """Return a relay for another HTTP exchange of the same caller; None if exchanges share nothing."""
        return None if self.encoder is None else encoder_relay(self.encoder.exchange(), self._observe)

    def for_owner(self, owner: str, *, is_session: bool) -> Relay:
        """Return the relay of a session or caller; see `Encoder.for_owner`."""
        if self.encoder is None:
            return self
        return encoder_relay(self.encoder.for_owner(owner, is_session=is_session), self._observe)

    def close(self, *, is_over: bool = True) -> None:
        """Delete the texts that are kept for the client.

        Args:
            is_over: Whether the session has ended; if not, it may go on in another process, and texts in a shared store
                stay.
        """
        if self.encoder is None:
            return
        try:
            self.encoder.close() if is_over else self.encoder.release()
        except Exception as error:
            _LOG.warning("the texts of a session could not be deleted: %s", type(error).__name__)


def encoder_relay(encoder: Encoder, observe: Observe | None = None) -> Relay:
    """Return a relay around `encoder`, whose results `observe` sees."""
    return Relay(router_of(encoder), encoder, observe)


def _is_clear(message: Message) -> bool:
    """Return whether it is known which tool a client's message calls, if any."""
    value = message.value
    if value is None:
        return not message.data.strip()
    if not isinstance(value.get("method", ""), str):
        # What has an id is refused with that id, see `check_names`.
        return message_id(value) is not None
    params = value.get("params")
    if not (_is_spelled_once(value) and _is_spelled_once(params)):
        return False
    is_call = value.get("method") == "tools/call"
    return not is_call or (message_id(value) is not None and isinstance(params, dict))


def _is_spelled_once(members: object) -> bool:
    """Return whether no server reads a member as another one: some do not look at the case of letters."""
    names = members if isinstance(members, dict) else {}
    return all(name in _MEMBERS or name.casefold() not in _MEMBERS for name in names)


def refuse_unread() -> Message:
    """Return the response to a message that the server does not get, because it may call a tool that is barred."""
    reason = "E1001: expected one JSON-RPC message with a usual id, each name once and numbers that a float holds"
    return error_message(reason, code=_INVALID_REQUEST)


def read_lines(read: Callable[[], bytes], limit: int = MAX_MESSAGE_BYTES) -> Iterator[tuple[bytes, bool]]:
    """Yield the lines of a byte stream with their ends (the last one may have none), and whether each is complete.

    Args:
        read: Returns the next bytes; no bytes at the end of the stream.
        limit: Bytes of a line; a longer one is yielded in pieces as they arrive, none of them complete.
    """
    rest = bytearray()
    is_long = False
    while chunk := read():
        *lines, tail = chunk.split(b"\n")
        for line in lines:
            rest += line + b"\n"
            yield bytes(rest), not is_long and len(rest) <= limit
            rest.clear()
            is_long = False
        rest += tail
        if len(rest) > limit:
            yield bytes(rest), False
            rest.clear()
            is_long = True
    if rest:
        yield bytes(rest), not is_long
