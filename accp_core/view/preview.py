"""The preview of a result that is too large to show: enough for the next step, and the reference to the whole.

The view is cut into lines, and long lines into pieces. Rare identifiers, numbers, dates and addresses have the highest
score, because in recorded runs the next step needs them. Words of the request, names, the beginning and the end follow.
A row is shown together with the header of its table.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from accp_core.ports import TokenCounter
from accp_core.view.notation import TEXT_BLOCK
from accp_core.view.render import DEFAULT_OPTIONS, Options
from accp_core.view.text import View, render_text

__all__ = ["preview"]

# Characters of a piece; a longer line is cut between words. The smaller the limit, the shorter the pieces.
_MIN_PIECE_CHARS: Final = 40
_MAX_PIECE_CHARS: Final = 240
_TRIES: Final = 5
"""How often the pieces are chosen and counted; the number of characters in a token depends on the text."""
_GAP: Final = "…"
_FIRST_LINE_CHARS: Final = 120
"""Characters of the first line, which names the reference."""
_EDGE: Final = 4
"""Pieces at the beginning and at the end that have a higher score."""

_WORD: Final = re.compile(r"[^\W_]+(?:[._@/:+-][^\W_]+)*")
_IDENTIFIER: Final = re.compile(r"[0-9_@/]|[a-z][A-Z]|\w[-.]\w")
_NAME: Final = re.compile(r"[A-Z]")
_NAMES_AS_ONE_FACT: Final = 10
"""Words that may be names count this much less than identifiers, because every sentence begins with a capital."""
_TABLE: Final = re.compile(r"(?:.* )?(?:&[0-9]+ |!json[0-9t]?u? )*[\[{]([0-9]+)[\]}](?: |:$)")
_OPEN: Final = ("{", "[{")
_CLOSE: Final = ("}", "}]")


@dataclass(slots=True)
class _Piece:
    """A line of the view, or a part of a long one."""

    text: str
    line: int
    parent: int | None
    """The index of the piece that must be shown with this one, such as the header of its table; None: none."""
    score: float = 0.0


def preview(
    source: str,
    *,
    limit: int,
    opening: str,
    counter: TokenCounter,
    request: str = "",
    options: Options | None = None,
    view: View | None = None,
    is_part: bool = False,
) -> str:
    """Return a preview of a result, or its whole view if that fits; the same arguments give the same text.

    Args:
        source: The whole result.
        limit: Tokens of the preview at most.
        opening: How the reader opens the whole: a reference, or a tool and a reference, such as "accp_fetch $cold.…".
        counter: Counts the tokens of the model.
        request: The reader's task (the user's words, the arguments of the call); it ranks what is shown.
        options: As in `render_text`.
        view: The view of `source` if the caller has rendered it.
        is_part: Whether `source` is only the beginning of the result; then the reference is always shown.

    Raises:
        ValueError: `limit` has no room for the reference.
    """
    view = view or render_text(source, counter=counter, options=options)
    if view.tokens_after <= limit and not is_part:
        return view.text
    whole = view
    if "&1" in view.text:
        # The first place of a repeated value may be in a gap.
        whole = render_text(source, counter=counter, options=replace(options or DEFAULT_OPTIONS, repeated_values=False))
    pieces = list(_pieces(whole.text, max(_MIN_PIECE_CHARS, min(limit // 2, _MAX_PIECE_CHARS))))
    _rate(pieces, request)
    write = partial(_write, pieces, opening=opening, is_part=is_part)
    minimum = counter(write(set()))
    if minimum > limit:
        raise ValueError(f"expected a limit of at least {minimum} tokens for {opening!r}, found {limit!r}")
    return _fill(pieces, write, limit, len(whole.text) / max(whole.tokens_after, 1), counter)


def _fill(
    pieces: list[_Piece], write: Callable[[set[int]], str], limit: int, token_chars: float, counter: TokenCounter
) -> str:
    """Return the preview with the most tokens up to `limit`; `token_chars` is the mean length of a token."""
    ranked = sorted(range(len(pieces)), key=lambda number: (-pieces[number].score, number))
    fullest = write(set())
    fullest_tokens = counter(fullest)
    room = limit * token_chars
    for _ in range(_TRIES):
        text = write(_choose(pieces, ranked, room))
        tokens = counter(text)
        if fullest_tokens < tokens <= limit:
            fullest, fullest_tokens = text, tokens
        room *= 0.98 * limit / max(tokens, 1)
    return fullest


def _pieces(text: str, max_chars: int) -> Iterator[_Piece]:
    """Yield a view in pieces of at most `max_chars` characters, each with its parent."""
    cut = re.compile(rf".{{1,{max_chars}}}(?:(?<=[.;,|>])|(?= )|$)|.{{1,{max_chars}}}")
    parents: list[tuple[int, int | None]] = []
    number, in_block = 0, False
    for line_number, line in enumerate(text.split("\n")):
        while parents and parents[-1][1] == 0:
            parents.pop()
        parent = parents[-1][0] if parents else None
        first = number
        for part in cut.findall(line) if len(line) > max_chars else (line,):
            yield _Piece(part, line_number, parent)
            number += 1
        if line == TEXT_BLOCK and in_block:
            in_block = False
        elif not in_block:
            in_block = TEXT_BLOCK in line
            _nest(parents, line, first)


def _nest(parents: list[tuple[int, int | None]], line: str, piece: int) -> None:
    """Add to `parents` the map or table that `line` opens, with the rows that follow, and remove those it closes."""
    if line in _CLOSE:
        if parents:
            parents.pop()
        return
    if parents and (rows := parents[-1][1]) is not None:
        parents[-1] = (parents[-1][0], rows - 1)
    if line.endswith(_OPEN):
        parents.append((piece, None))
    elif table := _TABLE.match(line):
        parents.append((piece, int(table[1])))


def _rate(pieces: list[_Piece], request: str) -> None:
    """Set the score of each piece: for rare facts, rare words of the request, and a place at either end."""
    # In the order of the text: a set has another order in each process, which would change the sums.
    words = [dict.fromkeys(_WORD.findall(piece.text)) for piece in pieces]
    uses = Counter(word for piece_words in words for word in piece_words)
    requested = {word.casefold() for word in _WORD.findall(request) if len(word) > 2}
    for number, piece in enumerate(pieces):
        facts = sum(_fact(word) / uses[word] for word in words[number])
        # Bounded, because a request that quotes the whole text would leave no room for facts.
        matches = min(sum(1 / uses[word] for word in words[number] if word.casefold() in requested), 1.0)
        edge = max(0, _EDGE - min(number, len(pieces) - 1 - number))
        piece.score = (2 * facts + matches + edge / 2) / math.sqrt(len(piece.text) + 20)


def _fact(word: str) -> float:
    """Return the score of a word: 1.0 for an identifier, 0.1 for a possible name, 0.0 for any other."""
    if _IDENTIFIER.search(word):
        return 1.0
    return 1 / _NAMES_AS_ONE_FACT if _NAME.match(word) else 0.0


def _choose(pieces: list[_Piece], ranked: Iterable[int], characters: float) -> set[int]:
    """Return the indexes of the pieces with the highest score that fit, and of their parents."""
    shown: set[int] = set()
    left = characters - _FIRST_LINE_CHARS
    for number in ranked:
        added = [index for index in _with_parents(pieces, number) if index not in shown]
        chars = sum(len(pieces[index].text) + 4 for index in added)
        if chars <= left:
            shown.update(added)
            left -= chars
        elif left < _MIN_PIECE_CHARS:
            break
    return shown


def _with_parents(pieces: list[_Piece], number: int) -> Iterator[int]:
    current: int | None = number
    while current is not None:
        yield current
        current = pieces[current].parent


def _write(pieces: list[_Piece], shown: set[int], *, opening: str, is_part: bool) -> str:
    """Return the shown pieces in order below a line that names the reference, with a sign for each gap."""
    lines = f"{'the first ' if is_part else ''}{pieces[-1].line + 1} lines"
    parts = [f"[preview of {lines}, {_GAP} marks gaps; the whole is intact: {opening}]"]
    last = -1
    for number in sorted(shown):
        gap = number != last + 1
        same_line = last >= 0 and pieces[number].line == pieces[last].line
        if same_line:
            parts[-1] += f" {_GAP} {pieces[number].text}" if gap else pieces[number].text
        else:
            parts += [_GAP, pieces[number].text] if gap else [pieces[number].text]
        last = number
    is_at_end = last == len(pieces) - 1 and not is_part
    return "\n".join(parts if is_at_end else [*parts, _GAP])
