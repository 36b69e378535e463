"""The words of a query, and a walk over them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from accp_adapters.fetching.sql.tables import (
    refuse,
)
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError

__all__ = ["EQUALS", "MAX_SHOWN", "ORDERS", "PATTERNS", "Token", "Tokens", "tokenize"]

_Read = TypeVar("_Read")

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
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\[\]]*\])
      | (?P<reference>\$[a-z]+\.[A-Za-z0-9_]+(?:\.[^\W\d][\w.]*)?|[a-z]+\.[0-9]{12,29}(?![\w])(?:\.[^\W\d][\w.]*)?)
      | (?P<number>(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.:@]|-[0-9][0-9]-))
      | (?P<bare>[0-9][^\s,()'"`;<>=!|&]*)
      | (?P<word>[^\W\d][\w$]*)
      | (?P<sign>===|<=>|->>|->|==|!=|<>|<=|>=|<<|>>|\|\||&&|[-+*/%<>=~,.()|&!:@#])
    """,
    re.VERBOSE,
)
_SUM_OF_NUMBERS: Final = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[-+*/%][0-9]+(?:\.[0-9]+)?)+")
EQUALS: Final = {"=": "=", "==": "=", "===": "=", "!=": "!=", "<>": "<>", "<=>": "IS"}
ORDERS: Final = frozenset(("<", ">", "<=", ">="))
PATTERNS: Final = {"LIKE": "LIKE", "ILIKE": "LIKE", "GLOB": "GLOB"}
_COMPARES: Final = frozenset((*EQUALS, *ORDERS, *PATTERNS, *["IS", "IN", "BETWEEN", "ISNULL", "NOTNULL", "NOT", "!"]))


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a query."""

    kind: str
    """`string`, `quoted` (a quoted name), `reference`, `number`, `bare` (a text that begins with a digit), `word`,
    `sign` or `end`."""
    text: str
    start: int
    end: int

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


def tokenize(query: str) -> list[Token]:
    """Return the tokens of one statement, and one that is its end; a semicolon at its end is left out."""
    if len(query) > _MAX_CHARS:
        reason = f"expected a query of at most {_MAX_CHARS:,} characters, found {len(query):,}"
        raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
    text = query.rstrip().rstrip(";").rstrip()
    tokens: list[Token] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup == "comment":
            raise refuse(f"expected one SELECT without comments or parameters, found {text[at : at + MAX_SHOWN]!r}")
        kind, end = str(found.lastgroup), found.end()
        if kind == "bare" and (_SUM_OF_NUMBERS.fullmatch(found[0]) and not re.match(r"\d{4}-\d\d", found[0])):
            # `10-5` is a difference.
            kind, end = "number", at + len(re.match(r"[0-9]+(?:\.[0-9]+)?", found[0])[0])  # type: ignore[index]
        if kind != "blank":
            tokens.append(Token(kind, text[at:end], at, end))
        at = end
    return [*_with_or(tokens), Token("end", "", len(text), len(text))]


def _with_or(tokens: list[Token]) -> list[Token]:
    """Return the tokens with OR for each `||` between conditions; between texts it joins them, as in SQL."""
    bars = [at for at, token in enumerate(tokens) if token.text == "||"]
    if not bars:
        return tokens
    changed = list(tokens)
    for at in bars:
        sides = (_side(tokens, at, -1), _side(tokens, at, 1))
        if all(_COMPARES.intersection(token.upper for token in side) for side in sides):
            changed[at] = replace(tokens[at], kind="word", text="OR")
    return changed


def _side(tokens: Sequence[Token], at: int, step: int) -> list[Token]:
    """Return the tokens beside a sign up to the next AND, OR, comma, keyword or parenthesis around it."""
    ends = {"AND", "OR", "&&", "||", ",", "WHERE", "SELECT", "ON", "HAVING", "WHEN", "THEN", "ELSE", "BY", "LIMIT"}
    opening, closing = ("(", ")") if step > 0 else (")", "(")
    depth, found = 0, []
    at += step
    while 0 <= at < len(tokens):
        token = tokens[at]
        if depth == 0 and (token.text == closing or token.upper in ends):
            break
        depth += (token.text == opening) - (token.text == closing)
        found.append(token)
        at += step
    return found


class Tokens:
    """A walk over the words of a query."""

    def __init__(self, source: str) -> None:
        """Begin before the first word of a query."""
        self._source = source
        self._tokens = tokenize(source)
        self._at = 0
        self._depth = 0

    @property
    def _token(self) -> Token:
        return self._tokens[self._at]

    def _ahead(self, steps: int = 1) -> str:
        return self._tokens[min(self._at + steps, len(self._tokens) - 1)].upper

    def _take(self, *words: str) -> str:
        """Return the next word if it is one of these, and go behind it; else ""."""
        if self._token.kind in ("word", "sign") and self._token.upper in words:
            self._at += 1
            return self._tokens[self._at - 1].upper
        return ""

    def _need(self, word: str, where: str = "") -> None:
        if not self._take(word):
            raise self._unexpected(f"{word}{where}")

    def _unexpected(self, expected: str) -> ProtocolError:
        found = self._source[self._token.start : self._token.start + MAX_SHOWN]
        return refuse(f"expected {expected}, found {found!r}" if found else f"expected {expected}, found the end")

    def _close(self, opening: int) -> None:
        if self._token.kind == "end":
            before = self._tokens[opening - 1] if opening and self._tokens[opening - 1].kind == "word" else None
            shown = f"{before.text if before else ''}("
            raise refuse(f"expected ) for each (, found {shown!r} without it")
        self._need(")")

    def _within(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise refuse(f"expected a query of at most {_MAX_DEPTH} levels, found more")

    def _name(self) -> str:
        if not self._token.is_name and self._token.kind != "string":
            raise self._unexpected("a name")
        self._at += 1
        return self._tokens[self._at - 1].name

    def _separated(self, read: Callable[[], _Read]) -> list[_Read]:
        """Return what `read` takes between commas, at least once."""
        found = [read()]
        while self._take(","):
            found.append(read())
        return found

    def _names_in_parentheses(self) -> list[str]:
        self._need("(")
        names = self._separated(self._name)
        self._need(")")
        return names

    def _chain(self) -> list[Token]:
        """Take names that dots join."""
        if not self._token.is_name and self._token.kind != "reference":
            raise self._unexpected("a table")
        names = [self._token]
        self._at += 1
        while self._token.text == "." and self._tokens[self._at + 1].is_name:
            names.append(self._tokens[self._at + 1])
            self._at += 2
        return names
