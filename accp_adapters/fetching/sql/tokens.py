"""The words of a query as a model writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["MAX_QUERY_CHARS", "SqlToken", "refuse", "refuse_present_time", "tokenize"]

MAX_QUERY_CHARS: Final = 10_000
"""Characters of a query."""
_MAX_SHOWN: Final = 60

# A reference may be followed by the name of one of its tables: `$cold.….orders`.
_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+)
      | (?P<comment>--|/\*)
      | (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\[\]]*\])
      | (?P<reference>\$[a-z]+\.[A-Za-z0-9_]+(?:\.[^\W\d][\w.]*)?|[a-z]+\.[0-9]{12,29}(?![\w])(?:\.[^\W\d][\w.]*)?)
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign>===|<=>|->>|->|==|!=|<>|<=|>=|\|\||&&|[-+*/%<>=~,.()|&!:@#])
    """,
    re.VERBOSE,
)


@dataclass(slots=True)
class SqlToken:
    """A word of a query, and what is written in its place."""

    kind: str
    """`string`, `quoted` (a quoted name), `reference`, `number`, `word` or `sign`."""
    text: str
    """As the model wrote it."""
    start: int
    end: int
    out: str | None = None
    """What SQLite is given; None: not decided yet."""

    @property
    def upper(self) -> str:
        """The text of a word in upper case, to compare it with keywords; of any other token, its text."""
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def is_name(self) -> bool:
        """Whether it can be a name."""
        return self.kind in ("word", "quoted")

    @property
    def name(self) -> str:
        """The name or the string without its quotes."""
        if self.kind not in ("quoted", "string"):
            return self.text
        mark, inner = self.text[-1], self.text[1:-1]
        return inner if mark == "]" else inner.replace(mark * 2, mark)


def refuse(reason: str) -> ProtocolError:
    """Return the refusal of a query that was not understood (E1004)."""
    return ProtocolError(reason, code=ErrorCode.INVALID_TYPE)


def refuse_present_time(found: str) -> ProtocolError:
    """Return the refusal of a query that asks what time it is (E1004)."""
    return refuse(f"expected a date such as '2026-01-05', found {found!r}: a query has no clock")


def tokenize(query: str) -> list[SqlToken]:
    """Return the tokens of one statement; a semicolon at its end is left out.

    Raises:
        ProtocolError: E1004, there is a comment, a second statement, a parameter, or a quote without its end; E2003,
            the query is too long.
    """
    if len(query) > MAX_QUERY_CHARS:
        reason = f"expected a query of at most {MAX_QUERY_CHARS:,} characters, found {len(query):,}"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    text = query.rstrip().rstrip(";")
    tokens: list[SqlToken] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "comment":
            raise refuse(f"expected one SELECT without comments or parameters, found {text[at : at + _MAX_SHOWN]!r}")
        if found.lastgroup != "blank":
            tokens.append(SqlToken(str(found.lastgroup), found[0], at, found.end()))
        at = found.end()
    return tokens
