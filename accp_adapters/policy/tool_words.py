"""What is special to tools, as commands take it: `read_*=verbatim`, `search=600:400`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from accp_core.compression import ResultLimits
from accp_core.projection import ToolForm, check_tool_forms, resolve

__all__ = ["read_tool_words"]

_RESOLVE: Final = "resolve:"
_LIMITS: Final = re.compile(r"([0-9]{1,9}):([0-9]{1,9})")


def read_tool_words(words: Iterable[str]) -> dict[str, ToolForm]:
    """Return the forms of the results of tools, by name or pattern.

    Args:
        words: Each is NAME=FORM: the name or pattern of a tool, and as_is, verbatim, lossless, or the tokens from which
            a result becomes a preview and those of the preview, as 600:400; or resolve and the arguments that take
            references, as resolve:content,body.

    Raises:
        ValueError: One is not; it names it.
    """
    forms: dict[str, ToolForm] = {}
    for word in words:
        name, sign, form = word.rpartition("=")
        if not sign or not name:
            raise ValueError(f"expected NAME=FORM, as read_*=verbatim, found {word!r}")
        limits = _LIMITS.fullmatch(form)
        found: dict[str, object] = {name: form}
        if limits:
            found[name] = ResultLimits(inline=int(limits[1]), preview=int(limits[2]))
        elif form.startswith(_RESOLVE):
            found[name] = resolve(*form.removeprefix(_RESOLVE).split(","))
        check_tool_forms(found)
        forms |= found  # type: ignore[arg-type]  # checked
    return forms
