"""The functions that replace those of SQLite."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accp_adapters.fetching import budget
from accp_adapters.fetching.sql.functions import QueryConnection, add_functions

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
        for module in (budget,):
            patch.setattr(module, "PIECE", piece)
        assert value_of("? GLOB ?", text, pattern) == value_of("? GLOB ?", text, pattern, connection=THEIRS)
        like = pattern.replace("*", "%").replace("?", "_")
        assert value_of("? LIKE ?", text, like) == value_of("? LIKE ?", text, like, connection=THEIRS)
        mixed = f"{text}ÄßΣ {text}Σ"
        assert value_of("lower(?) || upper(?)", mixed, mixed) == mixed.lower() + mixed.upper()
        assert value_of("? LIKE ?", mixed, f"%{mixed.upper()}".replace("[", "")) == 1


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'ÄRGER' LIKE 'ärger%'", 1),
        ("'100%' LIKE '100\\%' ESCAPE '\\'", 1),
        ("'1000' LIKE '100\\%' ESCAPE '\\'", 0),
        ("'a-c' GLOB 'a[-x]c'", 1),
        ("'abc' GLOB 'a[^x]?'", 1),
        ("'a]c' GLOB 'a[]]c'", 1),
        ("12 LIKE '1%'", 1),
        ("NULL LIKE 'a'", None),
        ("instr('abc', 'c')", 3),
        ("replace('abc', 'b', '')", "ac"),
        ("replace('abc', '', 'x')", "abc"),
        ("lower('ÄB') || upper('é')", "äbÉ"),
        ("ceil(1.2) + floor(1.8)", 3),
        ("floor('x')", None),
        ("sqrt(-1)", None),
        ("mod(7, 0)", None),
        ("pow(2, 10)", 1024.0),
        ("printf('%.2f|%5s|%,d|%d%%', 3.14159, 'ab', 1234567, 5)", "3.14|   ab|1,234,567|5%"),
        ("printf('%d %s')", "0 "),
        ("format('%,.1f', 1234.56)", "1,234.6"),
        ("concat('a', NULL, 1)", "a1"),
        ("lower(x'4142')", "ab"),
    ],
)
def test_a_function_gives_its_value(expression: str, expected: object) -> None:
    assert value_of(expression) == expected
