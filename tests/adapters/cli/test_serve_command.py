"""`accp serve` and `accp relay`, as processes."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from accp_adapters.bindings.accp.connect import connect
from accp_adapters.bindings.acp import acp_connect
from accp_adapters.cli.app import app
from accp_adapters.cli.commands.serve import tokens_of
from accp_core.accp import Intent, Message
from accp_core.acp import TextPart
from tests.adapters.bindings.acp.agents import Echo
from tests.adapters.bindings.hosts.agents import CODEC
from tests.foreign.acp import ACCP, listening
from tests.limits import PATIENCE

HANDLER = "async def answer(request):\n    return dict(request.message.payload)\n"
TOKEN = "token-of-ann"
ROOT = Path(__file__).parents[3]
ECHO = "tests.adapters.bindings.accp.serving:echo"


def command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("accp")), "serve", "crm:answer", *words]


def test_a_handler_is_served_until_a_signal_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crm.py").write_text(HANDLER, encoding="utf-8")
    monkeypatch.setenv("CRM_TOKENS", f"ann:{TOKEN}")
    words = command("--http", "127.0.0.1:0", "--token-env", "CRM_TOKENS", "--store", "sqlite:sessions.db")
    message = Message(sender="", intent=Intent.REQUEST, operation="add", payload={"n": 7})

    async def ask(url: str) -> Any:
        async with connect(url, token=TOKEN, agent_id="ann", codec=CODEC) as session:
            return (await session.request(message)).payload

    with subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            url = server.stderr.readline().split()[-1]
            assert asyncio.run(ask(url)) == asyncio.run(ask(url.replace("http", "ws"))) == {"n": 7}
            server.send_signal(signal.SIGTERM)
            _, errors = server.communicate(timeout=PATIENCE)
        finally:
            server.kill()
    assert TOKEN not in errors
    assert "Traceback" not in errors
    assert (tmp_path / "sessions.db").exists()


@pytest.mark.parametrize("tokens", ["ann:token-of-ann bob:token-of-bob", " ann:token-of-ann ,\nbob:token-of-bob,"])
def test_tokens_stand_between_commas_or_spaces(tokens: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_TOKENS", tokens)
    names = {token: principal.name for token, principal in tokens_of("CRM_TOKENS").items()}
    assert names == {"token-of-ann": "ann", "token-of-bob": "bob"}
    monkeypatch.setenv("CRM_TOKENS", "token-of-all")
    assert tokens_of("CRM_TOKENS")["token-of-all"].agents is None


@pytest.mark.parametrize(
    ("tokens", "reason"),
    [
        ("ann:token-of-ann;bob:token-of-bob", "expected AGENT:TOKEN as entry 1"),
        ("ann:token-of-ann,:token-of-bob", "expected AGENT:TOKEN as entry 2"),
        ("ann:token-of-ann,bob:token-of-ann", "expected each token once, found that of entry 2 again"),
    ],
)
def test_tokens_of_nobody_are_refused_without_showing_them(
    tokens: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRM_TOKENS", tokens)
    with pytest.raises(ValueError, match=reason) as refused:
        tokens_of("CRM_TOKENS")
    assert "token-of" not in str(refused.value)


class Named(Echo):
    async def handle(self, message: Any, peer: Any) -> str:
        return str(peer.name)


AGENT = f"{__name__}:SERVED"
SERVED = Named()
ROOMS = {"ROOM": "acp+wss://relay.example/acp/tok_secret_1", "TOKENS": "ann:tok_secret_2"}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("no_such_module:answer", "--http", "0.0.0.0:0"), "expected --token-env"),
        (("no_such_module:answer", "--http", "8930"), "expected HOST:PORT"),
        (("no_such_module:answer", "--http", "127.0.0.1:99999"), "expected HOST:PORT"),
        (("no_such_module:answer", "--http", "127.0.0.1:0", "--token-env", "NO_SUCH_NAME"), "at least one token"),
        (("no_such_module:answer", "--http", "127.0.0.1:0"), "expected MODULE:NAME"),
        (("answer",), "expected MODULE:NAME"),
        ((ECHO, "--store", "mysql://u:secret@h"), "expected sqlite:PATH or redis://HOST"),
        (("tests.adapters.bindings.acp.agents:Echo",), "expected a function, or an object with a card"),
        ((AGENT, "--store", "sqlite:s.db"), "for --store: expected a function (ACCP) with this option"),
        ((ECHO, "--stdio"), "for --stdio: expected an agent (ACP) with this option"),
        ((AGENT, "--relay-env", "NO_SUCH_NAME"), "NO_SUCH_NAME: expected acp+wss://HOST/acp/TOKEN in this variable"),
        ((AGENT, "--relay-env", "ROOM", "--token-env", "TOKENS"), "ROOM: expected a room whose token is one of TOKENS"),
        (("sys:path",), "expected a function, or an object with a card"),
    ],
)
def test_what_cannot_be_served_is_refused(words: tuple[str, ...], reason: str) -> None:
    done = CliRunner().invoke(app, ["serve", *words], env=ROOMS)
    assert done.exit_code == 2
    assert "serving" not in done.output
    shown = " ".join(done.output.replace("│", "").split())
    assert reason in shown
    assert "secret" not in shown


@pytest.mark.requirement("acp:5.3-1", "acp:5.4-1")
def test_agents_and_relays_are_served_and_an_agent_waits_at_a_relay(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask(link: str) -> Any:
        async with acp_connect(link, wait_seconds=PATIENCE) as session:
            return await session.request("hello", timeout=PATIENCE)

    words, port = (ACCP, "serve", AGENT), ("--http", "127.0.0.1:0")
    with listening(ROOT, *words, *port) as (agent,), listening(ROOT, ACCP, "relay", *port) as (relay,):
        for url in (f"{agent}/.well-known/acp.json", f"{relay}/health"):
            with urlopen(url) as answer:
                assert answer.status == 200
        monkeypatch.setenv("ROOM", link := f"{relay.replace('http', 'acp+ws')}/acp/tok_of_this_room")
        monkeypatch.setenv("TOKENS", "ann:tok_of_this_room")
        with listening(ROOT, *words, "--relay-env", "ROOM", "--token-env", "TOKENS", count=0):
            assert asyncio.run(ask(link)) == (TextPart(content="ann"),)


@pytest.mark.parametrize("words", [("--stdio",), ("--relay-env", "ROOM")])
def test_an_agent_alone_ends_in_order_when_it_is_told_to(words: tuple[str, ...], monkeypatch: Any) -> None:
    monkeypatch.setenv("ROOM", "acp+ws://127.0.0.1:1/acp/tok_of_this_room")
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    # A shell lets what it starts in the background ignore SIGINT.
    command = ["sh", "-c", 'trap "" INT; exec "$0" "$@"', ACCP, "serve", AGENT, *words]
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as server:  # type: ignore[call-overload]
        assert server.stderr.readline().startswith("serving 'Echo'")
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
        assert "ended: 'Echo'" in server.stderr.read()


def test_an_address_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = CliRunner().invoke(app, ["serve", ECHO, "--http", address])
    assert done.exit_code == 1
    assert address in done.output and "expected an address to listen at" in done.output
