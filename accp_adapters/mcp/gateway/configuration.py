"""The servers of a gateway, from a configuration file in the form of any of the four clients.

Variables are read as the clients read them: `${NAME}` and `${NAME:-default}` (Claude Code), `${env:NAME}` (Cursor, VS
Code), `${userHome}`. What only an editor knows, such as `${input:…}` or `${workspaceFolder}`, is refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from accp_adapters.mcp.clients.entries import ClientEntry, entries
from accp_adapters.mcp.clients.jsonc import refuse
from accp_adapters.mcp.gateway.names import server_names

__all__ = ["ServerSettings", "read_servers"]

_VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")
_NAME: Final = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
_UNKNOWN: Final = ("envFile", "headersHelper", "oauth", "auth")
_HTTP: Final = ("http", "streamable-http", "streamableHttp")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How one server is reached: a command, or a URL."""

    name: str
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables beside those of this process."""
    folder: str | None = None
    """Where the command runs; None: where this process runs."""
    url: str = ""
    headers: Sequence[tuple[bytes, bytes]] = ()
    given_name: str = ""
    """The name in the file, where no server behind a gateway may have it."""


def read_servers(text: str, environment: Mapping[str, str]) -> list[ServerSettings]:
    """Return the servers of a configuration file that are not disabled, each with a name that tools may begin with.

    Args:
        text: The file.
        environment: The environment variables.

    Raises:
        DecodeError: E1001, the file is not understood, or has no server, one that cannot be behind a gateway, or two
            of one name.
    """
    written = entries(text)
    found = [entry for entry in written if not _is_disabled(entry)]
    if not found:
        refuse(text, 0, "mcpServers or servers with at least one server")
    for name, count in Counter(entry.name for entry in found).items():
        if count > 1:
            refuse(text, next(e for e in found if e.name == name).node.start, f"each name once, not twice {name!r}")
    # A disabled server keeps its name: the others do not change with it.
    names = server_names([entry.name for entry in written])
    return [_named(_settings(entry, text, environment), names[entry.name]) for entry in found]


def _named(settings: ServerSettings, name: str) -> ServerSettings:
    return settings if name == settings.name else replace(settings, name=name, given_name=settings.name)


def _is_disabled(entry: ClientEntry) -> bool:
    member = entry.node.members.get("disabled")
    return member is not None and member.node.content is True


def _settings(entry: ClientEntry, text: str, environment: Mapping[str, str]) -> ServerSettings:
    position = entry.node.start
    for unknown in _UNKNOWN:
        if unknown in entry.node.members:
            refuse(text, entry.node.members[unknown].start, f"no {unknown}, which only its client understands")
    read = _Reader(entry, text, environment)
    command, url = read.string("command"), read.string("url")
    if command:
        words = [command, *(read.expand(word, position) for word in entry.words_of("args") or [])]
        if entry.words_of("args") is None:
            refuse(text, entry.node.members["args"].node.start, "an array of strings")
        return ServerSettings(entry.name, words, read.strings("env"), read.string("cwd") or None)
    if not url.startswith(("http://", "https://")) or (read.string("type") or "http") not in _HTTP:
        refuse(text, position, "a command, or the http or https url of a server of type http")
    headers = [(name.lower().encode(), value.encode()) for name, value in read.strings("headers").items()]
    return ServerSettings(entry.name, url=url, headers=headers)


@dataclass(frozen=True, slots=True)
class _Reader:
    """The members of one entry, with their variables replaced."""

    entry: ClientEntry
    text: str
    environment: Mapping[str, str]

    def string(self, member: str) -> str:
        """Return the string of a member, empty if there is none."""
        found = self.entry.text_of(member)
        return self.expand(found, self.entry.node.members[member].node.start) if found else ""

    def strings(self, member: str) -> dict[str, str]:
        """Return the strings of an object by name, none if there is no such member."""
        found = self.entry.node.members.get(member)
        values: dict[str, str] = {}
        for name, each in found.node.members.items() if found else ():
            if not isinstance(each.node.content, str):
                refuse(self.text, each.node.start, "a string")
            values[name] = self.expand(each.node.content, each.node.start)
        return values

    def expand(self, word: str, position: int) -> str:
        """Return `word` with the values of its variables."""
        return _VARIABLE.sub(lambda match: self._value(match.group(1), position), word)

    def _value(self, variable: str, position: int) -> str:
        if variable == "userHome":
            return str(Path.home())
        match = _NAME.fullmatch(variable)
        value = self.environment.get(match.group(1), match.group(2)) if match else None
        if value is None:
            refuse(self.text, position, f"a variable that is set, for '${{{variable}}}'")
        return value
