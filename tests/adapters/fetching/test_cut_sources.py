"""A source that a tool cut off: its preview says so, and no answer passes for one about the whole."""

from __future__ import annotations

import json
import re

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from accp_adapters.fetching import FetchRequest, answer
from accp_adapters.messages import project_messages
from accp_adapters.policy import Policy
from accp_adapters.tokens import count_o200k

WHOLE = json.dumps([{"id": n, "name": f"n{n}", "status": "late" if n % 50 == 0 else "paid"} for n in range(3_000)])
TABLE = "\n".join(",".join(map(str, row.values())) for row in json.loads(WHOLE))
SOURCES = {
    "at a limit": WHOLE[:79_610],
    "behind a value": WHOLE[: WHOLE.index(', {"id": 1500')],
    "the middle": f"{WHOLE[:40_000]}\n\n... [90000 characters omitted] ...\n\n{WHOLE[-10_000:]}",
    "behind a heading": f"The orders:\n{WHOLE[:79_610]}",
    "the middle, inline": f"{WHOLE[:40_000]}…(truncated)…{WHOLE[-10_000:]}",
    "lines of records": "\n".join(json.dumps(row) for row in json.loads(WHOLE))[:79_610],
    "lines of a table": f"id,name,status\n{TABLE[:40_000]}\n... [9000 characters omitted] ...\n{TABLE[-10_000:]}",
    "a text in a map": json.dumps({"id": 1, "body": "one line\n" * 4_000 + "… 312 lines omitted …\none line", "n": 2}),
    "a text with the middle left out": "one line\n" * 4_000 + "[… 4000 lines truncated …]\n" + "one line\n" * 900,
}
CUT = "[the source was cut off; of what was returned:]\n"
TOLD = re.compile(r'the source (?:was cut off|says "(?:9000 characters|312 lines|4000 lines) (?:omitted|truncated)")')
FIRST = re.compile(rf"\[{TOLD.pattern}; of what was returned:\]\n")


def ask(source: str, query: str = "", limit: int = 500) -> str:
    return answer({"k": source}, FetchRequest(query=query), limit=limit, counter=count_o200k)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_preview_and_a_count_say_that_the_source_is_cut(source: str) -> None:
    call = AIMessage("", tool_calls=[{"name": "orders", "args": {}, "id": "c1"}])
    projected = project_messages(
        [HumanMessage("How many?"), call, ToolMessage(source, tool_call_id="c1")], policy=Policy()
    )
    first, *shown = str(projected.messages[-1].content).splitlines()
    assert re.search(rf"; {TOLD.pattern}, all that it returned: accp_fetch \$cold\.", first)
    assert "whole" not in first
    assert not [line for line in shown if line == "[…1 line]"]
    reference = re.search(r"\$cold\.\w+", first)
    assert reference
    query = "body" if source.startswith("{") else "select count(*) from lines"
    fetch = {"name": "accp_fetch", "args": {"ref": reference[0], "query": query}, "id": "f"}
    if "one line" in source:
        assert FIRST.match(str(projected.open({**fetch, "type": "tool_call"}).content))


@pytest.mark.parametrize("name", [name for name in SOURCES if "text" not in name])
@pytest.mark.parametrize(
    "query",
    [
        "select status, count(*) from rows group by status",
        "id = 2999",
        "status = late",
        "id, name",
        "n10",
        "n1 late",
        "0",
    ],
)
def test_each_answer_about_its_rows_says_that_there_may_be_more(name: str, query: str) -> None:
    found = ask(SOURCES[name], query)
    assert FIRST.match(found)
    assert len(FIRST.findall(found)) == 1
    assert count_o200k(found) <= 500


@pytest.mark.parametrize("name", SOURCES)
def test_a_page_says_it(name: str) -> None:
    first = ask(SOURCES[name], limit=400)
    assert FIRST.match(first)
    assert count_o200k(first) <= 400
    assert "; next: offset=" in first


def test_a_value_says_it_since_the_cut_may_be_in_it() -> None:
    source = WHOLE[: WHOLE.index(', {"id": 1500')]
    assert ask(source, "3.name") == f"{CUT}n3"
    assert ask(source, "nowhere else") == f"{CUT}0 of 1,500 rows; tables: rows(id, name, status)"


@pytest.mark.parametrize("name", ["the middle", "the middle, inline"])
def test_rows_behind_the_mark_are_said_to_be_in_no_table(name: str) -> None:
    found = ask(SOURCES[name], "id = 2999")
    assert found.startswith(f"{CUT}0 of ")
    assert re.search(r"; lines? [\d-]+ (is|are) in no table; search for words there", found)
    assert "n2999" in ask(SOURCES[name], "n2999")


def test_a_text_that_is_too_long_to_be_opened_says_it() -> None:
    line = "x" * 300 + "\n"
    source = line * 110_000 + f"[… 4000 lines truncated …]\n{line}"
    assert FIRST.match(ask(source))
    assert ask(source[: -len(line)]).startswith(CUT)


def test_nothing_is_said_of_a_whole_source_and_no_source_says_it_for_us() -> None:
    assert "cut off" not in ask(WHOLE, "select count(*) from rows")
    assert "cut off" not in ask(
        "They left out 4 lines\nomitted, 12 lines omitted later.\n", "select count(*) from lines"
    )
    assert ask(f"{CUT}next\n") == f"[source text: {CUT[1:]}next\n"
