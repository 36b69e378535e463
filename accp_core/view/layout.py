"""The layout of a text: which parts of its view are JSON documents in which style, to restore the text byte for byte.

A layout is a short text such as `v4 t:8 o@2u:340 t:1`: after the version of the notation, 8 characters of plain text,
then 340 characters that are the view of a JSON document in the layout `@2u` (see `documents.json_forms`), then
one character of plain text.
`o@2:340<1200` means that the source was cut off behind the 1,200th character of the document, and that the last line
of the part says so. `t+:40` is plain text below a line that says that it is, since it would pass for a row above it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NoReturn

from accp_core.documents.json_forms import WriteString, write_json
from accp_core.documents.reading import FORMS
from accp_core.error_codes import ErrorCode
from accp_core.errors import DecodeError
from accp_core.markers import MarkerStart, escape_markers
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion, ExpansionError, ExpansionLimits
from accp_core.packing.tree import IS_VIEW
from accp_core.view.notation import AS_IS, NOTATION
from accp_core.view.read_value import read

__all__ = [
    "APART", "AS_IS", "BELOW", "CUT_LINE", "Segment", "escape_view", "layout_of_string", "put_below",
    "replace_cut_lines", "restore", "write_layout", "writer_of",
]  # fmt: skip

CUT_LINE: Final = f"\n{MarkerStart.CUT} in the source]"
"""The end of a part whose document was cut off."""
BELOW: Final = "\nsource text:"
"""The beginning of a part of plain text that would look like more of the document above it."""
APART: Final = re.compile(r"[ \t\r]*\n[ \t\r]*\n|\s*\Z")
"""What begins with a blank line, or shows nothing."""

_MAX_SHOWN: Final = 40
"""Characters of a text that an error message shows."""
_NUMBER: Final = "([0-9]{1,18})"
_SEGMENT: Final = re.compile(rf"([t{''.join(FORMS)}])([^: ]*+):{_NUMBER}(?:<{_NUMBER})?")


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a view.

    `form` is the code of a form and how the value is written, or `t` for text of the source, `t+` for it below `BELOW`.
    """

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
        return word if self.cut is None else f"{word}<{self.cut}"


def write_layout(segments: Sequence[Segment]) -> str:
    """Return the layout of the text that the segments make up."""
    return " ".join([NOTATION, *[segment.to_word() for segment in segments]])


def escape_view(text: str, layout: str | None) -> str:
    """Return a view as a model is shown it: what looks like a marker of ours in the source says that it is source text.

    Args:
        text: The text of the view.
        layout: Its layout, which tells our own lines from those of the source; None: all of `text` is of the source.
    """
    return CUT_LINE.join(map(escape_markers, _split(text, layout or AS_IS)))


def put_below(text: str, layout: str) -> tuple[str, str]:
    """Return a view that begins with `BELOW`, since another view stands above it, and its layout."""
    words = f" t:{len(text)}" if layout == AS_IS else layout.removeprefix(NOTATION)
    return BELOW + text, f"{NOTATION} t+:{len(BELOW)}{words}"


def replace_cut_lines(text: str, layout: str, line: str) -> str:
    """Return a view with `line` in place of each line of ours that says that a document was cut off."""
    return f"\n{line}".join(_split(text, layout))


def _split(text: str, layout: str) -> list[str]:
    """Return what stands between the lines that we wrote behind documents that were cut off."""
    if "<" not in layout:
        return [text]
    parts, start, at = [], 0, 0
    for word in layout.split(" ")[1:]:
        segment = _SEGMENT.fullmatch(word)
        assert segment is not None
        at += int(segment[3])
        if segment[4]:
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
    sources = [restoring.restore(word) for word in rest]
    if restoring.at != len(text):
        restoring.fail(f"expected a text of {restoring.at} characters for the layout, found {len(text)}")
    return "".join(sources)


class _Restoring:
    """One walk through the parts of a view."""

    def __init__(self, text: str, limits: ExpansionLimits) -> None:
        self.text = text
        self.limits = limits
        self.expansion = Expansion(limits.of(len(text)))
        self.at = 0
        """The position behind the parts that were restored."""

    def fail(self, reason: str, *, code: ErrorCode = ErrorCode.PARSE_ERROR) -> NoReturn:
        """Refuse the text at the current part."""
        raise DecodeError(reason, code=code, text=self.text, position=self.at)

    def restore(self, word: str) -> str:
        """Return the source of the next part, which a word of a layout describes."""
        segment = _SEGMENT.fullmatch(word)
        if segment is None or (segment[1] == "t" and (segment[2] not in ("", "+") or segment[4])):
            self.fail(f"expected a part of a layout, found {word!r}")
        form, style, length, cut = segment.groups()
        part = self.text[self.at : self.at + int(length)]
        if len(part) < int(length):
            self.fail(f"expected {length} characters for {word!r}, found {len(part)}")
        inner = part.removesuffix(CUT_LINE) if cut else part.removeprefix(BELOW * word.startswith("t+"))
        if inner == part and (cut or word.startswith("t+")):
            self.fail(f"expected {CUT_LINE if cut else BELOW!r} for {word!r}, found {part[-_MAX_SHOWN:]!r}")
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
        return lambda value, expansion: write_json([value], layout, expansion)

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
