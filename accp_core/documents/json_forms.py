"""Two forms: a JSON document, and lines of JSON objects or arrays (JSON Lines); and the JSON inside strings.

A layout is empty for compact JSON in raw Unicode, `@` and a code of `json_styles` for what a program writes by default,
and else what `writing` tells of the gaps and of the escapes in strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias

from accp_core.documents.document import BYTE_ORDER_MARK
from accp_core.documents.json_styles import ESCAPE_FORMS, STYLES, find_styles, read_styled_json, write_styled_json
from accp_core.documents.writing import Kind, Spelling, as_is, find_brackets, write_brackets
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion
from accp_core.packing.tree import BESIDE, IS_VIEW, EmbeddedJson, is_deeper, map_members
from accp_core.packing.values import read_float, read_int, spelling_decoder
from accp_core.strict_json import has_surrogate_pair, strict_decoder

__all__ = [
    "JSON", "JSON_LINES", "WriteString", "describe_json", "pack_embedded_json", "read_json_text",
    "unpack_embedded_json", "write_json",
]  # fmt: skip


_FIRST: Final = frozenset('[{"-0123456789tfnNI')


def _or_digits(read: Callable[[str], Any], digits: str) -> Any:
    """Return a number, or its digits where nothing holds it."""
    try:
        return read(digits)
    except ValueError:
        return digits


_FLOAT: Final = partial(_or_digits, read_float)
_decode: Final = spelling_decoder(read_float=_FLOAT, read_constant=str)
_decode_long: Final = strict_decoder(read_float=_FLOAT, read_constant=str, read_int=partial(_or_digits, read_int))
_MAX_DIGITS: Final = 4_000
"""Digits of an integer that Python reads: by default up to 4,300."""
_LONG: Final = re.compile(rf"(?<![0-9])[0-9]{{{_MAX_DIGITS}}}")


def read_json_text(text: str) -> Any:
    """Return the value of one document.

    Its numbers keep their spelling; one that no float holds, NaN among them, and an integer of more digits than Python
    reads become text.

    Raises:
        ValueError: it is no JSON, or a map repeats a key.
    """
    text = text.removeprefix(BYTE_ORDER_MARK)
    return _decode_long(text) if len(text) > _MAX_DIGITS and _LONG.search(text) else _decode(text)


@dataclass(eq=False, slots=True)
class JsonForm:
    """A form of JSON (see `WholeForm`)."""

    CODE: str
    IS_SEVERAL: bool

    def recognise(self, text: str) -> bool:
        """Return whether `text` begins like JSON; where there are several documents, whether it has a second line."""
        first = text.removeprefix(BYTE_ORDER_MARK)[:1]
        return first in ("{", "[") and "\n" in text if self.IS_SEVERAL else first in _FIRST

    def read(self, text: str) -> Any:
        """Return the value of the document, or those of the lines, of which there are several; blank lines hold none.

        Raises:
            ValueError: it is not written so.
        """
        if not self.IS_SEVERAL:
            return read_json_text(text)
        # Files that were joined have a byte order mark in front of the first line of each.
        lines = (line.removeprefix(BYTE_ORDER_MARK) for line in text.splitlines())
        values = [read_json_text(line) for line in lines if line.strip()]
        if len(values) < 2 or not all(isinstance(value, (dict, list)) for value in values):
            raise ValueError("expected several lines of JSON objects or arrays")
        return values

    def describe(self, text: str, value: object) -> str | None:
        """Return the layout (see above)."""
        return describe_json(text, self._documents(value))

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the text in a layout."""
        return write_json(self._documents(value), how, expansion)

    def _documents(self, value: object) -> list[object]:
        if not self.IS_SEVERAL:
            return [value]
        if type(value) is not list:
            raise ValueError(f"expected an array for JSON Lines, found {type(value).__name__!r}")
        return value


JSON: Final = JsonForm("o", IS_SEVERAL=False)
JSON_LINES: Final = JsonForm("n", IS_SEVERAL=True)


def describe_json(text: str, values: Sequence[object]) -> str | None:
    """Return the layout of a text that is one JSON document after the other; None where it has none.

    Args:
        text: The text.
        values: The values of its documents, whose numbers keep their spelling.
    """
    if "\\u0000" in text:
        # A string that looks like a placeholder would be written as a number.
        return None
    try:
        compact = "\n".join([write_styled_json(value, "0u") for value in values])
        # Of two halves that were written in different ways, a view makes one character.
        if has_surrogate_pair(compact):
            return None
        if compact == text:
            return ""
        for style in find_styles(text):
            if "\n".join([write_styled_json(value, style) for value in values]) == text:
                return f"@{style}"
    except (ValueError, RecursionError):
        return None
    return find_brackets(text, _spell, values)


def write_json(values: Sequence[object], how: str, expansion: Expansion) -> str:
    """Return JSON documents one after the other in a layout; its characters are counted.

    Raises:
        ValueError: the layout does not fit the values; ExpansionError: the text is longer than allowed.
    """
    style = how[1:] if how else "0u"
    if (how and how[0] != "@") or style not in STYLES:
        return write_brackets(how, _spell, values, expansion)
    expansion.add(len(values) - 1, "this part")
    return "\n".join([write_styled_json(value, style, expansion, "this part") for value in values])


_PLAIN: Final = re.compile(r"[ !#-%(-*,-.0-;?-\[\]-_a-~]*")
"""A string that all forms write in the same way."""
_BEYOND: Final = frozenset("NI-0123456789")
_SPELLS_NUMBER: Final = re.compile(r"NaN|-?Infinity|-?[0-9]++(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_OTHERS: Final[dict[type, Spelling]] = {dict: as_is("{"), list: as_is("["), type(None): as_is("null")}


def _spell(value: object, where: Kind) -> Spelling:
    if type(value) is str:
        return _spell_text(value)
    if type(value) is bool:
        return as_is("true" if value else "false")
    return _OTHERS.get(type(value)) or as_is(repr(value))


def _spell_text(text: str) -> Spelling:
    if text[:1] in _BEYOND and _SPELLS_NUMBER.fullmatch(text):
        # A number that no float holds has no quotes in the form "b".
        return Spelling({"": f'"{text}"', "b": text}.get, ("", "b"), (text, "bare"))
    if _PLAIN.fullmatch(text):
        return as_is(f'"{text}"')
    return Spelling(partial(_write_text, text), ESCAPE_FORMS, ("escapes",))


def _write_text(text: str, form: str) -> str | None:
    """Return a string of JSON whose escapes are those of a style."""
    return write_styled_json(text, form) if form in ESCAPE_FORMS else None


# Documents inside strings, replaced by their values where the same bytes can be written again: tool results hold JSON
# in JSON strings, and the escapes alone cost 12 to 15 % of their tokens.
#
# A view shows the code of a style of JSON. The view of a text opens documents of any layout, and other texts: it has
# their layouts beside it, and only with them is it read. The view of a value stands alone: it opens what a code tells.

ShowString: TypeAlias = Callable[[str], tuple[str, str] | None]
"""Returns the view of a text and its layout; None: it stays as it is."""
WriteString: TypeAlias = Callable[[object, Expansion], str]
"""Writes the string that holds a value, and counts its characters; ValueError: the value does not fit."""

_MAX_LEVELS: Final = 60
"""Levels of a document in a string that is opened; each takes calls of ours."""
_PACKED: Final = frozenset((str, dict, list))
_UNPACKED: Final = frozenset((EmbeddedJson, dict, list))


def pack_embedded_json(value: object, layouts: list[str] | None = None, show: ShowString = lambda _: None) -> object:
    """Return `value` with EmbeddedJson for each string that is a JSON array or object with members, or has a view.

    Args:
        value: A JSON value.
        layouts: The list to which the layouts are added, in the order of the value, each outer document before those in
            it; None: JSON documents are opened whose style has a code.
        show: The views of other strings, where there are layouts.
    """

    def pack(node: object) -> object:
        if type(node) is str:
            return pack_string(node)
        return map_members(node, pack, _PACKED) if type(node) is dict or type(node) is list else node

    def pack_string(text: str) -> object:
        may_be_json = len(text) > 2 and text[0] in "[{"
        if layouts is None:
            styled = read_styled_json(text) if may_be_json and text[-1] in "]}" else None
            is_opened = styled is not None and styled[0] and not is_deeper(styled[0], _MAX_LEVELS)
            return EmbeddedJson(pack(styled[0]), styled[1]) if styled is not None and is_opened else text
        if may_be_json and (found := _read_laid_out(text)) is not None:
            layouts.append(found[1])
            return EmbeddedJson(pack(found[0]), _style_of(found[1]))
        if ("\n" in text or text[:1] == '"') and (shown := show(text)) is not None:
            layouts.append(shown[1])
            return EmbeddedJson(shown[0], IS_VIEW)
        return text

    return pack(value)


def _read_laid_out(text: str) -> tuple[object, str] | None:
    """Return the value of a document and its layout."""
    try:
        value = read_json_text(text)
    except ValueError:
        return None
    layout = describe_json(text, [value]) if value and not is_deeper(value, _MAX_LEVELS) else None
    return None if layout is None else (value, layout)


def _style_of(layout: str) -> str:
    """Return the code of the style that a layout of `describe_json` says."""
    style = "0u" if layout == "" else layout.removeprefix("@")
    return style if style in STYLES and layout[:1] in ("", "@") else BESIDE


def unpack_embedded_json(
    value: object, expansion: Expansion | None = None, writers: Iterator[WriteString] | None = None
) -> object:
    """Return `value` with each EmbeddedJson written back as a string.

    Args:
        value: A tree that `pack_embedded_json` returned.
        expansion: What the strings may add; None: the default size. Each document within a document doubles the escapes
            of the inner one, so a short text could ask for more memory than there is.
        writers: What writes each string, in the order of `pack_embedded_json`; None: each document names its style.

    Raises:
        ExpansionError: the strings would have more characters than `expansion` has left.
        ValueError: the writers do not fit the value.
    """
    left = expansion or Expansion(DEFAULT_EXPANSION.size)

    def unpack(node: object) -> object:
        if type(node) is not EmbeddedJson:
            return map_members(node, unpack, _UNPACKED) if type(node) is dict or type(node) is list else node
        write = None if writers is None else next(writers, None)
        before = left.left
        inner = unpack(node.value)
        # The characters of the inner strings are part of this one.
        left.left = before
        if write is not None:
            return write(inner, left)
        if writers is not None:
            raise ValueError("expected a layout for each document in a string, found fewer")
        if node.style not in STYLES:
            raise ValueError(f"expected the layout beside this view for {node.mark!r}: View.restore() has it")
        return write_styled_json(inner, node.style, left)

    return unpack(value)
