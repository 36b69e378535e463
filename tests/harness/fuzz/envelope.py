"""Any text is an ACP envelope or is refused; a connection has one event for it; an envelope survives its text."""

from accp_core import DecodeError, EncodeError
from accp_core.acp import AgentCard, Connection, parse_envelope, parse_link, serialize_envelope
from accp_core.acp.envelope import MAX_ACP_BYTES

__all__ = ["check"]


def check(data: bytes) -> None:
    """Check the invariant for one input."""
    text = data.decode("utf-8", "surrogateescape")
    connection = Connection(AgentCard(name="A"), new_id=lambda: "0" * 12)
    assert connection.receive(text) is not None
    try:
        envelope = parse_envelope(text)
    except DecodeError as refusal:
        assert refusal.code in {"ERR_INVALID_REQUEST", "ERR_MSG_TOO_LARGE"}, refusal
        assert 0 <= refusal.position <= len(text), refusal
    else:
        assert parse_envelope(serialize_envelope(envelope, limit=2 * MAX_ACP_BYTES)) == envelope
    check_link(text)


def check_link(text: str) -> None:
    """Check that a link survives its text."""
    try:
        link = parse_link(text)
    except (DecodeError, EncodeError):
        return
    assert parse_link(str(link)) == link
