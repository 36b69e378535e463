"""Reads YAML's flow collections, `[a, b]` and `{a: 1}`, also over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NoReturn

from accp_core.documents.yaml.scalars import plain_value, unescape

__all__ = ["FlowReader"]

_MAX_DEPTH: Final = 30
"""Levels of flow collections."""
_MAX_CHARS: Final = 20_000
"""Characters of a line with one; YAML's writers break lines, and JSON behind a word is no YAML."""
_QUOTED: Final = r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')"""
_FIRST: Final = r"""(?:[^\s,\[\]{}:#&*!|>%@`"'?-]|[:?-](?=[^\s,\[\]{}]))"""
_NEXT: Final = r"(?:[^\s,\[\]{}:]|:(?=[^\s,\[\]{}])|[ \t]++(?=[^\s,\[\]{}:#]|:[^\s,\[\]{}]))"
_COLON: Final = r"""(:)(?=[\s,\[\]{}]|$|(?<=["']:))"""
_TOKEN: Final = re.compile(rf"[ \t]*+(?:([\[\]{{}},])|{_QUOTED}|{_COLON}|(#.*)|({_FIRST}{_NEXT}*+))")


class FlowReader:
    """Reads one collection; `at` is the number of its last line, `values` how many values it has."""

    def __init__(self, lines: list[str], at: int, rest: str) -> None:
        """Begin in the line with that number, of which `rest` was not read."""
        self.lines = lines
        if len(rest) > _MAX_CHARS:
            raise ValueError(
                f"expected at most {_MAX_CHARS} characters of a flow collection in a line, found {len(rest)}"
            )
        self.at = at
        self.values = 0
        self._rest = rest
        self._tokens = self._all_tokens()
        self._next = ""

    def read(self) -> object:
        """Return the collection, behind which nothing follows in its line."""
        self._advance()
        value = self._read_value(0)
        rest = self._rest.strip()
        if rest and not (self._rest[0] in " \t" and rest.startswith("#")):
            self._fail()
        return value

    def _fail(self) -> NoReturn:
        raise ValueError(f"expected a flow collection, found {self._rest[:40]!r}")

    def _all_tokens(self) -> Iterator[str]:
        """Yield the tokens; before a scalar stands its kind, a quote or a point."""
        while True:
            line, at = self._rest, 0
            while found := _TOKEN.match(line, at):
                at = found.end()
                self._rest = line[at:] if found[1] in ("]", "}") else line
                if found[2]:
                    yield found[2]
                elif found[5]:
                    yield f".{found[5]}"
                elif not found[4]:
                    yield found[1] or ":"
            if line[at:].strip() or self.at + 1 >= len(self.lines):
                self._fail()
            self.at += 1
            self._rest = self.lines[self.at]

    def _advance(self) -> str:
        token, self._next = self._next, next(self._tokens)
        return token

    def _read_value(self, depth: int) -> object:
        self.values += 1
        if depth > _MAX_DEPTH:
            self._fail()
        if self._next == "[":
            return self._read_list(depth)
        if self._next == "{":
            return self._read_map(depth)
        token = self._advance()
        if token[0] not in "\"'.":
            self._fail()
        return plain_value(token[1:]) if token[0] == "." else _unquoted(token)

    def _close(self, depth: int) -> None:
        """Go behind the bracket that is next; behind the last one nothing more is read."""
        if depth:
            self._advance()

    def _read_list(self, depth: int) -> list[object]:
        self._advance()
        items: list[object] = []
        while self._next != "]":
            items.append(self._read_value(depth + 1))
            if self._next == ",":
                self._advance()
            elif self._next != "]":
                self._fail()
        self._close(depth)
        return items

    def _read_map(self, depth: int) -> dict[str, object]:
        self._advance()
        members: dict[str, object] = {}
        while self._next != "}":
            key = self._advance()
            if key[0] not in "\"'.":
                self._fail()
            name = key[1:] if key[0] == "." else _unquoted(key)
            if name in members:
                self._fail()
            if self._next == ":":
                self._advance()
                members[name] = None if self._next in (",", "}") else self._read_value(depth + 1)
            else:
                members[name] = None
            if self._next == ",":
                self._advance()
            elif self._next != "}":
                self._fail()
        self._close(depth)
        return members


def _unquoted(token: str) -> str:
    return unescape(token[1:-1]) if token[0] == '"' else token[1:-1].replace("''", "'")
