"""What a model reads of a context, and what its answer means."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from accp_adapters.tokens import o200k_base
from accp_core.aci import AgentContext, ItemAnswer, TodoItem, brief, read_answers, todo, with_answers
from accp_core.aci.answer import HOW_TO_ANSWER, HOW_TO_ANSWER_ONE
from accp_core.errors import ProtocolError
from tests.core.aci.plans import subtask

TWO = subtask("s1", items=2)
ONE = subtask("s1")
done, undone = (lambda text: ItemAnswer(True, text)), (lambda text: ItemAnswer(False, text))

HOTEL = AgentContext(
    agent_id="agent-hotel-01",
    agent_name="HotelBooking",
    subtask_id="T1.2",
    subtask_name="Book hotel in Lisbon 12-15 Dec",
    dependencies=("T1.1",),
    context_uri=("$cold.c9523506b4bd",),
    todo_items=todo("Search hotels near Baixa under 160 EUR/night", "Filter for free cancellation", "Hold best option"),
)


def test_a_model_reads_steps_context_and_references_and_no_ids_of_agents() -> None:
    context = replace(HOTEL, context=({"Book flight": "arrives 11:40"},))
    assert brief(context, counter=o200k_base()).splitlines() == [
        "task Book hotel in Lisbon 12-15 Dec",
        "do {",
        "1 Search hotels near Baixa under 160 EUR/night",
        "2 Filter for free cancellation",
        "3 Hold best option",
        "}",
        '"Book flight" arrives 11:40',
        "refs [$cold.c9523506b4bd]",
        HOW_TO_ANSWER,
    ]


def test_it_takes_less_than_half_of_the_compact_json_and_how_to_answer_twenty_tokens() -> None:
    counter = o200k_base()
    compact = counter(json.dumps(HOTEL.to_json(), separators=(",", ":")))
    text = brief(HOTEL, counter=counter)
    assert (counter(text), counter(text.removesuffix(HOW_TO_ANSWER)), compact) == (68, 48, 112)


def test_one_item_is_said_in_one_line() -> None:
    context = replace(ONE, subtask_name="Find churn", todo_items=(TodoItem("1", "Find churn"),))
    assert brief(context, counter=len) == f"do Find churn\n{HOW_TO_ANSWER_ONE}"
    nameless = replace(ONE, subtask_name="Find churn", todo_items=(TodoItem("1", ""),))
    assert brief(nameless, counter=len) == brief(context, counter=len)


def test_other_peoples_references_and_several_contexts_stand_as_they_are() -> None:
    context = replace(ONE, context=("a b", ["c"]), context_uri=("https://example.com/x",))
    assert "context [2]:\na b\n[c]\nrefs [https://example.com/x]\n" in brief(context, counter=len)


def test_maps_of_context_are_pairs_of_the_brief() -> None:
    context = replace(ONE, context=({"Search": ["six", "two"]}, "pays yearly", {"feedback": "count again"}))
    assert brief(context, counter=len).splitlines()[:-1] == [
        "task Part s1",
        "do Step 1 of s1",
        "Search [six, two]",
        "feedback count again",
        "context pays yearly",
    ]


@pytest.mark.parametrize("clash", [{"do": "x"}, {"refs": "x"}, {"Search": "x"}])
def test_maps_of_context_that_would_share_a_key_stand_apart(clash: dict[str, str]) -> None:
    text = brief(replace(ONE, context=({"Search": "six"}, clash)), counter=len)
    assert "context [2]" in text
    assert "six" in text
    assert text.count("\ndo Step 1 of s1\n") == 1


def test_a_reference_that_a_result_names_is_not_said_twice() -> None:
    context = replace(ONE, context=({"Search": "rows in $cold.a"},), context_uri=("$cold.a", "$cold.b"))
    assert brief(context, counter=len).splitlines()[2:-1] == ["Search rows in $cold.a", "refs [$cold.b]"]


ANSWERS: dict[str, tuple[AgentContext, str, dict[str, ItemAnswer]]] = {
    "a line per item": (TWO, "1: six\n2: two", {"1": done("six"), "2": done("two")}),
    "words around it": (TWO, "Here:\n1: six\n\n2: two\n", {"1": done("six"), "2": done("two")}),
    "Markdown": (TWO, "- **1:** six\n- **2**: two", {"1": done("six"), "2": done("two")}),
    "code marks": (TWO, "`1`: six", {"1": done("six")}),
    "numbered": (TWO, "1. six\n2) two", {"1": done("six"), "2": done("two")}),
    "several lines": (TWO, "1: six\nof forty\n2: two", {"1": done("six\nof forty"), "2": done("two")}),
    "a list in a result": (TWO, "1: six\n2: top\n1. Ana\n2. Bo", {"1": done("six"), "2": done("top\n1. Ana\n2. Bo")}),
    "an item again": (TWO, "1: six\n1: seven", {"1": done("six\n1: seven")}),
    "not done": (TWO, "1: six\n2: Not done: no access", {"1": done("six"), "2": undone("no access")}),
    "not done, no reason": (TWO, "2: not done", {"2": undone("")}),
    "not named": (TWO, "All is well.", {}),
    "an item nobody asked for": (TWO, "3: more", {}),
    "one item": (ONE, " six of\nforty ", {"1": done("six of\nforty")}),
    "one item, named": (ONE, "1: six", {"1": done("six")}),
    "one item, not done": (ONE, "not done: no access", {"1": undone("no access")}),
    "nothing": (ONE, " \n", {}),
    "no items": (subtask("s1", items=0), "1: six", {}),
    "ids with signs": (
        replace(TWO, todo_items=(TodoItem("a+b", ""), TodoItem("a", ""))),
        "a: six\na+b: two",
        {"a": done("six"), "a+b": done("two")},
    ),
    "an id that begins another": (subtask("s1", items=12), "12: x\n1: y", {"12": done("x"), "1": done("y")}),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_read(name: str) -> None:
    context, text, found = ANSWERS[name]
    assert read_answers(context, text) == found


def test_an_answer_becomes_the_context_that_is_returned() -> None:
    returned = with_answers(TWO, {"2": undone("no access"), "1": done("six"), "9": done("x")})
    assert returned.states == {"1": 1, "2": 0}
    assert returned.abstracts == {"1": "six", "2": "no access"}
    assert with_answers(TWO, {"1": undone("")}).abstracts == {}


def test_a_long_answer_is_no_abstract() -> None:
    with pytest.raises(ProtocolError, match="E2003"):
        with_answers(ONE, read_answers(ONE, "x" * 2_001))


def test_reading_takes_time_in_proportion() -> None:
    hostile: Any = "1" * 20_000 + "\n" + "- " * 20_000 + "*" * 20_000
    assert read_answers(TWO, hostile) == {}
