"""YAML's scalars: what a plain one stands for, and how a value is written in each style."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Final, NoReturn

from accp_core.lazy_patterns import lazy_pattern
from accp_core.packing.values import read_float, read_int

__all__ = ["DEFAULTS", "FlowReader", "class_of", "has_comment_or_key", "plain_value", "unescape", "write_scalar"]


_WORDS: Final[dict[str, object]] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++(?:[eE][-+][0-9]++)?)?")
# YAML 1.1 or 1.2 reads these as something else than a text, so writers quote them where they are one.
_NO_TEXT: Final = lazy_pattern(
    r"|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE|null|Null|NULL|[yYnN~=]|<<"
    r"|[-+]?(?:0b[01_]+|0[xo][0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*\.?[0-9_]*(?:[eE][-+]?[0-9]+)?)"
    r"|[-+]?\.(?:[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|inf|Inf|INF)|\.(?:nan|NaN|NAN)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)?"
)
_KEY_OR_COMMENT: Final = re.compile(r":(?:[ \t]|$)|(?<![^ \t])#")
_NO_PLAIN: Final = re.compile(r"[#,\[\]{}&*!|>'\"%@`]|[-?:](?: |$)|---|\.\.\.| |.*(?:: |:$| #| $)")
_LETTERS: Final = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e", '"': '"',
    "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip
"""Characters in double quotes that are a backslash and a letter."""
_ESCAPED: Final = {letter: char for char, letter in _LETTERS.items()} | {" ": " ", "/": "/", "\t": "\t"}
_ESCAPE: Final = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))", re.DOTALL
)
_HALF: Final = re.compile("[\ud800-\udfff]")
_CONTROL: Final = lazy_pattern("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_NO_PRINT: Final = '["\\\\\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff'
_NO_ASCII: Final = lazy_pattern(r'["\\\x00-\x1f]|[^\x00-\x7e]')
_ESCAPES: Final = {
    "d": lazy_pattern(f"{_NO_PRINT}\U00010000-\U0010ffff]"),
    "r": lazy_pattern(f"{_NO_PRINT}]"),
    "a": _NO_ASCII,
}
"""What is an escape, by the letter of a style: `d` as in libyaml, `r` all that is not printed, `a` all but ASCII."""
_FOLDED_ESCAPES: Final = {"D": _ESCAPES["d"], "E": _ESCAPES["r"], "A": _NO_ASCII}
_BREAK: Final = re.compile(r"( +|\n+)")
_WIDTH: Final = 80
"""The column behind which PyYAML and libyaml fold a line at its next single blank, and js-yaml's longest line."""
_MIN_WIDTH: Final = 40
"""Characters of a line that js-yaml folds however far it is indented."""


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


def has_comment_or_key(text: str) -> re.Match[str] | None:
    """Return where a comment or the colon of a key stands in a line."""
    return _KEY_OR_COMMENT.search(text) if ":" in text or "#" in text else None


def unescape(text: str) -> str:
    """Return the text between double quotes.

    Raises:
        ValueError: it has an escape that YAML has not, or a half of a surrogate pair, which two of JSON would join.
    """
    found = _ESCAPE.sub(_char, text) if "\\" in text else text
    if found is not text and _HALF.search(found):
        raise ValueError("expected no half of a surrogate pair")
    return found


def _char(escape: re.Match[str]) -> str:
    if digits := escape[1] or escape[2] or escape[3]:
        return chr(int(digits, 16))
    if escape[4] not in _ESCAPED:
        raise ValueError(f"expected an escape of YAML, found {escape[0]!r}")
    return _ESCAPED[escape[4]]


def class_of(value: object) -> str:
    """Return what kind of scalar a value is; writers give those of one kind the same style."""
    if type(value) is not str:
        return "n" if value is None else "b" if type(value) is bool else "f"
    if _CONTROL.search(value):
        return "x"
    if "\n" in value:
        return "m" if value.endswith("\n") else "k"
    if _NO_TEXT.fullmatch(value):
        return "a"
    if _NO_PLAIN.match(value) or "\t" in value:
        return "q"
    return "p" if value.isascii() else "u"


DEFAULTS: Final = {"x": "d", "m": "l2", "k": "l2", "a": "s", "q": "s"}
"""The style of each class of which nothing was seen yet; else `p`."""


def write_scalar(value: object, style: str, indent: int, column: int) -> str | None:
    """Return a scalar in a style; None where it has none such.

    Args:
        value: A text, number, boolean or null.
        style: A letter, and for those of several lines how much further than `indent` they stand: `p` plain, `s` in
            single quotes, `d`, `r`, `a` in double quotes; `P`, `S`, `D`, `E`, `A` the same folded as libyaml does, `Q`
            and `R` plain and in quotes folded at line breaks only; `l` a block `|`, `f` one `>` as js-yaml folds it,
            in capitals with fewer digits behind the sign; `z`, `e`, `T`, `U` are `~`, nothing, `True`, `TRUE`.
        indent: The blanks before the entry whose value it is.
        column: The characters before it in its line.
    """
    letter, below = style[:1], indent + int(style[1:] or 0)
    if type(value) is not str:
        return _write_word(value, letter)
    if letter in ("l", "f", "L", "F"):
        return _write_block(value, letter, below, int(style[1:] or 0))
    if letter == "p":
        return value
    if letter == "s":
        return _quoted(value) if "\n" not in value else None
    if letter in ("P", "S", "Q", "R"):
        text = value if letter in ("P", "Q") else _quoted(value)
        return _folded(text, below, column, _WIDTH if letter in ("P", "S") else sys.maxsize)
    if letter in _ESCAPES:
        return f'"{_ESCAPES[letter].sub(_escape, value)}"'
    return _folded_escapes(value, _FOLDED_ESCAPES[letter], below, column) if letter in _FOLDED_ESCAPES else None


def _write_word(value: object, letter: str) -> str | None:
    if value is None:
        return {"p": "null", "z": "~", "e": "", "T": "Null", "U": "NULL"}.get(letter)
    if type(value) is bool:
        word = str(value)
        return {"p": word.lower(), "T": word, "U": word.upper()}.get(letter)
    return repr(value) if letter == "p" else None


def _quoted(text: str) -> str:
    escaped = text.replace("'", "''")
    return f"'{escaped}'"


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in _LETTERS:
        return f"\\{_LETTERS[char]}"
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _folded(text: str, indent: int, column: int, width: int) -> str:
    """Fold at a single blank behind the width; a line break is an empty line."""
    parts = []
    for part in _BREAK.split(text):
        if part.startswith("\n") or (part == " " and column > width):
            parts.append("\n" * (len(part) if part != " " else 0) + "\n" + " " * indent)
            column = indent
        else:
            parts.append(part)
            column += len(part)
    return "".join(parts)


def _folded_escapes(text: str, to_escape: re.Pattern[str], indent: int, column: int) -> str:
    """Fold behind the width with a backslash, before a blank or next to an escape."""
    parts, column, behind_escape = ['"'], column + 1, True
    for at, char in enumerate(text):
        is_inside = 0 < at < len(text) - 1
        escape = to_escape.match(char)
        written = _escape(escape) if escape else char
        if not escape and is_inside and (char == " " or behind_escape) and column > _WIDTH:
            parts.append("\\\n" + " " * indent + "\\" * (char == " "))
            column = indent + (char == " ")
        parts.append(written)
        column += len(written)
        if escape and is_inside and column - 1 > _WIDTH:
            parts.append("\\\n" + " " * indent + "\\" * (text[at + 1] == " "))
            column = indent + (text[at + 1] == " ")
        behind_escape = escape is not None
    return "".join([*parts, '"'])


def _write_block(text: str, letter: str, indent: int, delta: int) -> str:
    """Return a block, whose sign says whether no line break, one, or several end the text."""
    body = text.removesuffix("\n")
    keep = "-" if body == text else "+" if body.endswith("\n") or not body else ""
    start = text.lstrip("\n")[:1] if letter in ("L", "F") else text[:1]
    first = str(delta) if start in (" ", "\n") else ""
    if letter in ("f", "F"):
        body = _greedy(body, max(_MIN_WIDTH, _WIDTH - indent))
    blanks = " " * indent
    lines = "".join([f"\n{blanks}{line}" if line else "\n" for line in body.split("\n")])
    return f"{'|' if letter in ('l', 'L') else '>'}{first}{keep}{lines}"


def _greedy(text: str, width: int) -> str:
    """Fold each line so that it is no longer than the width, where it can be; a line break is an empty line."""
    parts: list[str] = []
    was_indented = True
    for line in text.split("\n"):
        is_indented = line.startswith(" ")
        if parts and line and not was_indented and not is_indented:
            parts.append("")
        parts += [line] if is_indented else _greedy_line(line, width)
        was_indented = is_indented if line else was_indented
    return "\n".join(parts)


def _greedy_line(line: str, width: int) -> list[str]:
    parts, start, before = [], 0, 0
    for found in (*_SINGLE.finditer(line), None):
        blank = found.start() if found else len(line)
        if blank - start > width and (before > start or found):
            end = before if before > start else blank
            parts.append(line[start:end])
            start = end + 1
        before = blank
    return [*parts, line[start:]]


_SINGLE: Final = re.compile(r" (?=[^ ])")


# Reads YAML's flow collections, `[a, b]` and `{a: 1}`, also over several lines.

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
