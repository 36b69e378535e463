"""Reads YAML as people and programs write it: documents of block maps and lists, flow collections, scalars, anchors.

Left out, so that a text with them is no YAML here: tags, directives, keys that are no text of one line (`? `), tabs as
indentation. No character is looked at more than a few times, and what aliases add is bounded.
"""

from __future__ import annotations

import re
from typing import Any, Final, NoReturn

from accp_core.documents.yaml.scalars import FlowReader, has_comment_or_key, plain_value, unescape

__all__ = ["KEY", "read_documents"]

_MAX_DEPTH: Final = 60
"""Levels of nested maps and lists."""
_MAX_KEY_CHARS: Final = 200
"""Characters of a key."""
_MAX_ADDED: Final = 8
"""Values that aliases may add, for each line of the text."""

KEY: Final = re.compile(
    r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|(?:[^\s'"#&*!|>%@`\[\]{},?:-]|[?:-](?=[^\s]))(?:[^:#]++|:(?=[^\s])|(?<!\s)#)*+)"""
    r" *+:(?: ++|$)"
)
"""The key of a map at the start of a line, and its colon."""
_MIN_ROW_KEYS: Final = 2
"""Keys of a map below another value that are rows; one is a heading with a sentence below it."""
_ANCHOR: Final = re.compile(r"&([^\s,\[\]{}]+)(?: +|$)")
_ALIAS: Final = re.compile(r"\*([^\s,\[\]{}]+)\s*+(?:#.*)?$")
_BLOCK: Final = re.compile(r"([|>])(?:([1-9])([+-]?)|([+-]?)([1-9]?)) *(?: #.*)?$")
_AFTER: Final = re.compile(r"[ \t]*+$|[ \t]++#")
_SINGLE: Final = re.compile(r"(?:[^']|'')*+")
_DOUBLE: Final = re.compile(r'(?:[^"\\]|\\.)*+')


def read_documents(text: str) -> tuple[list[Any], bool]:
    """Return the values of the documents in `text`, and whether a block of several keys is nested in one.

    Documents without a value are left out.

    Raises:
        ValueError: it is no YAML, or has what is left out here.
    """
    if "\x85" in text or "\u2028" in text or "\u2029" in text:
        raise ValueError("expected no line ends that YAML 1.1 alone has")
    reader = _Reader(text.replace("\r\n", "\n").split("\n"))
    documents = []
    while True:
        value = reader.read_document()
        if value is not None:
            documents.append(value)
        if reader.at >= len(reader.lines):
            return documents, reader.has_rows


def _fail(line: str) -> NoReturn:
    raise ValueError(f"expected YAML, found {line[:40]!r}")


class _Reader:
    """Reads lines from the first to the last; `indent` and `text` are those of the line that is next."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = -1
        self.indent = -1
        """The blanks before the text; -1 where the document ends."""
        self.text = ""
        self.blanks = 0
        """Blank lines before the line."""
        self.is_behind_comment = False
        self.anchors: dict[str, tuple[object, int]] = {}
        self.values = 0
        self.added = 0
        self.has_rows = False

    def advance(self) -> None:
        """Go to the next line that has more than a comment."""
        self.blanks, self.is_behind_comment = 0, False
        while True:
            self.at += 1
            if self.at >= len(self.lines):
                self.indent = -1
                return
            line = self.lines[self.at]
            text = line.lstrip(" ")
            if text[:1] in ("", "\t", "#"):
                if text.startswith("\t") and text.strip():
                    _fail(line)
                self.blanks += 1
                self.is_behind_comment |= text.startswith("#")
            else:
                self.indent = -1 if line[:3] in ("---", "...") and not line[3:4].strip() else len(line) - len(text)
                self.text = text.rstrip()
                return

    def read_document(self) -> object:
        """Return the value of the next document, None where it has none."""
        self.anchors.clear()
        if self.at < 0:
            self.advance()
        if self.indent < 0 and self.at < len(self.lines):
            if self.text[3:].strip() and not self.text[3:].lstrip().startswith("#"):
                _fail(self.text)
            self.advance()
        value = self._read_node(0) if self.indent >= 0 else None
        if self.indent >= 0 or (value is not None and not isinstance(value, (dict, list))):
            _fail(self.text)
        return value

    def _read_node(self, depth: int) -> object:
        """Return what begins at the line that is next."""
        if depth > _MAX_DEPTH:
            _fail(self.text)
        if self.text.startswith("- ") or self.text == "-":
            return self._read_list(self.indent, depth)
        if key := KEY.match(self.text):
            return self._read_map(self.indent, depth, key)
        return self._read_inline(self.text, self.indent - 1)

    def _read_list(self, indent: int, depth: int) -> list[object]:
        items: list[object] = []
        while self.indent == indent and (self.text.startswith("- ") or self.text == "-"):
            rest = self.text[1:].lstrip(" ")
            anchor, rest = self._anchor(rest)
            start = self.values
            key = KEY.match(rest)
            if key or rest.startswith("- "):
                self.indent, self.text = indent + len(self.text) - len(rest), rest
                value = self._read_map(self.indent, depth + 1, key) if key else self._read_node(depth + 1)
            else:
                value = self._read_value(rest, indent, depth, is_key=False)
            items.append(self._anchored(anchor, value, start))
        return items

    def _read_map(self, indent: int, depth: int, key: re.Match[str] | None) -> dict[str, object]:
        """Return the map whose first key was found."""
        members: dict[str, object] = {}
        merged: list[object] = []
        while key:
            name = key[1]
            name = unescape(name[1:-1]) if name[0] == '"' else name[1:-1].replace("''", "'") if name[0] == "'" else name
            if name in members or len(name) > _MAX_KEY_CHARS:
                _fail(self.text)
            anchor, rest = self._anchor(self.text[key.end() :])
            start = self.values
            value = self._anchored(anchor, self._read_value(rest, indent, depth, is_key=True), start)
            if key[1] == "<<":
                merged += value if isinstance(value, list) else [value]
            else:
                members[name.rstrip() if key[1][0] not in "\"'" else name] = value
            key = KEY.match(self.text) if self.indent == indent else None
        self.has_rows |= depth > 0 and len(members) >= _MIN_ROW_KEYS
        for value in merged:
            if not isinstance(value, dict):
                _fail("<<")
            members = {**members, **{name: member for name, member in value.items() if name not in members}}
        return members

    def _anchor(self, rest: str) -> tuple[str, str]:
        if rest.startswith("&") and (found := _ANCHOR.match(rest)):
            return found[1], rest[found.end() :]
        return "", rest

    def _anchored(self, anchor: str, value: object, start: int) -> object:
        self.values += 1
        if anchor:
            self.anchors[anchor] = value, self.values - start
        return value

    def _read_value(self, rest: str, indent: int, depth: int, *, is_key: bool) -> object:
        """Return the value behind a key or a dash that stand at an indentation."""
        if rest and rest[0] != "#":
            return self._read_inline(rest, indent)
        self.advance()
        is_list = is_key and self.indent == indent and (self.text.startswith("- ") or self.text == "-")
        return self._read_node(depth + 1) if self.indent > indent or is_list else None

    def _read_inline(self, rest: str, indent: int) -> object:
        """Return the value that begins in a line; its further lines stand behind an indentation."""
        first = rest[0]
        if first in "|>":
            return self._read_block(rest, indent)
        if first in "\"'":
            return self._read_quoted(rest[1:], first)
        if first in "[{":
            flow = FlowReader(self.lines, self.at, rest)
            value: object = flow.read()
            self.at, self.values = flow.at, self.values + flow.values
            self.advance()
            return value
        if first == "*":
            return self._read_alias(rest)
        if first in "&!%@`,]}#" or (first in "?:-" and rest[1:2] in ("", " ")):
            _fail(rest)
        return self._read_plain(rest, indent)

    def _read_alias(self, rest: str) -> object:
        found = _ALIAS.match(rest)
        if found is None or found[1] not in self.anchors:
            _fail(rest)
        value, values = self.anchors[found[1]]
        self.values += values
        self.added += values
        if self.added > _MAX_ADDED * len(self.lines):
            _fail(rest)
        self.advance()
        return value

    def _read_plain(self, rest: str, indent: int) -> object:
        found = has_comment_or_key(rest) if ":" in rest or "#" in rest else None
        self.advance()
        if found:
            if rest[found.start()] == ":":
                _fail(rest)
            return plain_value(rest[: found.start()].rstrip())
        if self.indent <= indent:
            return plain_value(rest)
        parts = [rest]
        while self.indent > indent:
            if self.is_behind_comment or has_comment_or_key(self.text):
                _fail(self.text)
            parts += ("\n" * self.blanks or " ", self.text)
            self.advance()
        return plain_value("".join(parts))

    def _read_quoted(self, rest: str, quote: str) -> str:
        """Return a text in quotes, whose line breaks are blanks and whose empty lines are line breaks."""
        pattern = _SINGLE if quote == "'" else _DOUBLE
        line, breaks = rest, 0
        parts: list[str] = []
        while True:
            found = pattern.match(line)
            end = found.end() if found else 0
            if end < len(line) and line[end] == quote:
                break
            is_joined = quote == '"' and end < len(line)
            text = line[:end] if is_joined else line.rstrip(" \t")
            self._add_line(parts, text, breaks)
            self.at += 1
            if self.at >= len(self.lines):
                _fail(rest)
            line, breaks = self.lines[self.at].lstrip(" \t"), -1 if is_joined else 0
            while not line and self.at + 1 < len(self.lines):
                self.at, breaks = self.at + 1, max(breaks, 0) + 1
                line = self.lines[self.at].lstrip(" \t")
        self._add_line(parts, line[:end], breaks)
        if not _AFTER.match(line, end + 1):
            _fail(line)
        self.advance()
        text = "".join(parts[1:])
        return unescape(text) if quote == '"' else text.replace("''", "'")

    @staticmethod
    def _add_line(parts: list[str], text: str, breaks: int) -> None:
        parts += ("" if breaks < 0 else "\n" * breaks or " ", text)

    def _read_block(self, header: str, indent: int) -> str:
        found = _BLOCK.match(header)
        if found is None:
            _fail(header)
        sign = found[3] or found[4] or ""
        digit = found[2] or found[5]
        lines: list[str] = []
        below = max(indent, 0) + int(digit) if digit else 0
        for number in range(self.at + 1, len(self.lines)):
            line = self.lines[number]
            text = line.lstrip(" ")
            blanks = len(line) - len(text)
            if text:
                below = below or blanks
                if blanks < below or blanks <= indent:
                    break
            lines.append(line[below:] if below else "")
        else:
            number = len(self.lines)
        self.at = number - 1
        self.advance()
        return _joined(lines, sign, is_folded=found[1] == ">")


def _joined(lines: list[str], sign: str, *, is_folded: bool) -> str:
    """Return the text of a block."""
    last = len(lines)
    while last and not lines[last - 1]:
        last -= 1
    body = _folded(lines[:last]) if is_folded else "\n".join(lines[:last])
    end = "" if sign == "-" or not last else "\n"
    return body + end + ("\n" * (len(lines) - last) if sign == "+" else "")


def _folded(lines: list[str]) -> str:
    """Return the lines of a folded block: those that begin with no blank are one line."""
    parts: list[str] = []
    before, blanks = None, 0
    for line in lines:
        if not line:
            blanks += 1
            continue
        if before is not None:
            is_joined = before[0] not in " \t" and line[0] not in " \t"
            parts.append(("\n" * blanks or " ") if is_joined else "\n" * (blanks + 1))
        else:
            parts.append("\n" * blanks)
        parts.append(line)
        before, blanks = line, 0
    return "".join(parts)
