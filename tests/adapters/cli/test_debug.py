import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from accp_adapters.bindings.accp.connect import connect
from accp_adapters.mcp.messages import EXTENSION
from accp_adapters.mcp.negotiation import ClientSettings
from accp_adapters.wire_log import WIRE
from accp_core.accp import Intent, Message
from tests.adapters.bindings.hosts.agents import CODEC
from tests.limits import PATIENCE

ACCP = str(Path(sys.executable).with_name("accp"))
ASKED = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7, "password": "hunter2", "acc": 12})


async def ask(url: str) -> None:
    async with connect(url, agent_id="ann", codec=CODEC) as session:
        await session.request(ASKED)


@pytest.mark.requirement("9-1")
@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_each_frame_that_is_served_is_said(scheme: str, tmp_path: Path) -> None:
    (tmp_path / "crm.py").write_text("async def answer(request):\n    return dict(request.message.payload)\n")
    words = [ACCP, "--debug", "serve", "crm:answer", "--http", "127.0.0.1:0"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            asyncio.run(ask(server.stderr.readline().split()[-1].replace("http", scheme)))
            server.send_signal(signal.SIGTERM)
            _, errors = server.communicate(timeout=PATIENCE)
        finally:
            server.kill()
    said = [line for line in errors.splitlines() if line.startswith("debug: ") and ": add(" in line]
    assert [line.split()[1] for line in said] == ["received", "sent"]
    assert "Request by ann: add(" in said[0]
    assert "Complete by agent: add(" in said[1]
    assert "n=7, password=[redacted]" in said[0]
    assert "hunter2" not in errors


@pytest.mark.slow
def test_a_client_shows_its_frames_to_an_observer(tmp_path: Path) -> None:
    (tmp_path / "crm.py").write_text("async def answer(request):\n    return dict(request.message.payload)\n")
    seen: list[tuple[str, str]] = []

    async def observed(url: str) -> None:
        WIRE.set(lambda direction, place, text: seen.append((direction, text.split("{")[0])))
        await ask(url)

    words = [ACCP, "serve", "crm:answer", "--http", "127.0.0.1:0"]
    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            url = server.stderr.readline().split()[-1]
            for each in (url, url.replace("http", "ws")):
                asyncio.run(observed(each))
        finally:
            server.kill()
    assert seen.count(("sent", "@ann>req:add")) == seen.count(("received", "@agent>done:add")) == 2
    assert WIRE.get() is None


MCP_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    rows = [{"order": 1000 + n, "customer": f"customer {n}", "password": "hunter2"} for n in range(40)]
    result = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                             "serverInfo": {"name": "s", "version": "1"}},
              "tools/list": {"tools": [{"name": "orders", "inputSchema": {"type": "object"}}]},
              "tools/call": {"content": [{"type": "text", "text": json.dumps(rows, indent=2)}]}}[asked["method"]]
    if asked.get("params", {}).get("name") == "none":
        result = {"content": [{"type": "text", "text": "no such tool"}], "isError": True}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.mark.requirement("9-1")
@pytest.mark.slow
def test_each_frame_of_a_proxy_is_said() -> None:
    asked = [
        {
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"experimental": {EXTENSION: ClientSettings().to_json()}},
                "clientInfo": {"name": "c", "version": "1"},
            },
        },
        {"method": "tools/list", "params": {}},
        {"method": "tools/call", "params": {"name": "orders", "arguments": {}}},
        {"method": "tools/call", "params": {"name": "none", "arguments": {}}},
        {"method": "resources/read", "params": {"uri": "accp://registry"}},
    ]
    sent = "".join(json.dumps({"jsonrpc": "2.0", "id": number, **each}) + "\n" for number, each in enumerate(asked))
    words = [ACCP, "--debug", "mcp", "--quiet", "--policy", "negotiate", "--", sys.executable, "-c", MCP_SERVER]
    run = subprocess.run(words, input=sent, capture_output=True, text=True, timeout=PATIENCE, check=True)
    said = [line.split(": ")[2] for line in run.stderr.splitlines() if line.startswith("debug: sent in mcp: ")]
    assert sorted(said) == ["Complete by mcp", "Failure by mcp", "Synchronize by mcp", "Synchronize by mcp"]
    assert "hunter2" in run.stdout
    assert "hunter2" not in run.stderr
