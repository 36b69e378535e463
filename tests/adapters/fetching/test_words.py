"""Rows and lines that contain words (docs/queries.md)."""

from __future__ import annotations

import json
import tracemalloc
from functools import partial

import pytest

from accp_adapters.fetching.answers import answer, value_at
from accp_adapters.fetching.request import read_request
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from tests.work import count_calls

LINES = {"lines": [{"sku": f"part {n}", "price": n} for n in range(5)], "notes": [{"by": "Ann"}]}


def fetch(source: str, query: str, **more: int) -> str:
    return answer({"k": source}, read_request({"query": query, **more}), limit=400, counter=count_o200k)


def test_words_are_found_in_the_text_of_a_line_not_in_its_number() -> None:
    text = "".join(f"line {'fifty' if n == 7 else ''}\n" for n in range(60))
    assert fetch(text, "fifty") == "6- line \n7- line \n8: line fifty\n9- line \n10- line \n"
    assert fetch(text, "50 51") == "0 of 60 lines"


def test_words_that_begin_as_a_pointer_are_one_where_it_leads_somewhere() -> None:
    schema = json.dumps({"users": [{"$ref": "#/user"}, {"$ref": "#/users/0"}]})
    assert fetch(schema, "#/users/0") == "$ref #/user"
    assert "#/user" in fetch(schema, "#/user")
    assert fetch("see #/login\n", "#/login") == "1: see #/login\n"
    with pytest.raises(ProtocolError, match="expected an index from 0 to 1 at '#/users', found '7'"):
        fetch(schema, "#/users/7")


@pytest.mark.slow
@pytest.mark.parametrize("text", ["\n" * 90_000, "ab\n" * 30_000], ids=["blank", "short"])
@pytest.mark.parametrize("query", ["ab", "a b"])
def test_words_in_many_lines_take_little_memory(text: str, query: str) -> None:
    # The tables of the tokenizer are not the search's.
    fetch("ab", query)
    tracemalloc.start()
    try:
        assert text.isspace() == (fetch(text, query) == "0 of 90,000 lines")
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < 250 * len(text)


def test_a_line_is_searched_for_a_bounded_number_of_words() -> None:
    words = " ".join(f"w{n}" for n in range(101))
    assert fetch(f"first\n{words}\n", words).startswith("1- first\n2: w0 w1 w2 ")
    assert fetch("b a\n", "a b " * 100) == "1: b a\n"
    assert fetch("w1 w99\nw100\n", words).startswith("0 of 2 lines have all 100 words (w0 0, w1 2, ")


def test_a_line_is_folded_once_for_all_words() -> None:
    text = "".join(f"{n} {'é' * 50}\n" for n in range(500))
    few, many = "é 499", " ".join("é" * n for n in range(1, 40)) + " 499"
    folds = [count_calls(partial(fetch, text, words), named="casefold") for words in (few, many)]
    assert folds[1] < folds[0] + 200


def test_a_search_ends_with_its_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accp_adapters.fetching.words._MAX_STEPS", 0)
    for query in ("second", "second third"):
        with pytest.raises(ProtocolError, match="E2003: expected a search of at most 0 steps, it was stopped"):
            fetch("first\nthe second\n", query)


PAGE = "".join(f"part {n} of the page\n" for n in range(3_000))
BLOCKS = json.dumps([{"type": "text", "text": "hello"}, {"type": "text", "text": f"{PAGE}RETRY after 9 s\n{PAGE}"}])


@pytest.mark.parametrize("query", ["retry after", "after retry", "part retry"])
def test_words_are_shown_where_they_stand_in_a_long_cell(query: str) -> None:
    found = fetch(BLOCKS, query)
    assert "part 2999 of the page\nRETRY after 9 s\npart 0 of the page\n" in found
    assert "hello" not in found


def test_each_place_of_the_words_is_shown_the_rarest_word_first() -> None:
    filler = "x" * 1_000
    cell = f"{filler} one ß {filler} ONE two {filler} end"
    found = fetch(json.dumps([{"c": cell}, {"c": "other"}]), "one")
    assert found.count(f"{'x' * 90} one ß ") == found.count(f"{'x' * 90} ONE two ") == 1
    assert " end" not in found
    many = {"k": json.dumps([{"c": f"one {filler} " * 30 + "two"}])}
    shown = answer(many, read_request({"query": "two one"}), limit=9_000, counter=count_o200k)
    assert shown.rstrip("\n}]").endswith("two")


def test_words_in_other_lines_find_those_with_most_of_them_and_say_what_is_missing() -> None:
    log = "".join(f"{n} refunds cost {'a fee' if n % 20 == 0 else 'nothing'}\n" for n in range(50)) + "in live mode\n"
    expected = "0 of 51 lines have all 3 words (live 1, refunds 50, fee 3); with 2:\n1: 0 refunds cost a"
    assert fetch(log, "live refunds fee").startswith(expected)
    assert fetch(log, "zebra refunds 40").startswith(
        "0 of 51 lines have all 3 words (zebra 0, refunds 50, 40 1); with 2:\n39- 38 refunds"
    )
    rows = json.dumps([{"id": n, "who": "Ann" if n == 7 else "Bo"} for n in range(60)])
    assert fetch(rows, "Ann zebra") == (
        "0 of 60 rows have all 2 words (ann 1, zebra 0); with 1:\nrows [{id 7, who Ann}]"
    )


def test_words_that_occur_nowhere_are_no_rows() -> None:
    assert fetch("a\nb\n", "zebra") == fetch("a\nb\n", "zebra horse") == "0 of 2 lines"
    assert fetch(json.dumps(LINES), "zebra") == "0 of 6 rows; tables: lines(sku, price), notes(by)"


def test_words_of_a_comment_are_found_in_the_text() -> None:
    commented = "# generated by Zebra\nspec:\n  containers:\n    - name: web\n      image: nginx\n"
    assert fetch(commented, "zebra") == (
        "… in no row, but in the text:\n1: # generated by Zebra\n2- spec:\n3-   containers:\n"
    )
    assert fetch(json.dumps([{"unpaid_since": n} for n in range(3)]), "unpaid").startswith("0 of 3 rows; tables: ")
    assert fetch(commented, "zebra horse").startswith("0 of 1 rows; tables: ")


def test_a_path_may_begin_with_the_name_of_the_table_and_a_number_alone_is_a_word() -> None:
    rows = json.dumps([{"id": n + 5, "title": f"t{n}"} for n in range(60)])
    for path in ("rows.3.title", "rows[3].title", "$.rows[3].title", "rows[3]['title']"):
        assert fetch(rows, path) == "t3"
        assert value_at(rows, path) == "t3"
    assert fetch(rows, "$.rows[3]") == "id 8\ntitle t3"
    assert fetch(rows, "64") == "rows [{id 64, title t59}]"
    documents = 'First:\n[{"a": 1}, {"a": 2}]\nSecond:\n[{"a": 3}, {"a": 4}]\n'
    assert fetch(documents, "rows[2].a") == fetch(documents, "1.0.a") == "3"
    assert fetch(json.dumps({"rows": [{"a": 4}]}), "rows[0].a") == "4"


def test_lines_come_with_fewer_neighbours_the_more_they_are() -> None:
    def shown(every: int) -> str:
        return fetch("".join(f"{n}{' hit' if n % every == 0 else ''}\n" for n in range(1, 101)), "hit")

    assert shown(50).startswith("48- 48\n49- 49\n50: 50 hit\n51- 51\n52- 52\n98- 98\n")
    assert shown(4).startswith("4: 4 hit\n8: 8 hit\n")
    assert fetch(f"{'x' * 600}\nhit\n", "hit") == f"1- {'x' * 100}…\n2: hit\n"


def test_a_row_of_a_child_table_has_the_key_of_the_row_that_holds_it() -> None:
    source = json.dumps([{"id": n, "items": [{"sku": f"s{n}-{at}"} for at in (1, 2)]} for n in range(40)])
    assert fetch(source, "s7-2") == "items [{sku s7-2, rows_id 7}]"
    assert fetch(source, "sku = s7-2") == "rows_id 7\nsku s7-2"


def test_places_of_a_common_letter_take_no_memory_each() -> None:
    for letter in ("a", "ß"):
        text = json.dumps([{"id": 1, "t": letter * 2_000_000}], ensure_ascii=False)
        tracemalloc.start()
        found = fetch(text, letter)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert letter * 200 in found
        assert peak < 60_000_000
