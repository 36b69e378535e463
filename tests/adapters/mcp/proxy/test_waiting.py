"""What a call does not wait for: the rewriting of another one's result, and the vocabulary."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

from accp_adapters.mcp.proxy.relay import encoder_relay
from accp_adapters.mcp.shim.encoder import Encoder
from tests.adapters.mcp.proxy.marking_relay import passed, seen
from tests.limits import PATIENCE

ROWS = [{"id": number, "name": f"Customer {number}"} for number in range(40)]


def call(number: int) -> bytes:
    return json.dumps({"id": number, "method": "tools/call", "params": {"name": "crm"}}).encode()


def result(number: int, text: str) -> bytes:
    return json.dumps({"id": number, "result": {"content": [{"type": "text", "text": text}]}}).encode()


def test_a_call_passes_while_the_result_of_another_one_is_rewritten() -> None:
    is_rewriting, goes_on = threading.Event(), threading.Event()

    def counter(text: str) -> int:
        if "slow" in text:
            is_rewriting.set()
            assert goes_on.wait(PATIENCE)
        return len(text)

    relay = encoder_relay(Encoder(policy="always", counter=counter))
    passed(relay, call(1))
    slow = threading.Thread(target=seen, args=(relay, result(1, json.dumps([{"slow": "yes"}, *ROWS]))))
    slow.start()
    try:
        assert is_rewriting.wait(PATIENCE)
        assert passed(relay, call(2)) == (call(2), False)
        assert len(seen(relay, result(2, json.dumps(ROWS, indent=2)))) < len(result(2, json.dumps(ROWS)))
        assert slow.is_alive(), "the first result is still being rewritten"
    finally:
        goes_on.set()
        slow.join(PATIENCE)


def test_the_first_result_finds_the_vocabulary_loaded() -> None:
    program = """if True:
        from accp_adapters.cli.commands.mcp.run import _warm_up
        from accp_adapters.tokens import counters
        loaded = lambda: counters._fast_encoding.cache_info().currsize
        before = loaded()
        _warm_up()
        print(before, loaded())"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "0 1\n"
