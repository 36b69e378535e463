"""Objects and arrays of rows that have columns or tables of their own are their JSON where a query names them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.fetching import FetchRequest, answer, value_at
from accp_adapters.fetching.answers import DATABASES
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError

ORDERS = [
    {"no": 1, "who": {"name": "Ann", "of": {"team": "x"}}, "items": [{"sku": "a", "n": 1.50}, {"sku": "b", "n": 2}]},
    {"no": 2, "who": {"name": "Bo", "of": {"team": "y"}}, "items": [{"sku": "a", "n": 7}]},
]
SOURCE = json.dumps({"orders": ORDERS})
BY = [order["who"] for order in ORDERS]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT who->>'name' FROM orders", ["Ann", "Bo"]),
        ("SELECT json_extract(who, '$.of.team') AS t FROM orders", ["x", "y"]),
        ("SELECT o.who->'of'->>'team' FROM orders o", ["x", "y"]),
        ("SELECT who FROM orders", BY),
        ("SELECT orders.who.of FROM orders WHERE no = 2", {"team": "y"}),
        ("SELECT json_array_length(items) FROM orders", [2, 1]),
        ("SELECT items FROM orders WHERE no = 2", [{"sku": "a", "n": 7}]),
        ("SELECT no FROM orders, json_each(orders.items) AS i WHERE i.value->>'sku' = 'b'", 1),
        ("SELECT no FROM orders WHERE who IS NULL", []),
        ("SELECT no FROM orders WHERE who IS NOT NULL", [1, 2]),
    ],
)
def test_an_object_that_every_row_has_can_be_named(query: str, found: Any) -> None:
    assert value_at(SOURCE, query) == found


def test_a_condition_names_objects_too_and_other_queries_do_not_pay_for_it() -> None:
    def ask(query: str) -> str:
        return answer({"k": SOURCE}, FetchRequest(query=query), limit=400, counter=count_o200k)

    assert ask("who->>'name' = 'Bo', no").endswith("no 2")
    assert "who" not in DATABASES.get(SOURCE).tables[0].columns
    assert "who" in DATABASES.get(SOURCE, whole=True).tables[0].columns
    assert ask("SELECT * FROM orders WHERE who->>'name' = 'Bo'").startswith("no 2\nwho.name Bo\nwho.of.team y\n")
    assert ask("who = Bo") == "0 of 2 rows; who has: objects (2); see who.name, who.of.team"


def test_a_name_of_nothing_is_refused_with_the_columns() -> None:
    with pytest.raises(
        ProtocolError, match=r"E1004: expected a column of orders\(no, who.name, who.of.team\); found 'b'"
    ):
        value_at(SOURCE, "SELECT b FROM orders")
