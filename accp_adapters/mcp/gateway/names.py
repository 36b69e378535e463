"""The names and URIs of many servers, so that no two meet: each begins with the name of its server.

A name says which server it belongs to, whichever servers are up, and no server can take the name of another one's
tool: a host that was allowed `git__git_status` calls that server's `git_status`, or nothing. Server names have no "__"
and do not end in "_", so that a name can be split in one way only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any, Final

from accp_adapters.mcp.shim.protocol import JsonObject

__all__ = ["Names", "is_server_name", "server_names", "server_of_name", "server_of_uri"]

_SEPARATOR: Final = "__"
_SCHEME: Final = "accp://server/"
_SERVER_NAME: Final = re.compile(r"(?!.*__)[A-Za-z0-9_-]*[A-Za-z0-9-]")
"""What every model API accepts in the name of a tool."""


def is_server_name(name: str) -> bool:
    """Return whether a server may have this name behind a gateway."""
    return _SERVER_NAME.fullmatch(name) is not None


def server_names(given: Sequence[str]) -> dict[str, str]:
    """Return the name behind a gateway of each server of a file, distinct and by the names in the file.

    A name that a server may have stays, so that no other server takes it. In another one, what no name may have becomes
    `-`, and several `_` become one; where the result is taken, a number is added, in the order of the file.
    """
    taken = {name for name in given if is_server_name(name)}
    chosen = {}
    for name in given:
        chosen[name] = name if is_server_name(name) else _free(_replaced(name), taken)
        taken.add(chosen[name])
    return chosen


def _replaced(name: str) -> str:
    return re.sub(r"__+", "_", re.sub(r"[^A-Za-z0-9_-]+", "-", name)).strip("_-") or "server"


def _free(name: str, taken: set[str]) -> str:
    numbered = (f"{name}-{number}" for number in count(2))
    return next(each for each in chain([name], numbered) if each not in taken)


def server_of_name(name: object) -> str:
    """Return the server of a tool or prompt; empty where the name has none."""
    return name.partition(_SEPARATOR)[0] if isinstance(name, str) and _SEPARATOR in name else ""


def server_of_uri(uri: object) -> str:
    """Return the server of a resource; empty where the URI has none."""
    is_ours = isinstance(uri, str) and uri.startswith(_SCHEME)
    return uri.removeprefix(_SCHEME).partition("/")[0] if is_ours and isinstance(uri, str) else ""


@dataclass(frozen=True, slots=True)
class Names:
    """How the names of one server look outside; with an empty prefix they stay as they are."""

    server: str
    is_bare: bool = False

    def name(self, own: str) -> str:
        """Return the name of a tool or prompt as the client knows it."""
        return own if self.is_bare else f"{self.server}{_SEPARATOR}{own}"

    def own_name(self, name: str) -> str:
        """Return the server's own name of a tool or prompt."""
        return name if self.is_bare else name.removeprefix(f"{self.server}{_SEPARATOR}")

    def uri(self, own: str) -> str:
        """Return the URI, or the template, of a resource as the client knows it."""
        return own if self.is_bare else f"{_SCHEME}{self.server}/{own}"

    def own_uri(self, uri: str) -> str:
        """Return the server's own URI of a resource."""
        return uri if self.is_bare else uri.removeprefix(f"{_SCHEME}{self.server}/")

    def named(self, item: Any) -> Any:
        """Return a tool or prompt of a list as the client gets it."""
        return _with(item, "name", self.name)

    def located(self, item: Any) -> Any:
        """Return a resource, a template or the contents of one as the client gets them."""
        return _with(_with(item, "uri", self.uri), "uriTemplate", self.uri)

    def result(self, result: JsonObject) -> JsonObject:
        """Return the result of a call, a prompt or a read with the URIs that the client can read."""
        if self.is_bare:
            return result
        written = dict(result)
        for member, rewrite in (("content", self._block), ("contents", self.located), ("messages", self._message)):
            if isinstance(result.get(member), list):
                written[member] = [rewrite(item) for item in result[member]]
        return written

    def _block(self, block: Any) -> Any:
        if not isinstance(block, dict):
            return block
        if block.get("type") == "resource_link":
            return self.located(block)
        return {**block, "resource": self.located(block.get("resource"))} if "resource" in block else block

    def _message(self, message: Any) -> Any:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            return {**message, "content": [self._block(block) for block in content]}
        return {**message, "content": self._block(content)} if isinstance(content, dict) else message


def _with(item: Any, member: str, change: Callable[[str], str]) -> Any:
    """Return an object whose string `member` is changed; anything else as it is."""
    if isinstance(item, dict) and isinstance(item.get(member), str):
        return {**item, member: change(item[member])}
    return item
