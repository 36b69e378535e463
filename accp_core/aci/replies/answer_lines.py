"""Where in an agent's text the answer to each item is, by the line that names the item.

A line is an answer where it names an item and goes on with `done:` or `not done:`: `1: done: six`, `- 1. done: six`,
`Count them: done: six`. All such lines begin alike, as far as the item: one with another indent or bullet belongs to a
list within some result, as do lines in a code block, and all lines after one that names an item again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from accp_core.aci.items import TodoItem
from accp_core.aci.replies.structured import item_of
from accp_core.aci.replies.wording import MARK, without_fences

__all__ = ["AnswerLines", "find_answers"]

_PREFIX: Final = r"(?P<heading>#{1,6}[ \t]+)?[ \t*_`•+-]{0,20}(?:(?:item|step|task)[ \t]*)?[#\[(]?"
_BETWEEN: Final = r"(?(heading)[\s:.)\]*_`\u2013\u2014-]{1,12}|[ \t:.)\]*_`\u2013\u2014-]{1,12})"
"""What may separate an item and its answer: blanks, a colon, a dot, a dash; after a heading, line ends, too."""
_MAX_NAME_CHARS: Final = 200
"""Characters of a description by which a line may name its item."""


@dataclass(frozen=True, slots=True)
class AnswerLines:
    """The answers in a text by item."""

    parts: Mapping[str, str]
    """itemId to the words after its name, as far as the next answer."""
    contradicted: frozenset[str] = frozenset()
    """The items that are named with `done:` and with `not done:`."""


def find_answers(items: Sequence[TodoItem], text: str) -> AnswerLines:
    """Return the answers in `text`; of an item without one, the words after its id and a colon."""
    found = [(item, match) for match in _lines(items, text) if (item := _item_of(match, items))]
    if not found:
        return AnswerLines({})
    begin = next((match["prefix"] for _, match in found if not match["open"]), found[0][1]["prefix"])
    alike = [(item, match) for item, match in found if match["prefix"] == begin]
    marked = [(item, match) for item, match in alike if not match["open"]]
    unmarked = [(item, match) for item, match in alike if match["open"]]
    starts = {**dict(reversed(unmarked)), **_first_of_each(marked)}
    return AnswerLines(_parts(starts, text), _contradicted(marked))


def _lines(items: Sequence[TodoItem], text: str) -> list[re.Match[str]]:
    """Return the lines that name an item."""
    ids = _any_of({item.item_id for item in items})
    names = _any_of({item.description for item in items if 0 < len(item.description) <= _MAX_NAME_CHARS})
    answer = rf"{_BETWEEN}(?:(?:{names}){_BETWEEN})?(?={MARK})"
    unmarked = r"(?P<open>[*_`]{0,3}[ \t]*:[*_`]{0,3})"
    pattern = rf"^(?P<prefix>{_PREFIX})(?:(?P<id>{ids})|(?P<name>{names}))(?:{answer}|{unmarked})"
    return list(re.finditer(pattern, without_fences(text), re.IGNORECASE | re.MULTILINE))


def _any_of(texts: set[str]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=lambda text: (-len(text), text))) or r"(?!)"


def _item_of(match: re.Match[str], items: Sequence[TodoItem]) -> str | None:
    """Return the item that a line names; None where two have the same name."""
    name = match["id"] or match["name"]
    return name if match["id"] and any(item.item_id == name for item in items) else item_of(name, items)


def _first_of_each(lines: Sequence[tuple[str, re.Match[str]]]) -> dict[str, re.Match[str]]:
    """Return the answer to each item; what follows the second one to an item is a list within a result."""
    first: dict[str, re.Match[str]] = {}
    for item, match in lines:
        if item in first:
            break
        first[item] = match
    return first


def _parts(starts: Mapping[str, re.Match[str]], text: str) -> dict[str, str]:
    lines = sorted(starts.items(), key=lambda line: line[1].start())
    ends = [*(match.start() for _, match in lines[1:]), len(text)]
    return {item: text[match.end() : end].strip() for (item, match), end in zip(lines, ends, strict=True)}


def _contradicted(marked: Sequence[tuple[str, re.Match[str]]]) -> frozenset[str]:
    said = {(item, bool(match["not"])) for item, match in marked}
    return frozenset(item for item, is_failure in said if is_failure and (item, False) in said)
