"""What every proxy does with the bytes of a message: pass them to the shim, and forward them unless it changed them.

What cannot be rewritten passes unchanged, unless some tools may not be called: a line that is not a JSON object, a
batch, a document that Python cannot write again with the same meaning (a name twice in an object, a number that no
float holds exactly), and a message at which the shim fails.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias

from accp_adapters.mcp.shim.encoder import Encoder
from accp_adapters.mcp.shim.protocol import message_id
from accp_adapters.mcp.shim.tools.tool_index import INDEX_NAME
from accp_core.strict_json import compact_json, exact_float, strict_decoder

__all__ = [
    "MAX_MESSAGE_BYTES",
    "EncoderRelay",
    "JsonRpcMessage",
    "Relay",
    "RelayedMessage",
    "Shim",
    "encoder_relay",
    "read_lines",
    "read_message",
    "refuse_unread",
    "write_message",
]

MAX_MESSAGE_BYTES: Final = 64 * 1024 * 1024
"""Bytes of a line, an event or a body that is passed to the shim; a longer one passes unchanged."""

_LOG: Final = logging.getLogger(__name__)

_MEMBERS: Final = frozenset({"jsonrpc", "id", "method", "params", "name", "arguments", "uri", "_meta"})
"""The members of a request and of its params that say what is called."""

JsonRpcMessage: TypeAlias = dict[str, Any]
"""A decoded JSON-RPC message."""


class Shim(Protocol):
    """An `Encoder` or `Decoder` of one session; it returns the same object for a message that stays the same."""

    def from_client(self, message: JsonRpcMessage) -> JsonRpcMessage:
        """Return a client's message as the server gets it."""
        ...

    def from_server(self, message: JsonRpcMessage) -> JsonRpcMessage:
        """Return a server's message as the client gets it."""
        ...


_read_exact: Final = strict_decoder(read_float=exact_float)


def read_message(data: bytes) -> JsonRpcMessage | None:
    """Return the message in `data`; None if there is none that can be written again with the same meaning."""
    try:
        message = _read_exact(data.decode())
    except (ValueError, ArithmeticError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def write_message(message: JsonRpcMessage) -> bytes:
    """Return `message` as one line of compact JSON in UTF-8; a lone surrogate is escaped.

    Raises:
        EncodeError: E1004, it is not JSON.
    """
    return compact_json(message).encode()


@dataclass(frozen=True, slots=True)
class RelayedMessage:
    """A message from the client on its way."""

    data: bytes
    """The bytes to send; without the end of the line, unless they are the client's own bytes."""
    is_answer: bool
    """Whether they are the response to the client's request, which the server is not sent."""


class Relay:
    """One shim between a client and a server, on bytes; threads may share it, as far as they may share the shim."""

    def __init__(
        self, shim: Shim, answer_own: Callable[[JsonRpcMessage], JsonRpcMessage | None] = lambda _: None
    ) -> None:
        """Pass every message to `shim`.

        Args:
            shim: Rewrites messages.
            answer_own: Returns the response to a request that the server is not sent, None for any other message.
        """
        self._shim = shim
        self._answer_own = answer_own

    @property
    def passes_unread(self) -> bool:
        """Whether a client's message that cannot be understood goes to the server as it is."""
        return True

    @property
    def stored_chars(self) -> int:
        """The characters of the texts that this process keeps for the client."""
        return 0

    @property
    def tools(self) -> list[JsonRpcMessage]:
        """The server's tools, as far as the client has listed them."""
        return []

    def lacks_tools(self, data: bytes) -> bool:
        """Return whether the server's tools must be listed before the client's message `data` can be understood."""
        return False

    def learn_tools(self, request: JsonRpcMessage, response: JsonRpcMessage) -> None:
        """Take over a page of the server's tools, which the proxy itself has listed."""

    def exchange(self) -> Relay | None:
        """Return a relay for another HTTP exchange of the same caller; None if exchanges share nothing."""
        return None

    def for_owner(self, owner: str, *, is_session: bool) -> Relay:
        """Return the relay of a session or caller; see `Encoder.for_owner`."""
        return self

    def close(self, *, is_over: bool = True) -> None:
        """Free what is kept for the client.

        Args:
            is_over: Whether the session has ended; if not, it may go on in another process.
        """

    def from_client(self, data: bytes) -> RelayedMessage:
        """Return what is sent for the client's message `data`, and in which direction."""
        message = read_message(data)
        if message is None:
            return RelayedMessage(data, is_answer=False)
        answer = _written(self._answer_own, message)
        if answer is not None:
            return RelayedMessage(answer, is_answer=True)
        return RelayedMessage(_written(self._shim.from_client, message) or data, is_answer=False)

    def may_take_long(self, data: bytes) -> bool:
        """Return whether `from_client` may take seconds for `data`, however short that is."""
        return False

    @property
    def runs_lists(self) -> bool:
        """Whether a list of calls is on its way: then a message of the server may take seconds, however short it is."""
        return False

    def runs_list(self, data: bytes) -> bool:
        """Return whether the client's message `data` is a list of calls that is on its way; see `follow_up`."""
        return False

    def follow_up(self, data: bytes) -> bytes | None:
        """Return what the server is sent in answer to its message `data`, which then is not for the client.

        None: it is for the client, see `from_server`.
        """
        return None

    def from_server(self, data: bytes) -> bytes:
        """Return what the client is sent for the server's message `data`."""
        message = read_message(data)
        return data if message is None else _written(self._shim.from_server, message) or data


class ServerShim(Shim, Protocol):
    """An `Encoder`, or what observes one."""

    def answer_own(self, message: JsonRpcMessage) -> JsonRpcMessage | None:
        """Return the response to a request that the server is not sent, None for any other message."""
        ...

    def follow_up(self, message: JsonRpcMessage) -> JsonRpcMessage | None:
        """Return what the server is sent in answer to its response `message`; None: it is for the client."""
        ...


class EncoderRelay(Relay):
    """A relay around an `Encoder`, which keeps texts and tools for its client."""

    def __init__(self, encoder: Encoder, observed: Callable[[Encoder], ServerShim] = lambda encoder: encoder) -> None:
        """Pass every message to `encoder`.

        Args:
            encoder: Rewrites messages.
            observed: Returns what passes the messages to an encoder and observes them.
        """
        shim = observed(encoder)
        super().__init__(shim, shim.answer_own)
        self.encoder: Final = encoder
        self._observed_encoder: Final = shim
        self._observed: Final = observed

    @property
    def passes_unread(self) -> bool:
        """Whether a client's message that cannot be understood goes to the server as it is.

        It may call any tool: servers read what we do not, such as NaN, a name twice in an object, or a batch.
        """
        return not self.encoder.options.is_filtered

    def from_client(self, data: bytes) -> RelayedMessage:
        """Return what is sent for the client's message `data`, and in which direction."""
        if self.passes_unread or _is_clear(data):
            return super().from_client(data)
        return RelayedMessage(refuse_unread(), is_answer=True)

    @property
    def stored_chars(self) -> int:
        """The characters of the texts that this process keeps for the client."""
        stored = self.encoder.session.stored_results
        return 0 if stored is None else stored.chars

    @property
    def tools(self) -> list[JsonRpcMessage]:
        """The server's tools, as far as the client has listed them."""
        return list(self.encoder.session.catalog.tools.values())

    def lacks_tools(self, data: bytes) -> bool:
        """Return whether `data` calls the index of tools, but no client has listed them in this process."""
        if self.encoder.options.tools == "full" or self.encoder.session.catalog.is_complete:
            return False
        params = (read_message(data) or {}).get("params") if INDEX_NAME.encode() in data else None
        return isinstance(params, dict) and params.get("name") == INDEX_NAME

    def learn_tools(self, request: JsonRpcMessage, response: JsonRpcMessage) -> None:
        """Take over a page of the server's tools, which the proxy itself has listed."""
        tools = self.encoder.options.offered(response["result"]["tools"])
        self.encoder.session.catalog.add({**response["result"], "tools": tools}, request.get("params"))

    def may_take_long(self, data: bytes) -> bool:
        """Return whether `from_client` may take seconds for `data`; JSON spells a name in many ways, so it is read."""
        message = read_message(data)
        return message is not None and self.encoder.may_take_long(message)

    @property
    def runs_lists(self) -> bool:
        """Whether a list of calls is on its way: then a message of the server may take seconds, however short it is."""
        return self.encoder.runs_lists

    def runs_list(self, data: bytes) -> bool:
        """Return whether the client's message `data` is a list of calls that is on its way."""
        message = read_message(data) if self.encoder.runs_lists else None
        return message is not None and self.encoder.runs_list(message)

    def follow_up(self, data: bytes) -> bytes | None:
        """Return what the server is sent in answer to its message `data`; None: the message is for the client."""
        message = read_message(data) if self.encoder.runs_lists else None
        return None if message is None else _written(self._observed_encoder.follow_up, message)

    def exchange(self) -> Relay:
        """Return a relay for another HTTP exchange of the same caller."""
        return EncoderRelay(self.encoder.exchange(), self._observed)

    def for_owner(self, owner: str, *, is_session: bool) -> Relay:
        """Return the relay of a session or caller; see `Encoder.for_owner`."""
        return EncoderRelay(self.encoder.for_owner(owner, is_session=is_session), self._observed)

    def close(self, *, is_over: bool = True) -> None:
        """Delete the texts that are kept for the client; those in a shared store only if the session has ended."""
        try:
            self.encoder.close() if is_over else self.encoder.release()
        except Exception as error:
            _LOG.warning("the texts of a session could not be deleted: %s", type(error).__name__)


def _written(rewrite: Callable[[JsonRpcMessage], JsonRpcMessage | None], message: JsonRpcMessage) -> bytes | None:
    """Return the bytes of `rewrite(message)`; None if that is the same message, or nothing, or fails."""
    try:
        written = rewrite(message)
        return None if written is None or written is message else write_message(written)
    except Exception as error:  # any failure: the message must arrive
        # Its text may quote the message, which is no business of a log.
        _LOG.warning("the shim failed, a message passes unchanged: %s", type(error).__name__)
        return None


def _is_clear(data: bytes) -> bool:
    """Return whether it is known which tool a client's message calls, if any."""
    if not data.strip():
        return True
    message = read_message(data)
    if message is None or not isinstance(message.get("method", ""), str):
        # What has an id is refused with that id, see `check_names`.
        return message is not None and message_id(message) is not None
    params = message.get("params")
    if not (_is_spelled_once(message) and _is_spelled_once(params)):
        return False
    is_call = message.get("method") == "tools/call"
    return not is_call or (message_id(message) is not None and isinstance(params, dict))


def _is_spelled_once(members: object) -> bool:
    """Return whether no server reads a member as another one: some do not look at the case of letters."""
    names = members if isinstance(members, dict) else {}
    return all(name in _MEMBERS or name.casefold() not in _MEMBERS for name in names)


def refuse_unread() -> bytes:
    """Return the response to a message that is not sent to the server, because it may call a tool that is barred."""
    reason = "E1001: expected one JSON-RPC message with a usual id, each name once and numbers that a float holds"
    return write_message({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": reason}})


def encoder_relay(encoder: Encoder) -> Relay:
    """Return a relay around `encoder`."""
    return EncoderRelay(encoder)


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
