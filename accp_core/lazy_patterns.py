"""Regular expressions that are compiled when they are used first, so that importing a module compiles none of them."""

from __future__ import annotations

import re
from typing import cast

__all__ = ["lazy_pattern"]


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern with the methods and attributes of `re.compile(text, flags)`.

    Only large patterns are worth it, whose modules are imported in processes that may not use them. It is no argument
    for the functions of `re`.

    Raises:
        re.error: at the first use, `text` is no regular expression.
    """
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _LazyPattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        """Return what the compiled pattern has; it is kept, so that this is called once for each name."""
        value = vars(self)[name] = getattr(re.compile(self._text, self._flags), name)
        return value
