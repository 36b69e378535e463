"""Reads the headers of tables (see `notation`)."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Container
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs miss it
from typing import Final, TypeAlias

from accp_core.packing.expansion import Expansion
from accp_core.packing.tree import Constant, Derived, KeyColumn
from accp_core.view.header import CellColumn, Header
from accp_core.view.line_reader import LineReader
from accp_core.view.notation import KEY, read_derived
from accp_core.view.plain_values import CONSTANT_END

__all__ = ["HeaderReader"]

_MAX_HEADER_DEPTH: Final = 60
_STARTS: Final = frozenset('"{[&*!')
_IN_KEY: Final = r'[^\s"{}\[\],;:=?]'
_KEY: Final = re.compile(rf"{_IN_KEY}++(?::(?! |$){_IN_KEY}*+)*+")
_Columns: TypeAlias = dict[str, CellColumn | Header | Constant | KeyColumn]


class HeaderReader(ABC):
    """Reads headers; a subclass reads everything else (as two objects they would refer to each other)."""

    def __init__(self, lines: LineReader, expansion: Expansion) -> None:
        self.lines: Final = lines
        self.expansion: Final = expansion
        self.header_depth = 0
        self.has_derived = False
        """Whether a string contains the value of another key, which is not yet in it."""

    @abstractmethod
    def read_inline(self, line: str, at: int, end: re.Pattern[str]) -> tuple[object, int]:
        """Return the value at `at` and the position behind it; a plain string ends before a match of `end`."""

    def read_string(self, line: str, at: int) -> tuple[str, int]:
        """Return the JSON string at `at` and the position behind it."""
        try:
            text, end = scanstring(line, at + 1)
        except ValueError:
            self.lines.fail("expected a JSON string", at)
        return text, end

    def read_header(self, line: str, at: int, *, keyed: bool = False) -> tuple[Header | CellColumn, int]:
        """Return the header at `at` and the position behind it; `keyed`: each row begins with its key."""
        self.header_depth += 1
        if self.header_depth > _MAX_HEADER_DEPTH:
            self.lines.fail(f"expected at most {_MAX_HEADER_DEPTH} nested headers", at)
        result = self._read_pool(line, at) if line.startswith("[", at) else self.read_columns(line, at, keyed=keyed)
        self.header_depth -= 1
        return result

    def _read_pool(self, line: str, at: int) -> tuple[CellColumn, int]:
        inside, at = self.read_header(line, at + 1)
        return CellColumn(inside, "["), self.expect(line, at, "]")

    def read_columns(self, line: str, at: int, *, keyed: bool = False) -> tuple[Header, int]:
        """Return the header at `at`, which names columns, and the position behind it."""
        columns: _Columns = {}
        leaves: list[CellColumn] = []
        while True:
            if line.startswith("(", at):
                at = self._read_constants(line, at + 1, columns)
            else:
                name, end = self._read_name(line, at, columns)
                if keyed and line.startswith(f"=={KEY}", end):
                    columns[name], at = KeyColumn(), end + 2 + len(KEY)
                else:
                    column, at = self._read_column(line, at, end)
                    columns[name] = column
                    leaves += column.leaves if isinstance(column, Header) else [column]
            if not line.startswith(" ", at):
                break
            at += 1
        if not leaves:
            self.lines.fail("expected a column with cells", at)
        return Header(columns, leaves), at

    def _read_constants(self, line: str, at: int, columns: _Columns) -> int:
        while True:
            name, at = self._read_name(line, at, columns)
            columns[name], at = self._read_constant(line, self.expect(line, at, "="))
            if not line.startswith(" ", at):
                return self.expect(line, at, ")")
            at += 1

    def _read_constant(self, line: str, at: int) -> tuple[Constant, int]:
        found = CONSTANT_END.search(line, at)
        end = found.start() if found else len(line)
        if "$" in line[at:end] and line[at] not in _STARTS:
            return Constant(self.read_derived(line, at, end)), end
        value, at = self.read_inline(line, at, CONSTANT_END)
        return Constant(value), at

    def read_derived(self, line: str, at: int, end: int) -> Derived:
        """Return the string in `line[at:end]`, which contains the value of another key or column."""
        derived = read_derived(line[at:end])
        if derived is None:
            self.lines.fail("expected a text with one '$' and the name of a value before it", at)
        self.has_derived = True
        return derived

    def _read_name(self, line: str, at: int, columns: Container[str]) -> tuple[str, int]:
        if line.startswith('"', at):
            name, end = self.read_string(line, at)
        else:
            key = _KEY.match(line, at)
            if key is None:
                self.lines.fail("expected the name of a column", at)
            name, end = key[0], key.end()
        if name in columns:
            self.lines.fail(f"expected each column once, found {name!r} again", at)
        return name, end

    def _read_column(self, line: str, start: int, at: int) -> tuple[CellColumn | Header, int]:
        """Return the column whose name begins at `start` and ends at `at`, and the position behind it."""
        sign = line[at : at + 1]
        if sign == ",":
            return CellColumn(separator=", "), at + 1
        if sign == "[":
            return self._read_pool(line, at)
        if sign == "?" and not line.startswith("?{", at):
            comma = line.startswith(",", at + 1)
            return CellColumn(separator=", " if comma else " ", key=f"{line[start:at]}="), at + 1 + comma
        if sign == "?":
            inside, at = self.read_header(line, at + 2)
            return CellColumn(inside, "{"), self.expect(line, at, "}")
        if sign == "{":
            inside, at = self.read_header(line, at + 1)
            if type(inside) is not Header:
                self.lines.fail("expected the name of a column", at)
            return inside, self.expect(line, at, "}")
        return CellColumn(), at

    def expect(self, line: str, at: int, text: str) -> int:
        """Return the position behind `text`, which must stand at `at`."""
        if not line.startswith(text, at):
            self.lines.fail(f"expected {text!r}", at)
        return at + len(text)
