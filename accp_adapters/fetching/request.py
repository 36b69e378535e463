"""One call of `accp_fetch`, read from the arguments that a model wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["FetchRequest", "read_request"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """Which part of which stored text a fetch asks for."""

    ref: str = ""
    """The reference as the model wrote it, such as "$cold.…"; empty: the argument is missing."""
    query: str = ""
    """`col,col`, `col=value`, a path `a.b`, or words that lines of a text contain; empty: everything."""
    offset: int = 0
    """Rows (or lines) to skip."""
    limit: int | None = None
    """Rows (or lines) to return at most; None: as many as fit."""


def read_request(arguments: object) -> FetchRequest:
    """Return the request that a model's arguments stand for; any may be missing or null, and numbers may be text.

    Args:
        arguments: The arguments of the call, usually an object; anything else counts as no arguments.

    Raises:
        ProtocolError: E1004, `offset` or `limit` is not a whole number from 0 on.
    """
    given = arguments if isinstance(arguments, Mapping) else {}
    return FetchRequest(
        ref=_text(given.get("ref")),
        query=_text(given.get("query")),
        offset=_whole_number("offset", given.get("offset")),
        limit=_whole_number("limit", given.get("limit")) or None,
    )


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _whole_number(name: str, value: object) -> int:
    try:
        number = int(str(value or 0))
    except ValueError:
        number = -1
    if number < 0:
        raise ProtocolError(
            f"expected {name!r} to be a whole number from 0 on, found {value!r}", code=ErrorCode.INVALID_TYPE
        )
    return number
