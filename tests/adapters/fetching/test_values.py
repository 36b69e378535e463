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


@pytest.mark.parametrize("name", ["$", "$x", "$cold.1", f"$cold.{'0' * 24}", "rows", "lines", "root", "select"])
def test_an_array_of_any_name_is_a_table(name: str) -> None:
    source = json.dumps({"id": [{"id": 1}], name: [{"id": 2}, {"id": 3}]})
    assert value_at(source, f'select count(*) from "{name}"') == 2


def test_integers_beyond_64_bits_that_floats_do_not_tell_apart_are_texts() -> None:
    big = json.dumps([{"id": 2**63 + n} for n in (1, 2, 3)])
    assert value_at(big, "SELECT id FROM rows WHERE id = '9223372036854775810'") == 2**63 + 2
    with pytest.raises(ProtocolError, match=r"E1004: expected a text beside id, .* write id = '9223372036854775810'"):
        value_at(big, "SELECT id FROM rows WHERE id = 9223372036854775810")


@pytest.mark.parametrize("zero", ["-0", "-0.0", "-0.00"])
def test_a_negative_zero_keeps_its_sign_in_answers(zero: str) -> None:
    text = f'[{{"id": 1, "offset": {zero}}}, {{"id": 2, "offset": {zero}}}]'
    assert list(map(repr, value_at(text, "select offset from rows where offset = 0"))) == [zero, zero]
