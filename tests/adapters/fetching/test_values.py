"""The value that a query finds, for a program."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accp_adapters.fetching import value_at
from accp_core.errors import ProtocolError

ORDERS = {"orders": [{"id": n, "buyer": f"b{n % 2}", "total": n + 0.5} for n in range(4)]}


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("", ORDERS),
        ("orders.2.buyer", "b0"),
        ("$.orders[3]", {"id": 3, "buyer": "b1", "total": 3.5}),
        ("SELECT max(total) FROM orders", 3.5),
        ("select id from orders where buyer = 'b1'", [1, 3]),
        ("SELECT id, buyer FROM orders WHERE id > 2", [{"id": 3, "buyer": "b1"}]),
        ("SELECT id FROM orders WHERE id > 9", []),
    ],
)
def test_a_path_or_a_select_finds_a_value(query: str, value: Any) -> None:
    assert value_at(json.dumps(ORDERS), query) == value


def test_a_text_that_is_no_document_is_its_own_value() -> None:
    assert value_at("all is well", "") == "all is well"


@pytest.mark.parametrize("text", [json.dumps(ORDERS), "all is well"])
@pytest.mark.parametrize("query", ["orders.9", "nothing", "SELECT nothing FROM nowhere"])
def test_a_query_that_finds_nothing_is_refused(text: str, query: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        value_at(text, query)
    assert refused.value.code == "E1004"
