"""Answers a question from a JSON value alone, by other code than that which made the question."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

__all__ = ["answers_to"]

_ABSENT = object()


def answers_to(asks: Mapping[str, Any], value: Any) -> list[Any]:
    """Return all that would be right: one answer, if the question has a single one."""
    place = value
    for step in asks["path"]:
        place = place[step]
    if "beside" in asks:
        return re.findall(rf"(?m)^{re.escape(asks['beside'])}(?:: |,)(.*)$", place)
    return answers_in_list(asks, place) if "key" in asks else [place]


def answers_in_list(asks: Mapping[str, Any], entries: list[Any]) -> list[Any]:
    keys = [member(entry, asks["key"]) for entry in entries]
    if "after" in asks:
        return [following for key, following in pairwise(keys) if key == asks["after"]]
    if "greatest" in asks:
        numbers = [member(entry, asks["greatest"]) for entry in entries]
        return [key for key, number in zip(keys, numbers, strict=True) if number == max(numbers)]
    if "where" in asks:
        found = [key for key, entry in zip(keys, entries, strict=True) if fits(entry, asks["where"])]
        return [len(found)] if asks.get("count") else found
    chosen = [entry for key, entry in zip(keys, entries, strict=True) if key == asks["is"]]
    cells = [member(entry, asks["column"]) for entry in chosen]
    return [state_of(cell) for cell in cells] if asks.get("state") else cells


def member(entry: Any, name: str) -> Any:
    for part in name.split("."):
        if not isinstance(entry, dict) or part not in entry:
            return _ABSENT
        entry = entry[part]
    return entry


def fits(entry: Any, where: Mapping[str, Any]) -> bool:
    cells = [(member(entry, name), value) for name, value in where.items()]
    return all(cell == value and (cell is True or cell is False) == isinstance(value, bool) for cell, value in cells)


def state_of(cell: Any) -> str:
    return "absent" if cell is _ABSENT else "null" if cell is None else "value"
