"""thin first version"""

from __future__ import annotations

from dataclasses import dataclass

from accp_core.ports import TokenCounter
from accp_core.view import render_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    select: str
    offset: int
    limit: int | None

    @classmethod
    def of(cls, select: str | None, offset: int | None, limit: int | None) -> Query:
        return cls(select=select or "", offset=offset or 0, limit=limit)


def answer(source: str, query: Query, *, limit: int, counter: TokenCounter) -> str:
    return render_text(source, counter=counter).text
