"""Binding B with real processes: once and in order however often the process is killed, and both ends of a pipe."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from accp_adapters.bindings.acp import acp_connect
from accp_core.errors import RemoteProtocolError
from tests.adapters.bindings.acp.agents import text_of
from tests.limits import LONG, PATIENCE

AGENT = [sys.executable, "-m", "tests.adapters.bindings.acp.echo_process"]
ROOT = Path(__file__).parents[4]
REQUESTS, KILLS = (10_000, 20) if LONG else (60, 2)


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.requirement("acp:4.4-1")
@pytest.mark.slow
async def test_each_request_gets_its_reply_once_and_in_order_though_the_process_is_killed() -> None:
    replies: list[str] = []
    gate = asyncio.Semaphore(16)

    async def ask(number: int) -> None:
        try:
            replies.append(text_of(await session.request(f"{number}", timeout=PATIENCE)))
        finally:
            gate.release()
        if number in kills:
            os.kill(int(text_of(await session.request("pid", timeout=PATIENCE))), signal.SIGKILL)

    kills = {number * REQUESTS // (KILLS + 1) for number in range(1, KILLS + 1)}
    async with acp_connect(AGENT) as session, asyncio.TaskGroup() as tasks:
        for number in range(REQUESTS):
            await gate.acquire()
            tasks.create_task(ask(number))
    assert session.peer is not None
    assert session.peer.name == "Echo"
    assert replies == [f"echo {number}" for number in range(REQUESTS)]


@pytest.mark.requirement("acp:4.2-1", "acp:4.3-1")
def test_what_was_said_is_answered_before_the_end_of_the_input_ends_the_process() -> None:
    says = [{"type": "acp.message", "message_id": f"m{number}", "text": f"{number}"} for number in range(3)]
    lines = "".join(f"{json.dumps(message)}\n" for message in says)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(AGENT, input=lines, capture_output=True, text=True, timeout=PATIENCE, env=buffered)
    envelopes = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["type"] for each in envelopes] == ["acp.agent_card", *["acp.message"] * 3]
    assert envelopes[0]["card"]["capabilities"]["bindings"] == ["stdio"]
    assert [each["parts"][0]["content"] for each in envelopes[1:]] == ["echo 0", "echo 1", "echo 2"]
    assert done.returncode == 0
    assert "printed by the agent" in done.stderr


UNREADABLE = [(b"x" * (2 << 20), "ERR_MSG_TOO_LARGE"), (b"\n \n\xff\n", "ERR_INVALID_REQUEST")]


@pytest.mark.parametrize(("line", "code"), UNREADABLE)
def test_a_line_that_cannot_be_read_is_refused_by_its_code(line: bytes, code: str) -> None:
    done = subprocess.run(AGENT, input=line, capture_output=True, timeout=PATIENCE)
    assert json.loads(done.stdout.splitlines()[-1])["code"] == code


async def test_a_command_that_there_is_not_is_no_connection() -> None:
    with pytest.raises(RemoteProtocolError, match=r"ERR_NOT_CONNECTED: expected a connection .*no/such/agent"):
        async with acp_connect(["/no/such/agent"], wait_seconds=0.5):
            raise AssertionError("connected to nothing")
