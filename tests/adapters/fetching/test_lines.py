"""Lines of a text are shown as they are: whoever edits a file copies them into the edit."""

from __future__ import annotations

import json

import pytest

from accp_adapters.fetching import FetchRequest, answer, read_request
from accp_adapters.messages import project_messages
from accp_adapters.tokens import count_o200k
from accp_core.errors import ProtocolError

LINES = [f'\t"key{n}": "value, {n}",  ' if n % 3 else f"  def f{n}(a: int) -> str:  # true" for n in range(1, 61)]
SOURCE = "\n".join(LINES)


def ask(query: str, limit: int = 1_000, **options: int) -> str:
    return answer({"k": SOURCE}, read_request({"query": query, **options}), limit=limit, counter=count_o200k)


@pytest.mark.parametrize(
    "query", ["SELECT text FROM lines WHERE n BETWEEN 40 AND 44", "SELECT text FROM lines WHERE n>=40 AND n<=44"]
)
def test_lines_alone_are_the_files_own(query: str) -> None:
    assert ask(query).split("\n") == LINES[39:44]


@pytest.mark.parametrize(
    "query", ["SELECT * FROM lines WHERE n BETWEEN 40 AND 44", "lines 40-44", "Lines 40 to 44", "n>=40 and n<=44"]
)
def test_lines_with_their_numbers_have_these_before_them(query: str) -> None:
    assert ask(query).split("\n") == [f"{n}: {LINES[n - 1]}" for n in range(40, 45)]


ROWS = {"items": [{"id": n, "tags": ["a", "b"]} for n in range(50)], "port": 8080}
DOCUMENTS = {
    "JSON": json.dumps(ROWS, indent=2),
    "JSON Lines": "".join(f'{{"id":  {n}, "port": 8080}}\n' for n in range(50)),
    "an array": json.dumps(ROWS["items"], indent="\t"),
}


@pytest.mark.parametrize("source", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("query", ["select text from lines where n between 20 and 22", "lines 20-22"])
def test_a_document_has_lines_too_where_they_are_asked_for(source: str, query: str) -> None:
    shown = answer({"k": source}, read_request({"query": query}), limit=1_000, counter=count_o200k).split("\n")
    numbered = "" if query.startswith("select") else "{}: "
    assert shown == [numbered.format(n) + source.split("\n")[n - 1] for n in (20, 21, 22)]


def test_lines_of_a_document_are_found_by_their_words_and_joined() -> None:
    source = DOCUMENTS["JSON"]
    query = "SELECT i.id, l.n FROM items i JOIN lines l ON l.text LIKE '%: ' || i.id || ',%' WHERE i.id = 7"
    assert answer({"k": source}, read_request({"query": query}), limit=1_000, counter=count_o200k) == "id 7\nn 53"


def test_the_lines_of_a_document_with_an_array_of_this_name_are_asked_for_by_numbers() -> None:
    source = json.dumps({"lines": [{"n": 1}, {"n": 2}]}, indent=2)
    query = read_request({"query": "SELECT n FROM lines WHERE n > 1"})
    assert answer({"k": source}, query, limit=1_000, counter=count_o200k) == "n 2"
    shown = answer({"k": source}, read_request({"query": "lines 2-2"}), limit=1_000, counter=count_o200k)
    assert shown == '2:   "lines": ['


@pytest.mark.parametrize("query", ["hit", "lines 1-3", "select n, text from lines", "text like '%hit%'"])
def test_nothing_within_a_numbered_line_ends_it(query: str) -> None:
    source = "a\u20282: x\nb\x85hit\nc\x0b4: y\n"
    shown = answer({"k": source}, read_request({"query": query}), limit=100, counter=count_o200k)
    assert shown.splitlines() == shown.split("\n")[: len(shown.splitlines())]
    assert "b\\u0085hit" in shown


def test_the_last_rows_are_shown_where_they_are_a_tenth_at_most() -> None:
    rows = json.dumps([{"id": n, "name": f"name {n}"} for n in range(60)])

    def shown(limit: int) -> str:
        return answer({"k": rows}, read_request({"query": "select * from rows"}), limit=limit, counter=count_o200k)

    whole = count_o200k(shown(10_000))
    assert shown(whole - whole // 25) == shown(10_000)
    assert "; next: offset=" in shown(whole // 2)


@pytest.mark.parametrize(("tool", "shown"), [("read_file", '60: \t\t"name": "n7",\n'), ("get_orders", "rows [")])
def test_words_over_a_file_that_was_shown_as_it_is_find_its_lines(tool: str, shown: str) -> None:
    source = json.dumps([{"id": n, "name": f"n{n}", "tags": ["a", "b"]} for n in range(900)], indent="\t")
    call = {"id": "c", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Edit it."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": source},
    ]
    projected = project_messages(messages)
    (key,) = projected.stored
    assert projected.answer({"ref": f"${key}", "query": "n7"}).startswith(shown)


# What an answer shows beside what was asked, so that no further call is needed.

LOG = "".join(f"line {at} {'FAIL' if at in (7, 30) else 'ok'}\n" for at in range(60))
ORDERS = json.dumps({"orders": [{"id": each, "items": [{"sku": "S0", "q": 1}]} for each in "abc"]})


def shown_of(source: str, query: str, limit: int = 400) -> str:
    return answer({"k": source}, FetchRequest(query=query), limit=limit, counter=count_o200k)


@pytest.mark.parametrize(
    "query",
    [
        "text LIKE '%fail%'",
        "SELECT * FROM lines WHERE text GLOB '*FAIL*'",
        "SELECT n, text FROM lines WHERE text LIKE '%fail%' ORDER BY n DESC",
        "n IN (8, 31)",
    ],
)
def test_lines_of_a_query_stand_alone(query: str) -> None:
    assert sorted(shown_of(LOG, query).split("\n")) == ["31: line 30 FAIL", "8: line 7 FAIL"]


def test_numbers_of_lines_are_those_of_the_text_in_pages() -> None:
    assert shown_of("a\nb\nc\n", "lines 2-9") == "2: b\n3: c"
    assert shown_of("a\nb\nc\n", "lines 4-9") == "0 of 3 lines"
    request = FetchRequest(query="lines 10-29", offset=5, limit=2)
    shown = answer({"k": LOG}, request, limit=400, counter=count_o200k)
    assert shown == "15: line 14 ok\n16: line 15 ok\n… rows 5-6 of 20; next: offset=7"


def test_a_row_says_where_its_child_rows_are() -> None:
    where = "… each row has more in orders.items (orders_id = orders.id)"
    assert shown_of(ORDERS, "id = b") == f"id b\n{where}"
    assert shown_of(ORDERS, "SELECT id FROM orders WHERE id = 'b'") == "id b"


def test_an_expression_that_may_never_end_is_refused_with_what_does_the_same() -> None:
    with pytest.raises(
        ProtocolError, match=r"E1004: expected LIKE '%a%', GLOB '\*a\[0-9\]\*', OR or words, found 'REGEXP'"
    ):
        shown_of(ORDERS, "SELECT id FROM orders WHERE id REGEXP '^a'")


def test_lines_in_no_row_are_named_for_the_table_that_lacks_them() -> None:
    head = "2026-11-29 08:00:00,239 {} [main] a.B - {}\n"
    trace = head.format("ERROR", "failed") + "java.lang.Error: no\n\tat a.B.c(B.java:3)\n\tat a.B.d(B.java:4)\n"
    log = trace + "".join(head.format("INFO ", f"request {n} took {n * 3} ms") for n in range(30))
    counts = {
        table: answer({"k": log}, FetchRequest(query=f"SELECT count(*) FROM {table}"), limit=300, counter=count_o200k)
        for table in ("records", "fields", "lines")
    }
    assert [table for table, shown in counts.items() if "in no row" in shown] == ["fields"]
    assert counts["records"].split()[-1] == "31"
