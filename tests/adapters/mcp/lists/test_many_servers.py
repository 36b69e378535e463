"""A list of calls over the tools of two servers."""

from __future__ import annotations

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.proxy.relay import encoder_relay
from tests.adapters.mcp.gateway.client import asking
from tests.adapters.mcp.proxy.tenants import Client
from tests.adapters.mcp.serving import gateway


def test_a_list_runs_behind_an_http_endpoint() -> None:
    relay = lambda: encoder_relay(Encoder(tools="names", call_lists=True, allow=("*__pid",)))  # noqa: E731  a factory
    calls = [{"call": "red__pid", "show": ""}, {"call": "blue__pid", "show": ""}]
    with gateway(asking("red"), asking("blue"), relay=relay) as url:
        client = Client(url).start()
        client.ask("tools/list")
        result = client.ask("tools/call", name="accp_tools", arguments={"calls": calls})["result"]
    first, second = (block["text"].rpartition(": ") for block in result["content"])
    assert (first[0], second[0]) == ("1 red__pid", "2 blue__pid")
    assert first[2] != second[2]
