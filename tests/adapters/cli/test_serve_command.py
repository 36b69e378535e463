"""`accp serve`, as a process: it serves, ends on a signal, and refuses what is not safe."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from accp_adapters.bindings.accp.connect import connect
from accp_adapters.cli.app import app
from accp_adapters.cli.serving import tokens_of
from accp_core.accp import Intent, Message
from tests.adapters.bindings.hosts.agents import CODEC
from tests.limits import PATIENCE

HANDLER = "async def answer(request):\n    return dict(request.message.payload)\n"
TOKEN = "token-of-ann"


def command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("accp")), "serve", "crm:answer", *words]


def test_a_handler_is_served_until_a_signal_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crm.py").write_text(HANDLER, encoding="utf-8")
    monkeypatch.setenv("CRM_TOKENS", f"ann:{TOKEN}")
    words = command("--http", "127.0.0.1:0", "--token-env", "CRM_TOKENS", "--log", "sqlite:sessions.db")
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


@pytest.mark.parametrize(
    "tokens",
    [
        "ann:token-of-ann,bob:token-of-bob",
        "ann:token-of-ann bob:token-of-bob",
        " ann:token-of-ann ,\nbob:token-of-bob,",
    ],
)
def test_tokens_stand_between_commas_or_spaces(tokens: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_TOKENS", tokens)
    found = tokens_of("CRM_TOKENS")
    assert {token: principal.name for token, principal in found.items()} == {
        "token-of-ann": "ann",
        "token-of-bob": "bob",
    }
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


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--http", "0.0.0.0:0"), "expected --token-env"),
        (("--http", "8930"), "expected HOST:PORT"),
        (("--http", "127.0.0.1:99999"), "expected HOST:PORT"),
        (("--http", "127.0.0.1:0", "--token-env", "NO_SUCH_NAME"), "at least one token"),
        (("--http", "127.0.0.1:0", "--log", "mysql://u:secret@h"), "expected memory"),
        (("--http", "127.0.0.1:0"), "expected MODULE:HANDLER"),
    ],
)
def test_what_cannot_be_served_is_refused(words: tuple[str, ...], reason: str) -> None:
    run = CliRunner().invoke(app, ["serve", "no_such_module:answer", *words])
    assert run.exit_code == 2
    assert reason in " ".join(run.stderr.replace("│", " ").split())
    assert "secret" not in run.output


def test_a_log_that_cannot_be_opened_is_refused_at_the_start() -> None:
    handler = "tests.adapters.bindings.accp.serving:echo"
    run = CliRunner().invoke(app, ["serve", handler, "--http", "127.0.0.1:0", "--log", "sqlite:/nodir/x.db"])
    assert run.exit_code == 2
    assert "expected a folder at '/nodir'" in " ".join(run.stderr.replace("│", " ").split())
