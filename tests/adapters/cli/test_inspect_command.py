"""`accp inspect`, as a process: it prints an address that opens once, ends on a signal, and refuses plainly."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from tests.limits import PATIENCE

runner = CliRunner()


@pytest.mark.slow
def test_the_address_opens_once_until_a_signal_ends_it() -> None:
    words = [str(Path(sys.executable).with_name("accp")), "inspect", "--example"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            label, _, address = server.stdout.readline().strip().rpartition(" ")
            assert label == "Open once:"
            assert address.startswith("http://127.0.0.1:")
            with httpx.Client(follow_redirects=True, timeout=PATIENCE) as browser:
                page = browser.get(address)
            assert (page.status_code, "token" in str(page.url)) == (200, False)
            assert "recorded_run.json" in page.text
            assert httpx.get(address, timeout=PATIENCE).status_code == 403
            server.send_signal(signal.SIGTERM)
            _, errors = server.communicate(timeout=PATIENCE)
        finally:
            server.kill()
    assert errors == ""


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        ([], 2, "expected a source or --example, found none; try `accp inspect --example`"),
        (["x", "--example"], 2, "expected a source or --example, found both"),
        (["nothing.jsonl"], 2, "nothing.jsonl: No such file or directory"),
        (["--example", "--policy", "loose"], 2, "expected one of lossless, default, tight, found 'loose'"),
        (["--example", "--format", "xml"], 2, "found 'xml'"),
        (
            ["--example", "--store", "other.db"],
            1,
            "expected the table 'cold' of a SqliteColdStore or 'store' of LangGraph's SqliteStore, found none",
        ),
        (["other.db"], 1, "other.db:1:1: E1001: expected the tables of LangGraph's SqliteSaver or of a frame log"),
        (["broken.json"], 0, ""),
        (["postgresql://me:hunter2@localhost/db"], 1, "expected the password in PGPASSWORD or ~/.pgpass"),
        (["redis://me:hunter2@127.0.0.1:1"], 1, "E3001: expected 'redis://127.0.0.1:1' to read"),
    ],
)
def test_what_cannot_be_shown_is_refused(
    words: list[str], code: int, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sqlite3.connect("other.db").execute("CREATE TABLE other (a)").connection.close()
    Path("broken.json").write_text(json.dumps({"nothing": "known"}), "utf-8")
    monkeypatch.setattr("accp_adapters.cli.commands.inspect._serve", _no_server)
    result = runner.invoke(app, ["inspect", *words])
    assert result.exit_code == code, result.output
    assert reason in " ".join(result.stderr.replace("│", "").split())
    assert "hunter2" not in result.output


async def _no_server(*_: object, **__: object) -> None:
    """Serve nothing."""


def test_a_port_that_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def taken(*_: object, **__: object) -> None:
        raise OSError("Address already in use")

    monkeypatch.setattr("accp_adapters.cli.commands.inspect._serve", taken)
    result = runner.invoke(app, ["inspect", "--example", "--port", "1"])
    assert result.exit_code == 1
    assert "127.0.0.1:1:1:1: E1001: expected a port to listen at, found: Address already in use" in result.stderr


def test_completion_knows_the_command() -> None:
    words = {"_ACCP_COMPLETE": "complete_bash", "COMP_WORDS": "accp insp", "COMP_CWORD": "1"}
    command = [str(Path(sys.executable).with_name("accp"))]
    found = subprocess.run(command, env={"PATH": "/usr/bin:/bin", **words}, capture_output=True, text=True, check=False)
    assert found.stdout.split() == ["inspect"]
