"""Where a text ends that a model wrote without quotes: `status = in progress`, `placed >= 2026-01-05`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from accp_adapters.fetching.sql.scope import is_keyword
from accp_adapters.fetching.sql.tokens import SqlToken

__all__ = ["COMPARES", "digits_of_text", "end_of_text", "end_of_text_with_digits"]

COMPARES: Final = frozenset(("=", "==", "===", "!=", "<>", "<", ">", "<=", ">=", "LIKE", "ILIKE", "GLOB", "IS"))
"""Operators behind which a value stands; BETWEEN and IN have several."""
_ENDS_WORDS: Final = COMPARES | {"IN", "BETWEEN", "(", "NOT"}
# A date, a version, an address, a word with signs.
_TEXT: Final = re.compile(r"[^\s,()'\"`;]+")
_NO_NUMBER: Final = re.compile(r"\d{4}-\d\d(-\d\d.*)?|\d+(\.\d+){2,}|[\d.]*(?:[^\W\d]|[@:]).*|\d+:.*|.*\d-\w*[^\W\d].*")
_PLAIN_NUMBER: Final = re.compile(r"[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]+)?")


def end_of_text(source: str, tokens: Sequence[SqlToken], at: int, *, of_words: bool) -> int:
    """Return the position in `source` behind the text that begins with the token `at`; a quoted name ends with itself.

    `of_words`: a text may have several words; it ends before AND, OR, a sign or the end.
    """
    run = _TEXT.match(source, tokens[at].start)
    if run is None:
        return tokens[at].end
    return _end_of_words(source, tokens, run.end()) if of_words else run.end()


def end_of_text_with_digits(source: str, token: SqlToken) -> int | None:
    """Return the position behind a text that begins with the number `token`; None where it is a number."""
    run = _TEXT.match(source, token.start)
    if run is None or run.end() == token.end or _PLAIN_NUMBER.fullmatch(run[0]):
        return None
    return run.end() if _NO_NUMBER.fullmatch(run[0]) else None


def digits_of_text(written: str) -> bool:
    """Return whether digits are a text, because no number of JSON begins with such a zero: 01234."""
    return written[:1] == "0" and written[1:2].isdigit()


def _end_of_words(source: str, tokens: Sequence[SqlToken], end: int) -> int:
    for at, token in enumerate(tokens):
        if token.start < end:
            continue
        if source[end : token.start].strip() or token.kind not in ("word", "number"):
            break
        if is_keyword(tokens, at) or (at + 1 < len(tokens) and tokens[at + 1].upper in _ENDS_WORDS):
            break
        end = token.end
    return end
