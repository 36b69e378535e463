"""A form: the `repr` of a list or dict, which many tools print instead of JSON."""

from __future__ import annotations

import ast
import json
import re
from typing import Final

from accp_core.documents.json_styles import python_size
from accp_core.packing.expansion import Expansion

__all__ = ["CODE", "DOUBLE", "IS_SEVERAL", "SINGLE", "STRING", "describe", "read", "recognise", "write"]

CODE: Final = "p"
IS_SEVERAL: Final = False

# What `repr` writes; Python prints a warning when it reads escapes that `repr` does not write.
_ESCAPE: Final = r"\\(?:[\\'nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})"
SINGLE: Final = rf"'(?:[^'\\\n]|{_ESCAPE})*+"
"""The pattern of a string in single quotes, up to the last one."""
DOUBLE: Final = rf'"(?:[^"\\\n]|{_ESCAPE})*+'
"""The same of one in double quotes."""
STRING: Final = rf"""{SINGLE}'|{DOUBLE}\""""
_PYTHON: Final = re.compile(rf"(?:[\[\]{{}}]|[,:] |True|False|None|-?[0-9][0-9.]*+(?:e[+-][0-9]+)?|{STRING})*+")
_TOKEN: Final = re.compile(rf"{STRING}|True|False|None")
_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_ESCAPED_HALF: Final = re.compile(r"\\ud[89a-f]")


def recognise(text: str) -> bool:
    """Return whether `text` begins like a list or dict, and has a quote that JSON has not."""
    return text.startswith(("[", "{")) and "'" in text


def read(text: str) -> object:
    """Return the value of what `repr` writes of JSON values with members."""
    if _PYTHON.fullmatch(text) is None or _ESCAPED_HALF.search(text):
        raise ValueError("expected a repr of JSON values")
    try:
        # As JSON it is read many times faster than by `ast`.
        value: object = json.loads(_TOKEN.sub(_json_token, text))
    except (RecursionError, SyntaxError) as error:
        raise ValueError("expected a repr that can be read") from error
    if not value or repr(value) != text:
        raise ValueError("expected what repr writes of a value with members")
    return value


def _json_token(token: re.Match[str]) -> str:
    """Return a Python literal that is no number as JSON."""
    written = token[0]
    if written in _WORDS:
        return _WORDS[written]
    if "\\" in written:
        return json.dumps(ast.literal_eval(written))
    escaped = written[1:-1].replace('"', '\\"')
    return f'"{escaped}"'


def describe(text: str, value: object) -> str:
    """Return nothing: what is read is what `repr` writes."""
    return ""


def write(value: object, how: str, expansion: Expansion) -> str:
    """Return the `repr`."""
    if how:
        raise ValueError(f"expected nothing about a repr, found {how!r}")
    expansion.add(python_size(value), "this part")
    return repr(value)
