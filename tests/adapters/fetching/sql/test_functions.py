"""The functions that replace those of SQLite."""

from __future__ import annotations

import sqlite3

import pytest

from accp_adapters.fetching.sql.functions import QueryConnection, add_functions
from tests.adapters.fetching.sql.seeds import CASES

OURS = sqlite3.connect(":memory:", factory=QueryConnection, check_same_thread=False)
add_functions(OURS)


@pytest.mark.parametrize(("expression", "expected"), CASES["functions"])
def test_a_function_gives_its_value(expression: str, expected: object) -> None:
    assert OURS.execute(f"SELECT {expression}").fetchone()[0] == expected
