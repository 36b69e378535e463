"""Queries over several references: how their tables are named, and what is ambiguous."""

from __future__ import annotations

import json
import re

import pytest

from accp_adapters.fetching import answer, read_request
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from accp_core.references import key_of, reference_to

ORDERS = json.dumps({"orders": [{"id": 1, "user": 7, "items": [{"sku": "a"}]}, {"id": 2, "user": 8}]})
USERS = json.dumps([{"id": 7, "name": "Ann"}, {"id": 8, "name": "Bo"}])
CITIES = json.dumps([{"id": 7, "city": "Oslo"}])
SHOPS = json.dumps({"магазины": [{"id": 7, "имя": "Анна"}], "total": 1}, ensure_ascii=False)
TEXTS = {key_of(text): text for text in (ORDERS, USERS, CITIES, SHOPS)}
ORDER_REF, USER_REF, CITY_REF, SHOP_REF = map(reference_to, TEXTS)


def ask(query: str, ref: str = "", **more: object) -> str:
    request = read_request({"ref": ref, "query": query, **more})
    keys = [reference.removeprefix("$") for reference in request.references]
    return answer({key: TEXTS[key] for key in keys}, request, limit=500, counter=count_o200k)


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT o.id, u.name FROM {ORDER_REF}.orders o JOIN {USER_REF} u ON u.id = o.user",
        f"SELECT o.id, u.name FROM {ORDER_REF} AS o JOIN {USER_REF}.rows AS u ON u.id = o.user",
        f"SELECT orders.id, name FROM `{ORDER_REF}` JOIN `{USER_REF}` ON {USER_REF}.id = orders.user",
        f'SELECT {ORDER_REF}.orders.id, name FROM "{ORDER_REF}".orders JOIN [{USER_REF}] u ON u.id = user',
        f"SELECT o.id, u.name FROM {ORDER_REF[1:]}.orders o JOIN {USER_REF[1:]} u ON u.id = o.user",
    ],
)
def test_two_references_are_joined(query: str) -> None:
    assert ask(query) == "[2] id name\n1 Ann\n2 Bo"


def test_a_note_of_a_join_says_of_which_table_it_is() -> None:
    told = f"0 rows; {ORDER_REF}.orders.id has: 1 (1), 2 (1); {CITY_REF}.rows.id has: 7 (1)"
    assert ask(f"SELECT * FROM {ORDER_REF} o JOIN {CITY_REF} c ON o.id = c.id", ORDER_REF) == told


def test_names_that_only_one_text_has_need_no_reference() -> None:
    assert (
        ask("SELECT o.id, name FROM orders o JOIN rows u ON u.id = o.user", f"{ORDER_REF} {USER_REF}")
        == "[2] id name\n1 Ann\n2 Bo"
    )
    assert ask("city = Oslo", f"{ORDER_REF}, {CITY_REF}") == "id 7\ncity Oslo"
    assert ask("Ann", f"{ORDER_REF}, {USER_REF}") == "rows [{id 7, name Ann}]"


def test_a_table_in_another_alphabet_is_named_behind_its_reference() -> None:
    query = f"SELECT s.имя, u.name FROM {SHOP_REF}.магазины s JOIN {USER_REF} u ON u.id = s.id"
    assert ask(query) == "имя Анна\nname Ann"
    assert ask(f"SELECT {SHOP_REF}.имя FROM {SHOP_REF}") == "имя Анна"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM rows", f"expected {USER_REF}.rows or {CITY_REF}.rows, found 'rows', which both have"),
        (f"SELECT {USER_REF}.nosuch FROM {USER_REF}", "expected a column of rows(id, name); found"),
        ("SELECT * FROM $cold.other", "expected one of the references, found"),
        ("SELECT x.* FROM orders", "expected a column of orders"),
        ("id = 7", f"expected a SELECT, because the columns are in {ORDER_REF}.orders or {USER_REF}.rows or"),
    ],
)
def test_what_is_ambiguous_or_unknown_is_refused(query: str, message: str) -> None:
    with pytest.raises(ProtocolError, match=re.escape(message)) as refusal:
        ask(query, f"{ORDER_REF} {USER_REF} {CITY_REF}")
    assert refusal.value.code == "E1004"


def test_several_references_without_a_query_are_refused() -> None:
    with pytest.raises(ProtocolError, match="E1004: expected one reference, or a SELECT that joins them, found 2"):
        ask("", f"{ORDER_REF} {USER_REF}")


def test_each_call_sees_only_the_texts_it_was_given() -> None:
    with pytest.raises(ProtocolError, match="E1004: expected a table of orders"):
        ask("SELECT * FROM rows_of_users", ORDER_REF)
    assert ask("SELECT count(*) AS n FROM orders", ORDER_REF) == "n 2"
    with pytest.raises(ProtocolError, match="E1004"):
        ask("SELECT * FROM r1.rows", ORDER_REF)


def test_ref_decides_a_name_that_two_texts_have() -> None:
    query = f"SELECT name FROM rows WHERE id IN (SELECT id FROM {CITY_REF}.rows)"
    assert ask(query, USER_REF).endswith("name Ann")
    assert ask(f"SELECT city FROM rows WHERE id IN (SELECT id FROM {USER_REF})", CITY_REF).endswith("city Oslo")


ISSUES = json.dumps(
    [
        {"number": n, "title": f"t{n}", **{f"url{at}": "u" for at in range(60)}, "assigned.labels_url": "u",
         "milestone": {"labels": n}, "labels": [{"name": "bug", "color": "red"}, {"name": "p1", "color": "blue"}]}
        for n in range(30)
    ]
)  # fmt: skip


def of_issues(query: str, limit: int = 400) -> str:
    return answer({"k": ISSUES}, read_request({"query": query}), limit=limit, counter=count_o200k)


def test_an_array_that_is_a_table_is_also_its_json() -> None:
    labels = '[{"name":"bug","color":"red"},{"name":"p1","color":"blue"}]'
    assert of_issues("SELECT labels AS l, count(*) AS n FROM rows GROUP BY labels").startswith(
        "l [2] name color\nbug red"
    )
    assert of_issues("SELECT count(*) AS n FROM rows WHERE rows.labels LIKE '%bug%'") == "n 30"
    assert of_issues(f"SELECT count(*) AS n FROM rows WHERE labels = '{labels}'") == "n 30"


@pytest.mark.parametrize("query", ["SELECT color FROM rows", "SELECT number FROM rows WHERE rows.color LIKE '%re%'"])
def test_a_refused_column_names_the_table_that_has_it_and_how_to_join_it(query: str) -> None:
    with pytest.raises(ProtocolError) as refusal:
        of_issues(query)
    expected = r"E1004: expected a column of rows\(number, .*… \d+ more\); found '(rows\.)?color'; "
    assert re.match(
        rf"{expected}other tables: labels\(rows_number = rows\.number, name, color\)\. ", str(refusal.value)
    )


def test_pages_of_one_list_are_queried_as_one_table() -> None:
    pages = [json.dumps([{"id": page * 10 + n, "price": f"${n}.50"} for n in range(3)]) for page in (1, 2)]
    texts = {key_of(page): page for page in pages}
    with pytest.raises(ProtocolError, match="all their rows: SELECT") as refusal:
        answer(texts, read_request({"query": "price > 2"}), limit=500, counter=count_o200k)
    found = re.search(r"all their rows: (SELECT .*?)\)", refusal.value.reason)
    assert found
    query = f"SELECT id FROM ({found[1]}) WHERE price > 2"
    assert answer(texts, read_request({"query": query}), limit=500, counter=count_o200k).startswith("[2] id\n12\n22")
