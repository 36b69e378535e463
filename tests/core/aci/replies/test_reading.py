"""Which answer belongs to which item, in every layout that models use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from accp_core.aci import AgentContext, ItemAnswer, Outcome, TodoItem, read_answers, read_structured, with_answers
from accp_core.aci.replies import NO_ANSWER
from accp_core.errors import ProtocolError
from tests.core.aci.plans import subtask

TWO = subtask("s1", items=2)
ONE = subtask("s1")


def done(text: str) -> ItemAnswer:
    return ItemAnswer(Outcome.DONE, text)


def undone(text: str) -> ItemAnswer:
    return ItemAnswer(Outcome.FAILED, text)


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
    assert {item: each for item, each in read_answers(context, text).items() if each.problem != NO_ANSWER} == found


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
    assert {each.outcome for each in read_answers(TWO, hostile).values()} == {Outcome.UNVERIFIED}


class Dumped:
    """A structured response as pydantic gives it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def model_dump(self, *, mode: str) -> Any:
        assert mode == "json"
        return self.value


READ, FAILED, UNREAD = Outcome.DONE, Outcome.FAILED, Outcome.UNVERIFIED
VALUES: dict[str, tuple[AgentContext, Any, list[Outcome]]] = {
    "an object with model_dump": (TWO, Dumped({"1": "six", "2": "done: two"}), [READ, READ]),
    "a wrapped AgentContext": (
        TWO,
        {"AgentContext": {"KeyInformation": [{"itemId": "1", "outputabstract": "six"}], "ItemStateUpdates": "x"}},
        [UNREAD, UNREAD],
    ),
    "an item twice": (TWO, {"1": "six", "item 1": "seven", "2": "two"}, [UNREAD, READ]),
    "one of two in a record": (TWO, {"item": "2", "result": "two"}, [UNREAD, READ]),
    "a record of another item": (TWO, {"item": "7", "result": "two"}, [UNREAD, UNREAD]),
    "a record of the only item": (ONE, {"item": "1", "done": True, "result": "six"}, [READ]),
    "another's record": (ONE, {"item": "7", "result": "six"}, [UNREAD]),
    "items within two objects": (TWO, {"answer": {"items": ["six", "two"]}}, [READ, READ]),
    "too deep": (TWO, {"a": {"b": {"c": {"d": {"e": ["six", "two"]}}}}}, [UNREAD, UNREAD]),
    "a list for the only item": (ONE, ["Ana", "Bo"], [READ]),
    "a text": (ONE, "six", [READ]),
    "a number": (ONE, 40, [READ]),
    "a number for two items": (TWO, 40, [UNREAD, UNREAD]),
    "yes and no": (TWO, [True, False], [READ, FAILED]),
    "states": (TWO, [1, None], [UNREAD, UNREAD]),
    "an error": (TWO, [{"error": "no access"}, {"result": "two", "error": None}], [FAILED, READ]),
    "a status that is neither": (ONE, {"status": "so so", "result": "six"}, [UNREAD]),
    "a status and other fields": (ONE, {"status": "ok", "rows": 6, "where": "CRM"}, [READ]),
    "done without a result": (ONE, {"done": True}, [READ]),
    "fields without a status": (ONE, {"rows": 6, "source": "CRM"}, [READ]),
    "one field": (ONE, {"rows": [6, 7]}, [READ]),
    "no JSON": (ONE, {"rows": {6}}, [READ]),
    "nothing was asked": (subtask("s1", items=0), {"1": "six"}, []),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_structured_response_is_read(name: str) -> None:
    context, value, outcomes = VALUES[name]
    assert [each.outcome for each in read_structured(context, value).values()] == outcomes


LAYOUTS: dict[str, tuple[AgentContext, str, list[Outcome]]] = {
    "a table of other items": (TWO, "| item | result |\n|---|---|\n| 7 | six |\n| 1 | x |", [UNREAD, UNREAD]),
    "a table and words that leave a doubt": (
        TWO,
        "I made these up:\n| item | result |\n|---|---|\n| 1 | six |\n| 2 | two |",
        [UNREAD, UNREAD],
    ),
    "JSON and words that leave a doubt": (TWO, 'I could not.\n```json\n["six", "two"]\n```', [UNREAD, UNREAD]),
    "JSON that names nothing": (TWO, '{"x": 1, "y": 2}', [UNREAD, UNREAD]),
    "the only item after words that take it back": (ONE, "I could not open it.\n1: six", [FAILED]),
    "the only item after a doubt": (ONE, "Perhaps this:\n1: six", [UNREAD]),
    "an id that a description also is": (
        replace(TWO, todo_items=(TodoItem("a", "b"), TodoItem("b", "a"))),
        "a: six\nb: two",
        [READ, READ],
    ),
    "two items of one description": (
        replace(TWO, todo_items=(TodoItem("a", "Count"), TodoItem("b", "Count"))),
        "Count: six\nCount: two",
        [UNREAD, UNREAD],
    ),
    "bullets within bullets": (TWO, "- six\n  - Ana\n- two", [READ, READ]),
    "too many numbers": (
        replace(TWO, todo_items=(TodoItem("a", ""), TodoItem("b", ""))),
        "2. six\n3. two",
        [UNREAD] * 2,
    ),
    "numbers in order": (replace(TWO, todo_items=(TodoItem("a", ""), TodoItem("b", ""))), "1. six\n2. two", [READ] * 2),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_read_or_not_understood(name: str) -> None:
    context, text, outcomes = LAYOUTS[name]
    assert [each.outcome for each in read_answers(context, text).values()] == outcomes


def test_a_remark_names_ten_items_at_most() -> None:
    answers = read_answers(subtask("s1", items=12), "It went well.")
    assert answers["12"].problem.endswith("names none of the items 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …")
