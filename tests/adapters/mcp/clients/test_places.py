"""Where clients keep their files on each operating system."""

from __future__ import annotations

from pathlib import Path

import pytest

from accp_adapters.mcp.clients.places import Machine

WINDOWS = {"APPDATA": "AppData/Roaming", "LOCALAPPDATA": "AppData/Local"}


@pytest.mark.parametrize(
    ("platform", "client", "path"),
    [
        ("linux", "claude-desktop", ".config/Claude/claude_desktop_config.json"),
        ("darwin", "claude-desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("linux", "vscode", ".config/Code/User/mcp.json"),
        ("darwin", "vscode", "Library/Application Support/Code - Insiders/User/mcp.json"),
        ("win32", "vscode", "AppData/Roaming/Code/User/profiles/7f/mcp.json"),
        ("win32", "cursor", ".cursor/mcp.json"),
        ("darwin", "claude-code", ".claude.json"),
    ],
)
def test_the_users_file_of_a_client(tmp_path: Path, platform: str, client: str, path: str) -> None:
    file = tmp_path / path
    environment = {name: str(tmp_path / folder) for name, folder in WINDOWS.items()}
    machine = Machine(platform=platform, home=tmp_path, environment=environment, project=tmp_path / "none")
    assert machine.files_of(client) == []
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}", encoding="utf-8")
    assert machine.files_of(client) == [file]
    assert machine.files_of(client, project=True) == []


@pytest.mark.parametrize(
    ("client", "path"), [("vscode", ".vscode/mcp.json"), ("cursor", ".cursor/mcp.json"), ("claude-code", ".mcp.json")]
)
def test_the_file_of_a_project(tmp_path: Path, client: str, path: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(exist_ok=True)
    file.write_text("{}", encoding="utf-8")
    assert Machine(home=tmp_path / "none", environment={}, project=tmp_path).files_of(client, project=True) == [file]


@pytest.mark.parametrize(
    ("platform", "environment", "folder"),
    [
        ("linux", {}, ".local/state/accp"),
        ("linux", {"XDG_STATE_HOME": "/s"}, "/s/accp"),
        ("darwin", {}, "Library/Application Support/accp"),
        ("win32", {}, "AppData/Local/accp"),
        ("linux", {"ACCP_STATE_DIR": "/own", "XDG_STATE_HOME": "/s"}, "/own"),
    ],
)
def test_our_own_folder(tmp_path: Path, platform: str, environment: dict[str, str], folder: str) -> None:
    assert Machine(platform=platform, home=tmp_path, environment=environment).state_folder() == tmp_path / folder


def test_claude_code_may_be_told_another_folder(tmp_path: Path) -> None:
    (tmp_path / ".claude.json").write_text("{}", encoding="utf-8")
    machine = Machine(home=tmp_path / "none", environment={"CLAUDE_CONFIG_DIR": str(tmp_path)})
    assert machine.files_of("claude-code") == [tmp_path / ".claude.json"]
