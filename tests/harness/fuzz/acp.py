"""Whatever a peer or a client over HTTP says, there is one event or refusal, and what is kept is bounded."""

from itertools import count
from typing import Final

from accp_core.acp import AgentCard, Connection
from accp_core.acp.envelope import AcpMessage, TextPart
from accp_core.errors import EncodeError, LocalProtocolError

__all__ = ["check"]

WINDOW: Final = 8


def check(data: bytes) -> None:
    """Check the invariant for one input: each line is said to every reader, one after the other."""
    numbers = count(1)
    connection = Connection(
        AgentCard(name="A"), new_id=lambda: f"{next(numbers):012x}", max_ids=WINDOW, max_waiting=WINDOW
    )
    for now, line in enumerate(data.decode("utf-8", "surrogateescape").split("\n")):
        match line[:1]:
            case "+":
                connection.opened(now)
            case "-":
                connection.closed()
            case "!":
                say(connection, line[1:], now)
            case _:
                assert connection.receive(line) is not None
        check_connection(connection)


def say(connection: Connection, text: str, now: int) -> None:
    """Send a message of our own, which must be refused or numbered."""
    try:
        sent = connection.send(
            AcpMessage(role="agent", parts=(TextPart(content=text),)), now, awaits_reply=len(text) % 2 == 0
        )
    except (LocalProtocolError, EncodeError) as refusal:
        assert refusal.code.startswith("ERR_"), refusal
    else:
        assert sent.server_seq == connection.log.last


def check_connection(connection: Connection) -> None:
    """Check the counts that a peer can move."""
    assert 0 <= connection.log.in_flight <= connection.log.last
    assert 0 <= connection.log.acknowledged <= connection.log.last
    assert len(connection.waiting()) <= WINDOW
