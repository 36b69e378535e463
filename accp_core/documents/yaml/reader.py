"""Reads YAML as people and programs write it: documents of block maps and lists, flow collections, scalars.

Left out, so that a text with them is no YAML here: anchors, tags, directives, keys that are no text of one line (`? `),
tabs as indentation. No character is looked at more than a few times.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import Any, Final, NoReturn

from accp_core.packing.values import read_float, read_int

__all__ = ["KEY", "plain_value", "read_documents"]

_MAX_DEPTH: Final = 60
"""Levels of nested maps and lists."""
_MAX_FLOW_DEPTH: Final = 30
"""Levels of collections in brackets."""
_MAX_KEY_CHARS: Final = 200
"""Characters of a key."""

KEY: Final = re.compile(
    r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|(?:[^\s'"#&*!|>%@`\[\]{},?:-]|[?:-](?=[^\s]))(?:[^:#]++|:(?=[^\s])|(?<!\s)#)*+)"""
    r" *+:(?: ++|$)"
)
"""The key of a map at the start of a line, and its colon."""
_MIN_ROW_KEYS: Final = 2
"""Keys of a map below another value that are rows; one is a heading with a sentence below it."""
_BLOCK: Final = re.compile(r"([|>])(?:([1-9])([+-]?)|([+-]?)([1-9]?)) *(?: #.*)?$")
_AFTER: Final = re.compile(r"[ \t]*+(?:$|(?<=[ \t])#)", re.MULTILINE)
_QUOTED: Final = r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')"""
_TEXT: Final = re.compile(_QUOTED, re.DOTALL)
_JOINED: Final = re.compile(r"\\[^\n]|(\\?[ \t]*\n)((?:[ \t]*\n)*)[ \t]*")
_JOINED_SINGLE: Final = re.compile(r"([ \t]*\n)((?:[ \t]*\n)*)[ \t]*")
"""The end of a line in quotes, blank lines, and the indentation behind it."""
_WORDS: Final[dict[str, object]] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++(?:[eE][-+][0-9]++)?)?")
_KEY_OR_COMMENT: Final = re.compile(r":(?:[ \t]|$)|(?<![^ \t])#")
_ESCAPED: Final = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b", '"': '"',
    "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029", " ": " ", "/": "/", "\t": "\t",
}  # fmt: skip
"""What a letter behind a backslash stands for in double quotes."""
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))", re.DOTALL
)
_HALF: Final = re.compile("[\ud800-\udfff]")

_MAX_FLOW_CHARS: Final = 20_000
"""Characters of a line with a flow collection; YAML's writers break lines, and JSON behind a word is no YAML."""
_FIRST: Final = r"""(?:[^\s,\[\]{}:#&*!|>%@`"'?-]|[:?-](?=[^\s,\[\]{}]))"""
_NEXT: Final = r"(?:[^\s,\[\]{}:]|:(?=[^\s,\[\]{}])|[ \t]++(?=[^\s,\[\]{}:#]|:[^\s,\[\]{}]))"
_COLON: Final = r""":(?=[\s,\[\]{}]|(?<=["']:))"""
_FLOW_TOKEN: Final = re.compile(
    rf"(?:\s|(?<=\s)#[^\n]*)*+([\[\]{{}},]|{_QUOTED}|{_COLON}|{_FIRST}{_NEXT}*+)", re.DOTALL
)


def read_documents(text: str) -> tuple[list[Any], bool]:
    """Return the values of the documents in `text`, and whether a block of several keys is nested in one.

    Documents without a value are left out.

    Raises:
        ValueError: it is no YAML, or has what is left out here.
    """
    if "\x85" in text or "\u2028" in text or "\u2029" in text:
        raise ValueError("expected no line ends that YAML 1.1 alone has")
    reader = _Reader(text.replace("\r\n", "\n"))
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

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        self.at = -1
        self.indent = -1
        """The blanks before the text; -1 where the document ends."""
        self.text = ""
        self.blanks = 0
        """Blank lines before the line."""
        self.is_behind_comment = False
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
            key = KEY.match(rest)
            if key or rest.startswith("- "):
                self.indent, self.text = indent + len(self.text) - len(rest), rest
                value = self._read_map(self.indent, depth + 1, key) if key else self._read_node(depth + 1)
            else:
                value = self._read_value(rest, indent, depth, is_key=False)
            items.append(value)
        return items

    def _read_map(self, indent: int, depth: int, key: re.Match[str] | None) -> dict[str, object]:
        """Return the map whose first key was found."""
        members: dict[str, object] = {}
        while key:
            name = key[1]
            name = _unquoted(name) if name[0] in "\"'" else name
            if name in members or len(name) > _MAX_KEY_CHARS:
                _fail(self.text)
            value = self._read_value(self.text[key.end() :], indent, depth, is_key=True)
            members[name.rstrip() if key[1][0] not in "\"'" else name] = value
            key = KEY.match(self.text) if self.indent == indent else None
        self.has_rows |= depth > 0 and len(members) >= _MIN_ROW_KEYS
        return members

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
            found = _TEXT.match(self.source, self._position(rest))
            return _unquoted(self._go_behind(rest, found[0])) if found else _fail(rest)
        if first in "[{":
            return self._read_flow(rest)
        if first in "&*!%@`,]}#" or (first in "?:-" and rest[1:2] in ("", " ")):
            _fail(rest)
        return self._read_plain(rest, indent)

    def _read_plain(self, rest: str, indent: int) -> object:
        found = _find_comment_or_key(rest)
        self.advance()
        if found:
            if rest[found.start()] == ":":
                _fail(rest)
            return plain_value(rest[: found.start()].rstrip())
        if self.indent <= indent:
            return plain_value(rest)
        parts = [rest]
        while self.indent > indent:
            if self.is_behind_comment or _find_comment_or_key(self.text):
                _fail(self.text)
            parts += ("\n" * self.blanks or " ", self.text)
            self.advance()
        return plain_value("".join(parts))

    def _position(self, rest: str) -> int:
        """Return where the rest of a line stands in the source."""
        return self.starts[self.at] + len(self.lines[self.at].rstrip()) - len(rest)

    def _go_behind(self, rest: str, written: str) -> str:
        """Go to the next line behind a text of perhaps several lines, with which `rest` begins; return that text."""
        if not _AFTER.match(self.source, self._position(rest) + len(written)):
            _fail(rest)
        self.at += written.count("\n")
        self.advance()
        return written

    def _read_flow(self, rest: str) -> object:
        """Return a collection in brackets, perhaps of several lines."""
        if len(rest) > _MAX_FLOW_CHARS:
            _fail(rest)
        flow = _Flow(self.source, self._position(rest))
        value = flow.value(0)
        self._go_behind(rest, self.source[self._position(rest) : flow.at])
        return value

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


class _Flow:
    """Reads one collection in brackets."""

    def __init__(self, source: str, at: int) -> None:
        self.source = source
        self.at = at

    def _token(self, *, is_passed: bool = True) -> str:
        found = _FLOW_TOKEN.match(self.source, self.at)
        if found is None:
            _fail(self.source[self.at :])
        self.at = found.end() if is_passed else self.at
        return found[1]

    def value(self, depth: int) -> object:
        """Return the value that is next."""
        token = self._token()
        if depth > _MAX_FLOW_DEPTH or token in "]},:":
            _fail(token)
        if token == "[":
            return self._list(depth)
        if token == "{":
            return self._map(depth)
        return _unquoted(token) if token[0] in "\"'" else plain_value(token)

    def _ends(self, close: str) -> bool:
        """Pass the closing bracket if it is next."""
        if self._token(is_passed=False) != close:
            return False
        self._token()
        return True

    def _goes_on(self, close: str) -> bool:
        """Pass what stands behind a member."""
        sign = self._token()
        if sign not in (",", close):
            _fail(sign)
        return sign == ","

    def _list(self, depth: int) -> list[object]:
        items: list[object] = []
        while not self._ends("]"):
            items.append(self.value(depth + 1))
            if not self._goes_on("]"):
                break
        return items

    def _map(self, depth: int) -> dict[str, object]:
        members: dict[str, object] = {}
        while not self._ends("}"):
            key = self._token()
            name = _unquoted(key) if key[0] in "\"'" else key
            if key in "[]{},:" or name in members:
                _fail(key)
            members[name] = None
            if self._token(is_passed=False) == ":":
                self._token()
                if self._token(is_passed=False) not in (",", "}"):
                    members[name] = self.value(depth + 1)
            if not self._goes_on("}"):
                break
        return members


def plain_value(text: str) -> object:
    """Return what a plain scalar stands for.

    It is null, a boolean or a number where YAML 1.1 and 1.2 both say so; what only one of them says (`yes`, `0755`,
    `1_000`, `1e3`, `12:30`, a date) stays the text that it is.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-0123456789" or (number := _NUMBER.fullmatch(text)) is None:
        return text
    return read_float(text) if number[1] else read_int(text)


def _find_comment_or_key(text: str) -> re.Match[str] | None:
    """Return where a comment or the colon of a key stands in a line."""
    return _KEY_OR_COMMENT.search(text) if ":" in text or "#" in text else None


def _unquoted(written: str) -> str:
    """Return the text in quotes, whose line breaks are blanks and whose empty lines are line breaks.

    Raises:
        ValueError: it has an escape that YAML has not, or a half of a surrogate pair, which two of JSON would join.
    """
    text = written[1:-1]
    if written[0] == "'":
        text = _JOINED_SINGLE.sub(_join, text) if "\n" in text else text
        return text.replace("''", "'")
    text = _JOINED.sub(_join, text) if "\n" in text else text
    found = _ESCAPE.sub(_char, text) if "\\" in text else text
    if found is not text and _HALF.search(found):
        raise ValueError("expected no half of a surrogate pair")
    return found


def _join(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    return "\n" * found[2].count("\n") or " " * (found[1][0] != "\\")


def _char(escape: re.Match[str]) -> str:
    if digits := escape[1] or escape[2] or escape[3]:
        return chr(int(digits, 16))
    if escape[4] not in _ESCAPED:
        raise ValueError(f"expected an escape of YAML, found {escape[0]!r}")
    return _ESCAPED[escape[4]]
