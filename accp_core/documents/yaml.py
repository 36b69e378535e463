"""Two forms: a YAML document, and several of them with `---` between, as people and programs write them.

Prose has lines such as `Error: File not found`, too, and its colons are part of what it says. So a text is data only
where it is nested as a writer nests it, a map of several keys below a key or in a list, where not nearly all of its
values are sentences, and where no heading of several words stands above what is nested.

A text with comments, anchors, flow collections of several lines or other things that the value does not hold has
tables and queries, but no view. An alias is the value of its anchor, and `<<` adds the members that a map has not.

Left out, so that a text with them is no YAML here: tags, directives, keys that are no text of one line (`? `),
tabs as indentation. No character is looked at more than a few times.

A layout is what `writing` tells, behind `-` where the text begins with
`---`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from json.encoder import encode_basestring
from typing import Any, Final, NoReturn

from accp_core.documents.writing import Base, Brackets, Kind, Pen, Spelling, as_is, find_writing, write_again
from accp_core.lazy_patterns import lazy_pattern
from accp_core.packing.expansion import Expansion
from accp_core.packing.values import read_float, read_int

__all__ = ["DOCUMENT", "DOCUMENTS", "plain_value", "read_documents"]

_MAX_DEPTH: Final = 60
"""Levels of nested maps and lists."""
_MAX_FLOW_DEPTH: Final = 30
"""Levels of collections in brackets."""
_MAX_KEY_CHARS: Final = 200
"""Characters of a key."""
_MAX_ALIASED: Final = 20
"""Values that aliases may add, for each line of the text."""
_ANCHOR: Final = re.compile(r"&([^\s,\[\]{}]+)(?: +|$)")
_ALIAS: Final = re.compile(r"\*([^\s,\[\]{}]+)(?: +#.*)?$")

KEY: Final = re.compile(
    r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+'|(?:[^\s'"#&*!|>%@`\[\]{},?:-]|[?:-](?=[^\s]))(?:[^:#]++|:(?=[^\s])|(?<!\s)#)*+)"""
    r" *+:(?: ++|$)"
)
"""The key of a map at the start of a line, and its colon."""
_MIN_ROW_KEYS: Final = 2
"""Keys of a map below another value that are rows; one is a heading with a sentence below it."""
_BLOCK: Final = re.compile(r"([|>])(?:([1-9])([+-]?)|([+-]?)([1-9]?)) *(?: #.*)?$")
_FOLDED_LINE: Final = re.compile(r"^([^ \t\n][^\n]*)\n(\n*)(?=[^ \t\n])", re.MULTILINE)
"""A line of a folded block that goes on in the next one, as neither of them begins with a blank."""
_AFTER: Final = re.compile(r"[ \t]*+(?:$|(?<=[ \t])#)", re.MULTILINE)
_QUOTED: Final = r"""("(?:[^"\\]|\\.)*+"|'(?:[^']|'')*+')"""
_TEXT: Final = re.compile(_QUOTED, re.DOTALL)
_JOINED: Final = re.compile(r"\\[^\n]|(\\?[ \t]*\n)((?:[ \t]*\n)*)[ \t]*")
_JOINED_SINGLE: Final = re.compile(r"([ \t]*\n)((?:[ \t]*\n)*)[ \t]*")
"""The end of a line in quotes, blank lines, and the indentation behind it."""
_WORDS: Final[dict[str, object]] = {"": None, "~": None} | {
    spelling: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for spelling in (word, word.title(), word.upper())
}
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(\.[0-9]++(?:[eE][-+][0-9]++)?)?")
_KEY_OR_COMMENT: Final = re.compile(r":(?:[ \t]|$)|(?<![^ \t])#")
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
        self.anchors: dict[str, tuple[object, int]] = {}
        """The value of each anchor, and how many values are in it."""
        self.values = 0

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
        members, merged = dict[str, object](), dict[str, object]()
        while key:
            name = _unquoted(key[1]) if key[1][0] in "\"'" else key[1].rstrip()
            if name in members or len(name) > _MAX_KEY_CHARS:
                _fail(self.text)
            value = self._read_value(self.text[key.end() :], indent, depth, is_key=True)
            if name == "<<" and isinstance(value, dict):
                merged |= value
            else:
                members[name] = value
            key = KEY.match(self.text) if self.indent == indent else None
        self.has_rows |= depth > 0 and len(members) >= _MIN_ROW_KEYS
        return merged | members

    def _read_value(self, rest: str, indent: int, depth: int, *, is_key: bool) -> object:
        """Return the value behind a key or a dash that stand at an indentation."""
        self.values += 1
        if anchor := _ANCHOR.match(rest):
            before = self.values
            value = self._read_value(rest[anchor.end() :], indent, depth, is_key=is_key)
            self.anchors[anchor[1]] = value, self.values - before
            return value
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
        if (alias := _ALIAS.match(rest)) and alias[1] in self.anchors:
            value, count = self.anchors[alias[1]]
            self.values += count
            if self.values > _MAX_ALIASED * len(self.lines):
                _fail(rest)
            self.advance()
            return value
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
    body = "\n".join(lines[:last])
    if is_folded:
        body = _FOLDED_LINE.sub(lambda line: line[1] + (line[2] or " "), body)
    end = "" if sign == "-" or not last else "\n"
    return body + end + ("\n" * (len(lines) - last) if sign == "+" else "")


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
        if token not in ("[", "{"):
            return _unquoted(token) if token[0] in "\"'" else plain_value(token)
        close, items, members = "]" if token == "[" else "}", list[object](), dict[str, object]()
        while self._token(is_passed=False) != close:
            if token == "[":
                items.append(self.value(depth + 1))
            else:
                self._add_pair(members, depth + 1)
            if not self._pass(",") and (sign := self._token(is_passed=False)) != close:
                _fail(sign)
        self._token()
        return items if token == "[" else members

    def _pass(self, sign: str) -> bool:
        """Pass a sign if it is next."""
        return self._token(is_passed=False) == sign == self._token()

    def _add_pair(self, members: dict[str, object], depth: int) -> None:
        key = self._token()
        name = _unquoted(key) if key[0] in "\"'" else key
        if key in "[]{},:" or name in members:
            _fail(key)
        has_value = self._pass(":") and self._token(is_passed=False) not in (",", "}")
        members[name] = self.value(depth) if has_value else None


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
    return found[0] if found[1] is None else "\n" * found[2].count("\n") or " " * (found[1][0] != "\\")


def _char(escape: re.Match[str]) -> str:
    if digits := escape[1] or escape[2] or escape[3]:
        return chr(int(digits, 16))
    if escape[4] not in _ESCAPED:
        raise ValueError(f"expected an escape of YAML, found {escape[0]!r}")
    return _ESCAPED[escape[4]]


# How documents are written.

_MARKED: Final = "-"
_BRACKET: Final = "o"
"""The form of the first token of a block that stands in brackets."""
_MORE: Final = 2
"""How many blanks more than its entry has the rest of a text that is folded."""
_WIDTH: Final = 80
"""The column behind which PyYAML and libyaml fold a line at its next single blank."""
_BREAK: Final = re.compile(r"( +|\n+)")
_NEXT_LINE: Final = "n1l+0s"
# YAML 1.1 or 1.2 reads these as something else than a text, so writers quote them where they are one.
_NO_TEXT: Final = lazy_pattern(
    r"|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE|null|Null|NULL|[yYnN~=]|<<"
    r"|[-+]?(?:0b[01_]+|0[xo][0-9a-fA-F_]+|[0-9][0-9_]*(?::[0-5]?[0-9])*\.?[0-9_]*(?:[eE][-+]?[0-9]+)?)"
    r"|[-+]?\.(?:[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|inf|Inf|INF)|\.(?:nan|NaN|NAN)"
    r"|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?"
    r"(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?)?"
)
_NO_PLAIN: Final = re.compile(r"[#,\[\]{}&*!|>'\"%@`]|[-?:](?: |$)|---|\.\.\.| |.*(?:: |:$| #| $)")
_CONTROL: Final = lazy_pattern("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_NO_PRINT: Final = lazy_pattern(
    '["\\\\\\x00-\\x1f\\x7f-\\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff\U00010000-\U0010ffff]'
)


def _write_documents(pen: Pen, values: list[Any], *, is_marked: bool) -> None:
    for number, value in enumerate(values):
        if not value or not isinstance(value, (dict, list)):
            raise ValueError(f"expected a map or a list with members, found {type(value).__name__!r}")
        has_mark = bool(number) or is_marked
        if has_mark:
            pen.token(as_is("---"), ("mark" if number else "start",), default="n1" * bool(number))
        _write_block(pen, value, ("behind mark" if has_mark else "start",), (0, 0), default="n1" * has_mark)


def _write_block(
    pen: Pen, value: dict[str, Any] | list[Any], gap: Kind, base: Base, sign: str = "", default: str = ""
) -> None:
    """Write the members of a map or a list, on lines of their own or in brackets."""
    bracket = "{" if isinstance(value, dict) else "["
    is_first = True
    for key, member in value.items() if isinstance(value, dict) else ((None, item) for item in value):
        spelling = as_is("-") if key is None else _spell_scalar(key, ("key",))
        if is_first:
            first = Spelling(
                lambda form, write=spelling.write: bracket if form == _BRACKET else write(form),  # type: ignore[misc]
                (*spelling.forms, _BRACKET),
                (sign, bracket, "block"),
            )
            if pen.token(first, gap, sign=sign, base=base, default=default) == _BRACKET:
                Brackets(pen, _spell_flow).write_members(value, "}" if bracket == "{" else "]")
                return
            base, is_first = (pen.start, 0), False
        else:
            pen.token(spelling, (base, "line"), base=base, default=_NEXT_LINE)
        _write_entry(pen, member, "-" if key is None else ":", base)


def _write_entry(pen: Pen, value: Any, sign: str, base: Base) -> None:
    """Write a value behind a dash, or behind the colon of its key."""
    if value and isinstance(value, (dict, list)):
        indent = "s1" if sign == "-" else "n1l+2s" if isinstance(value, dict) else _NEXT_LINE
        _write_block(pen, value, ((sign, type(value)),), base, sign.strip("-"), indent)
    else:
        spelling = _spell_scalar(value, (), base[0], pen.column + 1 + (sign == ":"))
        gap = (sign, value is None, "before value")
        pen.token(spelling, gap, sign=sign.strip("-"), base=base, default="s1")


def _spell_flow(value: object, where: Kind) -> Spelling:
    if isinstance(value, (dict, list)):
        return as_is("{" if isinstance(value, dict) else "[")
    return _spell_scalar(value, ("flow",))


_WORD_SPELLINGS: Final[dict[str, Spelling]] = {
    "True": Spelling({"p": "true", "T": "True"}.get, ("p", "T"), ("boolean",)),
    "False": Spelling({"p": "false", "T": "False"}.get, ("p", "T"), ("boolean",)),
    "None": Spelling({"p": "null", "z": "~", "e": ""}.get, ("p", "z", "e"), ("null",), is_alone=True),
}


def _spell_scalar(value: object, where: Kind, indent: int = 0, column: int = 0) -> Spelling:
    """Return how writers write a scalar; those of one class have the same style.

    Args:
        value: A scalar, or an empty list or map.
        where: The place, which has styles of its own.
        indent: The blanks before the entry whose value it is.
        column: The characters before it in its line.
    """
    if type(value) is not str:
        written = "[]" if value == [] else repr(value)
        return _WORD_SPELLINGS.get(written) or as_is(written)
    if _CONTROL.search(value):
        kind = "control"
    elif "\n" in value:
        kind = "lines"
    elif _NO_TEXT.fullmatch(value):
        kind = "value"
    elif _NO_PLAIN.match(value) or "\t" in value:
        kind = "signs"
    else:
        kind = "text"
    return Spelling(partial(_write_text, value, indent, column), _FORMS[kind], (where, kind))


_FORMS: Final = {
    "control": ("d", "j"),
    "lines": ("l2", "l4", "l1", "l3", "d", "j", "S", "P"),
    "value": ("s", "p", "d"),
    "signs": ("s", "p", "d", "j", "S"),
    "text": ("p", "s", "d", "j", "P", "S"),
}
"""The styles that texts of a kind may have (see `_write_text`), the usual one first."""


def _write_text(value: str, indent: int, column: int, form: str) -> str | None:
    """Return a text in a style.

    As it is (p), in single quotes (s), the same folded, in capitals; in double quotes as libyaml (d) or JSON (j)
    escapes; or as a block that is indented by so many blanks.
    """
    if form in ("p", "P"):
        return value if form == "p" else _fold(value, indent + _MORE, column)
    if form in ("s", "S"):
        escaped = value.replace("'", "''")
        if form == "s":
            return f"'{escaped}'" if "\n" not in value else None
        return f"'{_fold(escaped, indent + _MORE, column + 1)}'"
    if form == "d":
        return f'"{_NO_PRINT.sub(_escaped, value)}"'
    if form == "j":
        return encode_basestring(value)
    return _block(value, int(form[1]), indent) if form in _FORMS["lines"] else None


def _fold(text: str, indent: int, column: int) -> str:
    """Fold at a single blank behind the width; a line break is an empty line."""
    parts = []
    for part in _BREAK.split(text):
        if part.startswith("\n") or (part == " " and column > _WIDTH):
            parts.append("\n" * (len(part) if part != " " else 0) + "\n" + " " * indent)
            column = indent
        else:
            parts.append(part)
            column += len(part)
    return "".join(parts)


def _escaped(found: re.Match[str]) -> str:
    char = found[0]
    if char in _LETTERS:
        return f"\\{_LETTERS[char]}"
    code = ord(char)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def _block(text: str, indent: int, base: int) -> str:
    """Return a block, whose sign says whether no line break, one, or several end the text."""
    body = text.removesuffix("\n")
    keep = "-" if body == text else "+" if body.endswith("\n") or not body else ""
    first = str(indent) if text[:1] in (" ", "\n") else ""
    blanks = " " * (base + indent)
    lines = "".join([f"\n{blanks}{line}" if line else "\n" for line in body.split("\n")])
    return f"|{first}{keep}{lines}"


# The forms of YAML (see the package's docstring).

_START: Final = re.compile(r"(?:(?:#[^\n]*+|---[ \t]*+(?:#[^\n]*+)?|[ \t]*+\r?)\n)*+(?:- +)*+([^\n]*+)")
_MARK: Final = re.compile(r"\n---[ \t]*+\r?(?:\n|#)")
_SENTENCE_WORDS: Final = 3
"""Words of a value that may be a sentence."""
_MAX_SENTENCES: Final = 7 / 8
"""Share of values that are sentences from which a text is prose; descriptions of tools have up to 0.8."""


@dataclass(eq=False, slots=True)
class _Yaml:
    CODE: str
    IS_SEVERAL: bool

    def recognise(self, text: str) -> bool:
        """Return whether `text` begins with a key or a dash, behind comments, and has as many documents as expected."""
        found = _START.match(text)
        if found is None or KEY.match(found[1].rstrip()) is None:
            return False
        return (_MARK.search(text, found.start(1)) is not None) is self.IS_SEVERAL

    def read(self, text: str) -> object:
        """Return the value, an array of those of several documents."""
        values, has_rows = read_documents(text)
        is_expected = len(values) > 1 if self.IS_SEVERAL else has_rows and len(values) == 1
        if not is_expected or not _is_data(values):
            raise ValueError("expected YAML that is data, found prose")
        return values if self.IS_SEVERAL else values[0]

    def describe(self, text: str, value: object) -> str | None:
        """Return the layout (see above)."""
        start = _MARKED * text.startswith("---")
        walk = partial(_write_documents, values=self._documents(value), is_marked=bool(start))
        told = None if "\r" in text else find_writing(text, walk)
        return None if told is None else f"{start}{told}"

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the text in a layout; its characters are counted before they are joined."""
        walk = partial(_write_documents, values=self._documents(value), is_marked=how.startswith(_MARKED))
        return write_again(walk, how.removeprefix(_MARKED), expansion)

    def _documents(self, value: object) -> list[Any]:
        if not self.IS_SEVERAL:
            return [value]
        if type(value) is not list or len(value) < 2:
            raise ValueError(f"expected an array for several documents, found {type(value).__name__!r}")
        return value


DOCUMENT: Final = _Yaml("y", IS_SEVERAL=False)
DOCUMENTS: Final = _Yaml("Y", IS_SEVERAL=True)


def _is_data(documents: list[Any]) -> bool:
    """Return whether there are few sentences, no headings, and more than a list."""
    if len(documents) > 1 and not all(isinstance(document, dict) and len(document) > 1 for document in documents):
        return False
    first = [pair for document in documents if isinstance(document, dict) for pair in document.items()]
    if any(" " in key and member and isinstance(member, (dict, list)) for key, member in first):
        return False
    left: list[Any] = [documents]
    values = sentences = 0
    while left:
        node = left.pop()
        for member in node.values() if isinstance(node, dict) else node:
            if isinstance(member, (dict, list)) and member:
                left.append(member)
            else:
                values += 1
                sentences += isinstance(member, str) and len(member.split(None, _SENTENCE_WORDS)) >= _SENTENCE_WORDS
    return sentences < values * _MAX_SENTENCES
