"""`accp mcp` says what it does and what it saved, and `accp mcp status` shows it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from subprocess import PIPE

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.cli.commands.mcp.meter import server_name
from accp_adapters.mcp.savings.counts import Counts
from accp_adapters.mcp.savings.ledger import Ledger
from tests.adapters.mcp.clients.configurations import CLAUDE_CODE
from tests.adapters.mcp.transcripts import ACCP, SERVER, modern
from tests.limits import PATIENCE


@pytest.mark.slow
def test_a_run_says_what_it_does_and_what_it_saved(tmp_path: Path) -> None:
    line = modern("tools/call", 1, name="orders", arguments={})
    command = [*ACCP, "--name", "shop", "--state-dir", str(tmp_path), "--", *SERVER]
    run = subprocess.run(command, input=line, capture_output=True, timeout=PATIENCE, check=True)
    said = [line for line in run.stderr.decode().splitlines() if line.startswith("accp mcp: shop: ")]
    assert "results become views" in said[0]
    assert "results: 1 message, 1 rewritten: " in said[1]
    assert "% less)" in said[1]
    assert b"structuredContent" in run.stdout
    shown = CliRunner().invoke(app, ["mcp", "status", "--state-dir", str(tmp_path)])
    assert (shown.exit_code, f"  {said[1].removeprefix('accp mcp: ')}" in shown.stdout) == (0, True)


def test_a_run_that_counts_several_kinds_ends_with_one_total(tmp_path: Path) -> None:
    lines = modern("tools/list", 1) + modern("tools/call", 2, name="orders", arguments={})
    command = [*ACCP, "--name", "shop", "--state-dir", str(tmp_path), "--", *SERVER]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE) as run:
        assert run.stdin and run.stdout
        run.stdin.write(lines)
        run.stdin.flush()
        answers = [run.stdout.readline() for _ in range(2)]  # at the end of its input the server drops what it does
        _, said = run.communicate(timeout=PATIENCE)
    assert all(answers)
    *_, last = said.decode().splitlines()
    assert last.startswith("accp mcp: shop: definitions: 1 message")
    assert "; all together: 2 messages, " in last


def test_status_shows_wrapped_servers_and_files_that_are_broken(tmp_path: Path) -> None:
    file, broken = tmp_path / "claude.json", tmp_path / "broken.json"
    file.write_text(CLAUDE_CODE, encoding="utf-8")
    broken.write_text("{", encoding="utf-8")
    runner, options = CliRunner(), ["--client", str(file), "--state-dir", str(tmp_path / "state")]
    assert runner.invoke(app, ["mcp", "install", "--server", "git", *options]).exit_code == 0
    shown = runner.invoke(app, ["mcp", "status", *options, "--client", str(broken)])
    assert shown.stdout.splitlines() == [
        str(file),
        "  sentry: as it is",
        "  git: wrapped",
        "  git in /home/ada/shop: wrapped",
        "  internal in /home/ada/shop: as it is",
        str(broken),
        "  not understood: E1001: expected a JSON value, found the end, at position 1",
        "nothing was counted so far",
    ]


def test_status_ends_with_one_total_of_all_servers(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add("git", {"results": Counts(9, 4, 1_000, 600), "opened": Counts(1, 1, 0, 50)})
    ledger.add("shop", {"definitions": Counts(2, 1, 1_000, 350)})
    shown = CliRunner().invoke(app, ["mcp", "status", "--state-dir", str(tmp_path)])
    total = "  all together: 12 messages, 6 rewritten: 2,000 tokens became 1,000 (50.0 % less)"
    assert shown.stdout.splitlines()[-1] == total


def test_counts_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "mcp-savings.sqlite").write_text("no database" * 100, encoding="utf-8")
    result = CliRunner().invoke(app, ["mcp", "status", "--state-dir", str(tmp_path)])
    assert (result.exit_code, "cannot read the counts" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "command", "url", "expected"),
    [
        ("git", ["uvx", "mcp-server-git"], "", "git"),
        ("", ["/usr/bin/uvx", "-q", "mcp-server-git", "--repository", "."], "", "mcp-server-git"),
        ("", ["npx", "-y", "@playwright/mcp@latest"], "", "mcp@latest"),
        ("", ["/opt/server.exe", "a"], "", "server"),
        ("", ["npx"], "", "npx"),
        ("", [], "https://user:key@example.com/mcp?key=1", "example.com"),
    ],
)
def test_the_name_of_a_server(name: str, command: list[str], url: str, expected: str) -> None:
    assert server_name(name, command, url) == expected
