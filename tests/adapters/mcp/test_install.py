"""`accp mcp install` and `uninstall` in the files of clients, `status`, and what `accp mcp` says."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from accp_adapters.cli.app import app
from accp_adapters.mcp.install import CLIENTS, Installation, client_files
from accp_adapters.mcp.user_files import DayStore, Saved, add_saved, read_saved, state_folder
from tests.adapters.mcp.sdk import MAJOR
from tests.adapters.mcp.transcripts import ACCP, LEGACY, SERVER, ask
from tests.limits import PATIENCE

PROGRAM = "/opt/accp"
CURSOR = {
    "mcpServers": {
        "git": {"command": "uvx", "args": ["mcp-server-git", "--repository", "naïve"], "env": {"TOKEN": "s3cret"}},
        "bare": {"command": "server"},
        "remote": {"type": "http", "url": "https://example.com/mcp", "disabled": False},
        "keyed": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer s3cret"}},
    },
    "other": [1, 2],
}
CLAUDE = {
    "mcpServers": {"a": {"command": "x"}},
    "projects": {"/home": {"mcpServers": {"b": {"command": "y"}}}, "/c": 5},
}
VSCODE = {"servers": {"a": {"type": "stdio", "command": "x", "args": ["1"]}}, "inputs": []}
TEXTS = {
    "indented": json.dumps(CURSOR, indent=2, ensure_ascii=False) + "\n",
    "one line": json.dumps(CURSOR),
    "tabs and escapes": json.dumps(CURSOR, indent="\t"),
    "lines of Windows, after a mark": "\ufeff" + json.dumps(CLAUDE, indent=4).replace("\n", "\r\n"),
    "VS Code": json.dumps(VSCODE, indent=1),
    "odd spellings": '{ "n": 1.50, "mcpServers": {\n\t"a" : {"command": "x", "args": ["1","\\u00e9\\/"]}\n} }',
}


def configuration(folder: Path, text: str) -> Installation:
    path = folder / "mcp.json"
    path.write_bytes(text.encode())
    path.chmod(0o640)
    return Installation(path)


def data_of(installation: Installation) -> Any:
    return json.loads(installation.path.read_text(encoding="utf-8-sig"))


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_uninstalling_gives_every_byte_back(text: str, tmp_path: Path) -> None:
    installation = configuration(tmp_path, text)
    changes = installation.install(PROGRAM, options=["--fetch"])
    assert any(change.is_change for change in changes)
    assert installation.path.read_bytes() != text.encode()
    assert ("\r\n" in text) == (b"\r\n" in installation.path.read_bytes())
    assert installation.backup.read_bytes() == text.encode()
    assert {stat.S_IMODE(each.stat().st_mode) for each in (installation.path, installation.backup)} == {0o640}
    assert any(installation.servers().values())
    assert installation.uninstall()[1]
    assert installation.path.read_bytes() == text.encode()
    assert not installation.backup.exists()
    assert installation.uninstall() == ([], False)


def test_a_command_comes_behind_this_program_and_remote_servers_are_left(tmp_path: Path) -> None:
    installation = configuration(tmp_path, json.dumps(CURSOR))
    told = {change.server: change.outcome for change in installation.install(PROGRAM, options=["--fetch"])}
    servers = data_of(installation)["mcpServers"]
    assert servers["git"] == {
        "command": PROGRAM,
        "args": ["mcp", "--fetch", "--", "uvx", "mcp-server-git", "--repository", "naïve"],
        "env": {"TOKEN": "s3cret"},
    }
    assert servers["bare"]["args"] == ["mcp", "--fetch", "--", "server"]
    assert (servers["remote"], servers["keyed"]) == (CURSOR["mcpServers"]["remote"], CURSOR["mcpServers"]["keyed"])  # type: ignore[index]
    assert "--server remote" in told["remote"] and "--header-env" in told["keyed"]
    installation.install(PROGRAM, names=["remote"])
    servers = data_of(installation)["mcpServers"]
    assert servers["remote"] == {
        "type": "stdio", "command": PROGRAM, "args": ["mcp", "--url", "https://example.com/mcp"], "disabled": False
    }  # fmt: skip
    assert installation.uninstall()[1]
    assert data_of(installation) == CURSOR


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_what_somebody_has_edited_since_stays_to_the_byte(text: str, tmp_path: Path) -> None:
    installation = configuration(tmp_path, text)
    installation.install(PROGRAM)
    first, last = b'{"mine": [1,  2.50],', b" \n"
    installation.path.write_bytes(installation.path.read_bytes().replace(b"{", first, 1) + last)
    changes, is_restored = installation.uninstall()
    assert (any(change.is_change for change in changes), is_restored) == (True, False)
    assert installation.path.read_bytes() == text.encode().replace(b"{", first, 1) + last


def test_a_server_that_somebody_has_edited_since_keeps_that(tmp_path: Path) -> None:
    installation = configuration(tmp_path, json.dumps(CURSOR, indent=2))
    installation.install(PROGRAM)
    edited = data_of(installation)
    edited["mcpServers"]["git"]["env"]["TOKEN"] = "new"
    edited["mcpServers"]["git"]["args"].append("--more")
    installation.path.write_text(json.dumps(edited, indent=2))
    installation.uninstall()
    git = {"command": "uvx", "args": ["mcp-server-git", "--repository", "naïve", "--more"], "env": {"TOKEN": "new"}}
    assert data_of(installation)["mcpServers"] == {**CURSOR["mcpServers"], "git": git}  # type: ignore[dict-item]


def test_installing_again_takes_the_new_words_and_the_first_backup(tmp_path: Path) -> None:
    installation = configuration(tmp_path, json.dumps(CURSOR, indent=2))
    installation.install(PROGRAM)
    first = installation.path.read_bytes()
    assert not any(change.is_change for change in installation.install(PROGRAM))
    assert installation.path.read_bytes() == first
    installation.install(PROGRAM, options=["--fetch"], dry_run=True)
    assert installation.path.read_bytes() == first
    installation.install(PROGRAM, options=["--fetch"])
    assert not any(change.is_change for change in installation.install(PROGRAM))
    assert data_of(installation)["mcpServers"]["bare"]["args"] == ["mcp", "--fetch", "--", "server"]
    whole = installation.backup.read_bytes()
    installation.backup.with_name(f"{installation.backup.name}.accp-new").mkdir()
    with pytest.raises(OSError, match="accp-new"):
        installation.install("/other/accp")
    assert installation.backup.read_bytes() == whole
    installation.backup.write_bytes(whole[:40])
    with pytest.raises(ValueError, match=r"expected the backup .* whole; delete it"):
        installation.uninstall()
    installation.backup.write_bytes(whole)
    assert installation.uninstall()[1]


def test_a_server_that_was_wrapped_by_hand_stays_as_it_is(tmp_path: Path) -> None:
    hand = {"command": "accp", "args": ["mcp", "--fetch", "--", "uvx", "z"]}
    text = json.dumps({"mcpServers": {"hand": hand, "x": {"command": "npx"}}})
    installation = configuration(tmp_path, text)
    told = {change.server: change.outcome for change in installation.install(PROGRAM)}
    assert told == {"hand": "left as it is: wrapped by hand", "x": "wrapped"}
    assert data_of(installation)["mcpServers"]["hand"] == hand
    assert [change.server for change in installation.uninstall()[0] if change.is_change] == ["x"]
    assert installation.path.read_text() == text


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        *((each, "expected a command and a list") for each in ({"command": "z", "args": "-a"}, {"command": ""}, {})),
        ({"type": "sse", "url": "https://e.example/sse"}, "Streamable HTTP"),
    ],
)
def test_a_server_that_we_cannot_start_stays_as_it_is(entry: dict[str, str], said: str, tmp_path: Path) -> None:
    (change,) = configuration(tmp_path, json.dumps({"servers": {"z": entry}})).install(PROGRAM, names=["z"])
    assert not change.is_change and said in change.outcome


@pytest.mark.parametrize("text", ['{"mcpServers": {} // mine\n}', '{"a": 1, "a": 2}', "[]", '{"a": 1,}', ""])
def test_a_file_that_is_not_understood_is_untouched(text: str, tmp_path: Path) -> None:
    installation = configuration(tmp_path, text)
    for action in (lambda: installation.install(PROGRAM), installation.uninstall, installation.servers):
        with pytest.raises(ValueError, match="nothing was changed"):
            action()
    assert installation.path.read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["mcp.json"]


def test_a_server_and_a_file_that_are_not_understood_hold_up_no_other(tmp_path: Path) -> None:
    odd = {"status": {"command": "accp", "args": ["mcp", "status"]}, "five": 5, "a": {"command": "x"}}
    files = [tmp_path / name for name in ("bad.json", "good.json")]
    words = [word for file in files for word in ("--client", str(file))]
    files[0].write_text('{"mcpServers": {"a": {"command": "x"}} // mine\n}')
    files[1].write_text(json.dumps({"mcpServers": odd}))
    for command, is_wrapped in (("install", True), ("status", True), ("uninstall", False)):
        shown = run(command, *words, ACCP_STATE_DIR=str(tmp_path))
        assert (shown.exit_code, shown.output.count("this file is no plain JSON")) == (1, 1)
        assert Installation(files[1]).servers() == {"status": True, "five": False, "a": is_wrapped}
    assert files[1].read_text() == json.dumps({"mcpServers": odd})


@pytest.mark.parametrize(
    ("client", "path", "platform", "environment"),
    [
        ("claude-desktop", ".config/Claude/claude_desktop_config.json", "linux", {}),
        ("claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json", "darwin", {}),
        ("claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json", "win32", {}),
        ("cursor", ".cursor/mcp.json", "linux", {}),
        ("vscode", ".config/Code/User/mcp.json", "linux", {}),
        ("vscode", ".config/Code/User/profiles/work/mcp.json", "linux", {}),
        ("claude-code", ".claude.json", "linux", {}),
        ("claude-code", "elsewhere/.claude.json", "linux", {"CLAUDE_CONFIG_DIR": "{home}/elsewhere"}),
    ],
)
def test_the_files_of_clients_are_found(
    client: str, path: str, platform: str, environment: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}")
    given = {name: value.format(home=tmp_path) for name, value in environment.items()}
    settings: dict[str, Any] = {"home": tmp_path, "environment": given, "platform": platform}
    assert client_files(client, **settings) == [file]
    assert client_files(client, project=tmp_path, **settings) in ([], [file])
    assert all(client_files(other, **settings) == [] for other in CLIENTS if other != client)


def run(*words: str, **environment: str) -> Any:
    return CliRunner().invoke(app, ["mcp", *words], env=environment)


def test_the_commands_say_what_becomes_of_each_server_and_show_no_secret(tmp_path: Path) -> None:
    installation = configuration(tmp_path, json.dumps(CURSOR, indent=2))
    file, state = str(installation.path), {"ACCP_STATE_DIR": str(tmp_path / "state")}
    add_saved(tmp_path / "state", "git", Saved(2, 100, 40))
    for words in (["install", "--dry-run"], ["install", "--tool", "get_*=lossless"], ["status"]):
        shown = run(*words, "--client", file, **state)
        assert shown.exit_code == 0, shown.output
        assert "s3cret" not in shown.output
    assert "git: wrapped" in shown.output
    assert "git: 2 results rewritten: 100 tokens became 40 (60.0 % less)" in shown.output
    assert data_of(installation)["mcpServers"]["bare"]["args"][:3] == ["mcp", "--tool", "get_*=lossless"]
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "CLAUDE_CONFIG_DIR": str(tmp_path)}
    assert "the backup, byte for byte" in run("uninstall", **state, **home).output
    assert data_of(installation) == CURSOR


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "expected a command after --, or --url; found none"),
        (["--url", "http://x", "--", "server"], "found both"),
        (["--url", "ftp://x"], "expected a URL that begins with http"),
        (["--url", "http://x", "--header-env", "A=NO_SUCH"], "expected NAME=VARIABLE with a variable that is set"),
        (["--host", "emacs", "--", "x"], "expected 'host' to be one of"),
        (["--listen", "0.0.0.0:80", "--", "x"], "expected 127.0.0.1:PORT or localhost:PORT"),
        (["install", "--client", "no-such"], "expected a configuration file, or one of claude-desktop"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(words: list[str], said: str, tmp_path: Path) -> None:
    shown = run(*words, ACCP_STATE_DIR=str(tmp_path), COLUMNS="300", TERMINAL_WIDTH="300")
    assert shown.exit_code == 2
    assert said in " ".join(shown.output.replace("│", " ").split())


@pytest.mark.skipif(MAJOR < 2, reason="the server that it starts needs mcp 2.x")
def test_a_process_says_what_it_does_and_what_it_saved(tmp_path: Path) -> None:
    sent = LEGACY[0] + LEGACY[1] + ask("tools/call", 5, name="orders", arguments={})
    environment = {**os.environ, "ACCP_STATE_DIR": str(tmp_path)}
    done = subprocess.run([*ACCP, "--", *SERVER], input=sent, env=environment, capture_output=True, timeout=PATIENCE)
    first, *_, last = [line for line in done.stderr.decode().splitlines() if line.startswith("accp mcp: ")]
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [0, 5]
    assert "results become views for every host" in first
    ((server, saved),) = read_saved(tmp_path).items()
    assert server.endswith(" for an unknown host (--host names it)")
    assert (saved.results, saved.faults) == (1, 0) and saved.after < saved.before * 0.6
    assert last == f"accp mcp: {server}: {saved.describe()}"


@pytest.mark.parametrize(("command", "code"), [(["no-such-command"], 1), ([sys.executable, "-c", ""], 0)])
def test_a_server_that_ends_or_does_not_start_ends_the_process(command: list[str], code: int, tmp_path: Path) -> None:
    environment = {**os.environ, "ACCP_STATE_DIR": str(tmp_path)}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*ACCP, "--quiet", "--", *command], env=environment, **pipes) as process:
        # Standard input stays open.
        assert process.wait(PATIENCE) == code
        assert process.stderr is not None
        assert (b"cannot start 'no-such-command'" in process.stderr.read()) == bool(code)


def test_texts_stay_for_a_day_and_not_for_three(tmp_path: Path) -> None:
    now = [86_400.0 * 100]
    store = DayStore(tmp_path / "texts", now=lambda: now[0])
    store.put("s", "k", "text")
    for days, found in ((0.9, "text"), (1.9, "text"), (2.1, None)):
        now[0] = 86_400.0 * (100 + days)
        assert DayStore(tmp_path / "texts", now=lambda: now[0]).get("s", "k") == found
    store.put("s", "k2", "text")
    assert [*store.find("s", "k"), store.get("t", "k2"), store.purge("s")] == ["k2", None, 1]
    assert not list((tmp_path / "texts").glob("texts-100.*"))


def test_the_folder_of_our_state_is_where_the_system_keeps_such(tmp_path: Path) -> None:
    assert state_folder({"ACCP_STATE_DIR": "/x"}) == Path("/x")
    assert state_folder({"XDG_STATE_HOME": "/s"}, "linux") == Path("/s/accp")
    assert state_folder({"LOCALAPPDATA": "/l"}, "win32") == Path("/l/accp")
    assert state_folder({}, "darwin").parts[-3:] == ("Library", "Application Support", "accp")
    assert read_saved(tmp_path) == {}
