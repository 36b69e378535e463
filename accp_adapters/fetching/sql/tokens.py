"""The words of a query, each with what SQLite is given in its place, and a walk over them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from accp_adapters.fetching.request import refuse, too_much
from accp_adapters.fetching.sql.tables import quote, sql_text
from accp_core.errors import ProtocolError

__all__ = ["MAX_SHOWN", "Token", "Tokens"]

_MAX_CHARS: Final = 10_000
"""Characters of a query."""
_MAX_DEPTH: Final = 60
"""Parentheses, calls and signs within each other."""
MAX_SHOWN: Final = 60
# A reference may be followed by the name of one of its tables: `$cold.….orders`.
_TOKEN: Final = re.compile(
    r"""(?P<blank>\s+)
      | (?P<comment>--|/\*)
      | (?P<string>'(?:[^']|'')*')
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[(?!\s*-?[0-9]+\s*\])[^\[\]]*\])
      | (?P<reference>\$[a-z]+\.[A-Za-z0-9_]+(?:\.[^\W\d][\w.]*)?|[a-z]+\.[0-9]{12,29}(?![\w])(?:\.[^\W\d][\w.]*)?)
      | (?P<number>(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.:@]|-[0-9][0-9]-))
      | (?P<bare>[0-9][^\s,()'"`;<>=!|&]*)
      | (?P<phrase>(?i:is\s+(?:not\s+)?distinct\s+from|is\s+not|not\s+(?:in|i?like|glob|between|null)
            |(?:group|order|partition)\s+by|union\s+all|(?:(?:natural|left|right|full|inner|cross|outer)\s+)*join)\b)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign>===|<=>|->>|->|==|!=|<>|<=|>=|<<|>>|\|\||&&|[-+*/%<>=~,.()|&!:@#])
    """,
    re.VERBOSE,
)
_SAME: Final = {"&&": "AND", "==": "=", "===": "=", "<>": "!=", "<=>": "IS", "!": "NOT", "ilike": "LIKE"}
"""What other languages write, and what it is in SQL."""


@dataclass(slots=True)
class Token:
    """A word of a query."""

    kind: str
    """`string`, `quoted` (a quoted name), `reference`, `number`, `bare` (a text that begins with a digit), `phrase`
    (keywords that belong together), `word`, `sign` or `end`."""
    text: str
    start: int
    end: int
    sql: str
    """What SQLite is given in its place."""
    upper: str
    """The text of words in upper case, to compare it with keywords; of any other token, its text."""

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


def _tokenize(query: str) -> list[Token]:
    """Return the tokens of one statement, and one that is its end; a semicolon at its end is left out."""
    if len(query) > _MAX_CHARS:
        raise too_much(f"expected a query of at most {_MAX_CHARS:,} characters, found {len(query):,}")
    text = query.rstrip().rstrip(";").rstrip()
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "comment":
            raise refuse(f"expected one SELECT without comments or parameters, found {text[at : at + MAX_SHOWN]!r}")
        kind, end = str(found.lastgroup), found.end()
        if kind != "blank":
            written = _SAME.get(found[0].lower(), found[0])
            upper = " ".join(written.upper().split()) if kind in ("word", "phrase") else written
            token = Token(kind, written, at, end, written, upper)
            if kind in ("string", "quoted"):
                token.sql = (sql_text if kind == "string" else quote)(token.name)
            tokens.append(token)
        at = end
    return [*tokens, Token("end", "", len(text), len(text), "", "")]


class Tokens:
    """A walk over the words of a query."""

    def __init__(self, source: str) -> None:
        """Begin before the first word of a query."""
        self._source = source
        self._tokens = _tokenize(source)
        self._at = 0
        self._depth = 0
        self._is_checked = True
        """Whether words are changed and refused, not only looked through for names."""

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    @property
    def _last(self) -> Token:
        """The word that was taken last."""
        return self._tokens[self._at - 1]

    def _ahead(self, steps: int = 1) -> str:
        return self._tokens[min(self._at + steps, len(self._tokens) - 1)].upper

    def _sql(self, first: int, behind: int) -> str:
        """Return what SQLite is given for some words."""
        return " ".join(token.sql for token in self._tokens[first:behind] if token.sql)

    def _written(self, first: int, behind: int) -> str:
        """Return some words as they are written."""
        return self._source[self._tokens[first].start : self._tokens[behind - 1].end]

    def _enclose(self, first: int, behind: int, before: str, after: str) -> None:
        if self._is_checked:
            self._tokens[first].sql = before + self._tokens[first].sql
            self._tokens[behind - 1].sql += after

    def _replace(self, first: int, sql: str) -> None:
        """Give SQLite something else for the words from `first` on that were taken."""
        for token in self._tokens[first : self._at] if self._is_checked else ():
            token.sql = ""
        self._tokens[first].sql = sql if self._is_checked else self._tokens[first].sql

    def _take(self, *words: str) -> str:
        """Return the next word if it is one of these, and go behind it; else ""."""
        if self._token.kind in ("word", "phrase", "sign") and self._token.upper in words:
            self._at += 1
            return self._last.upper
        return ""

    def _need(self, word: str) -> None:
        if not self._take(word):
            raise self._unexpected(word)

    def _unexpected(self, expected: str) -> ProtocolError:
        found = self._source[self._token.start : self._token.start + MAX_SHOWN]
        return refuse(f"expected {expected}, found {found!r}" if found else f"expected {expected}, found the end")

    def _within(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise refuse(f"expected a query of at most {_MAX_DEPTH} levels, found more")

    def _name(self) -> str:
        token = self._token
        if not token.is_name and token.kind != "string":
            raise self._unexpected("a name")
        self._at += 1
        token.sql = quote(token.name)
        return token.name

    def _chain(self) -> str:
        """Take names that dots join."""
        name = self._token.name
        self._at += 1
        while self._token.text == "." and self._tokens[self._at + 1].is_name:
            name += f".{self._tokens[self._at + 1].name}"
            self._at += 2
        return name
