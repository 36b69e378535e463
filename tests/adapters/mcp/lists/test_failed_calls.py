"""A failed call of a client that negotiated waits for the list of tools, which says which code it has."""

from __future__ import annotations

from typing import Any

import pytest

from accp_adapters.mcp import EXTENSION, Encoder
from accp_adapters.mcp.lists import failed_calls
from accp_adapters.mcp.lists.call_lists import router_of
from accp_adapters.mcp.proxy.message import Message as ProxyMessage
from accp_adapters.mcp.savings.meter import Meter, metered_relay
from accp_adapters.mcp.shim.negotiation import ClientSettings, declare_extension
from accp_adapters.mcp.shim.router import Routed, Router
from accp_core.accp import Codec, Message, read_error
from tests.adapters.mcp.messages import ERAS, Era, Json, call, response, start

FAILED = {"content": [{"type": "text", "text": "no"}], "isError": True}


def begun(**settings: Any) -> Router:
    router = router_of(Encoder(call_lists=True, **settings))
    router.from_client(declare_extension(start(), ClientSettings()))
    return router


def answer(router: Router, era: Era = "2025-11-25", number: int = 1, name: str = "lost") -> Routed:
    """Return what follows the failure of a call."""
    asked = declare_extension(call(name, message_id=number, era=era), ClientSettings())
    router.from_client(asked)
    return router.from_server(response(FAILED, number))


def page(asked: Routed, *names: str, **members: Any) -> Json:
    tools = [{"name": name, "inputSchema": {"type": "object", "required": ["q"]}} for name in names]
    return response({"tools": tools, **members}, asked.message["id"])


def code_of(routed: Routed) -> str:
    assert routed.to_client
    message = Codec(counter=len).decode(routed.message["result"]["_meta"][EXTENSION]["frame"])
    assert isinstance(message, Message)
    report = read_error(message)
    assert report is not None
    return report.code


@pytest.mark.parametrize("era", ERAS)
def test_all_pages_are_listed_with_the_metadata_of_the_client(era: Era) -> None:
    router = begun()
    first = answer(router, era)
    assert (first.message["method"], first.to_client, first.is_own) == ("tools/list", False, True)
    assert ("_meta" in first.message["params"]) == (era == "2026-07-28")
    second = router.from_server(page(first, "find", nextCursor="2"))
    assert second.message["params"] == {**first.message["params"], "cursor": "2"}
    assert code_of(router.from_server(page(second, "more"))) == "E4001"
    # The tools are known now.
    assert code_of(answer(router, era, 2, "more")) == "E4003"


def test_a_list_that_fails_or_never_ends_leaves_the_code_of_a_failure() -> None:
    router = begun()
    asked = answer(router)
    assert code_of(router.from_server({"id": asked.message["id"], "error": {"code": -32601}})) == "E4002"
    asked = answer(router)
    for _ in range(30):
        if asked.to_client:
            break
        asked = router.from_server(page(asked, "find", nextCursor="more"))
    assert code_of(asked) == "E4002"


def test_more_failures_than_may_wait_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failed_calls, "_MAX_WAITING", 1)
    router = begun()
    assert not answer(router).to_client
    assert code_of(answer(router, number=2)) == "E4002"


def test_who_negotiated_nothing_and_what_has_its_code_without_a_list_do_not_wait() -> None:
    unaware = router_of(Encoder(call_lists=True))
    unaware.from_client(call("lost"))
    assert unaware.from_server(failed := response(FAILED)) == Routed(failed, to_client=True)
    router = begun()
    router.from_client(call("slow", message_id=3))
    error = {"code": -32001, "message": "too late"}
    assert router.from_server({"jsonrpc": "2.0", "id": 3, "error": error}).to_client


def test_what_is_excluded_has_the_code_of_no_tool() -> None:
    router = begun(exclude=("lost",))
    assert code_of(router.from_client(declare_extension(call("lost"), ClientSettings()))) == "E4001"


def test_the_list_is_not_counted_as_saved() -> None:
    meter = Meter("s", len)
    relay = metered_relay(Encoder(call_lists=True), meter)
    relay.from_client(ProxyMessage.of(declare_extension(start(), ClientSettings())))
    relay.from_client(ProxyMessage.of(call("lost")))
    asked = relay.from_server(ProxyMessage.of(response(FAILED)))
    relay.from_server(ProxyMessage.of(page(Routed(asked.message.members, False), "find")))
    (counts,) = meter.close().values()
    assert (counts.messages, counts.tokens_before, counts.tokens_after) == (1, 2, 2)
