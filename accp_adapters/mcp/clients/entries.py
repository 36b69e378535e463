"""The servers in a client's configuration file.

Claude Desktop, Cursor and Claude Code keep them in `mcpServers`, Claude Code those of one project in
`projects.<folder>.mcpServers`, VS Code in `servers` (and in `mcp.servers` of a settings file).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from accp_adapters.mcp.clients.jsonc import Node, parse_jsonc, refuse

__all__ = ["ClientEntry", "EntryPlace", "entries"]

EntryPlace: TypeAlias = tuple[str, ...]
"""The names that lead from the document to a value."""

_TABLES: Final[tuple[EntryPlace, ...]] = (("mcpServers",), ("servers",), ("mcp", "servers"), ("mcp", "mcpServers"))


@dataclass(frozen=True, slots=True)
class ClientEntry:
    """One server."""

    place: EntryPlace
    node: Node

    @property
    def name(self) -> str:
        """The name that the user gave the server."""
        return self.place[-1]

    def text_of(self, member: str) -> str | None:
        """Return the string of a member, None if there is no such string."""
        found = self.node.members.get(member)
        return found.node.content if found and isinstance(found.node.content, str) else None

    def words_of(self, member: str) -> list[str] | None:
        """Return the strings of an array, none for a missing one; None if it is anything else."""
        found = self.node.members.get(member)
        if found is None:
            return []
        words = [item.content for item in found.node.items]
        is_words = isinstance(found.node.content, list) and all(isinstance(word, str) for word in words)
        return words if is_words else None


def entries(text: str) -> list[ClientEntry]:
    """Return the servers of a configuration file.

    Raises:
        DecodeError: E1001, the text is no JSON with comments, or its servers are no objects.
    """
    root = parse_jsonc(text)
    if not isinstance(root.content, dict):
        refuse(text, root.start, "an object")
    return [entry for place, table in _tables(root) for entry in _servers(text, place, table)]


def _tables(root: Node) -> Iterator[tuple[EntryPlace, Node]]:
    for place in _TABLES:
        if table := _find(root, place):
            yield place, table
    projects = root.members.get("projects")
    for folder, project in projects.node.members.items() if projects else ():
        if table := _find(project.node, ("mcpServers",)):
            yield ("projects", folder, "mcpServers"), table


def _find(node: Node, place: EntryPlace) -> Node | None:
    for name in place:
        member = node.members.get(name)
        if member is None:
            return None
        node = member.node
    return node


def _servers(text: str, place: EntryPlace, table: Node) -> Iterator[ClientEntry]:
    if not isinstance(table.content, dict):
        refuse(text, table.start, "an object with the servers by name")
    for name, member in table.members.items():
        if not isinstance(member.node.content, dict):
            refuse(text, member.node.start, f"an object for the server {name!r}")
        yield ClientEntry((*place, name), member.node)
