"""Our words put before the servers of real configuration files, and taken out again."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.mcp.clients.changes import unwrap_text, wrap_text
from accp_adapters.mcp.clients.entries import entries
from accp_adapters.mcp.clients.installation import Installation, installed_files
from accp_core.errors import DecodeError
from tests.adapters.mcp.clients.configurations import (
    CLAUDE_CODE,
    CLAUDE_DESKTOP,
    CONFIGURATIONS,
    CURSOR,
    VSCODE,
)  # fmt: skip

ACCP = "/opt/accp/bin/accp"


@pytest.fixture(params=CONFIGURATIONS.values(), ids=list(CONFIGURATIONS))
def installation(request: pytest.FixtureRequest, tmp_path: Path) -> Installation:
    return written(tmp_path, request.param)


def written(folder: Path, text: str) -> Installation:
    path = folder / "config.json"
    path.write_bytes(text.encode())
    return Installation(path, folder / "state")


def server(text: str, *place: str) -> Any:
    return next(entry.node.value for entry in entries(text) if entry.place == place)


def outcomes(changes: Any) -> dict[str, str]:
    return {".".join(change.place): change.outcome for change in changes}


def test_uninstalling_restores_every_byte(installation: Installation) -> None:
    before = installation.path.read_bytes()
    assert "wrapped" in outcomes(installation.install(ACCP)).values()
    assert installation.path.read_bytes() != before
    assert installation.backup.read_bytes() == before
    assert installed_files(installation.state) == [installation.path]
    changes, is_restored = installation.uninstall()
    assert (set(outcomes(changes).values()), is_restored) == ({"unwrapped"}, True)
    assert installation.path.read_bytes() == before
    assert not installation.backup.exists()
    assert installed_files(installation.state) == []
    assert installation.uninstall() == ([], False)


def test_installing_twice_is_installing_once(installation: Installation) -> None:
    installation.install(ACCP)
    once, backup = installation.path.read_bytes(), installation.backup.read_bytes()
    assert set(outcomes(installation.install(ACCP)).values()) == {"unchanged"}
    assert (installation.path.read_bytes(), installation.backup.read_bytes()) == (once, backup)


def test_a_dry_run_writes_nothing(installation: Installation) -> None:
    before = installation.path.read_bytes()
    assert "wrapped" in outcomes(installation.install(ACCP, dry_run=True)).values()
    assert (installation.path.read_bytes(), installation.state.exists()) == (before, False)
    installation.install(ACCP)
    wrapped = installation.path.read_bytes()
    installation.uninstall(dry_run=True)
    assert installation.path.read_bytes() == wrapped


def test_edits_of_the_user_survive_and_only_our_words_go(installation: Installation) -> None:
    before = installation.path.read_bytes().decode()
    installation.install(ACCP)
    edited = installation.path.read_bytes().decode() + "\n\n"
    installation.path.write_bytes(edited.encode())
    changes, is_restored = installation.uninstall()
    assert (set(outcomes(changes).values()), is_restored) == ({"unwrapped"}, False)
    assert installation.path.read_bytes().decode() == before + "\n\n"


def test_a_file_that_the_client_wrote_anew_and_a_lost_record_still_lose_our_words(installation: Installation) -> None:
    before = [entry.node.value for entry in entries(installation.path.read_bytes().decode())]
    installation.install(ACCP)
    document = {".".join(e.place): e for e in entries(installation.path.read_bytes().decode())}
    anew = json.dumps({"mcpServers": {name: entry.node.value for name, entry in document.items()}}, indent=2)
    bare, changes = unwrap_text(anew, [])
    assert "left" not in outcomes(changes).values()
    assert [_with_args(entry.node.value) for entry in entries(bare)] == list(map(_with_args, before))


def _with_args(value: dict[str, Any]) -> dict[str, Any]:
    """Return an entry in which no args are an empty array."""
    return value if "url" in value else {"args": []} | value


def test_a_command_keeps_everything_but_its_first_words() -> None:
    text = wrap_text(CURSOR, ACCP).text
    assert server(text, "mcpServers", "local tools") == {
        "type": "stdio",
        "command": ACCP,
        "args": [
            "mcp", "--name=local tools", "--", "${workspaceFolder}/.venv/bin/python",
            "-m", "tools.server", "--", "--verbose",
        ],
        "envFile": "${workspaceFolder}/.env",
    }  # fmt: skip
    assert server(text, "mcpServers", "bare") == {"command": ACCP, "args": ["mcp", "--name=bare", "--", "my-server"]}


def test_the_headers_of_a_remote_server_are_variables_and_comments_stay() -> None:
    text = wrap_text(VSCODE, ACCP).text
    assert server(text, "servers", "github") == {
        "type": "stdio",
        "command": ACCP,
        "args": [
            "mcp", "--name=github", "--url", "https://api.githubcopilot.com/mcp/",
            "--header-env", "Authorization=ACCP_SERVER_HEADER_1", "--header-env", "X-MCP-Toolsets=ACCP_SERVER_HEADER_2",
        ],
        "env": {"ACCP_SERVER_HEADER_1": "Bearer ${input:gh-token}", "ACCP_SERVER_HEADER_2": "repos,issues"},
    }  # fmt: skip
    assert all(comment in text for comment in ("// Servers", "/* A local", "// from npm", "/* no version", "// asked"))
    assert text.replace("\r\n", "").count("\n") == 0


def test_a_url_with_a_key_is_a_variable() -> None:
    entry = server(wrap_text(CURSOR, ACCP).text, "mcpServers", "tavily")
    assert "do-not-show" not in str(entry["args"])
    assert entry["env"]["ACCP_SERVER_URL"].endswith("do-not-show")


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        (CURSOR, "figma", "it has no headers"),
        (VSCODE, "old", "expected the type http, found 'sse'"),
        (CLAUDE_CODE, "internal", "(headersHelper)"),
        ('{"mcpServers": {"a": {}}}', "a", "neither a command nor a url"),
        ('{"mcpServers": {"a": {"command": "b", "args": "c"}}}', "a", "its args"),
        ('{"mcpServers": {"a": {"url": "http://b/", "env": {}}}}', "a", "also args or env"),
        ('{"mcpServers": {"a": {"url": "http://b/", "headers": {"c": 1}}}}', "a", "its headers"),
        ('{"mcpServers": {"a": {"command": "accp", "args": ["mcp", "--", "b"]}}}', "a", "already"),
    ],
)
def test_what_cannot_be_wrapped_stays_and_says_why(text: str, name: str, reason: str) -> None:
    wrapped = wrap_text(text, ACCP)
    change = next(change for change in wrapped.changes if change.place[-1] == name)
    assert (change.outcome, reason in change.reason) == ("unchanged", True)
    assert server(wrapped.text, *change.place) == server(text, *change.place)


def test_only_the_named_servers_are_wrapped_and_a_name_is_enough_for_a_url(tmp_path: Path) -> None:
    installation = written(tmp_path, CURSOR)
    assert outcomes(installation.install(ACCP, names=["figma"])) == {"mcpServers.figma": "wrapped"}
    assert outcomes(installation.install(ACCP, names=["bare"]))["mcpServers.bare"] == "wrapped"
    assert installation.backup.read_bytes() == CURSOR.encode()
    installation.uninstall(names=["figma"])
    text = installation.path.read_bytes().decode()
    assert server(text, "mcpServers", "figma") == {"url": "http://127.0.0.1:3845/mcp"}
    assert server(text, "mcpServers", "bare")["command"] == ACCP
    installation.uninstall()
    assert installation.path.read_bytes() == CURSOR.encode()


def test_a_server_added_later_is_wrapped_and_stays_when_we_go(tmp_path: Path) -> None:
    installation = written(tmp_path, CLAUDE_DESKTOP)
    installation.install(ACCP)
    added = '"mcpServers": {\n    "time": {"command": "uvx", "args": ["mcp-server-time"]},'
    text = installation.path.read_bytes().decode().replace('"mcpServers": {', added)
    installation.path.write_bytes(text.encode())
    assert outcomes(installation.install(ACCP))["mcpServers.time"] == "wrapped"
    assert installation.uninstall()[1]
    assert installation.path.read_bytes().decode() == CLAUDE_DESKTOP.replace('"mcpServers": {', added)


def test_an_argument_added_to_a_wrapped_server_stays(tmp_path: Path) -> None:
    installation = written(tmp_path, CLAUDE_CODE)
    installation.install(ACCP)
    text = installation.path.read_bytes().decode()
    installation.path.write_bytes(text.replace('"mcp-server-git"]', '"mcp-server-git", "--verbose"]').encode())
    changes, _ = installation.uninstall()
    assert [change.reason for change in changes if change.reason] == ["edited since it was wrapped"]
    assert installation.path.read_bytes().decode() == CLAUDE_CODE.replace(
        '"mcp-server-git"]', '"mcp-server-git", "--verbose"]'
    )


@pytest.mark.parametrize(
    "entry",
    [
        '{"command": "accp", "args": ["mcp", "--", "uvx"]}',
        '{"command": "accp", "args": ["mcp", "--name=a", "--"]}',
        '{"command": "accp", "args": ["mcp", "--name=a", "--url", "http://b/"], "env": {"MINE": "1"}}',
        '{"command": "accp", "args": ["mcp", "--name=a"]}',
    ],
)
def test_what_a_person_wrote_is_left(entry: str) -> None:
    text = f'{{"mcpServers": {{"a": {entry}}}}}'
    bare, changes = unwrap_text(text, [])
    assert (bare, outcomes(changes)) == (text, {"mcpServers.a": "left"})


@pytest.mark.parametrize("content", [b'{"mcpServers": {', b'{"mcpServers": {"a": "\xff"}}', b"\xff\xfe{\x00}\x00"])
def test_a_file_that_is_not_understood_is_untouched(tmp_path: Path, content: bytes) -> None:
    installation = written(tmp_path, "")
    installation.path.write_bytes(content)
    for change in (lambda: installation.install(ACCP), installation.uninstall):
        with pytest.raises(DecodeError) as refused:
            change()
        assert refused.value.code == "E1001"
    assert (installation.path.read_bytes(), installation.state.exists()) == (content, False)


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_and_links_stay_and_what_is_ours_is_private(tmp_path: Path) -> None:
    target = written(tmp_path, CURSOR).path
    target.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    installation = Installation(link, tmp_path / "state")
    installation.install(ACCP)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert ACCP in target.read_text(encoding="utf-8")
    own = [path for path in installation.state.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in own} == {0o600}
    installation.uninstall()
    assert target.read_bytes() == CURSOR.encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", "link.json", "state"]


def test_a_file_that_changes_meanwhile_is_untouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installation = written(tmp_path, CURSOR)
    counts = iter(range(10))
    with monkeypatch.context() as patched, pytest.raises(OSError, match="another program"):
        patched.setattr(Path, "read_bytes", lambda _: CURSOR.encode() + b" " * next(counts))
        installation.install(ACCP)
    assert installation.path.read_bytes() == CURSOR.encode()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_file_that_was_wrapped_by_hand_too_is_not_said_to_be_the_backup(tmp_path: Path) -> None:
    by_hand = wrap_text('{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}', ACCP, names=["a"])
    installation = written(tmp_path, by_hand.text)
    assert outcomes(installation.install(ACCP)) == {"mcpServers.a": "unchanged", "mcpServers.b": "wrapped"}
    changes, is_restored = installation.uninstall()
    assert (set(outcomes(changes).values()), is_restored) == ({"unwrapped"}, False)
    assert server(installation.path.read_text(), "mcpServers", "a") == {"command": "x", "args": []}


def test_a_program_that_moved_is_said_to_be_written_again(tmp_path: Path) -> None:
    installation = written(tmp_path, '{"mcpServers": {"a": {"command": "x"}}}')
    installation.install("/old/accp")
    assert outcomes(installation.install(ACCP)) == {"mcpServers.a": "rewritten"}
    assert server(installation.path.read_text(), "mcpServers", "a")["command"] == ACCP
    assert outcomes(installation.install(ACCP)) == {"mcpServers.a": "unchanged"}


def test_every_name_of_a_file_keeps_seeing_it(tmp_path: Path) -> None:
    installation = written(tmp_path, '{"mcpServers": {"a": {"command": "x"}}}')
    other = tmp_path / "other.json"
    os.link(installation.path, other)
    installation.install(ACCP)
    assert other.read_bytes() == installation.path.read_bytes()
    assert other.samefile(installation.path)
