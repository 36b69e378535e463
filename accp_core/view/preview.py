"""What of a result too big to show is shown: enough to take the next step, and the reference to the rest.

The view is cut into lines, long lines into pieces. Identifiers, numbers, dates and addresses that stand nowhere else
weigh most: on recorded runs they are what the next step needs. What the request names, names, the beginning and the end
come after them; a row brings the header of its table with it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from accp_core.ports import TokenCounter
from accp_core.view.notation import TEXT_BLOCK
from accp_core.view.render import DEFAULT_OPTIONS, Options
from accp_core.view.text import View, render_text

__all__ = ["preview"]

# Characters; a longer line is cut between words, into the shorter pieces the less room there is.
_SHORTEST_PIECE: Final = 40
_LONGEST_PIECE: Final = 240
_TRIES: Final = 5
"""How often what is shown is counted and its room adjusted: how many characters a token has depends on what it is."""
_GAP: Final = "…"
_EDGE: Final = 4
"""Pieces at either end that are worth more for standing there."""

_WORD: Final = re.compile(r"[^\W_]+(?:[._@/:+-][^\W_]+)*")
_IDENTIFIER: Final = re.compile(r"[0-9_@/]|[a-z][A-Z]|\w[-.]\w")
_NAME: Final = re.compile(r"[A-Z]")
_NAMES_AS_ONE_FACT: Final = 10
"""Every sentence begins with a capital: words that may be names count this much less than identifiers."""
_TABLE: Final = re.compile(r"(?:.* )?(?:&[0-9]+ |!json[0-9t]?u? )*[\[{]([0-9]+)[\]}](?: |:$)")
_OPEN: Final = ("{", "[{")
_CLOSE: Final = ("}", "}]")


@dataclass(slots=True)
class _Piece:
    """A line or a part of one."""

    text: str
    line: int
    parent: int | None
    """The piece that must be shown with this one: the header of its table, the key of its map."""
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
    """Return at most `limit` tokens of a tool result from which a next step is possible.

    A result that fits is returned as its view. The same arguments give the same text.

    Args:
        source: The whole result.
        limit: Tokens that the preview may take.
        opening: How the reader opens the whole: a reference, or a tool and a reference, such as "accp_fetch $cold.…".
        counter: Counts the tokens of the model.
        request: What the reader works on (the user's words, the arguments of the call); it ranks what is shown.
        options: As in `render_text`.
        view: The view of `source`, where the caller has rendered it.
        is_part: `source` is only the beginning of the result, so that the reference is shown in any case.

    Raises:
        ValueError: `limit` leaves no room even for the reference.
    """
    view = view or render_text(source, counter=counter, options=options)
    if view.tokens_after <= limit and not is_part:
        return view.text
    apart = view
    if "&1" in view.text:
        # What stands in a gap cannot be referred to.
        apart = render_text(source, counter=counter, options=replace(options or DEFAULT_OPTIONS, repeated_values=False))
    pieces = list(_pieces(apart.text, max(_SHORTEST_PIECE, min(limit // 2, _LONGEST_PIECE))))
    _rate(pieces, request)
    ranked = sorted(range(len(pieces)), key=lambda number: (-pieces[number].score, number))
    write = partial(_write, pieces, opening=opening, is_part=is_part)
    fullest = write(set())
    fullest_tokens = counter(fullest)
    if fullest_tokens > limit:
        raise ValueError(f"expected a limit of at least {fullest_tokens} tokens for {opening!r}, found {limit!r}")
    room = limit * len(apart.text) / max(apart.tokens_after, 1)
    for _ in range(_TRIES):
        text = write(_choose(pieces, ranked, room))
        tokens = counter(text)
        if fullest_tokens < tokens <= limit:
            fullest, fullest_tokens = text, tokens
        room *= 0.98 * limit / tokens
    return fullest


def _pieces(text: str, longest: int) -> Iterator[_Piece]:
    """Cut a view into pieces of at most `longest` characters, each with the piece that it belongs below."""
    cut = re.compile(rf".{{1,{longest}}}(?:(?<=[.;,|>])|(?= )|$)|.{{1,{longest}}}")
    parents: list[tuple[int, int | None]] = []
    number, in_block = 0, False
    for line_number, line in enumerate(text.split("\n")):
        while parents and parents[-1][1] == 0:
            parents.pop()
        parent = parents[-1][0] if parents else None
        first = number
        for part in cut.findall(line) if len(line) > longest else (line,):
            yield _Piece(part, line_number, parent)
            number += 1
        if line == TEXT_BLOCK and in_block:
            in_block = False
        elif not in_block:
            in_block = TEXT_BLOCK in line
            _nest(parents, line, first)


def _nest(parents: list[tuple[int, int | None]], line: str, piece: int) -> None:
    """Note what `line` opens or closes: a map by its brackets, a table by the number of its rows."""
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
    """Give each piece its score: rare facts above all, rare words of the request, and a place at either end."""
    # In the order of the text: the order of a set differs from process to process, and with it the sums.
    words = [dict.fromkeys(_WORD.findall(piece.text)) for piece in pieces]
    places = Counter(word for each in words for word in each)
    wanted = {word.casefold() for word in _WORD.findall(request) if len(word) > 2}
    for number, piece in enumerate(pieces):
        facts = sum(_fact(word) / places[word] for word in words[number])
        # Bounded: a request that quotes the whole text would leave room for nothing else.
        asked = min(sum(1 / places[word] for word in words[number] if word.casefold() in wanted), 1.0)
        edge = max(0, _EDGE - min(number, len(pieces) - 1 - number))
        piece.score = (2 * facts + asked + edge / 2) / math.sqrt(len(piece.text) + 20)


def _fact(word: str) -> float:
    """Return how much knowing `word` is worth."""
    if _IDENTIFIER.search(word):
        return 1.0
    return 1 / _NAMES_AS_ONE_FACT if _NAME.match(word) else 0.0


def _choose(pieces: list[_Piece], ranked: Iterable[int], characters: float) -> set[int]:
    """Return the pieces of the highest score that fit, with those they belong below."""
    shown: set[int] = set()
    # The line with the reference, which `_write` puts first.
    left = characters - 120
    for number in ranked:
        family = [each for each in _with_parents(pieces, number) if each not in shown]
        cost = sum(len(pieces[each].text) + 4 for each in family)
        if cost <= left:
            shown.update(family)
            left -= cost
        elif left < 40:
            break
    return shown


def _with_parents(pieces: list[_Piece], number: int) -> Iterator[int]:
    current: int | None = number
    while current is not None:
        yield current
        current = pieces[current].parent


def _write(pieces: list[_Piece], shown: set[int], *, opening: str, is_part: bool) -> str:
    """Return the pieces in order, a sign for each gap, and first what this is and how the rest is opened."""
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
