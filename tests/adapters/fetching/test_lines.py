"""Lines of a text are shown as they are: whoever edits a file copies them into the edit."""

from __future__ import annotations

import pytest

from accp_adapters.fetching import read_request
from accp_adapters.fetching.answers import answer
from accp_adapters.tokens import count_o200k

LINES = [f'\t"key{n}": "value, {n}",  ' if n % 3 else f"  def f{n}(a: int) -> str:  # true" for n in range(1, 61)]
SOURCE = "\n".join(LINES)


def ask(query: str, limit: int = 1_000, **options: int) -> str:
    return answer({"k": SOURCE}, read_request({"query": query, **options}), limit=limit, counter=count_o200k)


@pytest.mark.parametrize("query", ["SELECT text FROM lines WHERE n BETWEEN 40 AND 44", "text, n>=40, n<=44"])
def test_lines_alone_are_the_files_own(query: str) -> None:
    assert ask(query).split("\n") == LINES[39:44]


@pytest.mark.parametrize(
    "query", ["SELECT * FROM lines WHERE n BETWEEN 40 AND 44", "lines 40-44", "Lines 40 to 44", "n>=40 and n<=44"]
)
def test_lines_with_their_numbers_have_these_before_them(query: str) -> None:
    assert ask(query).split("\n") == [f"{n}: {LINES[n - 1]}" for n in range(40, 45)]


def test_lines_come_in_pages() -> None:
    first, last = ask("SELECT text FROM lines", limit=120).rsplit("\n", 1)
    shown = first.split("\n")
    assert shown == LINES[: len(shown)]
    assert last == f"… rows 0-{len(shown) - 1} of 60; next: offset={len(shown)}"


def test_what_is_no_line_is_a_view() -> None:
    assert ask("SELECT n FROM lines LIMIT 2").startswith("[2] n")
