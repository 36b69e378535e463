"""What a text holds: prose, and values with how they were written."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, Protocol, TypeAlias

from accp_core.documents.omissions import CUT_OFF, omits_in_value, tell_cut
from accp_core.packing.expansion import Expansion

__all__ = ["BYTE_ORDER_MARK", "MAX_REST", "Document", "Form", "Part", "Prose", "Value", "WholeForm"]

MAX_REST: Final = 300
"""Maximum characters after a value that was cut off: its unread rest and the tool's note about the cut."""
BYTE_ORDER_MARK: Final = "\ufeff"
"""Programs of Windows write it before a text; it is no part of a value after it."""


class Form(Protocol):
    """One way of writing a value: a module (see the package's docstring)."""

    CODE: str
    """The letter of the form in a layout."""
    IS_SEVERAL: bool
    """Whether the value is the array of several documents, such as lines of JSON."""

    def describe(self, text: str, value: object) -> str | None:
        """Return how `text` writes `value`: what `write` needs beside the value; None where it cannot be written again.

        It has no blank, no `:` and no `<`.
        """

    def write(self, value: object, how: str, expansion: Expansion) -> str:
        """Return the text, counting its characters before it is built.

        Raises:
            ValueError: `value` or `how` does not fit the form; ExpansionError: the text is longer than allowed.
        """


class WholeForm(Form, Protocol):
    """A form of a whole text."""

    def recognise(self, text: str) -> bool:
        """Return at a glance whether `text`, which begins and ends with no blank, may be written so."""

    def read(self, text: str) -> object:
        """Return the value of all of `text`.

        Raises:
            ValueError: it is not written so.
        """


@dataclass(frozen=True, slots=True)
class Prose:
    """A text that is no value: words, code, the lines of a log."""

    start: int
    """The position of its first character in the source."""
    end: int
    """The position after its last character."""


@dataclass(frozen=True)
class Value:
    """A JSON value in a source; one of a grid is an array of maps, a map for each row.

    A text is one that a string literal holds, such as those in the repr of an object.
    """

    start: int
    """The position of its first character in the source."""
    end: int
    """The position after its last character."""
    value: object
    """The value; what no view and no JSON says exactly (a date, NaN) as text."""
    form: Form
    """How it is written."""
    written: str
    """Its text in the source; where the source was cut off, closed so that it is whole."""
    cut: int | None = None
    """Characters that are written from the value, of which the source was cut off; None: all."""

    @property
    def is_cut(self) -> bool:
        """Whether the source has only the beginning of it."""
        return self.cut is not None

    @property
    def is_several(self) -> bool:
        """Whether the value is the array of several documents."""
        return self.form.IS_SEVERAL

    @functools.cached_property
    def how(self) -> str | None:
        """What `form.write` needs beside the value; None: it cannot be written again, so it has tables and no view."""
        return self.form.describe(self.written, self.value)


Part: TypeAlias = Prose | Value


class Document:
    """What a text holds, from its beginning to its end."""

    def __init__(self, source: str, values: Iterable[Value]) -> None:
        """Take the values of `source`, from left to right; what is between them is prose."""
        self.source = source
        self.parts: tuple[Part, ...] = tuple(_with_prose(source, values))

    def values(self) -> Iterator[Value]:
        """Yield the parts that are no prose."""
        return (part for part in self.parts if not isinstance(part, Prose))

    @functools.cached_property
    def cut(self) -> str:
        """What is said of a tool that cut the text, which has only an end of a value, or marks; see `tell_cut`."""
        prose = (tell_cut(self.source, part.start, part.end) for part in self.parts if isinstance(part, Prose))
        values = (CUT_OFF if part.is_cut else omits_in_value(part.value, part.written) for part in self.values())
        return max([*values, *prose], default="")

    @property
    def beginning(self) -> Value | None:
        """The beginning of the value that the text is, where hardly more than the cut is beside."""
        values = list(self.values())
        is_first = len(values) == 1 and values[0].is_cut and not self.source[: values[0].start].strip()
        return values[0] if is_first and len(self.source) - values[0].end <= MAX_REST else None

    @functools.cached_property
    def lines_outside(self) -> tuple[tuple[int, int], ...]:
        """The first and the last number of each run of lines of which more than a mark is in no value.

        Lines have numbers from 1.
        """
        numbers = accumulate((self.source.count("\n", part.start, part.end) for part in self.parts), initial=1)
        parts = zip(self.parts, numbers, strict=False)
        runs = (_lines_of(self.source, part, number) for part, number in parts if isinstance(part, Prose))
        return tuple(run for run in runs if run is not None)

    @functools.cached_property
    def whole(self) -> Value | None:
        """The value that the text is, but for blanks around it."""
        values = list(self.values())
        if len(values) != 1:
            return None
        around = f"{self.source[: values[0].start]}{self.source[values[0].end :]}"
        return None if around.replace(BYTE_ORDER_MARK, "").strip() else values[0]


def _lines_of(source: str, prose: Prose, number: int) -> tuple[int, int] | None:
    """Return the numbers of the first and the last line that are all prose and not blank; None: there is none.

    `number` is that of the line in which the prose begins.
    """
    start, end = prose.start, prose.end
    if start and source[start - 1] != "\n":
        start = source.find("\n", start, end) + 1 or end
    if end < len(source) and source[end - 1 : end] != "\n":
        end = source.rfind("\n", start, end) + 1 or start
    text = source[start:end]
    if not text.strip():
        # Of a line that holds a part of a value, what is longer than a mark of a cut is left out, too.
        start, text = prose.start, source[prose.start : prose.end]
        if len(text.strip()) <= MAX_REST:
            return None
    first = number + source.count("\n", prose.start, start + len(text) - len(text.lstrip()))
    return first, first + text.strip().count("\n")


def _with_prose(source: str, values: Iterable[Value]) -> Iterator[Part]:
    at = 0
    for part in values:
        if part.start > at:
            yield Prose(at, part.start)
        yield part
        at = part.end
    if at < len(source):
        yield Prose(at, len(source))
