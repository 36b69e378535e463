"""One endpoint over all the servers that others wrote and that run here, one of them killed meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.adapters.mcp.real_servers.registries import Missing
from tests.adapters.mcp.real_servers.servers import SERVERS, World
from tests.adapters.mcp.transcripts import ACCP, ask
from tests.limits import wait_until

CLIENT: Final = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
READY: Final = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
KILLED: Final = "time"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "world", "http://127.0.0.1:1/")


def commands(world: World) -> dict[str, list[str]]:
    """Return the command of each server that is here; skip where there are too few."""
    found = {}
    for server in SERVERS:
        try:
            found[server.name] = server.command(world)
        except Missing:
            continue
    if len(found) < 3 or KILLED not in found:
        pytest.skip(f"expected several servers, found {sorted(found)}")
    return found


def started(name: str, words: list[str], folder: Path) -> dict[str, Any]:
    """Return the entry of a server that writes its process id to a file."""
    return {"command": "sh", "args": ["-c", f'echo $$ > "{folder}/{name}.pid"; exec "$@"', name, *words]}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell writes the process ids")
def test_one_endpoint_over_real_servers_survives_the_death_of_one(world: World, tmp_path: Path) -> None:
    servers = commands(world)
    world.make()
    config = tmp_path / "all.json"
    entries = {name: started(name, words, tmp_path) for name, words in servers.items()}
    config.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")
    environment = os.environ | {"MEMORY_FILE_PATH": str(world.folder / "memory.jsonl")}
    command = [*ACCP, "--quiet", "--config", str(config)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as gateway:
        assert gateway.stdin is not None
        assert gateway.stdout is not None

        def answer(line: bytes) -> Any:
            assert gateway.stdin is not None
            assert gateway.stdout is not None
            gateway.stdin.write(line)
            gateway.stdin.flush()
            while "id" not in (said := json.loads(gateway.stdout.readline())) or "method" in said:
                pass
            return said["result"]

        answer(ask("initialize", 0, **CLIENT))
        gateway.stdin.write(READY)
        names: list[str] = []

        def have_all_listed() -> bool:
            names[:] = [tool["name"] for tool in answer(ask("tools/list", 1))["tools"]]
            return {name.partition("__")[0] for name in names} == set(servers)

        wait_until(have_all_listed)
        assert len(set(names)) == len(names)
        first = {server.name: server.calls(world)[0] for server in SERVERS if server.name in servers}
        before = {name: call_of(answer, name, *call) for name, call in first.items()}
        pid = int((tmp_path / f"{KILLED}.pid").read_text(encoding="ascii"))
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: "is not available" in str(call_of(answer, KILLED, *first[KILLED])))
        failed = call_of(answer, KILLED, *first[KILLED])
        assert failed["isError"] is True
        assert f"the server '{KILLED}' is not available: its process was ended by SIGKILL" in str(failed)
        assert [tool["name"] for tool in answer(ask("tools/list", 2))["tools"]] == names
        for name in set(servers) - {KILLED, "sqlite", "memory"}:
            assert call_of(answer, name, *first[name]) == before[name]
        gateway.stdin.close()
        assert gateway.wait() == 0


def call_of(answer: Any, server: str, tool: str, arguments: dict[str, Any]) -> Any:
    """Return the result of a tool of a server."""
    return answer(ask("tools/call", 9, name=f"{server}__{tool}", arguments=arguments))
