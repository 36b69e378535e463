"""Random queries over made tables: each answer is that of plain Python over the values, or the query is refused.

The cells are amounts, measures, shares, dates in three orders, moments with zones, codes, and cells that hold nothing,
written as programs write them; what they mean is known before they are written.
"""

from __future__ import annotations

import json
import operator
import random
import re
import statistics
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

import pytest

from accp_adapters.fetching import FetchRequest, answer, value_at
from accp_adapters.tokens import count_o200k
from accp_core.compression import ResultLimits, compress
from accp_core.errors import ProtocolError
from tests.adapters.fetching.sql.seeds import CASES

Test = Callable[[dict[str, Any]], bool | None]
ORDERS: Final = {"<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}
SIGNS: Final = {**ORDERS, "=": operator.eq, "!=": operator.ne}
WORDS: Final = ("late", "paid", "in progress", "it's", "10", "x%y")
GERMAN: Final = str.maketrans(",.", ".,")
DAY: Final = datetime(2024, 1, 1)


@dataclass(frozen=True)
class Column:
    """A way to write the cells of a column, and what a query may write beside it."""

    draw: Callable[[random.Random], Any]
    write: Callable[[Any], Any]
    literal: Callable[[Any], str] = repr
    """How a query writes a value; another way is the spelling of a cell."""
    kind: str = "number"


def whole(rng: random.Random) -> int:
    return rng.randrange(-50, 400_000)


def cents(rng: random.Random) -> float:
    return rng.randrange(0, 40_000_000) / 100


def a_day(rng: random.Random) -> datetime:
    return DAY + timedelta(days=rng.randrange(900))


def a_moment(rng: random.Random) -> datetime:
    zone = timezone(timedelta(minutes=30 * rng.randrange(-20, 20)))
    return (DAY + timedelta(seconds=rng.randrange(10**8))).replace(tzinfo=zone)


def dates(form: str) -> Column:
    return Column(a_day, lambda day: day.strftime(form), lambda day: f"'{day:%Y-%m-%d}'", "moment")


KINDS: Final = {
    "int": Column(whole, lambda n: n),
    "float": Column(cents, lambda n: n),
    "dollars": Column(cents, "${:,.2f}".format),
    "euros": Column(cents, lambda n: f"{n:,.2f} €".translate(GERMAN)),
    "percent": Column(lambda rng: rng.randrange(1_000) / 10, "{:.1f}%".format),
    "thousands": Column(whole, "{:,}".format),
    "kilos": Column(whole, "{:,} kg".format),
    "millis": Column(lambda rng: rng.randrange(5_000), "{}ms".format),
    "mixed": Column(lambda rng: rng.choice([1, 2, 40, "sold out", "7 to 9"]), lambda cell: cell, kind="text"),
    "status": Column(lambda rng: rng.choice(WORDS), lambda text: text, kind="text"),
    "zip": Column(lambda rng: f"{rng.randrange(100_000):05}", lambda text: text, kind="text"),
    "flag": Column(lambda rng: rng.random() < 0.5, lambda flag: flag, lambda flag: str(flag).lower(), "boolean"),
    "iso": dates("%Y-%m-%d"),
    "us": dates("%m/%d/%Y"),
    "german": dates("%d.%m.%Y"),
    "british": dates("%d/%m/%Y"),
    "named": dates("%d %b %Y"),
    "zoned": Column(a_moment, datetime.isoformat, lambda at: f"'{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}'", "moment"),
}
NOTHING: Final = (None, "-", "N/A", "")


class Made:
    """A made table, and random queries of it with what they mean."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.columns = dict(self.rng.sample(sorted(KINDS.items()), 5))
        if {"thousands", "kilos"} & set(self.columns):
            self.columns.pop("euros", None)  # a table has one writer
        self.empty = {name for name in self.columns if self.rng.random() < 0.4}
        self.rows = [self.row(at) for at in range(self.rng.randrange(12, 40))]
        for name in {"us", "british"} & set(self.columns):
            self.rows[0][name] = datetime(2025, 5, 26)  # decides which is the month
        if "zip" in self.columns:
            self.rows[0]["zip"] = "00700"
        cells = [
            {name: self.written(name, value) for name, value in row.items() if value is not ...} for row in self.rows
        ]
        self.source = json.dumps({"made": cells})

    def row(self, at: int) -> dict[str, Any]:
        return {
            "id": at,
            **{
                name: None if name in self.empty and self.rng.random() < 0.3 else column.draw(self.rng)
                for name, column in self.columns.items()
            },
        }

    def written(self, name: str, value: Any) -> Any:
        if name == "id":
            return value
        if value is None:
            # A word for nothing is a text of its own in a column of texts or JSON's booleans.
            return None if self.columns[name].kind in ("text", "boolean") else self.rng.choice(NOTHING)
        return self.columns[name].write(value)

    def comparison(self) -> tuple[str, Test]:
        name = self.rng.choice(list(self.columns))
        column, known = self.columns[name], [row[name] for row in self.rows if row[name] is not None]
        value = self.rng.choice(known) if known else column.draw(self.rng)
        other = column.draw(self.rng)
        kind = self.rng.randrange(6)
        if kind == 0:
            is_not = self.rng.random() < 0.5
            return f"{name} IS {'NOT ' * is_not}NULL", lambda row: (row[name] is None) != is_not
        if kind == 1 and column.kind in ("number", "moment"):
            low, high = sorted((value, other))
            return f"{name} BETWEEN {self.literal(name, low)} AND {self.literal(name, high)}", (
                lambda row: None if row[name] is None else low <= row[name] <= high
            )
        if kind == 2:
            return f"{name} IN ({self.literal(name, value)}, {self.literal(name, other)})", (
                lambda row: None if row[name] is None else row[name] in (value, other)
            )
        sign = self.rng.choice([*SIGNS] if column.kind in ("number", "moment") else ["=", "!="])

        def compared(row: dict[str, Any]) -> bool | None:
            return None if row[name] is None else SIGNS[sign](row[name], value)

        return f"{name} {sign} {self.literal(name, value)}", compared

    def literal(self, name: str, value: Any) -> str:
        column = self.columns[name]
        if name in ("status", "zip", "mixed"):
            return repr(value) if not isinstance(value, str) else "'" + value.replace("'", "''") + "'"
        written = column.write(value)
        return f"'{written}'" if isinstance(written, str) and self.rng.random() < 0.3 else column.literal(value)

    def condition(self, depth: int = 0) -> tuple[str, Test]:
        kind = self.rng.randrange(6 if depth < 3 else 1)
        if kind < 3:
            return self.comparison()
        text, test = self.condition(depth + 1)
        if kind == 3:
            word = self.rng.choice(["NOT ", "!"])
            return f"{word}({text})", lambda row: None if (met := test(row)) is None else not met
        joint = self.rng.choice(["AND", "&&"] if kind == 4 else ["OR", "||"])
        other_text, other = self.condition(depth + 1)
        decides = kind == 5

        def both(row: dict[str, Any]) -> bool | None:
            found = (test(row), other(row))
            return decides if decides in found else None if None in found else not decides

        return f"(({text}) {joint} ({other_text}))", both


def found(source: str, query: str) -> Any:
    """Return the cells of a query with one column as a list; the code of a refusal."""
    try:
        cells = value_at(source, query)
    except ProtocolError as refusal:
        return refusal.code
    return cells if isinstance(cells, list) else [cells]


TABLES: Final = pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(10, 300))]
)


@TABLES
def test_random_conditions_find_what_python_finds(seed: int) -> None:
    made, refused = Made(seed), 0
    for _ in range(32):
        condition, test = made.condition()
        expected = [row["id"] for row in made.rows if test(row)]
        ids = found(made.source, f"SELECT id FROM made WHERE {condition} ORDER BY id")
        # `||` joins texts: beside conditions it is refused.
        refused += ids == "E1004" and "||" not in condition
        assert ids in (expected, "E1004"), (condition, made.source)
        counted = found(made.source, f"SELECT count(CASE WHEN {condition} THEN 1 END) FROM made")
        assert counted in ([len(expected)], "E1004") and (counted == "E1004") == (ids == "E1004"), condition
    assert {"mixed", "zip"} & set(made.columns) or refused == 0


def is_near(one: Any, other: Any) -> bool:
    return one == other or (one is not None and other is not None and abs(one - other) < 1e-6 * max(1, abs(other)))


@TABLES
def test_aggregates_orders_groups_and_joins_are_those_of_python(seed: int) -> None:
    made = Made(1_000 + seed)
    for name, column in made.columns.items():
        known = [row[name] for row in made.rows if row[name] is not None]
        ids = [row["id"] for row in made.rows if row[name] is not None]
        assert found(made.source, f"SELECT count({name}) FROM made") == [len(known)], (name, made.source)
        assert found(made.source, f"SELECT count(DISTINCT {name}) FROM made") == [len(set(known))], (name, made.source)
        groups = found(made.source, f"SELECT count(*) FROM made GROUP BY {name}")
        assert sorted(groups) == sorted(Counter(row[name] for row in made.rows).values()), (name, made.source)
        pairs = sum(one == other for one in known for other in known)
        joined = f"SELECT count(*) FROM made a JOIN made b ON a.{name} = b.{name}"
        assert found(made.source, joined) == [pairs], (name, made.source)
        if column.kind in ("number", "moment"):
            for word in ("", " DESC"):
                ordered = found(made.source, f"SELECT id FROM made WHERE {name} IS NOT NULL ORDER BY {name}{word}, id")
                by_id = {row["id"]: row[name] for row in made.rows}
                assert ordered == sorted(ids, key=by_id.__getitem__, reverse=bool(word)) or word, (name, made.source)
                assert [by_id[at] for at in ordered] == sorted(known, reverse=bool(word)), (name, made.source)
        if column.kind == "number" and known:
            total, mean = (value_at(made.source, f"SELECT {each}({name}) FROM made") for each in ("sum", "avg"))
            assert is_near(total, sum(known)) and is_near(mean, statistics.fmean(known)), (name, made.source)
            for each, value in (("max", max(known)), ("min", min(known))):
                query = f"SELECT id FROM made WHERE {name} = (SELECT {each}({name}) FROM made) ORDER BY id"
                expected = [row["id"] for row in made.rows if row[name] == value]
                assert found(made.source, query) == expected, (name, made.source)
        if name in ("status", "zip", "mixed"):
            assert found(made.source, f"SELECT sum({name}) FROM made") == "E1004"
            assert found(made.source, f"SELECT id FROM made WHERE {name} > 5") == "E1004"


@TABLES
def test_operators_bind_as_in_sql(seed: int) -> None:
    made = Made(2_000 + seed)
    for _ in range(5):
        groups = [[made.comparison() for _ in range(made.rng.randrange(1, 4))] for _ in range(made.rng.randrange(1, 4))]
        joints = made.rng.choice([(" AND ", " OR "), (" && ", " || "), (" and ", " || ")])
        condition = joints[1].join(joints[0].join(text for text, _ in group) for group in groups)
        # In a WHERE, what is unknown counts as false.
        expected = [row["id"] for row in made.rows if any(all(test(row) for _, test in group) for group in groups)]
        ids = found(made.source, f"SELECT id FROM made WHERE {condition} ORDER BY id")
        assert ids in (expected, "E1004"), (condition, made.source)


@pytest.mark.parametrize("seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 100))])
def test_a_preview_counts_what_a_query_counts(seed: int) -> None:
    rng = random.Random(seed)
    kind = rng.choice(["dollars", "euros", "thousands", "percent", "kilos", "us", "german", "named", "iso"])
    column = KINDS[kind]
    values = [datetime(2024, 5, 26), *(column.draw(rng) for _ in range(59))] if column.kind == "moment" else []
    values = values or [column.draw(rng) for _ in range(60)]
    source = json.dumps([{"id": at, "total": column.write(value)} for at, value in enumerate(values)])
    limit = sorted(values)[30]
    asked = f"after {limit:%Y-%m-%d}" if column.kind == "moment" else f"with a total over {limit}"
    limits = ResultLimits(inline=100, preview=150)
    shown = compress(source, limits=limits, counter=count_o200k, request=f"Which ones are {asked}?").text
    counted = re.search(r"total(?:>| over )[^:\n]*: (\d+) rows?", shown)
    assert counted, shown
    (number,) = found(source, f"SELECT count(*) FROM rows WHERE total > {column.literal(limit)}")
    assert int(counted[1]) == number == sum(value > limit for value in values)


@pytest.mark.parametrize(("query", "shown"), CASES["amounts"])
def test_amounts_and_dates_are_what_they_are(query: str, shown: str) -> None:
    values = [12_400, 9_800, 399_316, 98_249, 1_050, 7]
    days = [datetime(2024, 12, 22) + timedelta(days=n if n < 55 else n + 320) for n in range(60)]
    rows = [
        {"id": n, "name": f"a{n}", "total": f"${values[n % 6] + n // 6 * (n != 5):,.2f}", "due": f"{day:%m/%d/%Y}"}
        for n, day in enumerate(days)
    ]
    assert answer({"k": json.dumps(rows)}, FetchRequest(query=query), limit=400, counter=count_o200k) == shown


@pytest.mark.parametrize(("query", "message"), CASES["refused"])
def test_what_could_only_be_answered_wrongly_is_refused_with_the_way_out(query: str, message: str) -> None:
    of: dict[str, Any] = {"zip": "00700", "n": 7, "name": "b"}
    rows: list[dict[str, Any]] = [
        {"id": 1, "zip": "00700", "due": "05/26/2026", "total": "$7.00", "weight": "5 kg", "name": "a", "flag": True},
        {"id": 2, "zip": "12345", "due": "01/02/2026", "total": "N/A", "weight": "7 kg", "name": "b", "flag": False},
    ]
    rows[1]["of"] = of
    with pytest.raises(ProtocolError, match=f"E1004: {message}"):
        answer({"k": json.dumps(rows)}, FetchRequest(query=query), limit=400, counter=count_o200k)
