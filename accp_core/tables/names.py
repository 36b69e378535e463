"""Distinct names for tables and columns."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

__all__ = ["DistinctNames"]

_UNSAFE: Final = re.compile(r'[\x00-\x1f\x7f"\ud800-\udfff]+')
_MAX_CHARS: Final = 200


class DistinctNames:
    """Gives names that differ even without regard to case, because SQL has none."""

    def __init__(self, source: Iterable[str] = ()) -> None:
        """Keep the names of `source` for those who have them there: no other claim is given one of them."""
        self._kept = {name.casefold() for name in source}
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def claim(self, wanted: str, *, is_invented: bool = False) -> str:
        """Return `wanted`, with `_2`, `_3` … behind it where the name is taken.

        Control characters and double quotes, which no quoted name of SQL may hold as they are, become `_`. A name that
        is changed, or `is_invented` because the source has none, gives way to one that stands so in the source.
        """
        name = base = _UNSAFE.sub("_", wanted)[:_MAX_CHARS] or "_"
        number = self._next.get(base.casefold(), 2)
        while name.casefold() in self._taken or (name.casefold() in self._kept and (is_invented or name != wanted)):
            name = f"{base}_{number}"
            number += 1
        self._next[base.casefold()] = number
        self._taken.add(name.casefold())
        return name
