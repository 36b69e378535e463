"""`accp serve` with a handler, as a process; and which option belongs to what, for everything that it serves."""

from __future__ import annotations

import asyncio
import re
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
from tests.adapters.bindings.acp.agents import Echo
from tests.adapters.bindings.hosts.agents import CODEC
from tests.limits import PATIENCE

HANDLER = "async def answer(request):\n    return dict(request.message.payload)\n"
TOKEN = "token-of-ann"
ECHO = "tests.adapters.bindings.accp.serving:echo"
AGENT = f"{__name__}:SERVED"
SERVED = Echo()


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
        (("--http", "127.0.0.1:0"), "expected MODULE:NAME"),
    ],
)
def test_what_cannot_be_served_is_refused_before_anything_is_imported(words: tuple[str, ...], reason: str) -> None:
    assert reason in refused("no_such_module:answer", *words)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--log", "mysql://u:secret@h"), "--http"),
        (("--http", "127.0.0.1:0", "--log", "mysql://u:secret@h"), "expected memory"),
    ],
)
def test_a_handler_needs_a_place_and_a_log(words: tuple[str, ...], reason: str) -> None:
    shown = refused(ECHO, *words)
    assert reason in shown
    assert "secret" not in shown


@pytest.mark.parametrize(
    ("words", "option", "owner"),
    [
        ((ECHO, "--tcp", "127.0.0.1:0"), "--tcp", "expected it with a TARGET with a card"),
        ((ECHO, "--relay", "acp+ws://h"), "--relay", "found a TARGET that is a function"),
        ((ECHO, "--stdio"), "--stdio", "expected it with a TARGET with a card"),
        ((AGENT, "--tcp", "127.0.0.1:0", "--log", "memory"), "--log", "expected it with a TARGET that is a function"),
        ((AGENT, "--stdio", "--agent-id", "crm"), "--agent-id", "expected it with a TARGET that is a function"),
    ],
)
def test_an_option_of_something_else_is_refused_by_name(words: tuple[str, ...], option: str, owner: str) -> None:
    shown = refused(*words)
    assert f"Invalid value for {option}: expected it with" in shown
    assert owner in shown


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("tests.adapters.bindings.acp.agents:Echo", "--tcp", "127.0.0.1:0"), "expected a function, or an object with"),
        (("tests.limits:LONG", "--http", "127.0.0.1:0"), "expected a function, or an object with"),
        (("tests.limits", "--http", "127.0.0.1:0"), "expected MODULE:NAME, such as agents.crm:answer"),
        (("hand", "--http", "127.0.0.1:0"), "answer, found 'hand'"),
        (("hand",), "found 'hand'"),
        (("tests.limits:", "--http", "127.0.0.1:0"), "found 'tests.limits:': a module and a NAME with a colon between"),
        ((":LONG", "--http", "127.0.0.1:0"), "expected MODULE:NAME, found ':LONG': a module and a NAME"),
    ],
)
def test_there_is_one_thing_to_serve(words: tuple[str, ...], reason: str) -> None:
    assert reason in refused(*words)


def refused(*words: str) -> str:
    run = CliRunner().invoke(app, ["serve", *words])
    assert run.exit_code == 2
    assert not run.stdout
    return " ".join(run.stderr.split())


def test_each_option_stands_below_what_it_belongs_to() -> None:
    shown = CliRunner().invoke(app, ["serve", "--help"]).stdout
    sections = re.findall(r"^(\S.*):\n((?: .*\n)+)", shown, flags=re.MULTILINE)
    options = {title: re.findall(r"^  (--[a-z-]+)", text, flags=re.MULTILINE) for title, text in sections}
    assert options == {
        "Arguments": [],
        "Options": ["--http", "--token-env", "--allow-host", "--certificate", "--key", "--help"],
        "Options of a handler of ACCP": ["--agent-id", "--log", "--sequence", "--ascii", "--decimal"],
        "Options of an agent of ACP": ["--tcp", "--relay", "--make-token", "--stdio"],
    }


def test_a_log_that_cannot_be_opened_is_refused_at_the_start() -> None:
    shown = refused(ECHO, "--http", "127.0.0.1:0", "--log", "sqlite:/nodir/x.db")
    assert "for --log: E3001: expected a folder at '/nodir'" in shown
