"""STUB of the first hour."""

from __future__ import annotations

from accp_core.ports import TokenCounter
from accp_core.view.render import Options


def preview(
    source: str,
    *,
    limit: int,
    ref: str,
    counter: TokenCounter,
    request: str = "",
    options: Options | None = None,
) -> str:
    """Return at most `limit` tokens of `source` from which a next step is possible, and the reference `ref` to the rest.

    `request` is what the reader is working on (the user's words and the call's arguments); it ranks what stays.
    """
    return f"{source[: limit * 2]}\n… the rest is intact under {ref}"
