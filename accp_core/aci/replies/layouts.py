"""Where in an agent's text the answer to each item stands: lines, headings, lists, tables.

Each `find_…` returns the parts that it recognises, or None. A part is assigned only where the item is named, or where
the number of parts is the number of items.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from accp_core.aci.items import TodoItem
from accp_core.aci.replies.structured import item_of

__all__ = ["Layout", "find_bullets", "find_named", "find_table", "without_description"]

_DECORATION: Final = r"[ \t>*_`~#•+-]{0,20}"
_LABEL: Final = r"(?:(?:item|step|task|todo|no\.?|nr\.?|number|point|answer|result)[ \t]*(?:no\.?|nr\.?)?[ \t]*)"
_ASIDE: Final = r"(?:[ \t]*\([^()\n]{0,200}\))?"
_ARROW: Final = r"(?:[-\u2013\u2014]+|->|→)"
_MAX_NAME_CHARS: Final = 200
"""Characters of a description by which a line may name its item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The parts of a text by item, and the text around them."""

    parts: Mapping[str, str]
    """itemId to the words about it."""
    around: str = ""
    """What stands before the first part and after a table."""
    rows: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """itemId to the cells of its row, where the text is a table."""


def find_named(items: Sequence[TodoItem], text: str) -> Layout | None:
    """Return the parts that begin with the name of an item: `1: …`, `1. …`, `Item 1 - …`, `## 1`, its description."""
    ids = "|".join(re.escape(item.item_id) for item in sorted(items, key=lambda item: -len(item.item_id)))
    best: list[tuple[str, re.Match[str]]] = []
    for pattern in _starts(ids, items):
        found = _first_of_each(pattern, items, text)
        if len(found) > len(best):
            best = found
    if not best:
        return None
    ends = [*(match.start() for _, match in best[1:]), len(text)]
    parts = {name: text[match.end() : end].strip("\n") for (name, match), end in zip(best, ends, strict=True)}
    return Layout(parts=parts, around=text[: best[0][1].start()])


def _starts(ids: str, items: Sequence[TodoItem]) -> list[str]:
    """Return the patterns of the ways in which a line names its item, the way that we ask for first."""
    name = rf"[\[(]?(?P<id>{ids})[\])]?"
    names = [item.description for item in items if 0 < len(item.description) <= _MAX_NAME_CHARS]
    described = "|".join(map(re.escape, sorted(set(names), key=lambda text: -len(text)))) or r"(?!)"
    emphasis = "[*_`]{0,3}"
    return [
        rf"^{_DECORATION}{_LABEL}?#?{name}{_ASIDE}{emphasis}[ \t]*:{emphasis}[ \t]*",
        rf"^{_DECORATION}{_LABEL}?#?{name}{emphasis}[.)](?!\d){emphasis}[ \t]*",
        rf"^{_DECORATION}{_LABEL}?#?{name}{_ASIDE}{emphasis}[ \t]*(?:{_ARROW}|=>?|\|)(?=\s){emphasis}[ \t]*",
        rf"^{_DECORATION}(?:{_LABEL}#?|#){name}{_ASIDE}{emphasis}[ \t]*(?:\n|$)",
        rf"^[ \t]{{0,3}}#{{1,6}}[ \t]*{emphasis}{_LABEL}?{name}\b[^\n]*(?:\n|$)",
        rf"^{_DECORATION}(?P<name>{described}){emphasis}[ \t]*(?::|{_ARROW}(?=\s)|\n|$){emphasis}[ \t]*",
    ]


def _first_of_each(pattern: str, items: Sequence[TodoItem], text: str) -> list[tuple[str, re.Match[str]]]:
    """Return the first place where each item begins: a second one belongs to a list within some result."""
    found: dict[str, re.Match[str]] = {}
    for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE):
        groups = match.groupdict()
        item = groups["id"] if "id" in groups else item_of(groups["name"], items)
        known = item if item in {each.item_id for each in items} else item_of(item, items)
        if known is not None:
            found.setdefault(known, match)
    return list(found.items())


def without_description(part: str, item: TodoItem) -> str:
    """Return the words about an item without its description, which some models repeat before the answer."""
    echo = re.escape(item.description.strip().rstrip("."))
    if not echo or len(item.description) > _MAX_NAME_CHARS:
        return part
    match = re.match(
        rf"[\s*_`]{{0,5}}{echo}[\s*_`]{{0,5}}\.?(?::|{_ARROW}(?=\s)|\n|$)[*_`]{{0,3}}\s*",
        part,
        re.IGNORECASE,
    )
    return part[match.end() :] if match else part


_BULLET: Final = re.compile(r"^(?P<indent>[ \t]*)(?:[-*•+]|(?P<number>\d{1,4})[.):])(?!\d)[ \t]+", re.MULTILINE)


def find_bullets(items: Sequence[TodoItem], text: str) -> Layout | None:
    """Return the parts of a list with as many entries as there are items, in their order."""
    marks = list(_BULLET.finditer(text))
    if not marks:
        return None
    level = len(marks[0]["indent"].expandtabs())
    top = [mark for mark in marks if len(mark["indent"].expandtabs()) <= level]
    numbers = [int(mark["number"]) for mark in top if mark["number"]]
    if len(top) != len(items) or numbers not in ([], list(range(1, len(items) + 1))):
        return None
    ends = [*(mark.start() for mark in top[1:]), len(text)]
    parts = {item.item_id: text[mark.end() : end].strip() for item, mark, end in zip(items, top, ends, strict=True)}
    return Layout(parts=parts, around=text[: top[0].start()])


_RULE: Final = re.compile(r"\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?")


def find_table(items: Sequence[TodoItem], text: str) -> Layout | None:
    """Return the rows of a Markdown table, by the item that a cell names, or in the order of the items."""
    lines = text.splitlines()
    rule = next((n for n, line in enumerate(lines) if n and "|" in line and _RULE.fullmatch(line.strip())), None)
    if rule is None:
        return None
    end = next((n for n in range(rule + 1, len(lines)) if "|" not in lines[n]), len(lines))
    header = _cells(lines[rule - 1])
    rows = [dict(zip(header, _cells(line), strict=False)) for line in lines[rule + 1 : end]]
    around = "\n".join((*lines[: rule - 1], *lines[end:]))
    named = [(_item_in(row, items), row) for row in rows]
    found = {item: row for item, row in named if item}
    if len(found) == len(rows):
        return Layout(
            parts={}, rows={item: _answer_cells(row, item, items) for item, row in found.items()}, around=around
        )
    if not found and len(rows) == len(items):
        pairs = zip(items, rows, strict=True)
        return Layout(parts={}, rows={item.item_id: dict(row) for item, row in pairs}, around=around)
    return None


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def _item_in(row: Mapping[str, str], items: Sequence[TodoItem]) -> str | None:
    """Return the item that the first cells of a row name."""
    return next((item for cell in list(row.values())[:2] if (item := item_of(cell, items))), None)


def _answer_cells(row: Mapping[str, str], item_id: str, items: Sequence[TodoItem]) -> dict[str, str]:
    """Return the cells of a row that do not only name its item."""
    return {name: cell for n, (name, cell) in enumerate(row.items()) if n > 1 or item_of(cell, items) != item_id}
