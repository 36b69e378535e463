"""Any bytes pass a proxy, read or unread; what one proxy makes of a result, another one makes the same result again."""

import copy
import logging
from typing import Any, Final

from accp_adapters.mcp import Decoder, Encoder
from accp_adapters.mcp.proxy.message import Message, read_message
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay, read_lines
from accp_adapters.mcp.shim.protocol import is_same_result
from accp_adapters.mcp.shim.router import ShimRouter
from accp_adapters.serving.sse import EventSplitter, event_data, with_data
from tests.harness.fuzz.view import count

__all__ = ["check"]

SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"policy": "always", "fetch": True, "inline_limit": 80, "preview_limit": 60},
    {"policy": "always", "structured": "drop", "tools": "lazy", "call_lists": True},
    {"policy": "always", "structured": "only", "exclude": ("barred",)},
)


class Failures(logging.Handler):
    """Raises what the proxy would log and pass over: its messages are always correct, but the failure is a fault."""

    def emit(self, record: logging.LogRecord) -> None:
        """Raise the failure."""
        if record.exc_info and record.exc_info[1]:
            raise AssertionError(record.getMessage()) from record.exc_info[1]
        raise AssertionError(record.getMessage())


LOG: Final = logging.getLogger("accp_adapters.mcp")


def check(data: bytes) -> None:
    """Check the invariant for one input: each line is a message, of the client unless it begins with `<`."""
    choice, rest = data[0] if data else 0, data[1:]
    encoder = encoder_relay(Encoder(**SETTINGS[choice % len(SETTINGS)], counter=count))
    decoder = Relay(ShimRouter(Decoder(counter=count, view=("plain", "view", "frame")[choice // 8 % 3])))
    for line, is_whole in read_lines(iter([rest[: len(rest) // 2], rest[len(rest) // 2 :], b""]).__next__):
        if not is_whole:
            continue
        if line.startswith(b"<"):
            check_response(encoder, decoder, line[1:].strip(), is_plain=choice // 8 % 3 == 0)
        else:
            check_request(encoder, decoder, line.strip())
    check_events(rest)


def check_request(encoder: Relay, decoder: Relay, line: bytes) -> None:
    """Pass a line of the client."""
    declared = decoder.from_client(Message(line)).message.data
    sent = encoder.from_client(Message(declared)).message.data
    assert sent == declared or read_message(sent) is not None


def check_response(encoder: Relay, decoder: Relay, line: bytes, *, is_plain: bool) -> None:
    """Pass a line of the server."""
    relayed = encoder.from_server(Message(line))
    if not relayed.to_client:
        return
    coded = relayed.message.data
    assert coded is line or read_message(coded) is not None
    seen = decoder.from_server(Message(coded)).message.data
    negotiates = encoder.encoder is not None and encoder.encoder.options.policy == "negotiate"
    if is_plain and coded is not line and negotiates:
        check_same(line, seen)


def check_same(line: bytes, seen: bytes) -> None:
    """Check that a client which asked for plain results got what the server sent."""
    one, other = read_message(line), read_message(seen)
    assert one is not None
    assert other is not None
    results = (one.get("result"), other.get("result"))
    if all(isinstance(each, dict) and "structuredContent" in each for each in results):
        assert is_same_result(*copy.deepcopy(results))


def check_events(data: bytes) -> None:
    """Check that an event stream is the sum of its events, however it is cut."""
    for middle in (0, len(data) // 3):
        splitter = EventSplitter(limit=256)
        pieces = [each for chunk in (data[:middle], data[middle:]) for each in splitter.feed(chunk)]
        assert b"".join([piece for piece, _ in pieces] + [splitter.close()]) == data
    for event, is_complete in EventSplitter(limit=1 << 20).feed(data):
        if is_complete and event_data(event):
            assert event_data(with_data(event, b"new")) == b"new"
