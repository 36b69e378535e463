"""The index of tools through the HTTP proxy: calls in it reach the server as calls, in both eras and for each user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.proxy.relay import encoder_relay
from accp_adapters.mcp.proxy.routing import reroute
from tests.adapters.mcp.messages import ERAS, Era, call
from tests.adapters.mcp.proxy.tenants import Client, rows_server
from tests.adapters.mcp.serving import proxying, serving

pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
A, B = {"authorization": "Bearer alice"}, {"authorization": "Bearer bob"}
TOOLS = [*(f"report_{number}" for number in range(12)), "secret_of_alice", "secret_of_bob"]


@pytest.fixture(params=[False, True], ids=["sessions", "stateless"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    server = rows_server("alice", "bob", stateless=request.param, rows=3, tools=TOOLS)
    with (
        serving(server, lifespan="on") as origin,
        proxying(f"{origin}/mcp", lambda: encoder_relay(Encoder(tools="lazy"))) as proxy,
    ):
        yield proxy


def index(client: Client, **arguments: Any) -> str:
    return client.call("accp_tools", **arguments)


@pytest.mark.parametrize("era", ERAS)
def test_a_call_in_the_index_reaches_the_server_with_its_own_headers(url: str, era: Era) -> None:
    alice = Client(url, A, era).start()
    assert [tool["name"] for tool in alice.ask("tools/list")["result"]["tools"]] == ["accp_tools"]
    assert "alice" in index(alice, call="report_3", arguments={"region": "Berlin"})


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_each_user_has_the_index_of_its_own_tools(url: str, era: Era) -> None:
    alice, bob = Client(url, A, era).start(), Client(url, B, era).start()
    for client in (alice, bob):
        client.ask("tools/list")
    assert "secret_of_alice" in index(alice, describe="secret_of_alice")
    assert "E4001" in index(bob, describe="secret_of_alice")
    assert "secret_of_alice" not in index(bob, search="secret alice")
    assert "secret_of_bob" in index(bob, describe="secret_of_bob")
    assert index(Client(url, {}, era), describe="report_1").startswith("401")
    if session := alice.headers.get("mcp-session-id"):
        assert index(Client(url, {"mcp-session-id": session}, era), describe="secret_of_alice").startswith("401")


@pytest.mark.parametrize("era", ERAS)
def test_who_lists_nothing_first_is_described_the_tools_all_the_same(url: str, era: Era) -> None:
    """As after a restart, or where another proxy has listed them."""
    alice = Client(url, A, era).start()
    assert "name report_2" in index(alice, describe="report_2")
    other = Client(url, A, era).start()
    assert "alice" in index(other, call="report_3", arguments={"region": " Zürich"})


def test_headers_that_did_not_fit_the_call_are_refused_by_the_server(url: str) -> None:
    alice = Client(url, A, "2026-07-28")
    alice.ask("tools/list")
    alice.headers = {**A, "mcp-name": "report_1"}
    assert "-32020" in index(alice, call="report_3")
    assert "-32020" in index(alice, describe="report_3")


def test_only_the_headers_that_repeat_the_body_change() -> None:
    sent, received = call("report", {"region": "Berlin"}, era=ERAS[1]), call("accp_tools", {}, era=ERAS[1])
    other = [(b"mcp-protocol-version", b"2026-07-28"), (b"x", b"1")]
    given = [*other, (b"mcp-method", b"tools/call"), (b"mcp-name", b"accp_tools")]
    marked = {"report": {("region",): "Region"}}
    expected = [*other, (b"mcp-method", b"tools/call"), (b"mcp-name", b"report"), (b"mcp-param-region", b"Berlin")]
    assert reroute(given, received, sent, marked) == expected
    assert reroute(other, received, sent, marked) == other
