"""Links and tokens."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_core.acp import AcpError, Binding, Link, parse_link
from accp_core.errors import DecodeError, EncodeError

TOKEN = "tok_ba366fcab78d4d61"


@pytest.mark.requirement("acp:5.1-1")
def test_a_relay_has_the_same_token() -> None:
    direct = parse_link(f"acp://host:7801/{TOKEN}")
    assert str(direct.by_relay("relay.example")) == f"acp+wss://relay.example/acp/{TOKEN}"
    assert str(direct.by_relay("127.0.0.1", 80, tls=False)) == f"acp+ws://127.0.0.1:80/acp/{TOKEN}"


@pytest.mark.parametrize(
    "changes",
    [
        {"host": "a/b"},
        {"host": ""},
        {"port": 0},
        {"port": None},
        {"port": True},
        {"token": "short"},
        {"token": "has space"},
        {"binding": Binding.TCP},
    ],
)
def test_what_no_link_has_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(EncodeError) as refusal:
        Link(**{"binding": Binding.WS_P2P, "host": "h", "port": 1, "token": TOKEN, **changes})
    assert refusal.value.code == "ERR_INVALID_REQUEST"


@given(st.text() | st.from_regex(r"acp(\+wss)?://[a-z.:\[\]@/]{0,12}/(acp/)?[a-z_/]{0,12}", fullmatch=True))
def test_any_text_is_a_link_or_refused(text: str) -> None:
    try:
        link = parse_link(text)
    except DecodeError:
        return
    assert parse_link(str(link)) == link


def test_every_error_code_has_a_status() -> None:
    assert [code.status for code in AcpError] == [400, 404, 408, 413, 500, 503]
