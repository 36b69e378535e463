"""The databases of texts: what is built, what is kept, and what is too large."""

from __future__ import annotations

import contextlib
import json
import tracemalloc

import pytest

from accp_adapters.fetching import FetchRequest, answer, request, value_at
from accp_adapters.fetching.sql import tables
from accp_adapters.fetching.sql.tables import DatabaseCache
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError
from accp_core.tables import table


def test_a_database_is_built_once() -> None:
    cache = DatabaseCache()
    assert cache.get("[1]") is cache.get("[1]")
    assert cache.get("[1]") is not cache.get("[2]")


def test_the_oldest_databases_are_dropped_over_the_budget() -> None:
    size = DatabaseCache().get("[0]").size
    cache = DatabaseCache(max_bytes=2 * size)
    first, second = cache.get("[0]"), cache.get("[1]")
    assert cache.get("[0]") is first
    cache.get("[2]")
    assert cache.get("[0]") is first
    assert cache.get("[1]") is not second


def test_a_database_larger_than_the_budget_is_used_and_not_kept() -> None:
    cache = DatabaseCache(max_bytes=1)
    assert cache.get("[0]") is not cache.get("[0]")


def test_the_main_table_is_the_longest_array() -> None:
    text = json.dumps({"total": 1, "errors": [], "items": [{"id": 1}, {"id": 2}], "more": [{"x": 1}]})
    main = DatabaseCache().get(text).main
    assert main is not None
    assert main.source.name == "items"
    only = DatabaseCache().get('{"a": 1}').main
    assert only is not None
    assert only.source.name == "root"


def ask(text: str, query: str) -> str:
    return answer({"k": text}, FetchRequest(query=query), limit=500, counter=count_o200k)


def test_a_table_of_too_many_columns_is_refused_with_the_way_out() -> None:
    rows = {"few": [{"a": 1}], "wide": [{f"c{n}": n for n in range(2_001)}]}
    with pytest.raises(ProtocolError, match=r"E1004: expected a table of at most 2,000 columns .*'wide'; use a path"):
        ask(json.dumps(rows), "SELECT c7 FROM wide")
    assert ask(json.dumps(rows), "SELECT a FROM few") == "a 1"
    assert ask(json.dumps(rows), "wide.0.c2000") == "2000"
    assert "c1999 1999" in ask(json.dumps(rows), "1999")


def test_a_source_may_have_any_name_that_sqlite_reserves() -> None:
    text = json.dumps({"sqlite_a": [{"rowid": 7, "b": [{"c": 1}]}, {"rowid": 5}], "SQLITE_A": [{"rowid": 1}]})
    assert ask(text, "SELECT c FROM sqlite_a.b") == "c 1"
    assert [ask(text, f"SELECT min(rowid) m FROM {name}") for name in ("sqlite_a", "SQLITE_A")] == ["m 5", "m 1"]


def test_columns_of_spellings_are_no_columns_too_many() -> None:
    text = json.dumps([{f"c{n}": f"${n}" for n in range(1_500)}])
    assert ask(text, 'SELECT "c7.text" FROM rows') == 'c7.text "$7"'
    with pytest.raises(ProtocolError, match="E1004: expected a column"):
        ask(text, 'SELECT "c1499.text" FROM rows')


def test_tables_of_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MAX_CELLS", 10)
    with pytest.raises(ProtocolError, match=r"E1004: expected a table of .* cells"):
        ask(json.dumps([{"a": 1, "b": 2}] * 6), "SELECT a FROM rows")


@pytest.mark.parametrize("separator", [",", ";", "|", "\t", "  ", "    "])
def test_cells_count_as_well_as_characters(separator: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_CHARS", 4_000)
    text = "\n".join(separator.join(["id", "name", "x"] if n == 0 else [f"{n}", f"n{n}", "y"]) for n in range(60))
    assert ask(text, "n7").startswith("… words in lines")
    assert ask(json.dumps([{"id": n} for n in range(60)], indent=1), "SELECT count(*) FROM rows") == "count(*) 60"
    assert ask(json.dumps({f"k{n}": {"id": n} for n in range(150)}), "k7").startswith("… words in lines")


@pytest.mark.parametrize("row", ["<tr><td>1<td>2", "<a><b>1</b></a>"])
def test_tags_count_as_well_as_characters(row: str) -> None:
    text = f"<table>{row * 45_000}</table>"
    with pytest.raises(ProtocolError, match="E2003: expected a text of at most"):
        ask(text, "c0 = 1")
    assert ask(json.dumps([{"type": "text", "text": text}]), "SELECT count(*) AS n FROM rows") == "n 1"


def test_a_text_that_is_too_long_has_pages_and_words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (request, table):
        monkeypatch.setattr(module, "MAX_CHARS", 100)
    text = json.dumps([{"id": n} for n in range(100)])
    paths = ["rows[3].id", "items.0.id", "#/57/id", "57.id", "$.57.id", "/57/id", "a.id nowhere"]
    asked = ["SELECT id FROM rows", "id = 57", "id > 3 && id < 5", "count(rows)", *paths]
    escaped = (ask, json.dumps(["Müller"] * 20), "Müller")
    for read, of, query in [*((read, text, each) for each in asked for read in (ask, value_at)), escaped]:
        with pytest.raises(ProtocolError, match="E2003: expected a text of at most 100 characters, lines and"):
            read(of, query)
    said = "… words in lines; no tables of a text of 1,190 characters:\n"
    assert ask(text, '"id": 57').startswith(f"{said}1: …")
    assert ask(text, "nowhere") == f"{said}0 of 1 lines"
    assert ask(text, "").startswith("[100] id")
    lines = "".join(f"line {n}\n" for n in range(1, 901))
    assert ask(lines, "lines 41-42") == "41: line 41\n42: line 42"
    assert "898- line 898\n899: line 899\n900- line 900" in ask(lines, "LINE 899")
    assert "0 of 900 lines have all 2 words (line 900, ss 0)" in ask(lines, "line ß")


@pytest.mark.slow
@pytest.mark.parametrize("line", ["\n", "x", "ß€ 1\n", "2026-01-02T10:11:12Z INFO web-1 request\n", "a,12.5\n"])
@pytest.mark.parametrize("query", ["", "nowhere else", "lines 4000-4010"])
def test_an_answer_about_a_text_of_any_length_takes_bounded_memory(line: str, query: str) -> None:
    text = line * (32_000_000 // len(line))
    tracemalloc.start()
    with contextlib.suppress(ProtocolError):  # a text of one line has no line 4000
        ask(text, query)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000


@pytest.mark.parametrize("text", ["{}", '{"a": {}}', "[]", "", "null"])
def test_a_text_with_hardly_anything_in_it_is_answered_or_refused(text: str) -> None:
    for query in ("SELECT count(*) AS n", "SELECT * FROM rows", "a = 1", "words", "a.b"):
        try:
            assert ask(text, query)
        except ProtocolError as refusal:
            assert refusal.code == "E1004"
    ask(text, "")
