"""A form: block YAML as PyYAML's `safe_dump` writes it, a strict small subset of maps, lists, texts and usual words.

`read` returns a value only where `write` writes the same text again. Lines are folded behind
column 80; comments, anchors, tags, flow collections with members and several documents are not read.

Prose has lines such as `Error: File not found`, too, and its colons are part of what it says. So a text is data only
where it is nested as a writer nests it, a map of several keys below a key or in a list, and where not nearly all of its
values are sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from accp_core.lazy_patterns import lazy_pattern
from accp_core.packing.expansion import Expansion

__all__ = ["CODE", "IS_SEVERAL", "describe", "read", "recognise", "write"]

CODE: Final = "y"
IS_SEVERAL: Final = False

_MAX_DEPTH: Final = 20
"""Levels of nested maps and lists; each adds two blanks to every line."""
_MAX_KEY_CHARS: Final = 100
"""Characters of a key; longer ones have another notation."""
_WIDTH: Final = 80
"""The column behind which a line is folded at its next single blank."""
_MIN_ROW_KEYS: Final = 2
"""Keys of a map below another value that make a text data; one is a heading with a sentence below it."""
_SENTENCE_WORDS: Final = 3
"""Words of a value that may be a sentence."""
_MAX_SENTENCES: Final = 7 / 8
"""Share of values that are sentences from which a text is prose; descriptions of tools have up to 0.8."""

_Line: TypeAlias = tuple[int, str]
"""The blanks at the start of a line, and the rest of it."""

_KEY_TEXT: Final = r"('(?:[^']|'')*+'|[^\s'\"#&*!|>%@`\[\]{},?:-](?:[^:#]|:(?! |$)|(?<! )#)*+):(?: |$)"
_KEY: Final = lazy_pattern(_KEY_TEXT)
_START: Final = lazy_pattern(rf"(?:- )?(?:{_KEY_TEXT})")
# YAML 1.1 reads these as something else than a text, so they stand in quotes where they are one.
_NO_TEXT: Final = lazy_pattern(
    r"yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE|null|Null|NULL|~|=|<<"
    r"|[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*(?::[0-5]?[0-9])*)"
    r"|[-+]?(?:[0-9][0-9_]*(?::[0-5]?[0-9])*)\.[0-9_]*(?:[eE][-+][0-9]+)?|[-+]?\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?"
)
_NUMBER: Final = re.compile(r"(-?(?:0|[1-9][0-9]{0,17}))(\.[0-9]{1,17})?")
_WORDS: Final[dict[str, object]] = {"null": None, "true": True, "false": False, "{}": {}, "[]": []}
_PLAIN: Final = lazy_pattern(
    r"(?![#,\[\]{}&*!|>'\"%@`]|[-?:](?: |$)|---|\.\.\.)(?:[^\x00-\x1f\x7f-\xa0:# ]|:(?! |$)|(?<! )#| )*+"
)
_QUOTED: Final = lazy_pattern(r"(?!.*(?: \n|\n ))[^\x00-\x09\x0b-\x1f\x7f-\xa0\u2028\u2029\ufeff]*+", re.DOTALL)
_LETTERS: Final = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e", '"': '"',
    "\\": "\\", "\x85": "N", "\u2028": "L", "\u2029": "P",
}  # fmt: skip
"""Characters in double quotes that are a backslash and a letter."""
_ESCAPED: Final = {letter: char for char, letter in _LETTERS.items()} | {" ": " "}
_ESCAPE: Final = lazy_pattern(r"\\(?:x([0-9A-F]{2})|u([0-9A-F]{4})|U(000[0-9A-F]{5}|0010[0-9A-F]{4})|(.))", re.DOTALL)
_TO_ESCAPE: Final = lazy_pattern(r'["\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe-\U0010ffff]')


class _Unsupported(ValueError):
    """The text or the value is not of the subset."""


def recognise(text: str) -> bool:
    """Return whether `text` begins with a key."""
    # Escaped halves of a surrogate pair would be read as one character.
    return _START.match(text) is not None and "\\uD" not in text


def read(text: str) -> object:
    """Return the map, or the list of maps, in `text`, which is neither prose nor written in another way."""
    reader = _Reader(text)
    value = reader.read_node(0, 0)
    if reader.lines or not _is_data(value) or not _is_written_as(value, text):
        raise _Unsupported("expected block YAML as this module writes it")
    return value


def _is_data(value: Any) -> bool:
    """Return whether a map or a list has maps of several keys within it, and values that are no sentences."""
    left, has_rows = [value], False
    values = sentences = 0
    while left:
        node = left.pop()
        for member in node.values() if isinstance(node, dict) else node:
            if isinstance(member, (dict, list)) and member:
                left.append(member)
                has_rows |= isinstance(member, dict) and len(member) >= _MIN_ROW_KEYS
            else:
                values += 1
                sentences += isinstance(member, str) and len(member.split()) >= _SENTENCE_WORDS
    return has_rows and sentences < values * _MAX_SENTENCES


def _is_written_as(value: object, text: str) -> bool:
    """Return whether `write` writes that text; it stops at the first difference."""
    at = 0

    def compare(part: str) -> None:
        nonlocal at
        if not text.startswith(part, at):
            raise _Unsupported
        at += len(part)

    _Writer(compare).write_document(value)
    return at == len(text)


class _Reader:
    """Reads lines from the first to the last; `write` decides whether they were understood."""

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        self.lines: list[_Line] = [(len(line) - len(line.lstrip(" ")), line.lstrip(" ")) for line in reversed(lines)]

    def read_node(self, indent: int, depth: int) -> object:
        """Return the map or list whose first line is next, with that many blanks."""
        if depth > _MAX_DEPTH or not self.lines or self.lines[-1][0] != indent:
            raise _Unsupported
        is_list = self.lines[-1][1].startswith("- ")
        return self._read_list(indent, depth) if is_list else self._read_map(indent, depth)

    def _read_list(self, indent: int, depth: int) -> list[object]:
        items: list[object] = []
        while self.lines and self.lines[-1][0] == indent and self.lines[-1][1].startswith("- "):
            rest = self.lines.pop()[1][2:]
            if _KEY.match(rest) or rest.startswith("- "):
                self.lines.append((indent + 2, rest))
                items.append(self.read_node(indent + 2, depth + 1))
            else:
                items.append(self._read_scalar(rest, indent))
        return items

    def _read_map(self, indent: int, depth: int) -> dict[str, object]:
        members: dict[str, object] = {}
        while self.lines and self.lines[-1][0] == indent and not self.lines[-1][1].startswith("- "):
            line = self.lines.pop()[1]
            key = _KEY.match(line)
            name = _text(key[1]) if key else None
            if key is None or type(name) is not str or name in members:
                raise _Unsupported
            rest = line[key.end() :]
            if rest:
                members[name] = self._read_scalar(rest, indent)
            else:
                # A list in a map is not indented.
                below = indent if self.lines and self.lines[-1][1].startswith("- ") else indent + 2
                members[name] = self.read_node(below, depth + 1)
        return members

    def _read_scalar(self, text: str, indent: int) -> object:
        if text.startswith('"'):
            return self._read_double_quoted(text)
        parts, breaks = [text], 0
        while self.lines and (self.lines[-1][0] > indent or (not self.lines[-1][1] and text.startswith("'"))):
            line = self.lines.pop()[1]
            if line:
                parts += ("\n" * breaks or " ", line)
                breaks = 0
            else:
                breaks += 1
        return _text("".join(parts))

    def _read_double_quoted(self, text: str) -> str:
        parts = [text[1:]]
        while self.lines and parts[-1].endswith("\\"):
            parts[-1] = parts[-1][:-1]
            parts.append(self.lines.pop()[1])
        return _ESCAPE.sub(_unescape, "".join(parts).removesuffix('"'))


def _unescape(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2] or escape[3]
    return chr(int(digits, 16)) if digits else _ESCAPED.get(escape[4], "")


def _escape(char: str) -> str:
    if char in _LETTERS:
        return f"\\{_LETTERS[char]}"
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _text(written: str) -> object:
    """Return the value of a scalar."""
    if written.startswith("'"):
        return written[1:-1].replace("''", "'")
    if written in _WORDS:
        value = _WORDS[written]
        return value.copy() if isinstance(value, (dict, list)) else value
    number = _NUMBER.fullmatch(written)
    if number is None:
        return written
    return float(written) if number[2] else int(written)


def describe(text: str, value: object) -> str:
    """Return nothing: what is read is what is written."""
    return ""


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return a map or a list with members as block YAML, without a line break at the end."""
    parts: list[str] = []

    def put(part: str) -> None:
        expansion.add(len(part), "this part")
        parts.append(part)

    _Writer(put).write_document(value)
    return "".join(parts)


class _Writer:
    """Writes one document, part by part, and knows the column."""

    def __init__(self, put: Callable[[str], None]) -> None:
        self.put = put
        self.column = 0

    def write_document(self, value: object) -> None:
        if not value or not isinstance(value, (dict, list)):
            raise _Unsupported(f"expected a map or a list with members, found {type(value).__name__!r}")
        self._write_members(value, 0, 0)

    def _add(self, text: str) -> None:
        self.put(text)
        self.column += len(text)

    def _new_line(self, indent: int) -> None:
        self.put("\n" + " " * indent)
        self.column = indent

    def _write_members(self, value: dict[str, object] | list[object], indent: int, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise _Unsupported(f"expected at most {_MAX_DEPTH} levels, found more")
        members = value.items() if isinstance(value, dict) else ((None, item) for item in value)
        for number, (key, member) in enumerate(members):
            if number:
                self._new_line(indent)
            if key is None:
                self._add("- ")
            else:
                self._write_key(key)
            self._write_node(member, indent, depth, in_list=key is None)

    def _write_node(self, value: object, indent: int, depth: int, *, in_list: bool) -> None:
        if isinstance(value, (dict, list)) and value:
            below = indent if isinstance(value, list) and not in_list else indent + 2
            if not in_list:
                self._new_line(below)
            self._write_members(value, below, depth + 1)
        else:
            self._add("" if in_list else " ")
            self._write_scalar(value, indent + 2)

    def _write_key(self, key: str) -> None:
        if len(key) > _MAX_KEY_CHARS or "\n" in key or not key:
            raise _Unsupported(f"expected a key of one line, found {key!r}")
        self._add(key if _is_plain(key) else _quoted(key))
        self._add(":")

    def _write_scalar(self, value: object, indent: int) -> None:
        if type(value) is not str:
            self._add(_scalar(value))
        elif _is_plain(value):
            self._write_folded(value, indent)
        elif _QUOTED.fullmatch(value):
            self._write_folded(_quoted(value), indent)
        else:
            self._write_double_quoted(value, indent)

    def _write_folded(self, text: str, indent: int) -> None:
        """Write the words of a text; a single blank behind the width is a line break, a line break an empty line."""
        for part in re.split(r"( +|\n+)", text):
            if part == " " and self.column > _WIDTH:
                self._new_line(indent)
            elif part.startswith("\n"):
                self.put("\n" * len(part))
                self._new_line(indent)
            else:
                self._add(part)

    def _write_double_quoted(self, text: str, indent: int) -> None:
        """Write a text with escapes; behind the width a backslash ends a line, before a blank or next to an escape."""
        self._add('"')
        behind_escape = True
        for at, char in enumerate(text):
            is_inside = 0 < at < len(text) - 1
            if is_escape := _TO_ESCAPE.match(char) is not None:
                self._add(_escape(char))
                if is_inside and self.column - 1 > _WIDTH:
                    self._fold(text[at + 1], indent)
            else:
                if is_inside and (char == " " or behind_escape) and self.column > _WIDTH:
                    self._fold(char, indent)
                self._add(char)
            behind_escape = is_escape
        self._add('"')

    def _fold(self, following: str, indent: int) -> None:
        self._add("\\")
        self._new_line(indent)
        if following == " ":
            self._add("\\")


def _is_plain(text: str) -> bool:
    return _PLAIN.fullmatch(text) is not None and text.strip(" ") == text != "" and _NO_TEXT.fullmatch(text) is None


def _quoted(text: str) -> str:
    if _QUOTED.fullmatch(text) is None:
        raise _Unsupported(f"expected a text without control characters, found {text[:40]!r}")
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def _scalar(value: object) -> str:
    written = "null" if value is None else str(value).lower() if type(value) is bool else repr(value)
    if written not in _WORDS and _NUMBER.fullmatch(written) is None:
        raise _Unsupported(f"expected a usual number, found {value!r}")
    return written
