"""Rows and lines that contain words (docs/queries.md)."""

from __future__ import annotations

import json
import tracemalloc
from functools import partial

import pytest

from accp_adapters.fetching.answers import answer
from accp_adapters.fetching.request import read_request
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from tests.work import count_calls

LINES = {"lines": [{"sku": f"part {n}", "price": n} for n in range(5)], "notes": [{"by": "Ann"}]}


def fetch(source: str, query: str) -> str:
    return answer({"k": source}, read_request({"query": query}), limit=400, counter=count_o200k)


def test_words_are_found_in_an_array_named_lines() -> None:
    assert fetch(json.dumps(LINES), "part 3") == "lines [{sku part 3, price 3}]"
    assert fetch(json.dumps(LINES), "price = 3") == "sku part 3\nprice 3"
    assert fetch(f"Two documents:\n{json.dumps(LINES)}\nEnd.", "part 3") == "lines_2 [{sku part 3, price 3}]"


def test_words_are_found_in_the_text_of_a_line_not_in_its_number() -> None:
    text = "".join(f"line {'fifty' if n == 7 else ''}\n" for n in range(60))
    assert fetch(text, "fifty") == "8: line fifty\n"
    with pytest.raises(ProtocolError, match=r"^E1004: expected words that occur, .* found '50'\."):
        fetch(text, "50")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["\n" * 100_000, "ab\n" * 30_000], ids=["blank", "short"])
@pytest.mark.parametrize("query", ["ab", "a b"])
def test_words_in_many_lines_take_little_memory(text: str, query: str) -> None:
    tracemalloc.start()
    try:
        fetch(text, query)
    except ProtocolError:
        assert text.isspace()
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 100 * len(text)


def test_a_line_is_searched_for_a_bounded_number_of_words() -> None:
    words = " ".join(f"w{n}" for n in range(101))
    assert fetch(f"first\n{words}\n", words).startswith("2: w0 w1 w2 ")
    assert fetch("b a\n", "a b " * 100) == "1: b a\n"
    with pytest.raises(ProtocolError, match="E2003: expected words that stand together, or at most 100 words, found 1"):
        fetch("first\nsecond\n", words)


def test_a_line_is_folded_once_for_all_words() -> None:
    text = "".join(f"{n} {'é' * 50}\n" for n in range(500))
    few, many = "é 499", " ".join("é" * n for n in range(1, 40)) + " 499"
    folds = [count_calls(partial(fetch, text, words), named="casefold") for words in (few, many)]
    assert folds[1] < folds[0] + 200


def test_a_search_ends_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.fetching.words._MAX_SECONDS", 0.0)
    for query in ("second", "second third"):
        with pytest.raises(ProtocolError, match="E2003: expected a search of at most 0 seconds, it was stopped"):
            fetch("first\nthe second\n", query)
