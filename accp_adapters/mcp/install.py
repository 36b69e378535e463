"""`accp mcp` put before the servers in a client's configuration file, and taken out again.

Claude Desktop, Cursor and Claude Code keep servers in `mcpServers`, Claude Code those of one project in
`projects.<folder>.mcpServers`, VS Code in `servers` (and in `mcp.servers` of a settings file). Only the text of the
servers that change is written anew. The file as it was is kept beside it, in FILE.accp-backup.
"""

from __future__ import annotations

import json
import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from accp_core.strict_json import read_json

__all__ = ["CLIENTS", "Change", "Installation", "client_files"]

Entry: TypeAlias = dict[str, Any]
"""A server as a configuration file describes it."""

_BY_HAND: Final = (
    '. You can edit it by hand: a wrapped server has "command": "accp", "args": ["mcp", "--", "COMMAND", "ARG", …]'
    ", and without us its own command and arguments"
)
_OWN_WORDS: Final = "left as it is: wrapped by hand"
_INDENT: Final = re.compile(r"\n([ \t]+)")
_MARGIN: Final = re.compile(r"^[ \t]*", re.MULTILINE)
_BETWEEN: Final = re.compile(r"[\s,:]*")
"""What may stand between the keys and values of an object."""
_TABLES: Final = (
    ("mcpServers",), ("servers",), ("mcp", "servers"), ("mcp", "mcpServers"), ("projects", "*", "mcpServers"),
)  # fmt: skip
"""Where servers are, by the keys that lead there; `*`: under any key."""
_DECODER: Final = json.JSONDecoder()

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
    is_change: bool = False
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
        return {each.name: is_wrapped(each.entry) for each in _servers(_read(self.path)[1])}

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
        content, text = _read(self.path)
        bare = _without_us(text, self._originals() or {})
        changes, written = [], {}
        for each in _servers(text):
            if names and each.key not in names:
                continue
            entry = json.loads(bare.get(each, each.text))
            kept = options or (_options_of(each.entry) if is_wrapped(each.entry) else ())
            new, change = _wrapped(each.name, entry, program, kept, is_named=each.key in names)
            if new != each.entry:
                written[each] = _written(new, each, text)
            changes.append(replace(change, is_change=new != each.entry))
        if written and not dry_run:
            _write(self.backup, _encoded(_with(text, bare), content), like=self.path)
            _replace(self.path, content, _encoded(_with(text, written), content))
        return changes

    def uninstall(self) -> tuple[list[Change], bool]:
        """Take our words out of the file; return what changes, and whether the file is again its backup, byte for byte.

        Raises:
            ValueError: The file is not understood; it is untouched.
            OSError: A file cannot be read or written.
        """
        content, text = _read(self.path)
        bare = _without_us(text, self._originals())
        plain = _encoded(_with(text, bare), content)
        is_same = bool(bare) and self.backup.is_file() and self.backup.read_bytes() == plain
        if bare:
            _replace(self.path, content, plain)
            self.backup.unlink(missing_ok=True)
        ours = [
            Change(each.name, "taken out" if each in bare else _OWN_WORDS, is_change=each in bare)
            for each in _servers(text)
            if is_wrapped(each.entry)
        ]
        return ours, is_same

    def _originals(self) -> dict[str, str] | None:
        """Return the text of each server in the backup; None: there is no backup."""
        try:
            return {each.name: each.text for each in _servers(_read(self.backup)[1])} if self.backup.is_file() else None
        except ValueError as error:
            reason = f"expected the backup {self.backup.name!r} whole; delete it and run this again: {error}"
            raise ValueError(reason) from error


def is_wrapped(entry: Any) -> bool:
    """Return whether an entry starts `accp mcp`."""
    words = entry.get("args") if isinstance(entry, dict) else None
    is_ours = isinstance(words, list) and words[:1] == ["mcp"]
    return is_ours and PurePath(str(entry.get("command")).replace("\\", "/")).stem == "accp"


@dataclass(frozen=True, slots=True)
class _Server:
    """A server in the text of a configuration file."""

    name: str
    """Its key, after the folder of its project if it has one."""
    key: str
    start: int
    """Where its entry begins in the text of the file."""
    text: str

    @property
    def entry(self) -> Any:
        return json.loads(self.text)


def _read(path: Path) -> tuple[bytes, str]:
    """Return the content of a file, and its text, which is a JSON object."""
    content = path.read_bytes()
    advice = _BY_HAND if b'"command"' in content else ""
    try:
        text = content.decode("utf-8-sig")
        data = read_json(text)
    except ValueError as error:
        raise ValueError(f"this file is no plain JSON, so nothing was changed: {error}{advice}") from error
    if not isinstance(data, dict):
        raise ValueError(f"expected an object, found {type(data).__name__!r}; nothing was changed")
    return content, text


def _encoded(text: str, like: bytes) -> bytes:
    """Return the bytes of a text, after the mark that `like` has."""
    return text.encode("utf-8-sig" if like.startswith(BOM_UTF8) else "utf-8")


def _servers(text: str) -> Iterator[_Server]:
    for path in _TABLES:
        yield from _below(text, text.index("{"), path, "")


def _below(text: str, at: int, path: Sequence[str], prefix: str) -> Iterator[_Server]:
    """Yield the servers in the tables to which `path` leads from the object that begins at `at`."""
    for key, start, end in _members(text, at):
        if not path:
            yield _Server(f"{prefix}{key}", key, start, text[start:end])
        elif path[0] in ("*", key):
            yield from _below(text, start, path[1:], f"{key}: " if path[0] == "*" else prefix)


def _members(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """Yield each key of the object that begins at `at`, and where its value begins and ends; nothing without one."""
    if text[at] != "{":
        return
    at = _behind(text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _behind(text, at)
        _, end = _DECODER.raw_decode(text, start)
        yield key, start, end
        at = _behind(text, end)


def _behind(text: str, at: int) -> int:
    return _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it may be empty


def _with(text: str, written: Mapping[_Server, str]) -> str:
    """Return the text of a file in which servers have other texts."""
    for each in sorted(written, key=lambda server: server.start, reverse=True):
        text = f"{text[: each.start]}{written[each]}{text[each.start + len(each.text) :]}"
    return text


def _wrapped(name: str, entry: Any, program: str, options: Sequence[str], *, is_named: bool) -> tuple[Any, Change]:
    if not isinstance(entry, dict):
        return entry, Change(name, f"left as it is: expected an object, found {type(entry).__name__!r}")
    words, url = entry.get("args", []), entry.get("url")
    if is_wrapped(entry):
        return entry, Change(name, _OWN_WORDS)
    if isinstance(entry.get("command"), str) and entry["command"] and isinstance(words, list):
        new = {**entry, "command": program, "args": ["mcp", *options, "--", entry["command"], *words]}
        return new, Change(name, "wrapped")
    if not isinstance(url, str):
        return entry, Change(name, "left as it is: expected a command and a list of args, or a URL")
    if entry.get("type") == "sse":
        return entry, Change(name, "left as it is: accp mcp speaks Streamable HTTP, not SSE")
    if entry.get("headers") or not is_named:
        # A client may have to log in to a URL (OAuth), which a command cannot; a header may be a secret.
        how = "accp mcp --url URL --header-env NAME=VARIABLE" if entry.get("headers") else f"name it by --server {name}"
        return entry, Change(name, f"left as it is: a remote server; {how}")
    rest = {key: value for key, value in entry.items() if key not in ("url", "headers", "type")}
    kind = {"type": "stdio"} if "type" in entry else {}
    return {**kind, "command": program, "args": ["mcp", *options, "--url", url], **rest}, Change(name, "wrapped")


def _without_us(text: str, originals: Mapping[str, str] | None) -> dict[_Server, str]:
    """Return the servers that we have wrapped, each with its text without us.

    Where there are originals, one that had our words before, or that is not among them, was wrapped by hand and stays.
    """
    found = {}
    for each in _servers(text):
        original = None if originals is None else originals.get(each.name)
        is_by_hand = originals is not None and (original is None or is_wrapped(json.loads(original)))
        if is_wrapped(each.entry) and not is_by_hand and (bare := _unwrapped(each, original, text)):
            found[each] = bare
    return found


def _options_of(entry: Entry) -> list[str]:
    """Return the options of `accp mcp` in a wrapped entry."""
    words: list[str] = entry["args"]
    return words[1 : words.index("--") if "--" in words else words.index("--url") if "--url" in words else 1]


def _unwrapped(server: _Server, original: str | None, text: str) -> str:
    """Return the text of an entry without our words; empty: they are not those that we write."""
    entry = server.entry
    words: list[Any] = entry["args"]
    if original is not None:
        again, _ = _wrapped("", json.loads(original), entry["command"], _options_of(entry), is_named=True)
        if again == entry:
            return original
    if "--" in words[:-1]:
        command, *rest = words[words.index("--") + 1 :]
        kept = {key: value for key, value in entry.items() if key != "args" or rest}
        return _written({**kept, "command": command} | ({"args": rest} if rest else {}), server, text)
    if "--url" in words[:-1]:
        kept = {key: value for key, value in entry.items() if key not in ("command", "args", "type")}
        kind = {"type": "http"} if "type" in entry else {}
        return _written({**kind, "url": words[words.index("--url") + 1], **kept}, server, text)
    return ""


def _written(entry: Entry, server: _Server, text: str) -> str:
    """Return the text of an entry in the place of `server`: on one line or several as it was, indented like `text`."""
    indent, margin = _INDENT.search(text), _MARGIN.match(text, text.rfind("\n", 0, server.start) + 1)
    unit = indent[1] if indent and "\n" in server.text else None
    written = json.dumps(entry, indent=unit, ensure_ascii=server.text.isascii())
    line_end = "\r\n" if "\r\n" in text else "\n"
    return written.replace("\n", f"{line_end}{margin[0] if margin else ''}")


def _replace(path: Path, expected: bytes, content: bytes) -> None:
    target = path.resolve()
    if target.read_bytes() != expected:
        raise ValueError(f"expected {str(path)!r} as it was read, found that somebody has changed it: run this again")
    _write(target, content, like=target)


def _write(path: Path, content: bytes, *, like: Path) -> None:
    """Write the whole file or nothing. It is as private as `like`, because a configuration may hold keys."""
    fresh = path.with_name(f"{path.name}.accp-new")
    fresh.unlink(missing_ok=True)
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
        fresh.chmod(like.stat().st_mode & 0o777)
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
