"""Distinct names for tables and columns."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["DistinctNames"]

_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f"\ud800-\udfff]+')
_MAX_CHARS: Final = 200


class DistinctNames:
    """Gives names that differ even without regard to case, because SQL has none."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def claim(self, wanted: str) -> str:
        """Return `wanted`, with `_2`, `_3` … behind it where the name is taken.

        Control characters and double quotes, which no quoted name of SQL may hold as they are, become `_`.
        """
        name = base = _UNSAFE.sub("_", wanted)[:_MAX_CHARS] or "_"
        number = self._next.get(base.casefold(), 2)
        while name.casefold() in self._taken:
            name = f"{base}_{number}"
            number += 1
        self._next[base.casefold()] = number
        self._taken.add(name.casefold())
        return name
