"""Writes YAML in a layout, and finds the layout of a text: one walk through the values for both (see `writing`).

A layout begins with `!` where the lines end as in Windows, and with `-` where the text begins with `---`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from json.encoder import encode_basestring
from typing import Any, Final

from accp_core.documents.writing import Base, Brackets, Kind, Pen, Spelling, as_is, find_writing, write_again
from accp_core.documents.yaml.reader import KEY, read_documents
from accp_core.lazy_patterns import lazy_pattern
from accp_core.packing.expansion import Expansion

__all__ = ["DOCUMENT", "DOCUMENTS", "describe_documents", "write_documents"]


_CRLF: Final = "!"
_MARKED: Final = "-"
_MARK_LINE: Final = "---"
_BRACKET: Final = "o"
"""The form of the first token of a block that stands in brackets."""
_FOLDED: Final = 2
"""How many blanks more than its entry has the rest of a text that is folded."""
_WIDTH: Final = 80
"""The column behind which PyYAML and libyaml fold a line at its next single blank."""
_BREAK: Final = re.compile(r"( +|\n+)")
_ESCAPE_OR_CHAR: Final = re.compile(r"\\(?:x..|u.{4}|U.{8}|.)|.", re.DOTALL)
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
_LETTERS: Final = {
    "\0": "0", "\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", "\x1b": "e", '"': '"',
    "\\": "\\", "\x85": "N", "\xa0": "_", "\u2028": "L", "\u2029": "P",
}  # fmt: skip
"""Characters in double quotes that are a backslash and a letter."""


def _write_documents(pen: Pen, values: list[Any], *, is_marked: bool) -> None:
    for number, value in enumerate(values):
        if not value or not isinstance(value, (dict, list)):
            raise ValueError(f"expected a map or a list with members, found {type(value).__name__!r}")
        has_mark = bool(number) or is_marked
        if has_mark:
            pen.token(as_is(_MARK_LINE), ("mark" if number else "start",), default="n1" * bool(number))
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


_WORDS: Final[dict[str, Spelling]] = {
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
        return _WORDS.get(written) or as_is(written)
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
    "control": ("d", "j", "D"),
    "lines": ("l2", "l4", "l1", "l3", "d", "j", "S", "D", "P"),
    "value": ("s", "p", "d"),
    "signs": ("s", "p", "d", "j", "S", "D"),
    "text": ("p", "s", "d", "j", "P", "S", "D"),
}
"""The styles that texts of a kind may have (see `_write_text`), the usual one first."""


def _write_text(value: str, indent: int, column: int, form: str) -> str | None:
    """Return a text in a style.

    As it is (p), in single quotes (s), in double quotes as libyaml (d) or JSON (j) escapes; the same folded, in
    capitals; or as a block that is indented by so many blanks.
    """
    if form in ("p", "P"):
        return value if form == "p" else _folded(value, indent + _FOLDED, column)
    if form in ("s", "S"):
        escaped = value.replace("'", "''")
        if form == "s":
            return f"'{escaped}'" if "\n" not in value else None
        return f"'{_folded(escaped, indent + _FOLDED, column + 1)}'"
    if form in ("d", "D"):
        written = f'"{_NO_PRINT.sub(_escape, value)}"'
        return written if form == "d" else _folded_escapes(written, indent + _FOLDED, column)
    if form == "j":
        return encode_basestring(value)
    return _block(value, int(form[1]), indent) if form in _FORMS["lines"] else None


def _folded(text: str, indent: int, column: int) -> str:
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


def _folded_escapes(written: str, indent: int, column: int) -> str:
    """Fold behind the width with a backslash, before a blank or next to an escape."""
    tokens = _ESCAPE_OR_CHAR.findall(written[1:-1])
    parts, column, behind_escape = ['"'], column + 1, True
    for at, token in enumerate(tokens):
        is_inside, is_escape = 0 < at < len(tokens) - 1, len(token) > 1
        if not is_escape and is_inside and (token == " " or behind_escape) and column > _WIDTH:
            parts.append("\\\n" + " " * indent + "\\" * (token == " "))
            column = indent + (token == " ")
        parts.append(token)
        column += len(token)
        if is_escape and is_inside and column - 1 > _WIDTH:
            parts.append("\\\n" + " " * indent + "\\" * (tokens[at + 1] == " "))
            column = indent + (tokens[at + 1] == " ")
        behind_escape = is_escape
    return "".join([*parts, '"'])


def _escape(found: re.Match[str]) -> str:
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


def describe_documents(text: str, values: list[Any]) -> str | None:
    """Return the layout of a text; None where it has none, or one that would be too long."""
    source = text.replace("\r\n", "\n")
    start = _CRLF * (source != text) + _MARKED * source.startswith(_MARK_LINE)
    if source != text and source.replace("\n", "\r\n") != text:
        return None
    told = find_writing(source, partial(_write_documents, values=values, is_marked=_MARKED in start))
    return None if told is None else f"{start}{told}"


def write_documents(values: list[Any], layout: str, expansion: Expansion) -> str:
    """Return the documents in a layout; its characters are counted before they are joined.

    Raises:
        ValueError: the layout does not fit the values; ExpansionError: the text is longer than allowed.
    """
    told = layout.removeprefix(_CRLF)
    walk = partial(_write_documents, values=values, is_marked=told.startswith(_MARKED))
    text = write_again(walk, told.removeprefix(_MARKED), expansion)
    if not layout.startswith(_CRLF):
        return text
    expansion.add(text.count("\n"), "this part")
    return text.replace("\n", "\r\n")


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
        """Return the layout (see `writer`)."""
        return describe_documents(text, self._documents(value))

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the text in a layout."""
        return write_documents(self._documents(value), how, expansion)

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
    if any(" " in key and member and isinstance(member, (dict, list)) for key, member in _first_members(documents)):
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


def _first_members(documents: list[Any]) -> list[tuple[str, Any]]:
    return [pair for document in documents if isinstance(document, dict) for pair in document.items()]
