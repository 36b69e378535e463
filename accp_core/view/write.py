"""Writes a packed tree in the view's notation (see `notation`)."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from accp_core.packing.columns import pack_list
from accp_core.packing.tree import EmbeddedJson, RepeatedValue, Repetition, Table
from accp_core.view.notation import INLINE, LINE, TEXT_BLOCK, PlainTextRule, quote, write_key
from accp_core.view.write_rows import RowWriter

__all__ = ["write_view"]

_SHORT_MAP: Final = 4
_SHORT_TEXT: Final = 40
"""Characters; a longer member gets a line of its own."""
_ROWS: Final = frozenset((dict, RepeatedValue, Repetition))
"""What the rows of a table may be; an anchor of another kind makes none."""
_STRUCTURED: Final = frozenset((dict, list, RepeatedValue, EmbeddedJson))
_NO_RAW: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_BLOCK_MARK: Final = re.compile(r"\x01([0-9]+)\x01")


def write_view(tree: object) -> str:
    """Return the text of a tree of JSON values and packing nodes."""
    writer = _Writer()
    return writer.with_blocks(writer.document(tree))


class _Writer(RowWriter):
    """One view; it keeps the texts that stand in blocks below their line."""

    def __init__(self) -> None:
        self.blocks: list[str] = []

    def with_blocks(self, text: str) -> str:
        """Return `text` with each block of text below the line that announces it."""
        if not self.blocks:
            return text

        def below(line: str) -> str:
            blocks = [self.blocks[int(number)] for number in _BLOCK_MARK.findall(line)]
            return "\n".join((_BLOCK_MARK.sub(TEXT_BLOCK, line), *(f"{block}\n{TEXT_BLOCK}" for block in blocks)))

        return "\n".join([below(line) if "\x01" in line else line for line in text.split("\n")])

    def document(self, tree: object) -> str:
        if type(tree) is str:
            # A plain text would read as a pair.
            return quote(tree)
        if type(tree) is dict and tree:
            return self.keyed(tree) or self.pairs(tree)
        return self.value(tree)

    def pairs(self, members: dict[str, object]) -> str:
        """Return a map, a pair to a line."""
        return "\n".join(
            [
                # Most values are plain strings: they are asked for here, before a call for each.
                f"{write_key(key)} {value if type(value) is str and LINE.fits(value) else self.value(value)}"
                for key, value in members.items()
            ]
        )

    def value(self, value: object) -> str:
        """Return a value that takes the rest of a line, and perhaps more lines."""
        if type(value) is str:
            return self.string(value, LINE)
        if type(value) is dict:
            return self.map(value)
        if type(value) is list:
            return self.array(value)
        if type(value) is RepeatedValue:
            return f"&{value.number} {self.value(value.value)}"
        if type(value) is EmbeddedJson:
            return f"!json{value.style} {self.value(value.value)}"
        return _scalar(value)

    def map(self, members: dict[str, object]) -> str:
        if not members:
            return "{}"
        if len(members) <= _SHORT_MAP and (texts := _short_texts(members.values())) is not None:
            pairs = [f"{write_key(key)} {text}" for key, text in zip(members, texts, strict=True)]
            return f"{{{', '.join(pairs)}}}"
        return self.keyed(members) or f"{{\n{self.pairs(members)}\n}}"

    def keyed(self, members: dict[str, object]) -> str | None:
        """Return a map of maps as a table, None where it makes none."""
        table = _keyed(members)
        if table is None:
            return None
        header, rows = self.table(table, nested=False)
        keyed = [f"{write_key(key)} {row}" for key, row in zip(members, rows, strict=True)]
        return "\n".join([f"{{{len(members)}}} {header}", *keyed])

    def array(self, items: list[object]) -> str:
        if (texts := _short_texts(items)) is not None:
            return f"[{', '.join(texts)}]"
        if len(items) == 1 and type(items[0]) is dict and items[0]:
            return f"[{{\n{self.pairs(items[0])}\n}}]"
        table = pack_list(items)
        if table is None:
            return "\n".join([f"[{len(items)}]:", *map(self.value, items)])
        header, rows = self.table(table, nested=False)
        return "\n".join([f"[{len(items)}] {header}", *rows])

    def inline(self, value: object, plain: PlainTextRule) -> str:
        """Return a value within a line, in a place where `plain` strings need no quotes."""
        if type(value) is str:
            return self.string(value, plain)
        if type(value) is dict:
            return self.inline_map(value)
        if type(value) is list:
            return self.inline_array(value)
        if type(value) is RepeatedValue:
            return f"&{value.number} {self.inline(value.value, plain)}"
        if type(value) is EmbeddedJson:
            return f"!json{value.style} {self.inline(value.value, plain)}"
        return _scalar(value)

    def inline_map(self, members: dict[str, object]) -> str:
        table = _keyed(members)
        if table is None:
            pairs = [
                f"{write_key(key)} {value if type(value) is str and INLINE.fits(value) else self.inline(value, INLINE)}"
                for key, value in members.items()
            ]
            return f"{{{', '.join(pairs)}}}"
        header, rows = self.table(table, nested=True)
        keyed = [f"{write_key(key)} {row}" for key, row in zip(members, rows, strict=True)]
        return f"{{:{header}: {'; '.join(keyed)}}}"

    def inline_array(self, items: list[object]) -> str:
        table = pack_list(items)
        if table is None:
            texts = [item if type(item) is str and INLINE.fits(item) else self.inline(item, INLINE) for item in items]
            return f"[{', '.join(texts)}]"
        header, rows = self.table(table, nested=True)
        return f"[:{header}: {'; '.join(rows)}]"

    def string(self, text: str, plain: PlainTextRule) -> str:
        """Return a string plain, as a JSON string or, if it has many lines or quotes, announced as a block."""
        if plain.fits(text):
            return text
        if _is_block(text):
            self.blocks.append(text)
            return f"\x01{len(self.blocks) - 1}\x01"
        return quote(text)


def _keyed(members: dict[str, object]) -> Table | None:
    """Return the values of a map of maps as a table."""
    if len(members) < 2 or not set(map(type, members.values())) <= _ROWS:
        return None
    table = pack_list(list(members.values()))
    return table if type(table) is Table else None


def _is_block(text: str) -> bool:
    """Tell whether a string reads better below its line: many lines or quotes, and nothing that needs an escape."""
    lines = text.count("\n")
    many = lines > 2 or lines + text.count('"') > 5
    return many and not text.endswith('"') and TEXT_BLOCK not in text and _NO_RAW.search(text) is None


def _short_texts(members: Collection[object]) -> list[str] | None:
    """Return the members as texts if they may share a line, else None."""
    texts = []
    for member in members:
        if type(member) is str:
            if len(member) > _SHORT_TEXT or not INLINE.fits(member):
                return None
            texts.append(member)
        elif type(member) not in _STRUCTURED:
            texts.append(_scalar(member))
        elif member == {} or member == []:
            texts.append(repr(member))
        else:
            return None
    return texts


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if type(value) is Repetition:
        return f"*{value.number}"
    return repr(value)
