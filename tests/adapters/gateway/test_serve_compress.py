"""`accp serve --compress`, as a process: the same bytes after a restart, and what it refuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from tests.adapters.gateway.requests import conversation
from tests.limits import PATIENCE

TOKEN = "token-of-ann"


@contextmanager
def server(seed: str, *words: str) -> Iterator[httpx2.Client]:
    """Start the service with a hash seed; yield a client that has the token."""
    command = [str(Path(sys.executable).with_name("accp")), "serve", "--compress", "--http", "127.0.0.1:0", *words]
    environment = {"GATEWAY_TOKENS": TOKEN, "PYTHONHASHSEED": seed, "PATH": ""}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            url = process.stderr.readline().split()[-1]
            with httpx2.Client(base_url=url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE) as client:
                yield client
            process.send_signal(signal.SIGTERM)
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert "Traceback" not in errors and TOKEN not in errors


@pytest.mark.slow
def test_a_service_that_is_restarted_between_two_turns_gives_the_same_bytes() -> None:
    messages, words = conversation(), ("--policy", "tight", "--token-env", "GATEWAY_TOKENS")
    with server("1", *words) as client:
        first = client.post("/v1/compress", json={"messages": messages[:6]}).json()
        assert client.post("/v1/compress", json={"messages": []}, headers={"authorization": ""}).status_code == 401
    with server("2", *words) as client:
        name = first["ccr_hashes"][0]
        assert client.get(f"/v1/retrieve/{name}").status_code == 404
        second = client.post("/v1/compress", json={"messages": messages}).json()
        assert json.dumps(second["messages"][:6]) == json.dumps(first["messages"])
        assert client.get(f"/v1/retrieve/{name}").json()["original_content"] == messages[3]["content"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--http", "0.0.0.0:0"], "expected --token-env"),
        (["--http", "127.0.0.1"], "expected HOST:PORT"),
        (["--http", "127.0.0.1:0", "--certificate", __file__], "expected --certificate and --key together"),
        (["--http", "127.0.0.1:0", "--policy", "tight", "--keep-bytes", "10"], "expected to keep at least"),
        (["--http", "127.0.0.1:0", "--keep-seconds", "0"], "expected seconds to be more than 0"),
        (["--http", "127.0.0.1:0", "--policy", "loose"], "'loose'"),
        (["--http", "192.0.2.1:9", "--token-env", "GATEWAY_TOKENS"], "expected an address to listen at"),
    ],
)
def test_what_cannot_be_served_is_refused(words: list[str], reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GATEWAY_TOKENS", TOKEN)
    result = CliRunner().invoke(app, ["serve", "--compress", *words], env={"TERM": "dumb", "COLUMNS": "300"})
    assert result.exit_code != 0
    assert reason in result.output
