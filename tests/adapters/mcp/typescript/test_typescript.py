"""The TypeScript SDK at both ends of `accp mcp`: standard streams and streamable HTTP, with previews and without."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.mcp.real_servers.registries import Missing, from_npm
from tests.adapters.mcp.transcripts import ACCP
from tests.limits import PATIENCE

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
ROWS = [{"id": number, "name": f"Customer {number}", "total": number + 0.5} for number in range(400)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the SDK and the programs."""
    try:
        sdk = from_npm("typescript", ("@modelcontextprotocol/sdk@1.32.2",), "@modelcontextprotocol")
    except Missing as missing:
        pytest.skip(f"the TypeScript SDK is not here: {missing}")
    folder = tmp_path_factory.mktemp("typescript")
    (folder / "node_modules").symlink_to(sdk.parent)
    for program in HERE.glob("*.mjs"):
        (folder / program.name).write_bytes(program.read_bytes())
    return folder


def seen_by_client(programs: Path, *server: str) -> dict[str, Any]:
    """Return what the client was given by a server: a URL, or a command."""
    command = ["node", str(programs / "client.mjs"), *server]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert run.returncode == 0, run.stderr
    seen: dict[str, Any] = json.loads(run.stdout)
    return seen


@contextmanager
def serving(programs: Path) -> Iterator[str]:
    """Start the server over HTTP; yield its URL."""
    command = ["node", str(programs / "server.mjs"), "http"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}/mcp"
        finally:
            server.terminate()


@contextmanager
def listening(*served: str) -> Iterator[str]:
    """Start `accp mcp` with an address of its own; yield the URL that it says."""
    words = ["--fetch", "--policy", "always", "--listen", "127.0.0.1:0"]
    with subprocess.Popen([*ACCP, *words, *served], stderr=subprocess.PIPE, text=True) as proxy:
        assert proxy.stderr is not None
        try:
            yield next(word for line in proxy.stderr for word in line.split() if word.startswith("http://127."))
        finally:
            proxy.terminate()
            proxy.communicate(timeout=PATIENCE)


def check(seen: dict[str, Any], plain: dict[str, Any]) -> None:
    """Check that a client that was given previews lacks nothing."""
    assert seen["tools"] == [*plain["tools"], "accp_fetch"]
    assert seen["structured"] == plain["structured"] == {"orders": ROWS}
    assert len(seen["text"]) < len(plain["text"]) / 4
    assert "Customer 377" in seen["fetched"]
    assert seen["refused"]["isError"] and seen["refused"]["content"][0]["text"].startswith("E5002")
    assert seen["stored"] == plain["text"]
    for name in ("resource", "aborted", "cancelled"):
        assert seen[name] == plain[name]


def test_on_standard_streams(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = ["node", str(programs / "server.mjs")]
    plain = seen_by_client(programs, *server)
    assert plain["cancelled"] == "cancelled" and "no longer wanted" in plain["aborted"]
    monkeypatch.setenv("ACCP_DISABLED", "1")
    assert seen_by_client(programs, *ACCP, "--quiet", "--", *server) == plain
    monkeypatch.delenv("ACCP_DISABLED")
    check(seen_by_client(programs, *ACCP, "--quiet", "--fetch", "--", *server), plain)


def test_over_http(programs: Path) -> None:
    with serving(programs) as url:
        plain = seen_by_client(programs, url)
    with serving(programs) as url, listening("--url", url) as proxy:
        check(seen_by_client(programs, proxy), plain)


def test_on_standard_streams_before_a_server_over_http(programs: Path) -> None:
    with serving(programs) as url:
        plain = seen_by_client(programs, url)
    with serving(programs) as url:
        check(seen_by_client(programs, *ACCP, "--quiet", "--fetch", "--url", url), plain)


def test_over_http_before_a_server_on_standard_streams(programs: Path) -> None:
    server = ["node", str(programs / "server.mjs")]
    with listening("--", *server) as proxy:
        check(seen_by_client(programs, proxy), seen_by_client(programs, *server))
