"""How long a message takes to a text and back, against json.dumps and json.loads of its JSON twin."""

import json
from collections.abc import Callable

from accp_adapters.tokens import o200k_base
from accp_core import Envelope, Frame
from accp_core.accp.codec import Codec
from accp_core.accp.message import Message
from accp_core.accp.vocabulary import Intent
from accp_core.ports import TokenCounter
from tests.bench.wire import best, twin

REQUEST = Message(
    sender="orchestrator",
    intent=Intent.REQUEST,
    operation="tool",
    payload={"tool_name": "web_search", "arguments": {"query": "agent protocols", "max": 5}, "status": "ok"},
    schema="TC",
    envelope=Envelope(msg_id="49679033e07c", sequence=3, timestamp=1714000000, correlation_id="corr123"),
)
"""The typical request: a tool call with its envelope."""


def there_and_back(counter: TokenCounter) -> Callable[[], object]:
    """Return what encodes, writes, reads and decodes the request."""
    codec = Codec(counter=counter)
    return lambda: codec.decode(codec.write(codec.encode(REQUEST).frames[0]))


def quarter(text: str) -> int:
    """Return about the number of tokens: a counter that takes no time."""
    return len(text) // 4


def json_twin() -> None:
    """Write and read the object that somebody without ACCP would send."""
    frame = Frame(
        sender=REQUEST.sender,
        intent=REQUEST.intent,
        operation=REQUEST.operation,
        params=REQUEST.payload,
        envelope=REQUEST.envelope,
    )
    json.loads(json.dumps(twin(frame), separators=(",", ":")))


def main() -> None:
    """Print the ratios: with counting by the real vocabulary, and without counting."""
    theirs = best(json_twin)
    print(f"{'a tool call, there and back':<30}{'codec us':>10}{'json us':>10}{'ratio':>8}")
    for name, counter in (("counted with o200k_base", o200k_base()), ("not counted", quarter)):
        ours = best(there_and_back(counter))
        print(f"{name:<30}{ours:>10.1f}{theirs:>10.1f}{ours / theirs:>8.1f}")


if __name__ == "__main__":
    main()
