"""Queries that would write, read elsewhere, never end or ask for all memory: each is refused with its code."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from functools import partial, reduce
from itertools import count

import pytest

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.fetching.request import open_bounded
from accp_adapters.fetching.sql.query import resolve_select
from accp_adapters.fetching.sql.run import open_connection, run_query
from accp_adapters.fetching.sql.tables import Catalog, DatabaseCache
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from accp_core.tables.table import work_of
from tests.adapters.fetching.sql.seeds import CASES
from tests.work import count_calls

ROWS = json.dumps([{"id": n, "text": "a" * 200, "n": n * 1.5} for n in range(500)])
DATABASE = DatabaseCache().get(ROWS)


def code_of(query: str) -> str:
    with pytest.raises(ProtocolError) as refusal:
        answer({"k": ROWS}, FetchRequest(query=query), limit=300, counter=count_o200k)
    return refusal.value.code


@pytest.mark.parametrize(
    "query",
    [
        *CASES["writes"],
        f"SELECT {'(' * 300}1{')' * 300}",
        f"SELECT {'+'.join(['1'] * 2000)}",
        " UNION ALL ".join(["SELECT id FROM rows"] * 100),
        f"SELECT * FROM {', '.join(['rows'] * 70)}",
    ],
)
def test_what_does_more_than_read_is_not_understood(query: str) -> None:
    assert code_of(query) == "E1004"


@pytest.mark.parametrize("query", [*CASES["asks_for_memory"], f"SELECT {'1 + ' * 4000} 1"])
def test_what_asks_for_much_memory_is_over_a_limit(query: str) -> None:
    assert code_of(query) == "E2003"


@pytest.mark.parametrize("query", CASES["does_not_end"])
def test_what_does_not_end_is_stopped(query: str) -> None:
    resolved = resolve_select(query, Catalog([DATABASE], ["k"]))
    with pytest.raises(
        ProtocolError, match=r"E2003: expected a query of at most [\d,]+ (steps|bytes of memory), it was stopped"
    ):
        run_query(resolved, [DATABASE], max_rows=10, steps=1_000_000)


@pytest.mark.parametrize("name", ["LIKE", "GLOB"])
def test_the_work_of_patterns_is_counted(name: str) -> None:
    star = {"LIKE": "%", "GLOB": "*"}[name]
    condition = f"text {name} '{(star + 'a') * 45}b'"
    shown = answer({"k": ROWS}, FetchRequest(query=condition), limit=300, counter=count_o200k)
    assert shown.startswith("0 of 500 rows")
    long = json.dumps([{"id": 1, "text": "a" * 2_000_000}])
    with pytest.raises(ProtocolError, match="E2003: expected a query of at most 0 steps, it was stopped"):
        answer({"k": long}, FetchRequest(query=" or ".join([condition] * 90)), limit=300, counter=count_o200k)
    with pytest.raises(ProtocolError, match="E2003: expected a pattern of at most 100 bytes"):
        answer({"k": ROWS}, FetchRequest(query=f"text {name} '{'a' * 101}'"), limit=300, counter=count_o200k)


@pytest.mark.parametrize("statement", CASES["statements"])
def test_the_connection_itself_only_reads(statement: str) -> None:
    with open_connection([DATABASE]) as connection, pytest.raises(Exception, match=r"not authorized|prohibited"):
        connection.execute(statement)


def test_the_same_query_is_refused_or_answered_in_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    own = threading.get_ident()

    def no_clock(real: Callable[[], float]) -> float:
        assert threading.get_ident() != own, "a query looks at no clock"
        return real()

    # Servers of other tests run in threads of this process. Processor time ends only what takes far too much of it.
    monkeypatch.setattr(time, "thread_time", lambda: 0.0)
    for clock in ("monotonic", "perf_counter", "time", "process_time"):
        monkeypatch.setattr(time, clock, partial(no_clock, getattr(time, clock)))
    assert code_of("SELECT count(*) FROM rows a, rows b, rows c") == "E2003"
    shown = answer({"k": ROWS}, FetchRequest(query="aaa 7.5"), limit=300, counter=count_o200k)
    assert shown.startswith("rows [25]")


def test_comparisons_of_long_cells_end_by_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "thread_time", count(step=1.0).__next__)
    cells = json.dumps([{"t": "a" * 4_000 + end, "n": end} for end in "bcdefghijklmnopqrstuvwxyz"])
    query = "SELECT count(*) FROM rows a, rows b, rows c, rows d WHERE a.t IN (b.t, c.t, d.t)"
    with pytest.raises(ProtocolError, match="E2003: expected a query of at most"):
        answer({"k": cells}, FetchRequest(query=query), limit=300, counter=count_o200k)


@pytest.mark.parametrize("old", ["t", "'a'"])
def test_a_function_makes_no_value_that_is_too_long(old: str) -> None:
    cells = json.dumps([{"t": "a" * 30_000}])
    query = f"SELECT length(replace(replace(t, 'a', t), {old}, t)) FROM rows"
    with pytest.raises(ProtocolError, match="E2003: expected texts of at most 4,000,000 characters in a function"):
        answer({"k": cells}, FetchRequest(query=query), limit=300, counter=count_o200k)


DAYS = [f"{n // 60 % 24:02}:{n % 60:02}" for n in range(2_000)]
WRITTEN = {
    "deep rows": json.dumps([reduce(lambda inner, _: {"a": inner}, range(21), n) for n in range(2_000)]),
    "units": json.dumps([{"k": f"{n}.{n % 10} kB"} for n in range(2_000)]),
    "a list": json.dumps([f"{n}.5 kB" for n in range(2_000)]),
    "a map": json.dumps({f"k{n}": f"{n} ms" for n in range(2_000)}),
    "days": json.dumps([{"d": f"{n % 28 + 1}/12/{1000 + n} {day}"} for n, day in enumerate(DAYS)]),
    "durations": json.dumps([{"d": f"{n}h {n % 60}m {n % 59}s"} for n in range(2_000)]),
    "cut": json.dumps([{"id": n, "at": f"2026-01-02T{day}"} for n, day in enumerate(DAYS)])[:-9],
    "log": "".join(f"2026-03-01 {day}:09 INFO srv[{n}] read /a/{n} in {n % 300} ms\n" for n, day in enumerate(DAYS)),
    "ls": "".join(f"-rw-r--r-- 1 root root {n * 37:>8} Mar  1 {day} {n}.py\n" for n, day in enumerate(DAYS)),
    "tables": "\n\n".join(f"| a{n} | b{n} |\n|---|---|\n| {n} | 2 |" for n in range(2_000)),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_work_of_a_text_is_what_its_tables_cost(name: str) -> None:
    text = WRITTEN[name]
    select = partial(answer, {"k": text}, FetchRequest(query="SELECT * FROM rows"), limit=1_000)
    select(counter=len)
    assert count_calls(lambda: DatabaseCache().get(text)) < 3.5 * work_of(text)
    assert count_calls(lambda: select(counter=lambda shown: len(shown) // 4)) < 1.5 * work_of(text)


def test_of_many_tables_the_first_and_the_lines_are_built() -> None:
    ask = partial(answer, {"k": WRITTEN["tables"]}, limit=300, counter=count_o200k)
    assert "7999" in ask(FetchRequest(query="SELECT max(n) FROM lines"))
    with pytest.raises(ProtocolError, match=r"E1004: expected a table .*, of the first 300, found 'rows_900'"):
        ask(FetchRequest(query="SELECT * FROM rows_900"))


@pytest.mark.parametrize("text", ["... " * 3_000_000, "… 12 more lines\n" * 800_000])
def test_a_text_that_is_too_long_is_not_looked_through_for_marks_of_cuts(text: str) -> None:
    assert open_bounded(text).cut
    assert count_calls(partial(open_bounded, text)) < len(text) / 10


@pytest.mark.slow
def test_one_long_cell_does_not_stop_a_search_through_many_lines() -> None:
    text = "".join(f"line {n}\n" for n in range(26_000)) + "a" * 1_000_000
    shown = answer({"k": text}, FetchRequest(query="text LIKE '%line 25%99%'"), limit=300, counter=count_o200k)
    assert "line 25999" in shown
