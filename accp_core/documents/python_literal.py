"""A form: the `repr` or `pprint` of lists, tuples and dicts, which many tools print instead of JSON.

A `Decimal` is read as its number, dates and times as texts of ISO 8601, a `UUID` as its text: such a text has tables
and queries, and no view.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any, Final

from accp_core.documents import json_document
from accp_core.documents.json_layout import describe_blanks, write_blanks
from accp_core.documents.json_styles import python_size
from accp_core.packing.expansion import Expansion

__all__ = ["CODE", "DOUBLE", "IS_SEVERAL", "SINGLE", "STRING", "describe", "end_of", "read", "recognise", "write"]

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
    r"Decimal\('(?P<decimal>-?[0-9]{1,40}(?:\.[0-9]{1,40})?)'\)|UUID\('(?P<uuid>[0-9a-f-]{36})'\)"
    r"|datetime\.date(?:time)?\((?P<date>[0-9]{1,4}(?:, [0-9]{1,6}){2,6})\)"
)
_PYTHON: Final = re.compile(rf"(?:[\[\]{{}}()]|[,:]|\s|True|False|None|{_NUMBER}|{STRING}|{_CALL})*+")
_TOKEN: Final = re.compile(rf"(?P<string>{STRING})|True|False|None|{_CALL}|,?\)|\(")
_BRACKETS: Final = re.compile(rf"{STRING}|[\[({{]|(?P<close>[\])}}])|\n\S")
_GAP: Final = re.compile(rf"(\s*+)({STRING}|[\[\]{{}}(),:]|[^\s\[\]{{}}(),:]++)")
_NO_TUPLE: Final = re.compile(rf"(?P<string>{STRING})|(?<![a-zA-Z])\((?:{STRING}|[^(),'\"])*+\)")
_WORDS: Final = {"True": "true", "False": "false", "None": "null", "(": "[", ")": "]", ",)": "]"}
_ESCAPED_HALF: Final = re.compile(r"\\ud[89a-f]")
_ROWS: Final = "t"
"""What a layout begins with where the items of the list are tuples."""


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
        value = json_document.read(_TOKEN.sub(_json_token, text))
    except SyntaxError as error:
        raise ValueError("expected a repr that can be read") from error
    if not value or not isinstance(value, (list, dict)):
        raise ValueError("expected a value with members")
    return value


def _json_token(token: re.Match[str]) -> str:
    """Return a Python literal that is no number as JSON."""
    written = token[0]
    if written in _WORDS:
        return _WORDS[written]
    if token["decimal"]:
        return token["decimal"]
    if token["uuid"]:
        return f'"{token["uuid"]}"'
    if token["date"]:
        return f'"{_iso(list(map(int, token["date"].split(", "))), is_time="datetime(" in written)}"'
    if "\\" in written:
        return json.dumps(ast.literal_eval(written))
    escaped = written[1:-1].replace('"', '\\"')
    return f'"{escaped}"'


def _iso(numbers: list[int], *, is_time: bool) -> str:
    year, month, day, *time = numbers
    date = f"{year:04}-{month:02}-{day:02}"
    if not is_time:
        return date
    hour, minute, second, micro = (*time, 0, 0, 0, 0)[:4]
    return f"{date}T{hour:02}:{minute:02}:{second:02}{f'.{micro:06}' if micro else ''}"


def describe(text: str, value: object) -> str | None:
    """Return nothing for what `repr` writes, `t` where the items of the list are tuples, and the blanks of `pprint`."""
    for rows in ("", _ROWS) if isinstance(value, list) else ("",):
        written = _written(value, rows)
        if written == text:
            return rows
        blanks = describe_blanks(_GAP.findall(text), [token for _, token in _GAP.findall(written)], len(text))
        if blanks is not None and write(value, f"{rows}/{blanks}", Expansion(len(text))) == text:
            return f"{rows}/{blanks}"
    return None


def _written(value: object, rows: str) -> str:
    if not rows:
        return repr(value)
    if not isinstance(value, list):
        raise ValueError(f"expected an array for tuples, found {type(value).__name__!r}")
    return repr([tuple(item) if isinstance(item, list) else item for item in value])


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the `repr`, or with other blanks."""
    rows, slash, blanks = how.partition("/")
    if rows not in ("", _ROWS):
        raise ValueError(f"expected how a repr is written, found {how!r}")
    if not slash:
        expansion.add(python_size(value) + rows.count(_ROWS), "this part")
        return _written(value, rows)
    tokens = [token for _, token in _GAP.findall(_written(value, rows))]
    return write_blanks(tokens, blanks, expansion)
