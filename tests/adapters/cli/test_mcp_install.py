"""`accp mcp install` and `uninstall` as a person types them, over copies of four clients' files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from accp_adapters.cli.app import app
from accp_adapters.mcp.clients.entries import entries
from accp_adapters.mcp.clients.places import CLIENTS, Machine
from tests.adapters.mcp.clients.configurations import CONFIGURATIONS
from tests.limits import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the places of Linux")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "ACCP_STATE_DIR", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(home: Path) -> dict[str, Path]:
    machine = Machine(home=home, environment={})
    paths = {name: client.user(machine)[0] for name, client in CLIENTS.items()}
    for name, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(CONFIGURATIONS[name].encode())
    return paths


def accp(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["mcp", *arguments], env={"COLUMNS": "200"})


def test_one_command_for_all_clients_and_one_back(home: Path) -> None:
    paths = files(home)
    done = accp("install")
    assert (done.exit_code, done.stdout.count(": wrapped")) == (0, 12)
    assert "restart the client" in done.stderr
    assert "do-not-show" not in done.output
    assert all(b'"mcp", "--name=' in path.read_bytes() for path in paths.values())
    undone = accp("uninstall")
    assert (undone.exit_code, undone.stderr.count("byte for byte")) == (0, 4)
    assert {name: path.read_bytes().decode() for name, path in paths.items()} == CONFIGURATIONS


def test_what_is_special_to_tools_is_written_and_taken_out_again(home: Path) -> None:
    paths = files(home)
    done = accp("install", "--tool", "read_*=verbatim", "--tool", "search=600:400")
    assert (done.exit_code, done.stdout.count(": wrapped")) == (0, 12)
    written = [word for entry in entries(paths["cursor"].read_text()) for word in entry.words_of("args") or []]
    assert written.count("read_*=verbatim") == written.count("search=600:400") == written.count("--tool") / 2 > 1
    assert accp("uninstall").exit_code == 0
    assert {name: path.read_bytes().decode() for name, path in paths.items()} == CONFIGURATIONS


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("read_file", "expected NAME=FORM, as read_*=verbatim, found 'read_file'"),
        ("=as_is", "expected NAME=FORM, as read_*=verbatim, found '=as_is'"),
        (
            "read=exact",
            "expected tools['read'] to be one of ('as_is', 'verbatim', 'lossless'), ResultLimits or resolve(…)",
        ),
        ("read=600:4", "expected the limit 'preview' to be at least 60, found 4"),
    ],
)
def test_a_form_that_is_none_is_refused_before_anything_is_written(home: Path, word: str, found: str) -> None:
    files(home)
    for command in (["install"], ["--", "server"]):
        refused = accp(command[0], "--tool", word) if command == ["install"] else accp("--tool", word, *command)
        assert refused.exit_code == 2
        assert found in " ".join(refused.stderr.replace("│", " ").split())


def test_one_client_one_server_and_nothing_written(home: Path) -> None:
    paths = files(home)
    said = accp("install", "--client", "cursor", "--server", "bare", "--dry-run").stdout
    assert said.startswith(f"{paths['cursor']} (nothing was written)\n  bare: wrapped\n    - command: ")
    assert paths["cursor"].read_bytes().decode() == CONFIGURATIONS["cursor"]


def test_a_dry_run_shows_what_goes_and_comes_and_no_secret(home: Path) -> None:
    paths = files(home)
    args = ["--key", "do-not-show", "--", "--key", "do-not-show", "https://u:do-not-show@h/?k=do-not-show"]
    entry = {"command": "server", "args": args, "env": {"KEY": "do-not-show"}}
    named = {"url": "https://u:do-not-show@h/mcp?k=do-not-show", "headers": {"Authorization": "do-not-show"}}
    paths["claude-code"].write_text(json.dumps({"mcpServers": {"a": entry, "b": named}}), encoding="utf-8")
    shown = [accp("install", "--accp", "accp", "--dry-run")]
    assert accp("install", "--accp", "accp").exit_code == 0
    shown += [accp("install", "--accp", "accp", "--fetch", "--dry-run"), accp("uninstall", "--dry-run")]
    assert all((each.exit_code, "do-not-show" in each.stdout) == (0, False) for each in shown)
    first, again, back = (each.stdout.partition(str(paths["claude-code"]))[2].splitlines()[1:] for each in shown)
    assert first[:7] == [
        "  a: wrapped",
        '    - command: "server"',
        '    + command: "accp"',
        '    + args: "mcp"',
        '    + args: "--name=a"',
        '    + args: "--"',
        '    + args: "server"',
    ]
    assert '    - url: "https://[hidden]@h/mcp?[hidden]"' in first
    assert "    - headers: Authorization=[hidden]" in first
    assert "    + env: ACCP_SERVER_HEADER_1=[hidden]" in first
    assert again[:2] == ["  a: rewritten: it started accp mcp by other words", '    + args: "--fetch"']
    assert back[:2] == ["  a: unwrapped", '    - command: "accp"']
    assert '    + command: "server"' in back


def test_previews_and_changes_are_written_and_taken_out_again(home: Path) -> None:
    paths = files(home)
    assert accp("install", "--fetch", "--changes", "--tool", "get_*=lossless").exit_code == 0
    words = [entry.words_of("args") or [] for entry in entries(paths["vscode"].read_bytes().decode())]
    assert words[0][2:6] == ["--tool", "get_*=lossless", "--fetch", "--changes"]
    paths["vscode"].write_bytes(paths["vscode"].read_bytes() + b"\r\n")  # edited since: taken out by their form
    assert accp("uninstall").exit_code == 0
    assert paths["vscode"].read_bytes().decode() == CONFIGURATIONS["vscode"] + "\r\n"


def test_what_needs_previews_is_refused_without_them(home: Path) -> None:
    files(home)
    refused = accp("install", "--changes")
    assert (refused.exit_code, "expected 'fetch' to be True" in refused.stderr) == (2, True)


def test_a_file_of_a_project(home: Path) -> None:
    (home / ".vscode").mkdir()
    file = home / ".vscode" / "mcp.json"
    file.write_bytes(CONFIGURATIONS["vscode"].encode())
    assert "  memory: wrapped" in accp("install", "--project", "--accp", "accp").stdout
    assert '"command": "accp"' in file.read_text(encoding="utf-8")
    assert accp("uninstall").exit_code == 0
    assert file.read_bytes().decode() == CONFIGURATIONS["vscode"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--client", "emacs"], "'emacs'"),
        (["--client", "cursor", "--server", "gti"], "'gti'"),
        (["--client", "claude-desktop"], "'claude-desktop'"),
    ],
)
def test_what_is_unknown_is_named(home: Path, arguments: list[str], said: str) -> None:
    files(home)["claude-desktop"].unlink()
    result = accp("install", *arguments)
    assert (result.exit_code, said in result.stderr) == (2, True)


def test_a_file_that_is_not_understood_is_refused_at_its_place(home: Path) -> None:
    file = home / "broken.json"
    file.write_text('{\n  "mcpServers": {]\n}', encoding="utf-8")
    result = accp("install", "--client", str(file))
    assert (result.exit_code, result.stderr.startswith(f"{file}:2:18: E1001: expected a JSON value")) == (1, True)


def test_without_a_client_nothing_happens(home: Path) -> None:
    assert "no configuration file" in accp("install").stderr


@pytest.mark.slow
def test_the_written_command_starts_the_server(home: Path) -> None:
    program = "import os, sys; print(os.environ['TOKEN'], sys.argv[1:], flush=True)"
    file = home / "mcp.json"
    entry = {"command": sys.executable, "args": ["-c", program, "--", "--name=b"], "env": {"TOKEN": "abc"}}
    file.write_text(json.dumps({"mcpServers": {"a": entry}}), encoding="utf-8")
    assert accp("install", "--client", str(file)).exit_code == 0
    wrapped = entries(file.read_text(encoding="utf-8"))[0].node.value
    run = subprocess.run(
        [wrapped["command"], *wrapped["args"]],
        env=os.environ | wrapped["env"],
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE,
        check=True,
    )
    assert run.stdout == b"abc ['--', '--name=b']\n"
