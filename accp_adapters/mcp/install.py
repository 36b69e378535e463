"""`accp mcp` put before the servers in a client's configuration file, and taken out again.

Claude Desktop, Cursor and Claude Code keep servers in `mcpServers`, Claude Code those of one project in
`projects.<folder>.mcpServers`, VS Code in `servers` (and in `mcp.servers` of a settings file). The file as it was is
kept beside it, in FILE.accp-backup.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accp_core.strict_json import read_json

__all__ = ["CLIENTS", "Change", "Installation", "client_files", "undo_by_hand"]

Entry: TypeAlias = dict[str, Any]
"""A server as a configuration file describes it."""

_BY_HAND: Final = (
    'You can edit it by hand: a wrapped server has "command": "accp", "args": ["mcp", "--", "COMMAND", "ARG", …], and '
    "without us its own command and arguments"
)
_OWN_WORDS: Final = "left as it is: wrapped by hand"
_INDENT: Final = re.compile(r"\n([ \t]+)")

CLIENTS: Final[Mapping[str, tuple[Sequence[str], Sequence[str]]]] = MappingProxyType(
    {
        # https://modelcontextprotocol.io/quickstart/user
        "claude-desktop": (("{settings}/Claude/claude_desktop_config.json",), ()),
        # https://cursor.com/docs/mcp
        "cursor": (("{home}/.cursor/mcp.json",), (".cursor/mcp.json",)),
        # https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
        "vscode": (
            tuple(f"{{settings}}/{name}/User/{file}" for name in ("Code", "Code - Insiders") for file in
                  ("mcp.json", "profiles/*/mcp.json")),
            (".vscode/mcp.json",),
        ),
        # https://code.claude.com/docs/en/mcp
        "claude-code": (("{claude}/.claude.json",), (".mcp.json",)),
    }
)  # fmt: skip
"""Each client by its name, with patterns of the paths of its user's files and of a project's."""


def client_files(
    client: str,
    *,
    project: Path | None = None,
    home: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
) -> list[Path]:
    """Return the existing configuration files of a client: the user's, or those of a `project` folder."""
    home = home or Path.home()
    settings = {
        "darwin": home / "Library" / "Application Support",
        "win32": Path(environment.get("APPDATA") or home / "AppData" / "Roaming"),
    }.get(platform) or Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    claude = environment.get("CLAUDE_CONFIG_DIR") or home
    user, projects = CLIENTS[client]
    found: list[Path] = []
    for pattern in user if project is None else projects:
        path = Path(pattern.format(home=home, settings=settings, claude=claude))
        anchor = Path(path.anchor) if path.is_absolute() else (project or Path())
        found += sorted(each for each in anchor.glob(str(path.relative_to(path.anchor))) if each.is_file())
    return found


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of one server."""

    server: str
    """Its name, after the folder of its project if it has one."""
    outcome: str
    """In words, such as "wrapped"."""
    is_change: bool = True
    """Whether its entry in the file changes."""


@dataclass(frozen=True, slots=True)
class Installation:
    """One configuration file."""

    path: Path

    @property
    def backup(self) -> Path:
        """The file that holds the configuration as it is without us."""
        return self.path.with_name(f"{self.path.name}.accp-backup")

    def servers(self) -> dict[str, bool]:
        """Return whether each server of the file is wrapped, by its name.

        Raises:
            ValueError: The file is not understood.
            OSError: It cannot be read.
        """
        return {name: is_wrapped(table[key]) for name, table, key in _entries(_read(self.path)[1])}

    def install(
        self, program: str, *, names: Collection[str] = (), options: Sequence[str] = (), dry_run: bool = False
    ) -> list[Change]:
        """Put `program` before the command of each server in the file.

        A server that was wrapped by hand stays as it is.

        Args:
            program: The path of this program.
            names: The servers; empty: all that a command starts.
            options: Options of `accp mcp`, such as "--fetch"; none: those that a wrapped server has.
            dry_run: Whether nothing is written.

        Raises:
            ValueError: The file is not understood; it is untouched, and the reason has the words to paste.
            OSError: A file cannot be read or written.
        """
        content, data = _read(self.path)
        bare = deepcopy(data)
        _unwrap_all(bare, self._originals())
        changes = []
        for (name, table, key), (_, new, _) in zip(_entries(data), list(_entries(bare)), strict=True):
            if names and key not in names:
                new[key] = table[key]
                continue
            kept = options or (_options_of(table[key]) if is_wrapped(table[key]) else ())
            new[key], change = _wrapped(name, new[key], program, kept, is_named=key in names)
            changes.append(change if new[key] != table[key] else Change(name, change.outcome, is_change=False))
        if not dry_run and bare != data:
            self._keep_backup(content, data)
            _replace(self.path, content, _written(bare, content))
        return changes

    def uninstall(self, *, dry_run: bool = False) -> tuple[list[Change], bool]:
        """Take our words out of the file; return what changes, and whether the file is again its backup, byte for byte.

        Raises:
            ValueError: The file is not understood; it is untouched.
            OSError: A file cannot be read or written.
        """
        content, data = _read(self.path)
        changes = _unwrap_all(data, self._originals() if self.backup.is_file() else None)
        is_same = self.backup.is_file() and _read(self.backup)[1] == data
        if changes and not dry_run:
            _replace(self.path, content, self.backup.read_bytes() if is_same else _written(data, content))
            self.backup.unlink(missing_ok=True)
        left = [
            Change(name, _OWN_WORDS, is_change=False) for name, table, key in _entries(data) if is_wrapped(table[key])
        ]
        return [*changes, *left], is_same and bool(changes)

    def _keep_backup(self, content: bytes, data: Any) -> None:
        """Write the file as it is without us, unless the backup says the same."""
        bare = json.loads(content)
        was_wrapped = bool(_unwrap_all(bare, self._originals()))
        if self.backup.is_file() and _read(self.backup)[1] == bare:
            return
        _write_private(self.backup, _written(bare, content) if was_wrapped else content, like=self.path)

    def _originals(self) -> dict[str, Entry]:
        if not self.backup.is_file():
            return {}
        return {name: table[key] for name, table, key in _entries(_read(self.backup)[1])}


def undo_by_hand(installation: Installation) -> str:
    """Return how to undo an installation where this program is gone."""
    return f"to undo it by hand, move {installation.backup} to {installation.path}"


def is_wrapped(entry: Entry) -> bool:
    """Return whether an entry starts `accp mcp`."""
    words = entry.get("args")
    name = PurePath(str(entry.get("command")).replace("\\", "/")).stem
    return name == "accp" and isinstance(words, list) and words[:1] == ["mcp"]


def _read(path: Path) -> tuple[bytes, Any]:
    content = path.read_bytes()
    try:
        data = read_json(content.decode("utf-8-sig"))
    except ValueError as error:
        raise ValueError(f"this file is no plain JSON, so nothing was changed: {error}. {_BY_HAND}") from error
    _check(data)
    return content, data


def _check(data: Any) -> None:
    if not isinstance(data, dict):
        raise ValueError(f"expected an object, found {type(data).__name__!r}; nothing was changed")
    for name, table, key in _entries(data):
        if not isinstance(table[key], dict):
            raise ValueError(f"expected an object for the server {name!r}, found {table[key]!r}; nothing was changed")


def _entries(data: Any) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the name of each server, the table in which it is, and its key there."""
    projects = data.get("projects")
    inner = data.get("mcp")
    tables = [("", data.get("mcpServers")), ("", data.get("servers"))]
    if isinstance(inner, dict):
        tables += [("", inner.get("servers")), ("", inner.get("mcpServers"))]
    if isinstance(projects, dict):
        tables += [(f"{folder}: ", each.get("mcpServers")) for folder, each in projects.items() if type(each) is dict]
    for prefix, table in tables:
        if isinstance(table, dict):
            yield from ((f"{prefix}{key}", table, key) for key in list(table))


def _wrapped(name: str, entry: Entry, program: str, options: Sequence[str], *, is_named: bool) -> tuple[Entry, Change]:
    words, url = entry.get("args", []), entry.get("url")
    if is_wrapped(entry):
        return entry, Change(name, _OWN_WORDS, is_change=False)
    if isinstance(entry.get("command"), str) and isinstance(words, list):
        new = {**entry, "command": program, "args": ["mcp", *options, "--", entry["command"], *words]}
        return new, Change(name, "wrapped")
    if not isinstance(url, str):
        return entry, Change(name, "left as it is: it has neither a command nor a URL", is_change=False)
    if entry.get("type") == "sse":
        reason = "left as it is: accp mcp speaks Streamable HTTP, and this is SSE, which went before it"
        return entry, Change(name, reason, is_change=False)
    if entry.get("headers") or not is_named:
        # A client may have to log in to a URL (OAuth), which a command cannot; a header may be a secret.
        how = "accp mcp --url URL --header-env NAME=VARIABLE" if entry.get("headers") else f"name it by --server {name}"
        return entry, Change(name, f"left as it is: a remote server; {how}", is_change=False)
    rest = {key: value for key, value in entry.items() if key not in ("url", "headers", "type")}
    kind = {"type": "stdio"} if "type" in entry else {}
    return {**kind, "command": program, "args": ["mcp", *options, "--url", url], **rest}, Change(name, "wrapped")


def _unwrap_all(data: Any, originals: Mapping[str, Entry] | None) -> list[Change]:
    """Take our words out of the entries of `data`; return the servers that had them.

    Where there are originals, one that had our words before, or that is not among them, was wrapped by hand and stays.
    """
    changes = []
    for name, table, key in _entries(data):
        original = None if originals is None else originals.get(name)
        is_by_hand = originals is not None and (original is None or is_wrapped(original))
        if is_wrapped(table[key]) and not is_by_hand:
            table[key] = _unwrapped(table[key], original)
            changes.append(Change(name, "taken out"))
    return changes


def _options_of(entry: Entry) -> list[str]:
    """Return the options of `accp mcp` in a wrapped entry."""
    words: list[str] = entry["args"]
    return words[1 : words.index("--") if "--" in words else words.index("--url") if "--url" in words else 1]


def _unwrapped(entry: Entry, original: Entry | None) -> Entry:
    words: list[Any] = entry["args"]
    again = original and _wrapped("", original, entry["command"], _options_of(entry), is_named=True)[0]
    if original is not None and again == entry:
        return original
    if "--" in words and len(words) > words.index("--") + 1:
        command, *rest = words[words.index("--") + 1 :]
        return {**{key: value for key, value in entry.items() if key != "args" or rest}, "command": command} | (
            {"args": rest} if rest else {}
        )
    if "--url" in words[:-1]:
        kept = {key: value for key, value in entry.items() if key not in ("command", "args", "type")}
        kind = {"type": "http"} if "type" in entry else {}
        return {**kind, "url": words[words.index("--url") + 1], **kept}
    raise ValueError(f"expected args as accp mcp install writes them, found {words!r}; nothing was changed")


def _written(data: Any, like: bytes) -> bytes:
    """Return the text of `data` with the indent, the line ends and the last line feed of another text."""
    text = like.decode("utf-8-sig")
    indent = _INDENT.search(text)
    written = json.dumps(data, indent=indent[1] if indent else None, ensure_ascii=False)
    written += "\n" if text.endswith("\n") else ""
    return (written.replace("\n", "\r\n") if "\r\n" in text else written).encode()


def _replace(path: Path, expected: bytes, content: bytes) -> None:
    target = path.resolve()
    if target.read_bytes() != expected:
        raise ValueError(f"expected {str(path)!r} as it was read, found that somebody has changed it: run this again")
    fresh = target.with_name(f"{target.name}.accp-new")
    _write_private(fresh, content, like=target)
    os.replace(fresh, target)


def _write_private(path: Path, content: bytes, *, like: Path) -> None:
    """Write a file that nobody can read who cannot read `like`: a configuration may hold keys."""
    path.unlink(missing_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    path.chmod(like.stat().st_mode & 0o777)
