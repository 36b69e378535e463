"""What an answer shows beside what was asked, so that no further call is needed."""

from __future__ import annotations

import json

import pytest

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError

LOG = "".join(f"line {at} {'FAIL' if at in (7, 30) else 'ok'}\n" for at in range(60))
HITS = (
    "6- line 5 ok\n7- line 6 ok\n8: line 7 FAIL\n9- line 8 ok\n10- line 9 ok\n"
    "29- line 28 ok\n30- line 29 ok\n31: line 30 FAIL\n32- line 31 ok\n33- line 32 ok\n"
)
ORDERS = json.dumps(
    {
        "orders": [
            {"id": "a'b", "items": [{"sku": "S0", "q": 1}], "notes": []},
            {"id": "b", "items": [{"sku": "S0", "q": 1}, {"sku": "S1", "q": 2}], "notes": [{"t": "x"}]},
            {"id": "c", "items": [{"sku": "S0 " + "long " * 20, "q": 1}], "notes": [{"t": "y"}]},
        ]
    }
)


def ask(source: str, query: str, limit: int = 400) -> str:
    return answer({"k": source}, FetchRequest(query=query), limit=limit, counter=count_o200k)


@pytest.mark.parametrize(
    "query",
    [
        "text LIKE '%fail%'",
        "SELECT * FROM lines WHERE text LIKE '%fail%'",
        "SELECT * FROM lines WHERE text GLOB '*FAIL*'",
    ],
)
def test_few_lines_that_like_finds_come_with_their_neighbours(query: str) -> None:
    assert ask(LOG, query) == HITS


def test_many_lines_have_one_neighbour_fewer_or_none() -> None:
    assert ask(LOG, "text LIKE '%line 1%'").startswith("1- line 0 ok\n2: line 1 ok\n3- line 2 ok\n10- line 9 ok\n11: ")
    assert ask(LOG, "text LIKE '%ok%' AND n <= 40").startswith("1: line 0 ok\n2: line 1 ok\n")


@pytest.mark.parametrize(
    "query",
    [
        "SELECT n, text FROM lines WHERE text LIKE '%fail%' ORDER BY n DESC",
        "SELECT n, text FROM lines WHERE text LIKE '%fail%' LIMIT 2",
        "n IN (8, 31)",
    ],
)
def test_rows_that_a_query_orders_or_counts_stand_alone(query: str) -> None:
    assert sorted(ask(LOG, query).split("\n")) == ["31: line 30 FAIL", "8: line 7 FAIL"]


def test_a_number_alone_is_the_number_of_a_line_where_no_line_has_it() -> None:
    assert ask("a\nb\nc\n", "2") == "2: b"
    assert ask("a\nb\nc\n", "9") == "0 of 3 rows; n has: 1 (1), 2 (1), 3 (1)"
    assert "31: line 30 FAIL" in ask(LOG, "30")


def test_one_row_shows_a_child_row_that_is_shorter_than_where_to_find_it() -> None:
    assert (
        ask(ORDERS, "SELECT * FROM orders WHERE id = 'a''b'") == "id a'b\norders.items [{sku S0, q 1}]\norders.notes []"
    )
    assert ask(ORDERS, "id = b") == (
        "id b\norders.notes [{t x}]\n… each row has more in orders.items (orders_id = orders.id)"
    )
    assert ask(ORDERS, "id = c").endswith(
        "orders.notes [{t y}]\n… each row has more in orders.items (orders_id = orders.id)"
    )
    assert ask(ORDERS, "SELECT id FROM orders WHERE id = 'b'") == "id b"


def test_an_expression_that_may_never_end_is_refused_with_what_does_the_same() -> None:
    with pytest.raises(
        ProtocolError, match=r"E1004: expected LIKE '%a%', GLOB '\*a\[0-9\]\*', OR or words, found 'REGEXP'"
    ):
        ask(ORDERS, "SELECT id FROM orders WHERE id REGEXP '^a'")


def test_a_refusal_names_the_call_whose_parenthesis_does_not_end() -> None:
    with pytest.raises(ProtocolError, match=r"E1004: expected \) for each \(, found 'abs\(' without it"):
        ask('[{"n": 1}, {"n": 2}]', "n > abs(")
