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
SOURCES = {
    "at a limit": WHOLE[:79_610],
    "behind a value": WHOLE[: WHOLE.index(', {"id": 1500')],
    "the middle": f"{WHOLE[:40_000]}\n\n... [90000 characters omitted] ...\n\n{WHOLE[-10_000:]}",
    "behind a heading": f"The orders:\n{WHOLE[:79_610]}",
    "lines of records": "\n".join(json.dumps(row) for row in json.loads(WHOLE))[:79_610],
    "a text with the middle left out": "one line\n" * 4_000 + "[… 4000 lines truncated …]\n" + "one line\n" * 900,
}
CUT = "[the source was cut off; of what came before that:]\n"


def ask(source: str, query: str = "", limit: int = 500) -> str:
    return answer({"k": source}, FetchRequest(query=query), limit=limit, counter=count_o200k)


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_preview_and_a_count_say_that_the_source_is_cut(source: str) -> None:
    call = AIMessage("", tool_calls=[{"name": "orders", "args": {}, "id": "c1"}])
    projected = project_messages(
        [HumanMessage("How many?"), call, ToolMessage(source, tool_call_id="c1")], policy=Policy()
    )
    first, *shown = str(projected.messages[-1].content).splitlines()
    assert "; the source was cut off, all that it returned: accp_fetch $cold." in first
    assert "whole" not in first
    assert not [line for line in shown if line == "[…1 line]"]
    reference = re.search(r"\$cold\.\w+", first)
    assert reference
    fetch = {"name": "accp_fetch", "args": {"ref": reference[0], "query": "select count(*) from lines"}, "id": "f"}
    if "one line" in source:
        assert str(projected.open({**fetch, "type": "tool_call"}).content).startswith(CUT)


@pytest.mark.parametrize("name", ["at a limit", "behind a value", "the middle", "behind a heading", "lines of records"])
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
    assert found.startswith(CUT)
    assert found.count(CUT) == 1
    assert count_o200k(found) <= 500


def test_a_page_of_its_rows_says_it_and_a_value_is_shown_as_it_is() -> None:
    source = WHOLE[: WHOLE.index(', {"id": 1500')]
    assert ask(source).startswith(CUT)
    assert ask(source, "3.name") == "n3"
    assert ask(source, "nowhere else") == f"{CUT}0 of 1,500 rows; tables: rows(id, name, status)"


def test_what_is_behind_the_mark_is_found_by_words() -> None:
    assert '"id": 2999' in ask(SOURCES["the middle"], '"id": 2999')


def test_nothing_is_said_of_a_whole_source_and_no_source_says_it_for_us() -> None:
    assert "cut off" not in ask(WHOLE, "select count(*) from rows")
    assert "cut off" not in ask(
        "They left out 4 lines\nomitted, 12 lines omitted later.\n", "select count(*) from lines"
    )
    assert ask(f"{CUT}next\n") == f"[source text: {CUT[1:]}next\n"
