"""The agent with two real servers behind the proxy; and the configurations that its README gives to users."""

import functools
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.mcp import Encoder
from tests.adapters.mcp.serving import serving
from tests.adapters.mcp.transcripts import SERVER, converse, modern
from tests.harness.mcp_suite.server import build, http_app
from tests.limits import PROGRAM_PATIENCE

FOLDER = Path(__file__).parents[2] / "integrations" / "tools_over_mcp"
NO_SERVERS = 77
BLOCKS = re.findall(r"^```json\n(.*?)^```", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M | re.S)
CALL = modern("tools/call", 1, name="orders", arguments={})


@pytest.mark.slow
def test_the_check_passes() -> None:
    if shutil.which("npx") is None:
        pytest.skip("there is no npx here to fetch the servers with")
    run = subprocess.run(
        [sys.executable, str(FOLDER / "check.py")], capture_output=True, text=True, timeout=PROGRAM_PATIENCE
    )
    if run.returncode == NO_SERVERS:
        pytest.skip(run.stdout.strip())
    assert (run.returncode, run.stderr) == (0, "")


def commands(block: str) -> list[list[str]]:
    """Return the commands that a configuration starts, `accp` being the one of this environment."""
    settings: Any = json.loads(block)
    [servers] = settings.values()
    accp = shutil.which("accp", path=str(Path(sys.executable).parent))
    assert accp is not None
    assert {each["command"] for each in servers.values()} == {"accp"}
    return [[accp, *each["args"]] for each in servers.values()]


def test_the_readme_shows_configurations() -> None:
    assert len(BLOCKS) == 3


@pytest.mark.slow
@pytest.mark.parametrize("block", [*BLOCKS[:2], (FOLDER / "servers.json").read_text(encoding="utf-8")], ids=range(3))
def test_a_configuration_starts_the_proxy_before_a_servers_command(block: str) -> None:
    for command in commands(block):
        ours = command[: command.index("--") + 1]
        assert_shows_views(converse([*ours, *SERVER], [CALL])[0])


@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
def test_a_configuration_starts_the_proxy_before_a_server_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "Bearer any")
    with serving(http_app(build()), lifespan="on") as origin:
        [command] = commands(BLOCKS[2].replace("https://example.com", origin))
        assert_shows_views(converse(command, [CALL])[0])


@functools.cache
def said_alone() -> bytes:
    [line, _] = converse(SERVER, [CALL])
    return line


def assert_shows_views(line: bytes) -> None:
    alone = said_alone()
    encoder = Encoder(policy="always")
    encoder.from_client(json.loads(CALL))
    shown, expected = json.loads(line)["result"], encoder.from_server(json.loads(alone))["result"]
    assert shown["content"] == expected["content"]
    assert len(shown["content"][0]["text"]) < len(json.loads(alone)["result"]["content"][0]["text"]) / 2
