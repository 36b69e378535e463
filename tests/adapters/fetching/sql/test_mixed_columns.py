"""Random queries of columns of several kinds of cells: the answers are those of plain Python by the rules of the docs.

A number is a number of JSON, or a text that spells one. Comparisons by `<` and the like, ORDER BY and aggregates take
numbers and leave out the rest; `=` takes a text by its spelling, and a number by its value.
"""

from __future__ import annotations

import json
import operator
import random
import re
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

import pytest

from accp_adapters.fetching import FetchRequest, answer, value_at
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from tests.adapters.fetching.sql.seeds import seeds

NUMERAL: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[0-9]+)?")
CELLS: Final[dict[str, tuple[Any, ...]]] = {
    "price": ("9.5", "9.50", "120", "-3", "2e2", "N/A", "", "-", None),
    "size": (1, 2.5, 40, "N/A", "7", "07", None),
    "code": ("01234", "1234", "1234.0", "1.10", "1.1", "x"),
    "value": ([1, "42"], {"a": {"b": 1}}, None, "12", 9, "text"),
    "word": ("late", "paid", "in progress", None),
    "count": (1, 2, 3, 10, None),
}
ORDERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
LITERALS: Final = ("9.5", "9.50", "100", "0", "-3", "1234", "1.1", "40")
NAMES: Final = tuple(CELLS)
Test = Callable[[Any], bool | None]


def number(cell: Any) -> Decimal | None:
    if isinstance(cell, str):
        return Decimal(cell) if NUMERAL.fullmatch(cell) else None
    return Decimal(str(cell)) if type(cell) in (int, float) else None


class Writer:
    """Writes a random table and queries of it, each with what it means."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        count = self.random.randrange(2, 9)
        self.rows = [{"id": at, **self.row()} for at in range(count)]

    def row(self) -> dict[str, Any]:
        return {name: self.random.choice(cells) for name, cells in CELLS.items() if self.random.random() < 0.8}

    def name(self) -> str:
        # An object that every row has is its columns.
        known = {name for name in NAMES if not all(isinstance(row.get(name), dict) for row in self.rows)} & {
            name for row in self.rows for name in row
        }
        return self.random.choice([name for name in NAMES if name in known] or ["id"])

    def comparison(self) -> tuple[str, str, Test]:
        """Return a comparison: its column, its text, and the same as a function of a cell; None is unknown."""
        name, kind = self.name(), self.random.randrange(7)
        literal, other = (self.random.choice(LITERALS) for _ in range(2))
        wanted, second = Decimal(literal), Decimal(other)

        def numeric(test: Callable[[Decimal], bool]) -> Test:
            return lambda cell: None if (found := number(cell)) is None else test(found)

        if kind < 2:
            sign = self.random.choice(list(ORDERS))
            return name, f"{name} {sign} {literal}", numeric(lambda found: ORDERS[sign](found, wanted))
        if kind == 2:
            written = self.random.choice(["{1} <= {0} <= {2}", "{0} between {1} and {2}"])
            return name, written.format(name, literal, other), numeric(lambda found: wanted <= found <= second)
        if kind == 3:
            is_not = self.random.random() < 0.5
            sign = "!=" if is_not else "="
            return (
                name,
                f"{name} {sign} {literal}",
                lambda cell: None if cell is None else ((number(cell) == wanted) != is_not),
            )
        if kind == 4:
            return (
                name,
                f"{name} in ({literal}, {other}, 'N/A')",
                lambda cell: None if cell is None else (number(cell) in (wanted, second) or cell == "N/A"),
            )
        if kind == 5:
            is_not = self.random.random() < 0.5
            return name, f"{name} is {'not ' * is_not}null", lambda cell: (cell is None) != is_not
        cells = [cell for row in self.rows if isinstance(cell := row.get(name), str) and number(cell) is None]
        spelled = self.random.choice([*cells, "N/A"])
        return name, f"{name} = '{spelled}'", lambda cell: None if cell is None else cell == spelled


def ids(rows: list[dict[str, Any]], name: str, test: Test) -> list[int]:
    return [row["id"] for row in rows if test(row.get(name))]


def found(source: str, query: str) -> Any:
    cells = value_at(source, query)
    return cells if isinstance(cells, list) else [cells]


@seeds(12)
def test_conditions_find_the_rows_that_python_finds(seed: int) -> None:
    for at in range(40):
        writer = Writer(1_000 * seed + at)
        name, condition, test = writer.comparison()
        source = json.dumps({"orders": writer.rows})
        query = f"SELECT id FROM orders WHERE {condition} ORDER BY id"
        assert found(source, query) == ids(writer.rows, name, test), (query, writer.rows)
        negated = f"SELECT id FROM orders WHERE NOT ({condition}) ORDER BY id"
        rest = ids(writer.rows, name, lambda cell: None if (is_met := test(cell)) is None else not is_met)  # noqa: B023
        assert found(source, negated) == rest, (negated, writer.rows)


@seeds(12)
def test_aggregates_and_orders_are_those_of_python(seed: int) -> None:
    for at in range(20):
        writer = Writer(5_000 + 1_000 * seed + at)
        name, source = writer.name(), json.dumps({"orders": writer.rows})
        cells = [row.get(name) for row in writer.rows]
        numbers = [each for each in map(number, cells) if each is not None]
        if not numbers:
            continue
        query = f"SELECT max({name}) AS most, min({name}) AS least, sum({name}) AS sum, avg({name}) AS mean FROM orders"
        (row,) = value_at(source, query)
        assert (number(row["most"]), number(row["least"])) == (max(numbers), min(numbers)), (query, cells)
        assert float(row["sum"]) == pytest.approx(float(sum(numbers)))
        assert float(row["mean"]) == pytest.approx(float(sum(numbers)) / len(numbers))
        direction = writer.random.choice(["", " DESC"])
        query = f"SELECT {name} FROM orders WHERE {name} IS NOT NULL ORDER BY {name}{direction}"
        ordered = found(source, query)
        assert [each for each in map(number, ordered) if each is not None] == sorted(numbers, reverse=bool(direction))
        assert [number(cell) is None for cell in ordered] == sorted(number(cell) is None for cell in ordered)


@seeds(4)
def test_groups_and_different_texts_have_one_spelling_each(seed: int) -> None:
    for at in range(10):
        writer = Writer(50_000 + 1_000 * seed + at)
        cells = [row["code"] for row in writer.rows if "code" in row]
        source = json.dumps({"orders": writer.rows})
        if cells:
            query = "SELECT {} FROM orders WHERE code IS NOT NULL{}"
            assert sorted(found(source, query.format("DISTINCT code", ""))) == sorted(set(cells))
            grouped = found(source, query.format("count(*)", " GROUP BY code"))
            assert sorted(grouped) == sorted(cells.count(each) for each in set(cells))


def counted(cells: list[Any]) -> dict[str, int]:
    """Return how many cells are spelled alike; null and absent are one group."""
    return Counter(json.dumps(cell) for cell in cells)


@seeds(10)
def test_groups_of_any_cells_and_joins_of_child_tables_are_those_of_python(seed: int) -> None:
    for at in range(20):
        writer, children = Writer(70_000 + 1_000 * seed + at), Writer(90_000 + 1_000 * seed + at)
        name = writer.name()
        for row in writer.rows:
            row["parts"] = [
                {"part": 100 * row["id"] + n, **children.row()} for n in range(children.random.randrange(3))
            ]
        source = json.dumps({"orders": writer.rows})
        grouped = value_at(source, f"SELECT {name} AS cell, count(*) AS n FROM orders GROUP BY {name}")
        expected = counted([row.get(name) for row in writer.rows])
        assert {json.dumps(row["cell"]): row["n"] for row in grouped} == expected, (name, writer.rows)
        pairs = [(row, part) for row in writer.rows for part in row["parts"]]
        if not pairs:
            continue
        children.rows = [part for _, part in pairs]
        name, condition, test = children.comparison()
        name, condition = (each.replace("id", "part") if name == "id" else each for each in (name, condition))
        joined = "FROM orders o JOIN parts p ON p.orders_id = o.id"
        query = f"SELECT p.part {joined} WHERE {condition.replace(name, f'p.{name}', 1)}"
        met = [part["part"] for _, part in pairs if test(part.get(name))]
        assert found(source, query) == met, (query, writer.rows)
        query = "SELECT o.id, count(p.part) AS n FROM orders o LEFT JOIN parts p ON p.orders_id = o.id GROUP BY o.id"
        assert [row["n"] for row in value_at(source, query)] == [len(row["parts"]) for row in writer.rows]


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
    assert shown == "key A-1\nowner.name Ana\npull.url u\nlabels [{n x}]"
    assert ask(ISSUES, "SELECT r.* FROM rows r WHERE key = 'A-1'") == shown
    assert ask(ISSUES, "key = 'A-1'") == shown
    assert ask(ISSUES, "ana") == "rows [{key A-1, owner.name Ana, pull.url u}]"
    assert value_at(json.dumps(ISSUES), "SELECT pull FROM rows") == [{"url": "u"}, None, None, None]


def test_an_object_is_the_cell_of_a_column_that_is_null_in_other_rows() -> None:
    assert value_at(json.dumps(ISSUES), "SELECT owner FROM rows") == [{"name": "Ana"}, None, {"name": "Ben"}, None]
    assert value_at(json.dumps(ISSUES), "SELECT labels FROM rows")[:3] == [[{"n": "x"}], None, []]


@pytest.mark.parametrize(
    ("value", "query", "shown"),
    [
        (ISSUES, "owner = Ana", "0 of 4 rows; owner has: objects (2), null (1), absent (1); see owner.name"),
        (ISSUES, "labels = x", "0 of 4 rows; labels has: arrays (2), null (1), absent (1); see the table of labels"),
        (ISSUES, "owner.name = Cy", "0 of 4 rows; owner.name has: Ana (1), Ben (1), absent (2)"),
        (
            METRICS, "value > 1000000",
            "0 of 2 rows; value has: arrays (2); see json_extract(value, '$[0]') or json_each(value)",
        ),
        (METRICS, "SELECT m FROM rows WHERE json_extract(value, '$[1]') > 10", "m a"),
        (METRICS, "SELECT m FROM rows, json_each(rows.value) AS item WHERE item.value > 40", "m a"),
        (PRICES, "price > 100, id", "id 3\n… price: 3 of 5 rows hold no number"),
        (PRICES, "SELECT avg(price) AS mean FROM rows", "mean 64.75\n… price: 3 of 5 rows hold no number"),
        (PRICES, "SELECT avg(CAST(price AS REAL)) AS m FROM rows", "m 64.75\n… price: 3 of 5 rows hold no number"),
        (PRICES, "SELECT sum(price * 2) AS s FROM rows", "s 259.0\n… price: 3 of 5 rows hold no number"),
        (PRICES, "price > 500", "0 of 5 rows; price has: 9.5 (1), 120 (1), \"\" (1), - (1), N/A (1)"),
        (PRICES, "price = 9.50, id", "id 1"),
        (PRICES, "SELECT price > 100 FROM rows WHERE id = 3", '{"price > 100":1}\n… price: 3 of 5 rows hold no number'),
    ],
)  # fmt: skip
def test_an_answer_says_what_is_left_out_and_what_to_ask(value: object, query: str, shown: str) -> None:
    assert ask(value, query) == shown


@pytest.mark.parametrize(
    ("cells", "condition", "rows"),
    [
        (["01234", "1234"], "c = 01234", [0]),
        (["01234", "1234"], "c = 1234", [1]),
        (["01234", "1234"], "c in (01234)", [0]),
        ([1234, 7], "c = 01234", []),
        ([1234, 7], "c = '01234'", []),
        ([1234, 7], "c in ('01234', 7)", [1]),
        (["1.10", "1.1"], "c = '1.1'", [1]),
        (["1.10", "1.1"], "c = 1.1", [0, 1]),
        (["1700000000.100001", "1700000000.100002", "x"], "c = 1700000000.100001", [0]),
        (["1700000000.1000001", "1700000000.1000002"], "c > 1700000000.1000001", [1]),
        ([1700000000.100001, 1700000000.100002], "c = 1700000000.100001", [0]),
        ([101, 99, 103, 104], "101<=c<=103", [0, 2]),
        ([101, 99, 103, 104], "not 101 <= c < 103", [1, 2, 3]),
        ([101, 99, 103, 104], "104 > c >= 101 and c != 101", [2]),
        (["2026-01-05", "2026-02-01"], "c >= '2026-02'", [1]),
        (["2026-01-05", "2026-02-01", "5"], "'2026-01' < c < '2026-02'", [0]),
        ([["z"], "abc", "b"], "c > 'aaa'", [1, 2]),
        ([5, 7], "c < 'x'", []),
        ([2**64, 2**64 + 1, "n/a"], f"c > {2**64}", [1]),
        ([-5, "-7", "n/a"], "c in (-7, -5)", [0, 1]),
    ],
)
def test_numbers_and_spellings_are_told_apart(cells: list[Any], condition: str, rows: list[int]) -> None:
    source = json.dumps([{"n": at, "c": cell} for at, cell in enumerate(cells)])
    assert found(source, f"SELECT n FROM rows WHERE {condition}") == rows


def test_a_name_that_no_row_has_is_refused_still() -> None:
    with pytest.raises(ProtocolError, match=r"E1004: expected a column of rows.*found 'pul'"):
        ask(ISSUES, "SELECT key FROM rows WHERE pul IS NULL")


def test_deep_queries_are_refused_before_they_are_read() -> None:
    for query in (f"n < {'(' * 3_000}1{')' * 3_000}", "(1 < " * 1_500, "max(" * 2_000, "CASE WHEN " * 900):
        with pytest.raises(ProtocolError, match="E1004: "):
            ask(PRICES, f"SELECT id FROM rows WHERE {query}")
