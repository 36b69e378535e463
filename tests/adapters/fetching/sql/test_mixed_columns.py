"""Columns of several kinds of cells: null and absent, objects and arrays, numbers beside what is none."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from accp_adapters.fetching import FetchRequest, answer, value_at
from accp_adapters.fetching.answers import DATABASES
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from tests.adapters.fetching.sql.seeds import CASES


def found(source: str, query: str) -> Any:
    cells = value_at(source, query)
    return cells if isinstance(cells, list) else [cells]


ISSUES: Final = [
    {"key": "A-1", "owner": {"name": "Ana"}, "labels": [{"n": "x"}], "pull": {"url": "u"}},
    {"key": "A-2", "owner": None, "labels": None},
    {"key": "A-3", "owner": {"name": "Ben"}, "labels": []},
    {"key": "A-4"},
]
PRICES: Final = [{"id": at, "price": price} for at, price in enumerate(["9.5", "N/A", "120", "", "-"], 1)]
METRICS: Final = [{"m": "a", "value": [1, "42"]}, {"m": "b", "value": [1, "9"]}]


def ask(value: object, query: str) -> str:
    return answer({"k": json.dumps(value)}, FetchRequest(query=query), limit=500, counter=count_o200k)


@pytest.mark.parametrize(
    ("condition", "keys"),
    [
        ("owner IS NULL", ["A-2", "A-4"]),
        ("owner IS NOT NULL", ["A-1", "A-3"]),
        ("owner = null", ["A-2", "A-4"]),
        ("labels ISNULL", ["A-2", "A-4"]),
        ("labels IS NOT NULL", ["A-1", "A-3"]),
        ("pull IS NULL", ["A-2", "A-3", "A-4"]),
        ("rows.pull IS NOT NULL", ["A-1"]),
        ("owner.name = Ana", ["A-1"]),
    ],
)
def test_null_is_true_of_null_and_absent_only(condition: str, keys: list[str]) -> None:
    assert found(json.dumps(ISSUES), f"SELECT key FROM rows WHERE {condition}") == keys


def test_a_star_shows_each_content_once() -> None:
    shown = ask(ISSUES, "SELECT * FROM rows WHERE key = 'A-1'")
    assert shown == "key A-1\nowner.name Ana\npull.url u\n… each row has more in labels (rows_key = rows.key)"
    assert ask(ISSUES, "SELECT r.* FROM rows r WHERE key = 'A-1'") == shown
    assert ask(ISSUES, "key = 'A-1'") == shown
    assert ask(ISSUES, "ana") == "rows [{key A-1, owner.name Ana, pull.url u}]"
    assert value_at(json.dumps(ISSUES), "SELECT pull FROM rows") == [{"url": "u"}, None, None, None]


def test_an_object_is_the_cell_of_a_column_that_is_null_in_other_rows() -> None:
    assert value_at(json.dumps(ISSUES), "SELECT owner FROM rows") == [{"name": "Ana"}, None, {"name": "Ben"}, None]
    assert value_at(json.dumps(ISSUES), "SELECT labels FROM rows")[:3] == [[{"n": "x"}], None, []]


SIZES = [{"s": size} for size in ("10 kB", "2 MB", "900 B", "-")]


@pytest.mark.parametrize(
    ("value", "query", "shown"),
    [
        (
            ISSUES, "owner = Ana", "0 of 4 rows; owner has: objects (2), null (1), absent (1); "
            "see json_extract(owner, '$.name') or json_each(owner)",
        ),
        (ISSUES, "owner.name = Cy", "0 of 4 rows; owner.name has: Ana (1), Ben (1), absent (2)"),
        (METRICS, "SELECT m FROM rows WHERE CAST(json_extract(value, '$[1]') AS REAL) > 10", "m a"),
        (METRICS, "SELECT m FROM rows, json_each(rows.value) AS item WHERE CAST(item.value AS REAL) > 40", "m a"),
        (
            METRICS, "value = 'x'",
            "0 of 2 rows; value has: arrays (2); see json_extract(value, '$[0]') or json_each(value)",
        ),
        (PRICES, "SELECT id FROM rows WHERE price > 100", "id 3\n… price: 3 of 5 rows hold no number"),
        (PRICES, "SELECT avg(price) AS mean FROM rows", "mean 64.75\n… price: 3 of 5 rows hold no number"),
        (PRICES, "SELECT sum(price * 2) AS s FROM rows", "s 259.0\n… price: 3 of 5 rows hold no number"),
        (
            PRICES, "price > 500",
            "0 of 5 rows; price has: 9.5 (1), 120 (1), no number (3)",
        ),
        (PRICES, "SELECT id FROM rows WHERE price = 9.50", "id 1"),
        (SIZES, 'SELECT max("s.text") m FROM t', "m 900 B\n… s.text: compared as texts, 1 of 4 rows hold no number"),
        (SIZES, "\"s.text\" = '1 B'", "0 of 4 rows; s.text has: - (1), 10 kB (1), 2 MB (1), 900 B (1)"),
        (PRICES, "SELECT price > 100 FROM rows WHERE id = 3", '{"price > 100":1}\n… price: 3 of 5 rows hold no number'),
    ],
)  # fmt: skip
def test_an_answer_says_what_is_left_out_and_what_to_ask(value: object, query: str, shown: str) -> None:
    assert ask(value, query) == shown


@pytest.mark.parametrize(("cells", "condition", "rows"), CASES["spellings"])
def test_numbers_and_spellings_are_told_apart(cells: list[Any], condition: str, rows: list[int]) -> None:
    source = json.dumps([{"n": at, "c": cell} for at, cell in enumerate(cells)])
    assert found(source, f"SELECT n FROM rows WHERE {condition}") == rows


def test_arrays_beside_a_number_are_refused_with_how_to_reach_into_them() -> None:
    with pytest.raises(
        ProtocolError, match=r"which is of arrays.*json_extract\(value, '\$\[0\]'\) or json_each\(value\)"
    ):
        ask(METRICS, "value > 1000000")


def test_deep_queries_are_refused_before_they_are_read() -> None:
    for query in (f"n < {'(' * 3_000}1{')' * 3_000}", "(1 < " * 1_500, "max(" * 2_000, "CASE WHEN " * 900):
        with pytest.raises(ProtocolError, match="E1004: "):
            ask(PRICES, f"SELECT id FROM rows WHERE {query}")


# Objects and arrays of rows that have columns or tables of their own are their JSON where a query names them.

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

    assert ask("who->>'name' = 'Bo'").startswith("no 2\n")
    assert "who" not in DATABASES.get(SOURCE).tables[0].columns
    assert "who" in DATABASES.get(SOURCE, whole=True).tables[0].columns
    assert ask("SELECT * FROM orders WHERE who->>'name' = 'Bo'").startswith("no 2\nwho.name Bo\nwho.of.team y\n")
    assert ask("who = Bo") == ("0 of 2 rows; who has: objects (2); see json_extract(who, '$.name') or json_each(who)")
