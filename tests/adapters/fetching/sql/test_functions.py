"""The functions that replace those of SQLite."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.fetching import budget
from accp_adapters.fetching.sql.functions import QueryConnection, add_functions
from tests.adapters.fetching.sql.seeds import CASES

OURS = sqlite3.connect(":memory:", factory=QueryConnection, check_same_thread=False)
add_functions(OURS)
THEIRS = sqlite3.connect(":memory:", check_same_thread=False)


def value_of(expression: str, *arguments: Any, connection: sqlite3.Connection = OURS) -> Any:
    return connection.execute(f"SELECT {expression}", arguments).fetchone()[0]


texts = st.text("ab%_*?[]^-é", max_size=8)


@given(texts, st.text("abAé", max_size=8))
def test_like_and_glob_match_as_those_of_sqlite(pattern: str, text: str) -> None:
    plain = text.replace("é", "a")
    for expression in ("? LIKE ?", "? LIKE ? ESCAPE 'b'"):
        if not (pattern.count("b") and "ESCAPE" in expression):
            assert value_of(expression, plain, pattern) == value_of(expression, plain, pattern, connection=THEIRS)
    simple = pattern.replace("[", "").replace("]", "")
    assert value_of("? GLOB ?", text, simple) == value_of("? GLOB ?", text, simple, connection=THEIRS)


parts = st.sampled_from(["a", "b", "ab", "?", "*", "[ab]", "[^a]", "[a-b]", "[]a]", "[^]]"])


@given(st.lists(parts, max_size=6).map("".join), st.text("ab]", max_size=12), st.sampled_from([1, 3, 10]))
def test_pieces_of_a_text_match_as_the_whole(pattern: str, text: str, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budget, "PIECE", piece)
        assert value_of("? GLOB ?", text, pattern) == value_of("? GLOB ?", text, pattern, connection=THEIRS)
        like = pattern.replace("*", "%").replace("?", "_")
        assert value_of("? LIKE ?", text, like) == value_of("? LIKE ?", text, like, connection=THEIRS)
        mixed = f"{text}ÄßΣ {text}Σ"
        assert value_of("lower(?) || upper(?)", mixed, mixed) == mixed.lower() + mixed.upper()
        assert value_of("? LIKE ?", mixed, f"%{mixed.upper()}".replace("[", "")) == 1


@pytest.mark.parametrize(("expression", "expected"), CASES["functions"])
def test_a_function_gives_its_value(expression: str, expected: object) -> None:
    assert value_of(expression) == expected
