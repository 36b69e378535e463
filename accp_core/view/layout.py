"""The layout of a text: which parts of its view are JSON documents in which style, to restore the text byte for byte.

A layout is a short text such as `v4 t:8 o@2u:340 t:1`: after the version of the notation, 8 characters of plain text,
then 340 characters that are the view of a JSON document in the layout `@2u` (see `documents.json_forms`), then
one character of plain text.
`o@2:340<1200` means that the source was cut off behind the 1,200th character of the document, and that the last line
of the part says so. `q( o@2:340 t:1 )` are the parts of a string literal, which stand between triple quotes; with
`q=u(` it is one of JSON in that style. With `)'` or `)"` at its end the literal begins with that quote and was cut off,
so that the triple quote behind it is missing, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NoReturn

from accp_core.documents.embedded_json import WriteString, write_laid_out
from accp_core.documents.json_styles import STYLES
from accp_core.documents.printed import literal_size, write_literal
from accp_core.documents.reading import FORMS
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.markers import MarkerStart, escape_markers
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion, ExpansionError, ExpansionLimits
from accp_core.packing.tree import IS_VIEW
from accp_core.view.notation import AS_IS, FENCE, NOTATION, TEXT_BLOCK, fence_of
from accp_core.view.read_value import read

__all__ = [
    "AS_IS", "CUT_LINE", "LiteralSegment", "Segment", "escape_view", "layout_of_string", "replace_cut_lines", "restore",
    "write_layout", "writer_of",
]  # fmt: skip

CUT_LINE: Final = f"\n{MarkerStart.CUT} in the source]"
"""The end of a part whose document was cut off."""

_MAX_SHOWN: Final = 40
"""Characters of a text that an error message shows."""
_NUMBER: Final = "([0-9]{1,18})"
_SEGMENT: Final = re.compile(rf"([t{''.join(FORMS)}])([^: ]*+):{_NUMBER}(?:<{_NUMBER})?")
_OPENING: Final = re.compile(r"q(?:=([0-9a-z]{0,4}))?\(")
_MAX_LITERALS: Final = 32
"""Literals in each other; each doubles the escapes of those in it."""
_CLOSING: Final = {")": "", ")'": "'", ')"': '"'}
"""The end of a literal in a layout; what it says of the quote of one that was cut off."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a view; `form` is the code of a form and how the value is written, or `t` for text of the source."""

    form: str
    text: str
    cut: int | None = None
    """As in `Value`."""
    layouts: Sequence[str] = ()
    """The layouts of the strings that hold documents, in the order of the value."""

    def to_word(self) -> str:
        """Return the word of a layout that describes this part."""
        named = ((None, *self.layouts)[:-1], self.layouts)
        inner = "".join(["&=" if each == before else f"&{each}" for before, each in zip(*named, strict=True)])
        word = f"{self.form}{inner}:{len(self.text)}"
        cut = "" if self.cut is None else f"<{self.cut}"
        return f"{word}{cut}"


@dataclass(frozen=True, slots=True)
class LiteralSegment:
    """A string literal in a view: on lines of its own, between fences as those of a text block."""

    parts: Sequence[Segment | LiteralSegment]
    """The parts of its text."""
    open_quote: str = ""
    """As in `Literal`."""
    style: str | None = None
    """As in `Literal`."""

    @property
    def text(self) -> str:
        """The characters of the view."""
        inside = "".join([part.text for part in self.parts])
        fence = fence_of(inside)
        return f"{fence}\n{inside}" + ("" if self.open_quote else f"\n{fence}")

    def to_word(self) -> str:
        """Return the words of a layout that describe this part."""
        opening = "q(" if self.style is None else f"q={self.style}("
        return " ".join([opening, *[part.to_word() for part in self.parts], f"){self.open_quote}"])


def write_layout(segments: Sequence[Segment | LiteralSegment]) -> str:
    """Return the layout of the text that the segments make up."""
    return " ".join([NOTATION, *[segment.to_word() for segment in segments]])


def escape_view(text: str, layout: str | None) -> str:
    """Return a view as a model is shown it: what looks like a marker of ours in the source says that it is source text.

    Args:
        text: The text of the view.
        layout: Its layout, which tells our own lines from those of the source; None: all of `text` is of the source.
    """
    return CUT_LINE.join(map(escape_markers, _split(text, layout or AS_IS)))


def replace_cut_lines(text: str, layout: str, line: str) -> str:
    """Return a view with `line` in place of each line of ours that says that a document was cut off."""
    return f"\n{line}".join(_split(text, layout))


def _split(text: str, layout: str) -> list[str]:
    """Return what stands between the lines that we wrote behind documents that were cut off."""
    if "<" not in layout:
        return [text]
    parts, fences, start, at = [], [], 0, 0
    for word in layout.split(" ")[1:]:
        segment = _SEGMENT.fullmatch(word)
        if segment:
            at += int(segment[3])
        elif _OPENING.fullmatch(word):
            fences.append(1 + len(_fence_at(text, at)))
            at += fences[-1]
        else:
            size = fences.pop()
            at += 0 if _CLOSING.get(word) else size
        if segment and segment[4]:
            parts.append(text[start : at - len(CUT_LINE)])
            start = at
    return [*parts, text[start:]]


def restore(text: str, layout: str, *, limits: ExpansionLimits = DEFAULT_EXPANSION) -> str:
    """Return the source of a view, byte for byte.

    Args:
        text: The text of the view.
        layout: The layout of the view.
        limits: How large the source, and the value of each document in it, may be.

    Raises:
        DecodeError: E1001, `layout` is malformed, of another version or not of `text`, or a part of that is not a view;
            E2003, the source would pass `limits`.
    """
    if layout == AS_IS:
        return text
    restoring = _Restoring(text, limits)
    version, *rest = layout.split(" ")
    if version != NOTATION:
        restoring.fail(f"expected a view in the notation {NOTATION!r}, found {version!r}: another version wrote it")
    words = iter(rest)
    sources = [restoring.restore(word, words) for word in words]
    if restoring.at != len(text):
        restoring.fail(f"expected a text of {restoring.at} characters for the layout, found {len(text)}")
    return "".join(sources)


def _fence_at(text: str, at: int) -> str:
    """Return the fence at a position; the shortest one where there is none."""
    fence = FENCE.match(text, at)
    return fence[0] if fence else TEXT_BLOCK


class _Restoring:
    """One walk through the parts of a view."""

    def __init__(self, text: str, limits: ExpansionLimits) -> None:
        self.text = text
        self.limits = limits
        self.expansion = Expansion(limits.of(len(text)))
        self.depth = 0
        """How many literals are open."""
        self.at = 0
        """The position behind the parts that were restored."""

    def fail(self, reason: str, *, code: ErrorCode = ErrorCode.PARSE_ERROR) -> NoReturn:
        """Refuse the text at the current part."""
        raise DecodeError(reason, code=code, text=self.text, position=self.at)

    def restore(self, word: str, words: Iterator[str]) -> str:
        """Return the source of the next part, which a word of a layout describes; of a literal the next words, too."""
        opening = _OPENING.fullmatch(word)
        if opening is None:
            return self._restore_part(word)
        if opening[1] is not None and opening[1] not in STYLES:
            self.fail(f"expected the style of a string, found {word!r}")
        self.depth += 1
        if self.depth > _MAX_LITERALS:
            self.fail(f"expected at most {_MAX_LITERALS} literals in each other, found more")
        literal = self._restore_literal(words, opening[1])
        self.depth -= 1
        return literal

    def _restore_literal(self, words: Iterator[str], style: str | None) -> str:
        """Return the source of a literal, whose parts the next words of a layout describe."""
        fence = _fence_at(self.text, self.at)
        self._expect(f"{fence}\n")
        left, parts = self.expansion.left, []
        for word in words:
            if word in _CLOSING:
                break
            parts.append(self.restore(word, words))
        else:
            self.fail("expected ')' behind the parts of a literal, found the end of the layout")
        if word == ")":
            self._expect(f"\n{fence}")
        text = "".join(parts)
        # The characters of the parts are part of the literal.
        self.expansion.left = left
        self._count(literal_size(text, style))
        return write_literal(text, _CLOSING[word], style)

    def _expect(self, sign: str) -> None:
        if not self.text.startswith(sign, self.at):
            self.fail(f"expected {sign!r}, found {self.text[self.at : self.at + _MAX_SHOWN]!r}")
        self.at += len(sign)

    def _restore_part(self, word: str) -> str:
        """Return the source of the next part, which a word of a layout describes."""
        segment = _SEGMENT.fullmatch(word)
        if segment is None or (segment[1] == "t" and any(segment.group(2, 4))):
            self.fail(f"expected a part of a layout, found {word!r}")
        form, style, length, cut = segment.groups()
        part = self.text[self.at : self.at + int(length)]
        if len(part) < int(length):
            self.fail(f"expected {length} characters for {word!r}, found {len(part)}")
        inner = part.removesuffix(CUT_LINE) if cut else part
        if cut and inner == part:
            self.fail(f"expected {CUT_LINE!r} behind {word!r}, found {part[-_MAX_SHOWN:]!r}")
        try:
            source = inner if form == "t" else self._write(inner, form, *_layouts_of(style))
            source = source if cut is None else self._cut(source, int(cut))
            self._count(len(source))
        except DecodeError:
            raise
        except ExpansionError as error:
            self.fail(str(error), code=ErrorCode.BUDGET_EXCEEDED)
        except (ValueError, RecursionError) as error:
            self.fail(str(error))
        self.at += len(part)
        return source

    def _count(self, size: int) -> None:
        """Count the characters of a part of the source."""
        try:
            self.expansion.add(size, "this part")
        except ExpansionError as error:
            self.fail(str(error), code=ErrorCode.BUDGET_EXCEEDED)

    def _cut(self, source: str, chars: int) -> str:
        if chars > len(source):
            self.fail(f"expected at least {chars} characters before the cut, found {len(source)}")
        return source[:chars]

    def _write(self, view: str, form: str, how: str, layouts: Sequence[str]) -> str:
        value = read(view, limits=self.limits, writers=[*map(writer_of, layouts)])
        # The text is counted after it is written, in the form in which it is returned.
        return FORMS[form].write(value, how, Expansion(self.expansion.left))


def writer_of(layout: str) -> WriteString:
    """Return what writes a string of a value again, of which a layout of `Segment.layouts` tells how it is written."""
    if not layout.startswith(NOTATION):
        return partial(write_laid_out, layout=layout)

    def restore_string(view: object, expansion: Expansion) -> str:
        if type(view) is not str:
            raise ValueError(f"expected a text for {layout!r}, found {view!r}")
        inner, _, end = layout.removeprefix(NOTATION).partition(",")
        text = restore(view, _from_hex(inner), limits=ExpansionLimits(size=expansion.left)) + _from_hex(end)
        expansion.add(len(text), f"!{IS_VIEW}")
        return text

    return restore_string


def layout_of_string(layout: str, end: str) -> str:
    """Return the layout of a view as one of `Segment.layouts`; `end` is what the string has behind the text of it."""
    return f"{NOTATION}{layout.encode().hex()},{end.encode().hex()}"


def _from_hex(digits: str) -> str:
    return bytes.fromhex(digits).decode()


def _layouts_of(how: str) -> tuple[str, list[str]]:
    """Return how a value is written, and how each JSON document in its strings is."""
    how, *inner = how.split("&")
    layouts: list[str] = []
    for each in inner:
        layouts.append(layouts[-1] if each == "=" and layouts else each)
    return how, layouts
