"""`accp serve` with an agent of ACP, as a process: each binding serves, a signal or the end of the input ends it."""

from __future__ import annotations

import asyncio
import signal
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import trustme
from typer.testing import CliRunner

from accp_adapters.bindings.acp import acp_connect, relay_app
from accp_adapters.cli.app import app
from tests.adapters.bindings.acp.agents import serving, text_of
from tests.limits import PATIENCE

AGENT = """
from accp_core.acp import AgentCard

print("printed while it is imported")


class Echo:
    card = AgentCard(name="echo")

    async def handle(self, message, peer):
        print("printed by the agent")
        return f"{peer.name}: {message.parts[0].content}"


agent, none = Echo(), 7
"""
TOKEN = "tok_ba366fcab78d4d61"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "crm.py").write_text(AGENT, encoding="utf-8")
    monkeypatch.setenv("CRM_TOKENS", f"ann:{TOKEN}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("accp")), "serve", "crm:agent", *words]


@contextmanager
def running(*words: str, addresses: int) -> Iterator[list[str]]:
    """Yield where the command says that it serves; it must end by a signal, without a traceback and without a token."""
    with subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            lines: list[str] = []
            while len(lines) < addresses:
                line = server.stderr.readline()
                assert line, "it has ended"
                lines += [line] if line.startswith("serving") else []
            yield [line.split()[-1] for line in lines]
            server.send_signal(signal.SIGTERM)
            _, errors = server.communicate(timeout=PATIENCE)
        finally:
            server.kill()
    assert server.returncode == 0
    assert TOKEN not in errors
    assert "Traceback" not in errors


async def answers(*addresses: str | list[str], tls: ssl.SSLContext | None = None) -> list[str]:
    found = []
    for address in addresses:
        async with acp_connect(
            address, token="" if isinstance(address, list) else TOKEN, tls=tls, wait_seconds=PATIENCE
        ) as session:
            found.append(text_of(await session.request("hello", timeout=PATIENCE)))
    return found


def test_one_agent_is_served_over_websocket_http_and_tcp(place: Path) -> None:
    words = "--http", "127.0.0.1:0", "--tcp", "127.0.0.1:0", "--token-env", "CRM_TOKENS"
    with running(*words, addresses=2) as (tcp, http):
        web_socket = f"{http.replace('http', 'acp')}/{TOKEN}"
        assert asyncio.run(answers(tcp, http, web_socket)) == ["ann: hello"] * 3


@pytest.mark.slow
def test_with_a_certificate_tcp_and_http_speak_tls(place: Path) -> None:
    authority, client = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(client)
    issued = authority.issue_cert("127.0.0.1")
    issued.private_key_pem.write_to_path(place / "key.pem")
    issued.cert_chain_pems[0].write_to_path(place / "certificate.pem")
    files = "--certificate", "certificate.pem", "--key", "key.pem", "--token-env", "CRM_TOKENS"
    with running("--http", "127.0.0.1:0", "--tcp", "127.0.0.1:0", *files, addresses=2) as (tls, https):
        assert (tls[:6], https[:8]) == ("tls://", "https://")
        assert asyncio.run(answers(tls, https, https.replace("https", "wss"), tls=client)) == ["ann: hello"] * 3


@pytest.mark.slow
async def test_an_agent_is_served_to_the_process_that_started_it(place: Path) -> None:
    assert await answers(command("--stdio")) == ["local-1: hello"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "expected at least one of --http, --tcp, --relay and --stdio"),
        (("--stdio", "--tcp", "127.0.0.1:0"), "expected --stdio alone, found --tcp"),
        (("--tcp", "0.0.0.0:0"), "expected --token-env to listen at '0.0.0.0'"),
        (("--tcp", "7902"), "expected HOST:PORT, found '7902'"),
        (("--http", "127.0.0.1:0", "--token-env", "NO_SUCH_NAME"), "at least one token"),
        (("--http", "127.0.0.1:0", "--key", "crm.py"), "expected --certificate and --key together"),
        (("--relay", "acp+ws://127.0.0.1:1"), "expected --token-env with the tokens of the rooms"),
        (("--tcp", "127.0.0.1:0", "--make-token", "--token-env", "CRM_TOKENS"), "found both"),
        (("--relay", "http://127.0.0.1:1", "--token-env", "CRM_TOKENS"), "expected acp+wss://HOST"),
    ],
)
def test_what_cannot_be_served_is_refused(place: Path, words: tuple[str, ...], reason: str) -> None:
    run = CliRunner().invoke(app, ["serve", "crm:agent", *words])
    assert run.exit_code == 2
    assert reason in " ".join(run.stderr.replace("│", " ").split())
    assert TOKEN not in run.output


@pytest.mark.slow
async def test_a_token_is_made_and_shown_in_links(place: Path) -> None:
    async with serving(relay_app()) as port:
        words = "--http", "127.0.0.1:0", "--relay", f"acp+ws://127.0.0.1:{port}", "--make-token"
        with running(*words, addresses=3) as (room, _, direct):
            assert room.rpartition("/")[2] == direct.rpartition("/")[2]
            assert await answers(room, direct) == ["guest: hello"] * 2


@pytest.mark.slow
async def test_the_relay_is_a_command(place: Path) -> None:
    words = [str(Path(sys.executable).with_name("accp")), "relay", "--http", "127.0.0.1:0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as relay:
        try:
            assert relay.stderr is not None
            url = relay.stderr.readline().split()[-1]
            with running("--relay", url, "--token-env", "CRM_TOKENS", addresses=1):
                assert await answers(f"{url}/acp/{TOKEN}") == ["ann: hello"]
            relay.send_signal(signal.SIGTERM)
            _, errors = relay.communicate(timeout=PATIENCE)
        finally:
            relay.kill()
    assert relay.returncode == -signal.SIGTERM
    assert TOKEN not in errors


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--http", "7900"), "expected HOST:PORT, found '7900'"),
        (("--key", "crm.py"), "expected --certificate and --key together"),
        (("--ttl", "0"), "Invalid value for '--ttl'"),
    ],
)
def test_a_relay_that_cannot_be_served_is_refused(place: Path, words: tuple[str, ...], reason: str) -> None:
    run = CliRunner().invoke(app, ["relay", *words])
    assert run.exit_code == 2
    assert reason in run.stderr


@pytest.mark.parametrize(
    ("agent", "reason"),
    [("crm:none", "expected a function, or an object with a card"), ("no_such:agent", "expected MODULE:NAME")],
)
def test_what_is_no_agent_is_refused(place: Path, agent: str, reason: str) -> None:
    run = CliRunner().invoke(app, ["serve", agent, "--tcp", "127.0.0.1:0"])
    assert run.exit_code == 2
    assert reason in " ".join(run.stderr.replace("│", " ").split())


@pytest.mark.slow
def test_an_address_that_is_taken_is_refused(place: Path) -> None:
    with running("--tcp", "127.0.0.1:0", addresses=1) as (taken,):
        run = CliRunner().invoke(app, ["serve", "crm:agent", "--tcp", taken.removeprefix("tcp://")])
    assert run.exit_code == 1
    assert "expected an address to listen at" in run.stderr
