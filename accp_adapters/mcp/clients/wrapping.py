"""`accp mcp` put before the server of one entry, and taken away again, by edits inside the entry.

A command becomes `accp mcp --name=NAME -- COMMAND ARGS…`. A URL becomes `accp mcp --name=NAME --url URL`; its headers
become environment variables, since every user of a machine sees the words of a command. Every other member, such as
`env`, `cwd`, `envFile` or `disabled`, stays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlsplit

from accp_adapters.mcp.clients.entries import ClientEntry
from accp_adapters.mcp.clients.jsonc import Edit, Member, refuse

__all__ = ["is_wrapped", "obstacle", "unwrap", "wrap"]

_MARK: Final = "--name="
"""How `install` begins the words that it writes after "mcp"."""
_URL_VARIABLE: Final = "ACCP_SERVER_URL"
_HEADER_VARIABLE: Final = "ACCP_SERVER_HEADER_"
_HTTP: Final = frozenset({"http", "streamable-http", "streamableHttp"})
_LOGINS: Final = ("headersHelper", "oauth", "auth")
"""Members by which a client itself gets the credentials of a remote server."""


def is_wrapped(entry: ClientEntry) -> bool:
    """Return whether an entry starts `accp mcp`, as `install` or a person wrote it."""
    words, command = entry.words_of("args") or [], entry.text_of("command") or ""
    program = command.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    return words[:1] == ["mcp"] and (program == "accp" or _is_ours(words))


def _is_ours(words: list[str]) -> bool:
    return words[:1] == ["mcp"] and len(words) > 1 and words[1].startswith(_MARK)


def obstacle(entry: ClientEntry, *, is_named: bool) -> str:
    """Return why an entry cannot be wrapped, empty if it can.

    Args:
        entry: The server.
        is_named: Whether the user named this server, so that it is wrapped even if it may have to log in.
    """
    if entry.text_of("command") is not None:
        return "" if entry.words_of("args") is not None else "its args are not an array of strings"
    if entry.text_of("url") is None:
        return "it has neither a command nor a url"
    return _remote_obstacle(entry, is_named=is_named)


def _remote_obstacle(entry: ClientEntry, *, is_named: bool) -> str:
    members = entry.node.members
    kind = entry.text_of("type") or ("http" if "type" not in members else "")
    if kind not in _HTTP:
        return f"expected the type http, found {kind!r}"
    if {"args", "env"} & members.keys():
        return "it has a url and also args or env"
    if login := [name for name in _LOGINS if name in members]:
        return f"the client gets its credentials ({login[0]}), which a command cannot"
    headers = members.get("headers")
    if headers and not all(isinstance(member.node.content, str) for member in headers.node.members.values()):
        return "its headers are not strings"
    if not (headers and headers.node.members) and not is_named:
        return "it has no headers, so the client may have to log in (OAuth), which a command cannot; name it to wrap it"
    return ""


def wrap(entry: ClientEntry, text: str, command: str, options: Sequence[str] = ()) -> list[Edit]:
    """Return the edits that put `command`, the path of this program, before the server of an entry without obstacle.

    `options` are options of `accp mcp`, those without a value last.
    """
    is_command = "command" in entry.node.members
    return list(_wrap_command(entry, text, command, options) if is_command else _wrap_url(entry, command, options))


def _wrap_command(entry: ClientEntry, text: str, command: str, options: Sequence[str]) -> Iterator[Edit]:
    members = entry.node.members
    old, args = members["command"].node, members.get("args")
    words = _words(["mcp", f"{_MARK}{entry.name}", *options, "--"]) + f", {text[old.start : old.end]}"
    if args is None:
        yield old.start, old.end, f'{_word(command)}, "args": [{words}]'
        return
    start = args.node.start + 1
    blank = "" if text[start : start + 1].isspace() else " "
    yield old.start, old.end, _word(command)
    yield start, start, f"{words},{blank}" if args.node.items else words


def _wrap_url(entry: ClientEntry, command: str, options: Sequence[str]) -> Iterator[Edit]:
    members = entry.node.members
    url, headers, kind = members["url"], members.get("headers"), members.get("type")
    words, variables = _remote_words(entry)
    written = f'"command": {_word(command)}, "args": [{_words([*words, *options])}]'
    hidden = f"{_word(_URL_VARIABLE)}: {_word(url.node.content)}" if _is_secret(url.node.content) else ""
    if hidden and headers is None:
        written += f', "env": {{{hidden}}}'
    yield url.start, url.node.end, written
    if kind is not None:
        yield kind.node.start, kind.node.end, _word("stdio")
    if headers is not None:
        yield headers.start, headers.name_end, _word("env")
        for member, variable in zip(headers.node.members.values(), variables, strict=True):
            yield member.start, member.name_end, _word(variable)
        if hidden:
            comma = ", " if headers.node.members else ""
            yield headers.node.start + 1, headers.node.start + 1, f"{hidden}{comma}"


def _remote_words(entry: ClientEntry) -> tuple[list[str], list[str]]:
    """Return the words after the command, and the variable of each header."""
    url, headers = entry.text_of("url") or "", entry.node.members.get("headers")
    names = list(headers.node.members) if headers else []
    variables = [f"{_HEADER_VARIABLE}{number}" for number in range(1, len(names) + 1)]
    words = ["mcp", f"{_MARK}{entry.name}", *(["--url-env", _URL_VARIABLE] if _is_secret(url) else ["--url", url])]
    for name, variable in zip(names, variables, strict=True):
        words += ["--header-env", f"{name}={variable}"]
    return words, variables


def _is_secret(url: str) -> bool:
    """Return whether a URL has a part that may hold a key: user information or a query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return True
    return bool(parts.query or parts.username or parts.password)


def unwrap(entry: ClientEntry, text: str) -> list[Edit]:
    """Return the edits that take our words out of an entry that a client or a person has changed since.

    Raises:
        DecodeError: E1001, what is ours in the entry cannot be told from what is not.
    """
    words = entry.words_of("args") or []
    if not _is_ours(words):
        refuse(text, entry.node.start, "args as accp mcp install writes them")
    return list(_unwrap_command(entry, text, words) if "--" in words else _unwrap_url(entry, text, words))


def _unwrap_command(entry: ClientEntry, text: str, words: list[str]) -> Iterator[Edit]:
    members, first = entry.node.members, words.index("--") + 1
    items = members["args"].node.items
    if first >= len(items):
        refuse(text, members["args"].node.start, "the server's command after '--'")
    old, end = members["command"].node, items[first].end
    yield old.start, old.end, text[items[first].start : items[first].end]
    if first + 1 < len(items):
        end = text.index(",", end) + 1
        # The blank that `wrap` wrote, not the layout of the file.
        end += text[end : end + 1] == " " and not text[end + 1 : end + 2].isspace()
    yield items[0].start, end, ""


def _unwrap_url(entry: ClientEntry, text: str, words: list[str]) -> Iterator[Edit]:
    members = entry.node.members
    options = list(zip(words[2::2], words[3::2], strict=False))
    names = {
        variable: name for key, word in options if key == "--header-env" for name, _, variable in [word.partition("=")]
    }
    env = members.get("env")
    given = env.node.members if env else {}
    hidden = given[_URL_VARIABLE].node.content if _URL_VARIABLE in given else None
    url = dict(options).get("--url", hidden)
    if not isinstance(url, str) or not given.keys() <= names.keys() | {_URL_VARIABLE}:
        refuse(text, entry.node.start, "an entry as accp mcp install writes it")
    yield members["command"].start, members["command"].node.end, f'"url": {_word(url)}'
    yield (*_with_comma(entry, "args", text), "")
    if kind := members.get("type"):
        yield kind.node.start, kind.node.end, _word("http")
    if env and not names:
        yield (*_with_comma(entry, "env", text), "")
    elif env:
        yield env.start, env.name_end, _word("headers")
        yield from _renamed(env, names)


def _renamed(env: Member, names: dict[str, str]) -> Iterator[Edit]:
    """Yield the edits that turn our variables into headers; the one of the URL stands before them."""
    members = env.node.members
    for variable, member in members.items():
        if variable in names:
            yield member.start, member.name_end, _word(names[variable])
    if _URL_VARIABLE in members:
        end = min(member.start for variable, member in members.items() if variable in names)
        yield members[_URL_VARIABLE].start, end, ""


def _with_comma(entry: ClientEntry, name: str, text: str) -> tuple[int, int]:
    """Return the place of a member that follows another one, with the comma before it."""
    members = list(entry.node.members)
    before = entry.node.members[members[members.index(name) - 1]].node.end
    member = entry.node.members[name]
    return text.index(",", before), member.node.end


def _word(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _words(words: list[str]) -> str:
    return ", ".join(map(_word, words))
