"""The preview of a result that is too large to show: what it holds, what differs in it, and how to open the whole.

[preview; the whole is intact: accp_fetch $cold.…, e.g. query="select status, count(*) from orders group by status"]
orders: 110 rows, 3 shown; id: ord_001 to ord_110; total: 15.2 to 2246.03; status: shipped (85), late (1)
[3] id total, status
…

[preview of 412 lines; the source was cut off, all that it returned: accp_fetch $cold.…]
# Release notes
[…lines 1-40]
…

A reader who has seen such a line is shown a brief one: [preview: 412 lines $cold.…], [preview: source cut off $cold.…].
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from accp_core.documents import Document, Prose, looks_cut, read, wrapped_text
from accp_core.ports import TokenCounter
from accp_core.previews.marks import Marks
from accp_core.previews.records import RequestedRecords, find_requested_records
from accp_core.previews.request import Request
from accp_core.previews.rows import TablePreview
from accp_core.previews.units import Excerpt
from accp_core.tables import MAX_WHOLE, OpenedText, SampledTables, count_lines, open_document, sample_tables
from accp_core.tables.table import is_openable, lines_of
from accp_core.view.layout import BELOW, escape_view
from accp_core.view.text import View, render_document

__all__ = ["is_rendered", "preview", "preview_without_blobs"]


_MAX_TOKEN_CHARS: Final = 64
"""Characters for each token of a limit from which a text is not rendered: no view of it could fit."""
_MIN_RENDERED: Final = 32_000
"""Characters of a text that is always rendered."""
_EXAMPLE_ROOM: Final = 4
"""A preview that has room for so many first lines shows an example of a query."""
_TOLD_SHARE: Final = 0.2
"""The share of a preview that what it says of lines may take."""
_MOSTLY: Final = 0.9
"""The share of a text that its values take from which it is shown by their tables."""
_TABLES_SHARE: Final = 0.5
"""The share of a preview that the tables of a text may take where the lines around them need room, too."""
_VERBATIM_CHARS: Final = 2
"""Characters for each token of a limit up to which a line is shown whole or not at all, about half of a preview."""
_LONGEST_SHOWN: Final = 128
"""Characters of a blob that a result with room for it shows: a SHA-512 digest in hex has so many."""
_SENTENCE: Final = re.compile(r"^.*: [\d,]+ (?:row|line|record)s?(?=[,;]|$).*", re.MULTILINE)
"""A line that reads as one of ours, such as `id=7: 1 row, all shown`; one of a source is shown in quotes."""
_JSON_START: Final = re.compile(r"""\ufeff?\s*+["\[{]""")
_SAMPLE: Final = 4_000
"""Characters that are counted to estimate the length of a token."""
_LINES: Final = 20
"""Lines that the example for a text asks for."""
_TRIES: Final = 6
"""How often a text is written and counted; the number of characters in a token depends on the text."""
_AIM: Final = 0.98
"""The share of the limit that a try aims at."""


def is_rendered(source: str, limit: int) -> bool:
    """Return whether the view of `source` may fit in `limit` tokens, so that it is worth its time."""
    return len(source) <= max(_MAX_TOKEN_CHARS * limit, _MIN_RENDERED)


def preview(
    source: str, *, limit: int, opening: str, counter: TokenCounter, request: str = "",
    document: Document | None = None, view: View | None = None, is_part: bool = False, cut: str = "",
    is_queried: bool = False, is_brief: bool = False, verbatim: bool = False,
) -> str:  # fmt: skip
    """Return a preview of a result, or its whole view if that fits; the same arguments give the same text.

    What looks like a marker of ours in the source says that it is source text (`accp_core.markers`).

    Args:
        source: The whole result.
        limit: Tokens of the preview at most; one of tables takes fewer.
        opening: How the reader opens the whole: a reference, or a tool and a reference, such as "accp_fetch $cold.…".
        counter: Counts the tokens of the model.
        request: The reader's task (the user's words, the arguments of the call); it ranks what is shown.
        document: What `source` holds if the caller has read it.
        view: The view of `source` if the caller has rendered it.
        is_part: Whether `source` is only the beginning of the result; then the reference is always shown.
        cut: What is known of a result that was cut before it came here, such as "was cut off"; empty: nothing.
        is_queried: Whether `opening` names a tool that takes a query, so that an example of one is shown.
        is_brief: Whether the reader knows from the first line of another preview what such a line says, so that this
            one has the reference and little else.
        verbatim: Whether lines are shown whole and as they are, whatever they hold.

    Raises:
        ValueError: `limit` has no room for the reference.
    """
    subject = _Subject(source, Request(request), document, counter)
    if view is None and is_rendered(source, limit):
        view = render_document(subject.document, counter=counter)
    if view is not None and view.tokens_after <= limit and not is_part:
        whole = escape_view(view.text, view.layout)
        if whole == view.text or counter(whole) <= limit:
            return whole
    found, has_cut = (source, looks_cut(source)) if verbatim else subject.find_tables(is_part=is_part)
    if is_part and has_cut:
        # What is counted in a beginning is not what the whole holds.
        found = source
    if isinstance(found, str):
        body = subject.preview_text(found, limit, is_part=is_part, verbatim=verbatim)
    else:
        body = subject.preview_tables(found, limit)
    head = _head(opening, body.title, cut=cut or has_cut * (not is_part), is_brief=is_brief)
    first = f"{head}]"
    example = body.example if is_queried else ""
    if example and (is_part or not is_openable(source)):
        example = _query_lines(source)
    told = f"{head}; e.g. query: {example}]" if example else first
    minimum = counter(first)
    if minimum > limit:
        raise ValueError(f"expected a limit of at least {minimum} tokens for {opening!r}, found {limit!r}")

    def write(room: float) -> str:
        line = told if room > _EXAMPLE_ROOM * len(told) else first
        return f"{line}\n{body.write(min(room - len(line), body.enough))}" if room else first

    token_chars = max(len(source[:_SAMPLE]), 1) / max(counter(source[:_SAMPLE]), 1)
    return _fill(write, limit=limit, token_chars=token_chars, counter=counter)


def _head(opening: str, title: str = "", *, cut: str, is_brief: bool) -> str:
    """Return the first line of a preview up to its bracket."""
    if is_brief:
        told = f"source {cut.removeprefix('was ')} " if cut else f"{title.replace(',', '')} ".lstrip()
        return f"[preview: {told}{opening}"
    state = f"the source {cut}, all that it returned" if cut else "the whole is intact"
    return f"[preview{' of ' * bool(title)}{title}; {state}: {opening}"


def preview_without_blobs(
    source: str, view: str, *, layout: str, opening: str, cut: str = "", is_brief: bool = False
) -> str | None:
    """Return `view`, that of `source`, with the size of each large blob (base64, hex) in its place.

    Args:
        source: The whole result.
        view: What is shown of it: all; what looks like our markers in it is escaped here.
        layout: The layout of `view`.
        opening: As in `preview`.
        cut: As in `preview`.
        is_brief: As in `preview`.

    Returns:
        None where it holds no value of more than 128 characters of base64 or hex, about 64 tokens.
    """
    if len(source) <= _LONGEST_SHOWN:
        return None
    marks = Marks.apart_from(view)
    kept = marks.keep_cuts(view, layout)
    sized = marks.size_blobs(kept, _LONGEST_SHOWN + 1)
    return None if sized == kept else f"{_head(opening, cut=cut, is_brief=is_brief)}]\n{marks.show(sized)}"


@dataclass(frozen=True, slots=True)
class _Body:
    """What stands below the first line of a preview."""

    title: str
    """What it is a part of, such as "412 lines"; empty: the text below says so."""
    write: Callable[[float], str]
    """Returns it in about so many characters."""
    enough: float = math.inf
    """Characters that are enough."""
    example: str = ""
    """A query that works."""


class _Subject:
    """What is previewed, and for whom."""

    def __init__(self, source: str, request: Request, document: Document | None, counter: TokenCounter) -> None:
        self._source = source
        self._request = request
        self._document = document
        self._counter = counter
        self._opened: OpenedText | None = None

    @property
    def document(self) -> Document:
        """What the source holds; it is read at most once."""
        if self._document is None:
            self._document = read(self._source)
        return self._document

    def find_tables(self, *, is_part: bool) -> tuple[SampledTables | OpenedText | str, str]:
        """Return the tables of a JSON value, of a very long one those of a sample; else the text that a query reads.

        A text with grids is returned opened; of a part of one no rows are counted. With it whether the source was cut
        off.
        """
        if len(self._source) > MAX_WHOLE:
            found = _JSON_START.match(self._source) and sample_tables(self._source)
            return found or self._source, "" if found else looks_cut(self._source)
        opened = self._opened = open_document(self.document)
        if (opened.grids or self._is_mostly_values(opened)) and not is_part:
            return opened, opened.cut
        return opened.prose or SampledTables(tables=opened.tables(), totals={}), opened.cut

    def _is_mostly_values(self, opened: OpenedText) -> bool:
        """Return whether values, such as a Python literal in each line or JSON in a tag, are nearly all of a text."""
        values = (part for part in self.document.values() if not isinstance(part.value, str))
        chars = sum(part.end - part.start for part in values)
        return opened.prose == self._source and chars >= _MOSTLY * len(self._source)

    def preview_tables(self, found: SampledTables | OpenedText, limit: int) -> _Body:
        """Return the preview of tables, and of the lines of a text that are in none those with the most worth."""
        text = (found.prose or self._source) if isinstance(found, OpenedText) else ""
        sampled = SampledTables(tables=found.tables()[:-1], totals={}) if isinstance(found, OpenedText) else found
        marks = Marks.apart_from(text, sampled.tables)
        shown = TablePreview(sampled, request=self._request, marks=marks, counter=self._counter)
        if not isinstance(found, OpenedText):
            return _Body("", lambda room: marks.show(shown.write(room)), shown.enough, shown.example)
        spans = self._outside(found, text)
        excerpt = Excerpt(text.rstrip(), requested=self._request.words, marks=marks, max_piece=limit, spans=spans)
        chars = sum(end - start for start, end in spans)
        note = found.outside_note

        def write(room: float) -> str:
            parts = [shown.write(max(room - chars, min(shown.enough, room * _TABLES_SHARE)))]
            is_short = found.how or chars + len(parts[0]) + len(spans) >= room
            if note and room > _EXAMPLE_ROOM * len(note) and is_short:
                parts.append(note)
            if spans and room > len(parts[0]):
                lines = excerpt.write(room - sum(map(len, parts)))
                # A line of the source would pass for a row, or for what is said of a table.
                parts += [BELOW.lstrip(), lines] if excerpt.has_any else []
            return marks.show("\n".join(parts))

        return _Body(_lines(text), write, shown.enough + chars, shown.example)

    def _outside(self, opened: OpenedText, text: str) -> list[tuple[int, int]]:
        """Return where the parts of `text`, which a JSON string may hold, begin and end that are in no table."""
        starts = list(accumulate(map(len, lines_of(text)), initial=0))
        spans = [(starts[first - 1], starts[last]) for first, last in opened.outside]
        if not opened.grids:
            spans = [(part.start, part.end) for part in self.document.parts if isinstance(part, Prose)]
        return [span for span in spans if text[slice(*span)].strip()]

    def preview_text(self, prose: str, limit: int, *, is_part: bool, verbatim: bool) -> _Body:
        """Return the preview of a text; one that is shown verbatim is that of the file which a JSON object wraps.

        `prose` is the text whose lines a query counts: the source, or the text in its JSON string or text block.
        """
        value = next((part.value for part in self.document.values()), None) if verbatim else None
        wrapped = wrapped_text(value, len(self._source))
        marks = Marks.apart_from(wrapped or self._source)
        quoted = self._source if verbatim else _SENTENCE.sub(r'"\g<0>"', self._source)
        text = wrapped or (quoted if verbatim else marks.size_blobs(quoted, keeps_lines=True))
        opened = None if wrapped else self._opened
        named = None if is_part or verbatim else find_requested_records(text, self._request, opened)
        most, worths = limit * (_VERBATIM_CHARS if verbatim else 1), named.worths if named else ()
        excerpt = Excerpt(text, requested=self._request.words, marks=marks, max_piece=most, worths=worths)
        # The whole may be JSON that has tables, but perhaps no table of lines.
        is_open = not verbatim and (is_part or len(self._source) > MAX_WHOLE) and _JSON_START.match(self._source)
        sampled = SampledTables(tables=tuple(named.tables) if named else (), totals={})
        tables = TablePreview(sampled, request=Request(""), marks=marks, counter=self._counter)

        def write(room: float) -> str:
            head = tables.describe(room * _TOLD_SHARE)
            if opened and opened.beside and opened.outside and room * _TOLD_SHARE > len(head):  # not in `fields`
                head += f"{opened.outside_note}\n" * bool(head)
            return marks.show(head + _with_named(excerpt, named, room - len(head)))

        title = f"{'the first ' * is_part}{_lines(wrapped or prose)}"
        return _Body(title, write, example="" if wrapped or is_open else _query_lines(prose))


def _lines(text: str) -> str:
    return f"{(lines := count_lines(text)):,} line{'s'[: lines != 1]}"


def _with_named(excerpt: Excerpt, named: RequestedRecords | None, room: float) -> str:
    """Return an excerpt below what is said of the records that a request asks for, where there is room for both."""
    told = named.describe(lambda start, end: True, room * _TOLD_SHARE) if named else ""
    body = excerpt.write(room - len(told))
    return f"{named.describe(excerpt.shows, room * _TOLD_SHARE)}\n{body}" if named and told else body


def _fill(write: Callable[[float], str], *, limit: int, token_chars: float, counter: TokenCounter) -> str:
    """Return the text of `write(characters)` that has the most tokens up to `limit`.

    Args:
        write: Returns a text of about so many characters; of 0: the shortest one, which fits.
        limit: Tokens of the text at most.
        token_chars: The mean number of characters in a token, an estimate.
        counter: Counts the tokens of the model.
    """
    fullest = write(0)
    fullest_tokens = counter(fullest)
    low, high = (0.0, fullest_tokens), (math.inf, limit + 1)
    room = limit * token_chars
    for number in range(_TRIES):
        text = write(room)
        tokens = counter(text)
        if fullest_tokens < tokens <= limit:
            fullest, fullest_tokens = text, tokens
        low, high = ((room, tokens), high) if tokens <= limit else (low, (room, tokens))
        if high[0] == math.inf:
            room *= _AIM * limit / max(tokens, 1)
        else:
            # Texts grow in steps, so that every other guess is the middle.
            part = (_AIM * limit - low[1]) / (high[1] - low[1]) if number % 2 == 0 else 0.5
            room = low[0] + (high[0] - low[0]) * max(part, 0.0)
    return fullest


def _query_lines(source: str) -> str:
    """Return a query of some lines in the middle of a text, by the numbers that they have in a query."""
    start = max(source.count("\n", 0, len(source) // 2) + 1 - _LINES // 2, 1)
    return f"lines {start}-{start + _LINES - 1}"
