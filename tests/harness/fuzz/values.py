"""A JSON value made of bytes: what a fuzzer mutates when it is to find values rather than texts."""

import math
import struct
from typing import Any, Final

__all__ = ["value_of"]

_MAX_DEPTH: Final = 6
_MAX_VALUES: Final = 60
_WORDS: Final = (
    *("", "-", " ", "true", "null", "0", "-0", "007", "1E5", "NaN", "*1", "&1 x", "!json [1]", "[1]", "{}", "a ", " a"),
    *('"""', "[:a: 1]", "{a 1}", "a, b", "a;b", "a]", "x\ny\nz\nw", '"a" "b"', 'one\n"""\ntwo', "2026-01-01", "id"),
    *("a text that is long enough to stand once", "another one, with a comma; and more", "lines\nthat\nare\nrepeated"),
    *(
        '{"a": [1, 2]}',
        "[\n  1\n]",
        "{'a': None}",
        "a: 1\nb:\n  - 2",
        "$cold.1",
        "[as above: 3 lines from",
        "\u2028",
        "é",
    ),
)
"""Strings that look like something else."""


def value_of(data: bytes) -> Any:
    """Return the value that `data` stands for; every input is one, and what is missing at its end is null."""
    return _Reader(data).value(0)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._left = _MAX_VALUES
        self._made: list[Any] = []

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        self._at += size
        return taken.ljust(size, b"\0")

    def _byte(self) -> int:
        return self._take(1)[0]

    def value(self, depth: int) -> Any:
        """Return the next value, nested in `depth` others."""
        self._left -= 1
        if self._at >= len(self._data) or self._left < 0:
            return None
        kind = self._byte()
        made = self._container(kind, depth) if kind >= 160 and depth < _MAX_DEPTH else self._scalar(kind % 10)
        self._made.append(made)
        return made

    def _scalar(self, kind: int) -> Any:
        match kind:
            case 0:
                return None
            case 1:
                return bool(self._byte() & 1)
            case 2:
                return self._byte()
            case 3:
                return int.from_bytes(self._take(9), "big", signed=True)
            case 4:
                number: float = struct.unpack(">d", self._take(8))[0]
                return number if math.isfinite(number) else 0.5
            case 5 | 6:
                return _WORDS[self._byte() % len(_WORDS)]
            case 7 if self._made:
                return self._made[self._byte() % len(self._made)]
        return self._take(self._byte() % 40).decode("utf-8", "replace")

    def _container(self, kind: int, depth: int) -> Any:
        size = self._byte() % 7
        if kind < 190:
            return [self.value(depth + 1) for _ in range(size)]
        names = [self._name() for _ in range(size)]
        if kind < 215:
            return {name: self.value(depth + 1) for name in names}
        # Rows with names in common, some of which are absent from some.
        absent = self._byte() if kind > 245 else 0
        return [
            {name: self.value(depth + 1) for bit, name in enumerate(names) if not absent >> (bit + row) & 1}
            for row in range(2 + size)
        ]

    def _name(self) -> str:
        byte = self._byte()
        return f"k{byte % 8}" if byte < 200 else _WORDS[byte % len(_WORDS)]
