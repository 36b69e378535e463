"""A form: the `repr` or `pprint` of lists, tuples and dicts, which many tools print instead of JSON.

    [(1, 'AC/DC', Decimal('9.90'), datetime.date(2026, 2, 22)), (2, 'Accept', None, None)]

A tuple is read as an array, a `Decimal` as its number, dates and times as texts of ISO 8601, a `UUID` as its text;
tuples of one length, such as the rows of a database, as maps with the keys `c0`, `c1`, and so on.

A layout begins with `r` where the text is such rows. The rest of it is empty for what `repr` writes of JSON values.
Else it tells which values are written in another form, foretold to be that of the value before in the same column or
under the same key; then the blanks between the tokens.
"""

from __future__ import annotations

import ast
import datetime
import json
import re
from collections.abc import Callable, Iterator, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from typing import Any, Final

from accp_core.documents import json_document
from accp_core.documents.cut_json import MIN_CUT_CHARS
from accp_core.documents.json_layout import Hearing, Key, Telling, describe_blanks, is_short, write_blanks
from accp_core.documents.json_styles import find_style, write_styled_json
from accp_core.packing.expansion import Expansion
from accp_core.strict_json import is_utf8

__all__ = [
    "CODE",
    "DOUBLE",
    "IS_SEVERAL",
    "SINGLE",
    "STRING",
    "describe",
    "end_of",
    "literal_size",
    "literals_of_repr",
    "read",
    "read_literal",
    "recognise",
    "whole_literal",
    "write",
    "write_literal",
]


CODE: Final = "p"
IS_SEVERAL: Final = False

# What `repr` writes; Python prints a warning when it reads escapes that `repr` does not write.
_ESCAPE: Final = r"\\(?:[\\'nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
SINGLE: Final = rf"'(?:[^'\\\n]|{_ESCAPE})*+"
"""The pattern of a string in single quotes, up to the last one."""
DOUBLE: Final = rf'"(?:[^"\\\n]|{_ESCAPE})*+'
"""The same of one in double quotes."""
STRING: Final = rf"""{SINGLE}'|{DOUBLE}\""""
_NUMBER: Final = r"-?[0-9][0-9.]*+(?:e[+-][0-9]+)?"
_CALL: Final = (
    r"Decimal\('[-+0-9.A-Za-z]{1,80}'\)|UUID\('[0-9a-f-]{36}'\)"
    r"|datetime\.date(?:time)?\([0-9]{1,4}(?:, [0-9]{1,6}){2,6}\)"
)
_PYTHON: Final = re.compile(rf"(?:[\[\]{{}}()]|[,:]|\s|True|False|None|{_NUMBER}|{STRING}|{_CALL})*+")
_TOKEN: Final = re.compile(rf"(?P<string>{STRING})|True|False|None|(?P<call>{_CALL})|,?\)|\(")
_BRACKETS: Final = re.compile(rf"{STRING}|[\[({{]|(?P<close>[\])}}])|\n\S")
_GAP: Final = re.compile(rf"(\s*+)({STRING}|{_CALL}|,\)|[\[\]{{}}(),:]|[^\s\[\]{{}}(),:]++)")
_NO_TUPLE: Final = re.compile(rf"(?P<string>{STRING})|(?<![a-zA-Z])\((?:{STRING}|[^(),'\"])++\)")
_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_WORDS: Final = {"True": "true", "False": "false", "None": "null", ",)": "]", "(": "[", ")": "]"}
_ESCAPED_HALF: Final = re.compile(r"\\ud[89a-f]")
_TUPLE, _DECIMAL, _UUID, _DATE, _TIME = "TDUdt"
"""The letters of the forms that values have beside those of JSON."""
_ROWS: Final = "r"
_MAX_COLUMN: Final = 1_000
"""Columns of a row whose forms are told apart."""
_CLOSING: Final = {"[": "]", "{": "}", "(": ")"}
_Choose = Callable[[Key, Key, int], str]


def recognise(text: str) -> bool:
    """Return whether `text` begins like a list or dict, and has a quote that JSON has not, or a tuple."""
    return text.startswith(("[", "{")) and ("'" in text or "(" in text)


def end_of(text: str, start: int) -> tuple[int, bool]:
    """Return up to where the literal at `start` was looked at, and whether its brackets close there.

    Its further lines begin with a blank, as `pprint` writes them.
    """
    depth = 0
    for found in _BRACKETS.finditer(text, start):
        sign = found[0]
        if sign in ("[", "(", "{"):
            depth += 1
        elif found["close"]:
            depth -= 1
            if not depth:
                return found.end(), True
        elif sign[0] == "\n":
            return found.start(), False
    return len(text), False


def read(text: str) -> Any:
    """Return the value of what `repr` or `pprint` writes of values with members."""
    if _PYTHON.fullmatch(text) is None or _ESCAPED_HALF.search(text):
        raise ValueError("expected a repr of JSON values")
    if "(" in text and not all(found["string"] for found in _NO_TUPLE.finditer(text)):
        raise ValueError("expected tuples, found brackets without a comma")
    try:
        # As JSON it is read many times faster than by `ast`.
        value = json_document.read(_as_json(text))
    except (SyntaxError, TypeError, OverflowError) as error:  # a character beyond all, a date of too many numbers
        raise ValueError("expected a repr that can be read") from error
    if not value or not isinstance(value, (list, dict)):
        raise ValueError("expected a value with members")
    is_rows = text.startswith("[(") and all(type(row) is list and row for row in value)
    if not is_rows or len(set(map(len, value))) > 1:
        return value
    return [{f"c{number}": cell for number, cell in enumerate(row)} for row in value]


def _as_json(text: str) -> str:
    parts = text.split("'")
    outside = "\0".join(parts[::2])
    if '"' in text or "\\" in text or any(name in outside for name in _NAMES if name != "("):
        return _TOKEN.sub(_json_token, text)
    for word, written in _WORDS.items():
        outside = outside.replace(word, written)
    parts[::2] = outside.split("\0")
    return '"'.join(parts)


def _json_token(token: re.Match[str]) -> str:
    """Return a Python literal that is no number as JSON."""
    written = token[0]
    if written in _WORDS:
        return _WORDS[written]
    if token["call"]:
        name, _, inside = written[:-1].partition("(")
        if name in _DATES:
            return f'"{_DATES[name](*map(int, inside.split(", "))).isoformat()}"'
        is_number = name == "Decimal" and _JSON_NUMBER.fullmatch(inside[1:-1])
        return inside[1:-1] if is_number else f'"{inside[1:-1]}"'
    if "\\" in written:
        return json.dumps(ast.literal_eval(written))
    escaped = written[1:-1].replace('"', '\\"')
    return f'"{escaped}"'


_DATES: Final[dict[str, Any]] = {"datetime.date": datetime.date, "datetime.datetime": datetime.datetime}
_NAMES: Final = {"(": _TUPLE, "Decimal": _DECIMAL, "UUID": _UUID, "datetime.date": _DATE, "datetime.datetime": _TIME}


def describe(text: str, value: object) -> str | None:
    """Return the layout (see above)."""
    rows = _ROWS * (text.startswith("[(") and type(value) is list and type(value[0]) is dict)
    written = _repr(value, rows)
    if written == text:
        return ""
    found, telling = _GAP.findall(text), Telling()

    def tell(exact: Key, rough: Key, number: int) -> str:
        token = found[number][1]
        form = _NAMES.get(token if token == "(" else token.partition("(")[0] * token.endswith(")"), "")
        telling.tell(exact, rough, form, is_foretold=telling.foretold(exact, rough, "") == form)
        return form

    tokens = _with_forms([token for _, token in _GAP.findall(written)], tell)
    forms, blanks = telling.to_text(), describe_blanks(found, tokens, len(text))
    is_whole = blanks is not None and is_short(forms, len(text)) and tokens == [token for _, token in found]
    return f"{rows}{forms}/{blanks}" if is_whole else None


def _repr(value: object, rows: str) -> str:
    if not rows:
        return repr(value)
    if type(value) is not list or not all(type(row) is dict for row in value):
        raise ValueError("expected an array of maps for tuples")
    return repr([list(row.values()) for row in value])


def _with_forms(compact: Sequence[str], choose: _Choose) -> list[str]:
    """Return the tokens of a repr of JSON values, each in the form that is chosen for its depth, place and kind."""
    tokens: list[str] = []
    open_ones: list[tuple[str, str | int]] = []
    place: str | int = 0
    """The index in an array, the key in a map; "" where a key is next."""
    for number, token in enumerate(compact):
        written = token
        if token in ("]", "}"):
            is_single = place == 0 and compact[number - 1] != "["
            written, place = open_ones.pop()
            written = "," * (written == ")" and is_single) + written
        elif token == ",":
            place = "" if isinstance(place, str) else min(place + 1, _MAX_COLUMN)
        elif token == ":":
            place = compact[number - 1]
        elif place != "":
            around, rough = open_ones[-1][1] if open_ones else "", (len(open_ones), token[0])
            written = _written(token, choose((*rough, around, place), rough, number))
            if token in ("[", "{"):
                open_ones.append((_CLOSING[written], place))
                place = 0 if token == "[" else ""
        tokens.append(written)
    return tokens


def _written(token: str, form: str) -> str:
    """Return a token of a repr in a form."""
    text = token.strip("'\"")
    if form == _TUPLE and token == "[":
        return "("
    if form == _DECIMAL:
        return f"Decimal('{text}')"
    if form == _UUID:
        return f"UUID('{text}')"
    if form in (_DATE, _TIME):
        return repr((datetime.date if form == _DATE else datetime.datetime).fromisoformat(text))
    if form:
        raise ValueError(f"expected a form of {token!r}, found {form!r}")
    return token


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the `repr`, or in other forms with other blanks."""
    rows = _ROWS * how.startswith(_ROWS)
    written = _repr(value, rows)
    if not how:
        expansion.add(len(written), "this part")
        return written
    forms, slash, blanks = how.removeprefix(_ROWS).partition("/")
    if not slash:
        raise ValueError(f"expected the forms of a repr and its blanks, found {how!r}")
    hearing = Hearing(forms, str)
    tokens = _with_forms(
        [token for _, token in _GAP.findall(written)], lambda exact, rough, number: str(hearing.next(exact, rough, ""))
    )
    hearing.end()
    return write_blanks(tokens, blanks, expansion)


# String literals, whole or cut off: one that a text is, in JSON or Python, and those in the `repr` of an object.

_MIN_CHARS: Final = 16
"""Characters of a literal; a shorter one saves nothing."""
# The `repr` of an object, or of a list of them: `meta=None content=[TextContent(type='text', text='…')]`.
_REPR: Final = re.compile(r"\[?[A-Za-z_][A-Za-z0-9_.]*[=(<]")
# A literal that was cut off, perhaps within an escape, ends the line.
_LITERAL: Final = re.compile(rf"(?<==)(?:{STRING}|(?P<open>{SINGLE}|{DOUBLE})(?:\\[xuU]?[0-9a-f]*)?\Z)")

_JSON: Final = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_ESCAPE_LEFT: Final = re.compile(r"\\?u?[0-9a-fA-F]{0,3}\Z")
"""What is left of an escape in which a text was cut off."""
_STEP: Final = 4096
"""Characters of a literal that are measured at once."""


def literals_of_repr(source: str, start: int, end: int) -> list[tuple[int, int, str, str]] | None:
    """Return the string literals of the repr of an object whose escapes stand for line breaks, quotes or a document.

    Of each: its position, its characters, its text, and the quote with which it begins if it was cut off. None where
    the text from `start` to `end` is no such repr.
    """
    if _REPR.match(source, start) is None:
        return None
    line = source.find("\n", start, end)
    stop = end if line == -1 else line
    found = list(_LITERAL.finditer(source, start, stop))
    if stop < end and not (found and found[-1]["open"]):
        return None
    return list(_texts(found))


def _texts(found: list[re.Match[str]]) -> Iterator[tuple[int, int, str, str]]:
    for literal in found:
        written = literal["open"] or literal[0]
        quote = written[0] if literal["open"] else ""
        is_worth = "\\" in written or written[1:2] in ("[", "{")
        if len(written) >= _MIN_CHARS and is_worth and (text := read_literal(written, quote)) is not None:
            yield literal.start(), len(written), text, quote


def whole_literal(body: str) -> tuple[int, str, str, str | None] | None:
    """Return the characters, text, open quote and style of the literal that a text is; None where it is none.

    The style is that of JSON (`json_styles`), None as Python writes it. A literal was cut off only where it is of JSON
    and holds JSON.
    """
    if len(body) < _MIN_CHARS or body[0] not in "\"'" or not ("\\" in body or body[1] in "[{"):
        return None
    found = _JSON.match(body)
    if found is None or body[found.end() : found.end() + 1] == "\n":
        text = read_literal(body) if body[0] == body[-1] else None
        return None if text is None else (len(body), text, "", None)
    if found.end() == len(body) - 1 and body[-1] == '"':
        return _json_literal(body, "")
    is_cut = found.end() >= MIN_CUT_CHARS and body[1] in "[{\\" and _ESCAPE_LEFT.match(body, found.end())
    return _json_literal(found[0], '"') if is_cut else None


def _json_literal(written: str, open_quote: str) -> tuple[int, str, str, str | None] | None:
    whole = written + open_quote
    text = scanstring(whole, 1)[0]
    style = find_style(whole, text) if is_utf8(text) else None
    return None if style is None else (len(written), text, open_quote, style)


def read_literal(written: str, open_quote: str = "") -> str | None:
    """Return the text of a literal; None if `write_literal` would not write the same characters.

    Args:
        written: The literal.
        open_quote: The quote with which it begins, if it was cut off before it ends with one.
    """
    try:
        text = ast.literal_eval(written + open_quote)
    except (ValueError, SyntaxError):
        return None
    return text if type(text) is str and is_utf8(text) and write_literal(text, open_quote) == written else None


def write_literal(text: str, open_quote: str = "", style: str | None = None) -> str:
    """Return a text as a literal.

    Args:
        text: The text.
        open_quote: The quote with which the literal begins, if it was cut off before its end.
        style: The code of a style of JSON; None: as Python writes it.
    """
    if style is not None:
        written = write_styled_json(text, style)
        return written[:-1] if open_quote else written
    if not open_quote:
        return repr(text)
    # Python takes single quotes, unless only they would need an escape.
    return repr(f'{text}"' if open_quote == "'" else f"{text}'")[:-2]


def literal_size(text: str, style: str | None = None) -> int:
    """Return about how many characters `write_literal` would write, without writing them all at once."""
    parts = (text[at : at + _STEP] for at in range(0, len(text), _STEP))
    return 2 + sum(len(write_literal(part, style=style)) - 2 for part in parts)
