"""One client for every server: of ACCP, and of ACP over each of its bindings."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from accp_adapters.bindings import acp_app, connect, serve_tcp
from accp_adapters.bindings.accp.client_session import ClientSession
from accp_adapters.bindings.acp import AcpHost, AcpSession, relay_app
from accp_adapters.bindings.identity import BearerTokens, Principal
from accp_core.accp import Intent, Message
from tests.adapters.bindings.accp.serving import serving as serving_frames
from tests.adapters.bindings.acp.agents import Echo, hosting, serving, text_of
from tests.adapters.bindings.hosts.agents import CODEC

TOKEN = "tok_ba366fcab78d4d61"
ASKED = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7})


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize("protocol", [None, "accp"])
async def test_a_server_of_accp_is_asked_in_frames(scheme: str, protocol: Any) -> None:
    async with (
        serving_frames() as address,
        connect(f"{scheme}://{address}", protocol=protocol, agent_id="ann", codec=CODEC) as session,
    ):
        assert isinstance(session, ClientSession)
        assert (await session.request(ASKED)).payload == {"n": 7}


@pytest.mark.parametrize("scheme", ["http", "ws", "acp", "acp+ws", "tcp"])
async def test_a_server_of_acp_is_asked_in_messages(scheme: str) -> None:
    host = AcpHost(Echo(), authenticate=BearerTokens({TOKEN: Principal("ann")}))
    async with (
        serving(acp_app(host)) as port,
        serving(relay_app()) as relay,
        hosting(host, f"acp+ws://127.0.0.1:{relay}/acp/{TOKEN}"),
        serve_tcp(host) as tcp_port,
    ):
        options: dict[str, Any] = {"protocol": "acp"} if scheme in ("http", "ws") else {}
        ports = {"acp": f"{port}/{TOKEN}", "acp+ws": f"{relay}/acp/{TOKEN}", "tcp": f"{tcp_port}"}
        address = f"{scheme}://127.0.0.1:{ports.get(scheme, port)}"
        async with connect(address, token=TOKEN, **options) as session:
            assert isinstance(session, AcpSession)
            assert text_of(await session.request("hello")) == "echo hello"


async def test_a_command_is_asked_in_messages() -> None:
    command = [sys.executable, "-m", "tests.adapters.bindings.acp.echo_process"]
    async with connect(command, protocol="acp") as session:
        assert text_of(await session.request("hello")) == "echo hello"


def test_another_protocol_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 'accp' or 'acp' as protocol, found 'mcp'"):
        connect("https://agents.example", protocol="mcp")  # type: ignore[call-overload]  # what is refused
