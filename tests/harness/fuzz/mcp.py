"""Any messages pass a proxy; what one proxy makes of a result, another one makes the same result again."""

import copy
import json
import logging
from typing import Any, Final

from accp_adapters.mcp import Decoder, Encoder
from accp_adapters.mcp.messages import is_same_result
from tests.harness.fuzz.view import count

__all__ = ["check"]

SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"policy": "always", "fetch": True, "inline_limit": 80, "preview_limit": 60},
    {"policy": "always", "host": "both", "index": True},
    {"policy": "always", "host": "structured"},
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
    form: Any = ("plain", "view", "frame")[choice // 8 % 3]
    encoder = Encoder(**SETTINGS[choice % len(SETTINGS)], counter=count)
    decoder = Decoder(counter=count, view=form)
    for line in rest.split(b"\n"):
        try:
            message = json.loads(line.removeprefix(b"<"))
        except (ValueError, RecursionError):
            continue
        if line.startswith(b"<"):
            check_response(encoder, decoder, message, is_plain=form == "plain")
        else:
            sent = decoder.from_client(message)
            encoder.answer_own(sent)
            encoder.from_client(sent)


def check_response(encoder: Encoder, decoder: Decoder, message: Any, *, is_plain: bool) -> None:
    """Pass a message of the server; a client that asked for plain results gets what the server sent."""
    before = copy.deepcopy(message)
    coded = encoder.from_server(message)
    seen = decoder.from_server(coded)
    assert message == before
    if not is_plain or coded is message or encoder.options.policy != "negotiate":
        return
    results = (message.get("result"), seen.get("result"))
    if all(isinstance(each, dict) and "structuredContent" in each for each in results):
        assert is_same_result(*results)
