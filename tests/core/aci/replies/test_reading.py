"""Which answer belongs to which item, in every layout that models use."""

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


def unread(text: str, problem: str) -> ItemAnswer:
    return ItemAnswer(Outcome.UNVERIFIED, text, f'not understood: "{" ".join(text.split())}" {problem}')


UNMARKED = "does not begin with `done:` or `not done:`"
SAYS_BOTH = "says both `done:` and `not done:`"

ANSWERS: dict[str, tuple[AgentContext, str, dict[str, ItemAnswer]]] = {
    "a line per item": (TWO, "1: done: six\n2: done: two", {"1": done("six"), "2": done("two")}),
    "words around it": (TWO, "Here:\n1: done: six\n\n2: done: two\n", {"1": done("six"), "2": done("two")}),
    "Markdown": (TWO, "- **1:** done: six\n- **2**: **done:** two", {"1": done("six"), "2": done("two")}),
    "code marks": (TWO, "`1`: `done`: six", {"1": done("six")}),
    "numbered": (TWO, "1. done: six\n2) Done: two", {"1": done("six"), "2": done("two")}),
    "several lines": (TWO, "1: done: six\nof forty\n2: done: two", {"1": done("six\nof forty"), "2": done("two")}),
    "a list in a result": (
        TWO,
        "1: done: six\n2: done: top\n1. Ana\n2. Bo",
        {"1": done("six"), "2": done("top\n1. Ana\n2. Bo")},
    ),
    "an item again": (TWO, "1: done: six\n1: done: seven", {"1": done("six\n1: done: seven")}),
    "an unmarked item again": (
        TWO,
        "2: two\n1: done: six\n2: three",
        {"1": done("six\n2: three"), "2": unread("two", UNMARKED)},
    ),
    "no line is marked": (
        TWO,
        "- 1: six\n- 2: two\n1: one",
        {"1": unread("six", UNMARKED), "2": unread("two\n1: one", UNMARKED)},
    ),
    "not done": (TWO, "1: done: six\n2: Not done: no access", {"1": done("six"), "2": undone("no access")}),
    "not done, no reason": (TWO, "2: not done", {"2": undone("")}),
    "done, no result": (TWO, "2: Done.", {"2": done("")}),
    "both": (TWO, "1: done: six\n1: not done: x", {"1": unread("done: six\n1: not done: x", SAYS_BOTH)}),
    "one item": (ONE, " done: six of\nforty ", {"1": done("six of\nforty")}),
    "one item, named": (ONE, "1: done: six", {"1": done("six")}),
    "one item, not done": (ONE, "not done: no access", {"1": undone("no access")}),
    "one item, unmarked": (ONE, "six", {"1": unread("six", UNMARKED)}),
    "one item, done and not done": (ONE, "done: not done", {"1": unread("done: not done", SAYS_BOTH)}),
    "nothing": (ONE, " \n", {}),
    "no items": (subtask("s1", items=0), "1: done: six", {}),
    "ids with signs": (
        replace(TWO, todo_items=(TodoItem("a+b", ""), TodoItem("a", ""))),
        "a: done: six\na+b: done: two",
        {"a": done("six"), "a+b": done("two")},
    ),
    "an id in capitals": (replace(ONE, todo_items=(TodoItem("a", ""),)), "A: done: six", {"a": done("six")}),
    "an id that begins another": (
        subtask("s1", items=12),
        "12: done: x\n1: done: y",
        {"12": done("x"), "1": done("y")},
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_read(name: str) -> None:
    context, text, found = ANSWERS[name]
    assert {
        item: each for item, each in read_answers(context, text).items() if not each.problem.startswith(NO_ANSWER)
    } == found


def test_a_long_answer_is_no_abstract() -> None:
    with pytest.raises(ProtocolError, match="E2003"):
        with_answers(ONE, read_answers(ONE, "done: " + "x" * 2_001))


class Dumped:
    """A structured response as pydantic gives it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def model_dump(self, *, mode: str) -> Any:
        assert mode == "json"
        return self.value


READ, FAILED, UNREAD = Outcome.DONE, Outcome.FAILED, Outcome.UNVERIFIED
VALUES: dict[str, tuple[AgentContext, Any, list[Outcome]]] = {
    "an object with model_dump": (TWO, Dumped({"1": "six", "2": "done: two"}), [UNREAD, READ]),
    "a wrapped AgentContext": (
        TWO,
        {"AgentContext": {"KeyInformation": [{"itemId": "1", "outputabstract": "six"}], "ItemStateUpdates": "x"}},
        [UNREAD, UNREAD],
    ),
    "an item twice": (TWO, {"1": "done: six", "item 1": "done: seven", "2": "done: two"}, [UNREAD, READ]),
    "one of two in a record": (TWO, {"item": "2", "result": "done: two"}, [UNREAD, READ]),
    "a record of another item": (TWO, {"item": "7", "result": "two"}, [UNREAD, UNREAD]),
    "a record of the only item": (ONE, {"item": "1", "done": True, "result": "six"}, [READ]),
    "another's record": (ONE, {"item": "7", "result": "six"}, [UNREAD]),
    "items within two objects": (TWO, {"answer": {"items": ["done: six", "done: two"]}}, [READ, READ]),
    "too deep": (TWO, {"a": {"b": {"c": {"d": {"e": ["done: six", "done: two"]}}}}}, [UNREAD, UNREAD]),
    "a list for the only item": (ONE, ["Ana", "Bo"], [UNREAD]),
    "a text": (ONE, "six", [UNREAD]),
    "a text that is marked": (ONE, "done: six", [READ]),
    "a number": (ONE, 40, [UNREAD]),
    "a number for two items": (TWO, 40, [UNREAD, UNREAD]),
    "yes and no": (TWO, [True, False], [READ, FAILED]),
    "states": (TWO, [1, None], [UNREAD, UNREAD]),
    "an error": (TWO, [{"error": "no access"}, {"ok": True, "result": "two", "error": None}], [FAILED, READ]),
    "a status that is neither": (ONE, {"status": "so so", "result": "six"}, [UNREAD]),
    "a status in other letters": (TWO, [{"state": "Not-Done"}, {"is_done": "Yes!", "text": "two"}], [FAILED, READ]),
    "a status and other fields": (ONE, {"status": "ok", "rows": 6, "where": "CRM"}, [READ]),
    "done without a result": (ONE, {"done": True}, [READ]),
    "fields without a status": (ONE, {"rows": 6, "source": "CRM"}, [UNREAD]),
    "one field": (ONE, {"rows": [6, 7]}, [UNREAD]),
    "no JSON": (ONE, {"done": "yes", "rows": {6}}, [READ]),
    "nothing was asked": (subtask("s1", items=0), {"1": "six"}, []),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_structured_response_is_read(name: str) -> None:
    context, value, outcomes = VALUES[name]
    assert [each.outcome for each in read_structured(context, value).values()] == outcomes


LAYOUTS: dict[str, tuple[AgentContext, str, list[Outcome]]] = {
    "a table": (TWO, "| item | result |\n|---|---|\n| 1 | done: six |\n| 2 | done: x |", [UNREAD, UNREAD]),
    "JSON and words": (TWO, 'I could not.\n```json\n["done: six", "done: two"]\n```', [UNREAD, UNREAD]),
    "JSON that names nothing": (TWO, '{"x": "done: six", "y": "done: two"}', [UNREAD, UNREAD]),
    "JSON that breaks off": (ONE, '{"done": true, "result": ', [UNREAD]),
    "an id that a description also is": (
        replace(TWO, todo_items=(TodoItem("a", "b"), TodoItem("b", "a"))),
        "a: done: six\nb: done: two",
        [READ, READ],
    ),
    "two items of one description": (
        replace(TWO, todo_items=(TodoItem("a", "Count"), TodoItem("b", "Count"))),
        "Count: done: six\nCount: done: two",
        [UNREAD, UNREAD],
    ),
    "a long description": (
        replace(TWO, todo_items=(TodoItem("a", "x" * 201), TodoItem("b", ""))),
        f"{'x' * 201}: done: six\nb: done: two",
        [UNREAD, READ],
    ),
    "bullets without names": (TWO, "- done: six\n- done: two", [UNREAD, UNREAD]),
    "bullets within bullets": (TWO, "- 1: done: six\n  - 2: done: Ana", [READ, UNREAD]),
    "another number": (TWO, "1.2: done: six\n12: done: two", [UNREAD, UNREAD]),
    "a number alone, then a list": (TWO, "1: done: the number is\n2\n- done: import", [READ, UNREAD]),
    "a negation before the mark": (TWO, "1: not yet done: six\n2: almost done: two", [UNREAD, UNREAD]),
    "a quotation": (TWO, "1: done: Bo wrote\n> 2: done: sent", [READ, UNREAD]),
    "a code block that does not end": (TWO, "1: done: six\n```\n2: done: two", [READ, UNREAD]),
    "failed as a whole": (TWO, "not done: no access", [FAILED, FAILED]),
    "done as a whole": (TWO, "done: all", [UNREAD, UNREAD]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_read_or_not_understood(name: str) -> None:
    context, text, outcomes = LAYOUTS[name]
    assert [each.outcome for each in read_answers(context, text).values()] == outcomes
