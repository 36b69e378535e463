"""What a proxy counts of the messages that it rewrites."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from accp_adapters.mcp.proxy.relay import Relay
from accp_adapters.mcp.savings.counts import Counts
from accp_adapters.mcp.savings.ledger import Ledger
from accp_adapters.mcp.savings.meter import Meter, metered_relay
from accp_core.strict_json import compact_json
from tests.adapters.mcp.proxy.marking_relay import passed, seen

ROWS = [{"region": f"EMEA {n}", "units": n, "open": True} for n in range(30)]
SERVED = json.dumps(ROWS, indent=2)


def words(text: str) -> int:
    return len(text)


def send(relay: Relay, identity: int, method: str, **params: Any) -> bytes:
    message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
    return passed(relay, json.dumps(message).encode())[0]


def answer(relay: Relay, identity: int, result: Any) -> dict[str, Any]:
    line = seen(relay, json.dumps({"jsonrpc": "2.0", "id": identity, "result": result}).encode())
    written: dict[str, Any] = json.loads(line)["result"]
    return written


def test_rewritten_results_are_counted_as_a_model_is_shown_them(tmp_path: Path) -> None:
    meter = Meter("shop", words, Ledger(tmp_path))
    relay = metered_relay(Encoder(policy="always", counter=words), meter)
    send(relay, 1, "tools/call", name="orders", arguments={})
    block = {"type": "text", "text": SERVED}
    shown = answer(relay, 1, {"content": [block], "structuredContent": {"rows": ROWS}})
    send(relay, 2, "tools/call", name="hello", arguments={})
    answer(relay, 2, {"content": [{"type": "text", "text": "hello"}]})
    send(relay, 3, "ping")
    answer(relay, 3, {})
    expected = Counts(2, 1, len(SERVED), sum(len(part["text"]) for part in shown["content"]))
    assert 0 < expected.tokens_after < expected.tokens_before
    assert meter.close() == {"results": expected}
    assert Ledger(tmp_path).read() == {"shop": {"results": expected}}


def test_what_is_opened_again_and_lists_of_tools_are_counted_apart() -> None:
    meter = Meter("shop", words)
    relay = metered_relay(Encoder(policy="always", tools="lazy", counter=words), meter)
    schema = {"type": "object", "properties": {f"argument_{n}": {"type": "string"} for n in range(9)}}
    tools = [{"name": f"tool_{n}", "description": "Does much. " * 9, "inputSchema": schema} for n in range(9)]
    send(relay, 1, "tools/list")
    listed = answer(relay, 1, {"tools": tools})
    opened = json.loads(send(relay, 2, "tools/call", name="accp_tools", arguments={"describe": "tool_1"}))
    counts = meter.close()
    assert counts["definitions"].rewritten == 1
    assert counts["definitions"].tokens_after == len(compact_json(listed["tools"]))
    assert counts["opened"] == Counts(1, 1, 0, len(opened["result"]["content"][0]["text"]))


@pytest.mark.parametrize("fails", [False, True])
def test_a_list_of_calls_is_counted_as_all_results_that_became_one(fails: bool) -> None:
    meter = Meter("shop", words)
    relay = metered_relay(Encoder(tools="names", call_lists=True, allow=("*",), counter=words), meter)
    tools = [{"name": f"tool_{n}", "description": "Does much. " * 9, "inputSchema": {}} for n in range(9)]
    send(relay, 1, "tools/list")
    answer(relay, 1, {"tools": tools})
    calls = [{"call": f"tool_{n}", "show": "0.region"} for n in range(3)]
    message = json.loads(send(relay, 2, "tools/call", name="accp_tools", arguments={"calls": calls}))
    served = {"content": [{"type": "text", "text": SERVED}]}
    for _ in range(2):
        message = json.loads(
            seen(relay, json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": served}).encode())
        )
    last = {"error": {"code": 1, "message": "it broke"}} if fails else {"result": served}
    response = json.dumps({"jsonrpc": "2.0", "id": message["id"], **last}).encode()
    shown = "\n".join(block["text"] for block in json.loads(seen(relay, response))["result"]["content"])
    counted = meter.close()["results"]
    assert (counted.messages, counted.rewritten, counted.tokens_before) == (3, 3, (2 if fails else 3) * len(SERVED))
    assert abs(counted.tokens_after - len(shown)) < 5
    assert counted.tokens_after > 0


def test_exchanges_of_one_session_are_counted_together() -> None:
    meter = Meter("shop", words)
    relay = metered_relay(Encoder(policy="always", counter=words), meter)
    other = relay.exchange()
    assert other is not None
    for each in (relay, other):
        send(each, 1, "tools/call", name="orders", arguments={})
        answer(each, 1, {"content": [{"type": "text", "text": SERVED}]})
    assert meter.close()["results"].rewritten == 2


def test_a_ledger_that_cannot_be_written_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    meter = Meter("shop", words, Ledger(blocked / "folder"))
    relay = metered_relay(Encoder(policy="always"), meter)
    with caplog.at_level(logging.WARNING):
        send(relay, 1, "tools/call", name="hello", arguments={})
        answer(relay, 1, {"content": [{"type": "text", "text": "hello"}]})
        assert meter.close() == {"results": Counts(1)}
    assert "the counts of 'shop' are not kept" in caplog.text


def test_a_text_that_cannot_be_counted_is_left_out() -> None:
    def broken(text: str) -> int:
        raise RuntimeError(text)

    meter = Meter("shop", broken)
    meter.see(None, {"result": {"content": [{"type": "text", "text": "a"}]}})
    meter.see(None, {"result": {"contents": [{"text": "a"}]}})
    assert meter.close() == {}
