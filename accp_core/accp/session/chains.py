"""The request chains of a session: how a message moves one, and what that leads to (ACCP sections 3.7 and 10.4)."""

from __future__ import annotations

from accp_core.accp.frame import Frame
from accp_core.accp.message import Message
from accp_core.accp.profiles import read_error, reply_correlation
from accp_core.accp.session.delivery import PendingRequests
from accp_core.accp.session.effects import NO_EFFECTS, Effects
from accp_core.accp.session.events import ExchangeClosed, ExchangeOpened, StreamChunkReceived, StreamEnded
from accp_core.accp.session.exchanges import FINISHED, UNMOVED, Exchange, ExchangeMove, Exchanges
from accp_core.accp.session.options import SessionOptions
from accp_core.accp.session.streams import FrameJoiner, Streams
from accp_core.accp.vocabulary import Intent
from accp_core.error_codes import ErrorCode

__all__ = ["RequestChains", "is_context_query"]

_REQUESTS = (Intent.REQUEST, Intent.QUERY)


class RequestChains:
    """The exchanges of a session, our requests that await an answer, and the streams that arrive."""

    def __init__(self, options: SessionOptions) -> None:
        """Start without any chain."""
        self.exchanges = Exchanges(options.exchanges)
        """The state of each chain."""
        self.pending = PendingRequests(timeout=options.timeout, retries=options.retries, delay=options.retry_delay)
        """Our requests without an answer."""
        self.joiner = FrameJoiner(options.streams)
        """Frames that arrive in chunks."""
        self._streams = Streams(options.streams)

    def __len__(self) -> int:
        """Return the number of exchanges, pending requests and streams."""
        return len(self.exchanges) + len(self.pending) + len(self._streams)

    def chain_of(self, message: Message | Frame) -> str:
        """Return the id of the chain that a message belongs to or starts."""
        return self.exchanges.find(reply_correlation(message.envelope) or "")

    def next_exchange(self, message: Message, *, final: bool = False) -> Exchange | None:
        """Return the exchange of a message after it, None where the message moves none; nothing changes yet.

        Args:
            message: A message with its envelope.
            final: Whether it is the final chunk of a stream.

        Raises:
            ProtocolError: E1002, the message is not allowed in the current state.
        """
        envelope, intent = message.envelope, message.intent
        asks = intent in _REQUESTS
        if intent in UNMOVED or is_context_query(message) or not (asks or envelope.correlation_id):
            return None
        exchange = self.exchanges.get(self.chain_of(message))
        if asks:
            parent = None if envelope.causation_id is None else self.exchanges.find(envelope.causation_id)
            exchange = Exchange(id=exchange.id, state=exchange.state, request_id=envelope.msg_id, parent=parent)
        return exchange.moved(ExchangeMove.FINAL_CHUNK if final else intent)

    def update(self, after: Exchange | None, message: Message, now: int, *, ours: bool) -> Effects:
        """Store the exchange that `next_exchange` returned for a message.

        Raises:
            ProtocolError: E2003, too many requests are open; nothing changes then.
        """
        if after is None:
            return NO_EFFECTS
        before = self.exchanges.get(after.id)
        self.exchanges.put(after)
        if message.intent in _REQUESTS:
            if ours:
                self.pending.start(after.id, message, now)
            return Effects(events=(ExchangeOpened(chain=after.id),))
        if after.state in FINISHED:
            return self._finish(after, before, message, now)
        self.pending.extend(after.id, now, waiting=message.intent is Intent.WAITING)
        return NO_EFFECTS

    def _finish(self, after: Exchange, before: Exchange, message: Message, now: int) -> Effects:
        error = read_error(message)
        self.pending.finish(after.id, now, retryable=error is not None and error.retryable)
        self._streams.drop(after.id)
        if not before.is_live:
            return NO_EFFECTS
        return Effects(events=(ExchangeClosed(chain=after.id, code=error.code if error else None),))

    def add_chunk(self, chunk: Message, now: int) -> Effects:
        """Take a chunk of a stream and report the chunks that are next in order; the last one ends the exchange.

        Raises:
            ProtocolError: E1002 as `next_exchange`; E2003, too many requests are open; or as `Streams.add`.
        """
        chain = self.chain_of(chunk)
        going_on = self.next_exchange(chunk) or self.exchanges.get(chain)
        self.exchanges.check(going_on)
        ready, is_complete = self._streams.add(chain, chunk)
        effects = Effects(events=tuple(StreamChunkReceived(chain=chain, message=each) for each in ready))
        if not is_complete:
            return effects + self.update(going_on, chunk, now, ours=False)
        ended = self.update(self.next_exchange(chunk, final=True), chunk, now, ours=False)
        return effects + ended + Effects(events=(StreamEnded(chain=chain),))

    def close_stream(self, message: Message) -> Effects:
        """End the stream that an `end` message names, if one is arriving.

        Raises:
            ProtocolError: E3003, a chunk is missing.
        """
        chain = self.chain_of(message)
        return Effects(events=(StreamEnded(chain=chain),)) if self._streams.close(chain) else NO_EFFECTS

    # "A "cancel" intent frame referencing a "correlation_id" MUST stop all processing for that request chain."
    def cancel(self, name: str, sender: str, now: int) -> Effects:
        """Stop a chain of either end and every chain that it caused.

        Args:
            name: The id of the chain, or the msg_id of its request.
            sender: The agent that cancels; its unfinished frames of the chain are dropped.
            now: The current time, in seconds of the Unix epoch.
        """
        stopped = self.exchanges.cancel(self.exchanges.find(name))
        for chain in stopped:
            self.pending.finish(chain, now)
            self._streams.drop(chain)
            self.joiner.drop(sender, chain)
        return Effects(events=tuple(ExchangeClosed(chain=chain, cancelled=True) for chain in stopped))

    def give_up(self, chain: str, now: int) -> Effects:
        """Close a chain of ours that got no answer in time (E3001)."""
        self.pending.finish(chain, now)
        exchange = self.exchanges.get(chain)
        if exchange.is_live:
            self.exchanges.put(exchange.moved(Intent.FAILURE))
        return Effects(events=(ExchangeClosed(chain=chain, code=ErrorCode.TIMEOUT),))


def is_context_query(message: Message | Frame) -> bool:
    """Return whether a message asks for the shared context, which a `sync:state` message answers."""
    return message.intent is Intent.QUERY and message.operation == "state"
