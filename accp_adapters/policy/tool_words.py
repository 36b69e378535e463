"""What is special to tools, as commands take it: `read_*=verbatim`, `search=600:400`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from accp_core.compression import ResultLimits
from accp_core.projection import ToolForm, check_tool_forms

__all__ = ["read_tool_words"]

_LIMITS: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def read_tool_words(words: Iterable[str]) -> dict[str, ToolForm]:
    """Return the forms of the results of tools, by name or pattern.

    Args:
        words: Each is NAME=FORM: the name or pattern of a tool, and as_is, verbatim, lossless, or the tokens from which
            a result becomes a preview and those of the preview, as 600:400.

    Raises:
        ValueError: One is not; it names it.
    """
    forms: dict[str, ToolForm] = {}
    for word in words:
        name, sign, form = word.rpartition("=")
        if not sign or not name:
            raise ValueError(f"expected NAME=FORM, as read_*=verbatim, found {word!r}")
        limits = _LIMITS.fullmatch(form)
        found = {name: ResultLimits(inline=int(limits[1]), preview=int(limits[2])) if limits else form}
        check_tool_forms(found)
        forms |= found  # type: ignore[arg-type]  # checked
    return forms
