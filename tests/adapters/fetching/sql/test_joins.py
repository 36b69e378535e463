"""Joins of columns of numbers, in any spelling, and of the rows of child tables with those that hold them."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from accp_adapters.fetching import value_at

ROWS: Final = 60
"""So many that SQLite makes an index for a join."""
LEFT: Final[dict[str, Any]] = {"id": int, "cents": "{}.00".format, "digits": str, "mixed": lambda n: n or "n/a"}
RIGHT: Final[dict[str, Any]] = {
    "key": int, "real": float, "tenths": "{}.0".format, "text": str, "mixed": lambda n: float(n) if n else "none",
}  # fmt: skip
SOURCE: Final = json.dumps(
    {
        "a": [{name: cell(number) for name, cell in LEFT.items()} for number in range(ROWS)],
        "b": [{name: cell(number) for name, cell in RIGHT.items()} for number in range(ROWS)],
    }
)


@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("right", RIGHT)
def test_equal_numbers_are_joined_however_they_are_written(left: str, right: str) -> None:
    # "n/a" and "none" are no numbers.
    expected = ROWS - ("mixed" in (left, right))
    for query in (
        f"SELECT count(*) FROM a JOIN b ON a.{left} = b.{right}",
        f"SELECT count(*) FROM b JOIN a ON a.{left} = b.{right}",
        f"SELECT count(*) FROM a, b WHERE b.{right} = a.{left}",
        f"SELECT count(*) FROM a WHERE a.{left} IN (SELECT b.{right} FROM b)",
        f"SELECT count(*) FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.{right} = a.{left})",
    ):
        assert value_at(SOURCE, query) == expected, query
