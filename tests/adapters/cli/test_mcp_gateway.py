"""`accp mcp --config`: many servers behind one endpoint, as a client's configuration starts it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.cli.commands.mcp.gateway import configured_servers
from tests.adapters.mcp.gateway.client import asking, conformance
from tests.adapters.mcp.transcripts import ACCP, ask, converse
from tests.limits import PATIENCE

CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
READY = b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'


def configured(folder: Path, *names: str) -> Path:
    """Return a configuration file with a server of the SDK for each of `names`, and one that asks."""
    servers: dict[str, Any] = {name: entry(conformance(name)) for name in names}
    path = folder / "team.json"
    path.write_text(json.dumps({"mcpServers": {**servers, "red": entry(asking("red"))}}), encoding="utf-8")
    return path


def entry(server: Any) -> Any:
    command, *args = server.command
    return {"command": command, "args": args, **({"cwd": server.folder} if server.folder else {})}


def messages(lines: list[bytes]) -> dict[Any, Any]:
    said = [json.loads(line) for line in lines if line.startswith(b"{")]
    return {each["id"]: each.get("result", each.get("error")) for each in said if "id" in each}


@pytest.mark.slow
def test_one_endpoint_compresses_the_results_of_all_servers_and_has_one_index(tmp_path: Path) -> None:
    config = configured(tmp_path, "shop")
    lines = [
        ask("initialize", 0, **CLIENT),
        READY,
        # A call waits for its server: both are up when the list is asked for.
        *(ask("tools/call", number, name=name, arguments={}) for number, name in enumerate(("shop__x", "red__pid"), 5)),
        ask("tools/list", 1),
        ask("tools/call", 2, name="accp_tools", arguments={"call": "shop__orders", "arguments": {}}),
        ask("tools/call", 3, name="accp_tools", arguments={"call": "red__pid"}),
        ask("tools/call", 4, name="accp_tools", arguments={"describe": "shop__orders,red__pid"}),
    ]
    options = ["--config", str(config), "--tools", "lazy", "--state-dir", str(tmp_path / "state")]
    answers = messages(converse([*ACCP, *options], lines))
    [index] = answers[1]["tools"]
    assert index["name"] == "accp_tools"
    assert all(name in str(answers[4]["content"]) for name in ("shop__orders", "red__pid"))
    assert answers[2]["content"][0]["text"].startswith("[20] id customer")
    assert answers[3]["content"][0]["text"].isdigit()
    shown = CliRunner().invoke(app, ["mcp", "status", "--state-dir", str(tmp_path / "state")])
    assert "  team: results: 3 messages, 1 rewritten: " in shown.stdout


@pytest.mark.slow
def test_one_server_may_keep_its_names_and_ends_with_its_client(tmp_path: Path) -> None:
    lines = [ask("initialize", 0, **CLIENT), READY, ask("tools/call", 1, name="pid", arguments={})]
    said = converse([*ACCP, "--quiet", "--config", str(configured(tmp_path)), "--bare-names"], lines)
    assert said[-1] == b"exit 0"
    pid = messages(said)[1]["content"][0]["text"]
    assert pid.isdigit()
    assert not Path("/proc", pid).exists()


@pytest.mark.parametrize(
    ("text", "options", "code", "said"),
    [
        ('{"mcpServers": {}}', [], 1, ":1:1: E1001: expected mcpServers or servers"),
        ('{"mcpServers":\n {"a b": {}}}', [], 1, ":2:10: E1001: "),
        ('{"servers": {"a": {"command": "x"}, "b": {"command": "y"}}}', ["--bare-names"], 2, "one server, found 2"),
        ('{"servers": {"a": {"command": "x"}}}', ["--", "cat"], 2, "more than one"),
    ],
)
def test_what_cannot_begin_is_refused(tmp_path: Path, text: str, options: list[str], code: int, said: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text, encoding="utf-8")
    result = CliRunner().invoke(app, ["mcp", "--config", str(path), *options], env={"COLUMNS": "200"})
    assert (result.exit_code, said in result.stderr) == (code, True)


def test_a_server_is_called_by_a_name_that_tools_may_begin_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"my server": entry(asking("red"))}}), encoding="utf-8")
    lines = [ask("initialize", 0, **CLIENT), READY, ask("tools/call", 1, name="my-server__pid", arguments={})]
    said = converse([*ACCP, "--quiet", "--config", str(path)], lines)
    assert messages(said)[1]["content"][0]["text"].isdigit()
    configured_servers(path, quiet=True)
    assert capsys.readouterr().err == ""
    configured_servers(path, quiet=False)
    assert capsys.readouterr().err == "accp mcp: the server 'my server' is called 'my-server'\n"


@pytest.mark.slow
def test_a_command_is_served_over_http_and_a_signal_keeps_the_counts(tmp_path: Path) -> None:
    options = ["--listen", "127.0.0.1:0", "--name", "red", "--policy", "always", "--state-dir", str(tmp_path)]
    with subprocess.Popen([*ACCP, *options, "--", *asking("red").command], stderr=subprocess.PIPE) as gateway:
        assert gateway.stderr is not None
        assert b"results become views" in gateway.stderr.readline()
        said = gateway.stderr.readline().decode().split()
        assert said[3:] == ["serves", "red"]
        begun = post(said[2], {"id": 0, "method": "initialize", "params": CLIENT})
        session = {"mcp-session-id": begun.headers["mcp-session-id"]}
        pid = post(said[2], {"id": 1, "method": "tools/call", "params": {"name": "pid"}}, session)
        gateway.send_signal(signal.SIGTERM)
        assert gateway.stderr.read() == b"accp mcp: red: results: 1 message, 0 rewritten\n"
        assert gateway.wait(PATIENCE) == -signal.SIGTERM
    assert not Path("/proc", pid.json()["result"]["content"][0]["text"]).exists()


@pytest.mark.slow
def test_a_gateway_with_tokens_serves_nobody_without_one(tmp_path: Path) -> None:
    path = tmp_path / "team.json"
    path.write_text(json.dumps({"mcpServers": {"red": entry(asking("red"))}}), encoding="utf-8")
    options = ["--config", str(path), "--listen", "0.0.0.0:0", "--token-env", "TOKENS", "--quiet"]
    environment = {**os.environ, "TOKENS": "ann:token-of-ann"}
    with subprocess.Popen([*ACCP, *options], stderr=subprocess.PIPE, env=environment) as gateway:
        assert gateway.stderr is not None
        url = gateway.stderr.readline().decode().split()[2].replace("0.0.0.0", "127.0.0.1")
        begin = {"id": 0, "method": "initialize", "params": CLIENT}
        for headers in ({}, {"authorization": "Bearer token-of-bob"}, {"authorization": "Basic token-of-ann"}):
            refused = post(url, begin, headers)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert "E5001" in refused.json()["error"]["message"]
        begun = post(url, begin, {"authorization": "Bearer token-of-ann"})
        assert begun.json()["result"]["serverInfo"]["name"] == "accp-mcp-gateway"
        gateway.terminate()
        gateway.wait(PATIENCE)


def post(url: str, message: Any, headers: Any = None) -> httpx.Response:
    return httpx.post(url, json={"jsonrpc": "2.0", **message}, headers=headers, timeout=PATIENCE)
