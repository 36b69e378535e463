"""What may take seconds runs in a thread, however short the message is and however JSON spells a name."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.proxy.message import Message
from accp_adapters.mcp.proxy.relay import Relay, encoder_relay
from tests.adapters.mcp.messages import call, request, response, rows, served

TOOL: Any = {"name": "orders", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}


class Threads:
    """Counts tokens and tells the time, and remembers where."""

    def __init__(self) -> None:
        self.off_loop: list[bool] = []

    def counter(self, text: str) -> int:
        self.off_loop.append(threading.current_thread() is not threading.main_thread())
        return len(text) // 4

    def now(self) -> float:
        self.counter("")
        return 0.0


def connected(threads: Threads) -> Relay:
    encoder = Encoder(
        policy="always", fetch=True, inline_limit=500, tools="names", call_lists=True, counter=threads.counter,
        now=threads.now,
    )  # fmt: skip
    relay = encoder_relay(encoder)
    relay.from_client(Message(json.dumps(request("tools/list")).encode()))
    relay.from_server(
        Message(json.dumps(response({"tools": [{**TOOL, "description": "Returns orders. " * 50}]})).encode())
    )
    relay.from_client(Message(json.dumps(call("orders")).encode()))
    relay.from_server(Message(json.dumps(response(served(rows(400)))).encode()))
    threads.off_loop.clear()
    return relay


@pytest.mark.parametrize(
    "name", ["accp_fetch", "accp\\u005ffetch", "\\u0061ccp_fetch", "accp_tools", "accp\\u005ftools"]
)
async def test_a_call_of_our_own_tools_runs_off_the_loop(name: str) -> None:
    relay = connected(threads := Threads())
    key = next(iter(relay.encoder.session.stored_results.granted))  # type: ignore[union-attr]  # it fetches
    arguments = {"ref": f"$cold.{key}", "query": "SELECT count(*) AS n FROM rows"} if "fetch" in name else {}
    arguments = arguments or {"describe": "orders"}
    line = json.dumps(call("NAME", arguments)).replace("NAME", name).encode()
    assert (await relay.relay_client(Message(line))).to_client
    assert threads.off_loop
    assert all(threads.off_loop)


async def test_the_queries_of_a_list_of_calls_run_off_the_loop() -> None:
    relay = connected(threads := Threads())
    show = "SELECT count(*) AS n FROM items"
    calls = [{"call": "orders", "show": show}, {"call": "orders", "arguments": {"n": {"$from": 1, "query": show}}}]
    asked = await relay.relay_client(Message(json.dumps(call("accp_tools", {"calls": calls})).encode()))
    answer = response(served('{"items": [{"a": 1}, {"a": 2}]}'), asked.message.members["id"])
    further = await relay.relay_server(Message(json.dumps(answer).encode()))
    assert not further.to_client
    assert further.message.members["params"]["arguments"] == {"n": 2}
    last = json.dumps(response(served('{"items": []}'), further.message.members["id"])).encode()
    assert b"1 orders: n 2" in (await relay.relay_server(Message(last))).message.data
    assert threads.off_loop
    assert all(threads.off_loop)
