"""Requests recorded without their answers, among ones with them: each is a call (docs/replay.md, "What it reads")."""

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from accp_adapters.replay import Findings, parse_runs, read_runs


def bare(*words: str, **settings: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[n % 2], "content": each} for n, each in enumerate(words)]
    return {"model": "m", "messages": messages, **settings}


def pair(asked: dict[str, Any], answer: str, **fields: Any) -> dict[str, Any]:
    response = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
    return {"request": asked, "response": response, **fields}


def calls(*records: dict[str, Any]) -> list[list[tuple[int, int]]]:
    """Return of each run the numbers of messages that its calls were sent and answered, all of it understood."""
    findings = Findings()
    runs = parse_runs("\n".join(map(json.dumps, records)), path="log.jsonl", findings=findings)
    assert findings.not_understood() == []
    return [[(len(call.prompt), len(call.output)) for call in run.calls] for run in runs]


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"model": "other"},
        {"temperature": 0.9},
        {"id": "two"},
        {"metadata": {"trace_id": "t2"}},
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
    ],
)
@pytest.mark.parametrize("known", [{}, {"id": "one"}])
def test_a_request_and_a_later_one_with_the_same_messages_are_two_calls(asked: Any, known: Any) -> None:
    assert calls(bare("go", **known), pair(bare("go", **asked), "gone")) == [[(1, 0)], [(1, 1)]]


def test_a_request_is_not_counted_again_with_its_answer_where_the_id_and_all_else_is_the_same() -> None:
    asked = bare("go", id="one", temperature=0.1)
    assert calls(asked, pair(asked, "gone")) == [[(1, 1)]]
    assert calls({"custom_id": "a", "body": bare("go")}, pair(bare("go"), "gone", custom_id="a")) == [[(1, 1)]]
    assert calls(asked, pair({**asked, "temperature": 0.2}, "gone")) == [[(1, 0)], [(1, 1)]]
    assert calls(asked, bare("go", "left", "on"), pair(asked, "gone")) == [[(1, 1), (3, 0)], [(1, 1)]]


def test_requests_with_and_without_answers_continue_each_other() -> None:
    second, third = bare("go", "gone", "on"), bare("go", "gone", "on", "there", "back")
    assert calls(bare("go"), pair(second, "there"), third) == [[(1, 1), (3, 1), (5, 0)]]
    assert calls(pair(bare("go"), "gone"), second, pair(third, "home")) == [[(1, 1), (3, 1), (5, 1)]]
    assert calls(bare("go"), second, pair(third, "home")) == [[(1, 1), (3, 1), (5, 1)]]
    assert calls(bare("go"), pair(bare("go"), "gone"), second) == [[(1, 0)], [(1, 1), (3, 0)]]


@pytest.mark.parametrize("failed", [None, {}, {"error": {"code": 429}}])
def test_an_attempt_without_an_answer_and_the_one_behind_it_count_once(failed: Any) -> None:
    attempt = {"request": bare("go"), "response": failed}
    assert calls(attempt, attempt, pair(bare("go"), "gone")) == [[(1, 1)]]
    assert calls(attempt, pair(bare("go", "gone", "on"), "there")) == [[(1, 1), (3, 1)]]
    assert calls(attempt, attempt) == [[(1, 0), (1, 0)]]


def test_requests_continue_each_other_over_files_and_a_recorded_id_counts_once(tmp_path: Path) -> None:
    first, second = pair(bare("go"), "gone", id="1"), pair(bare("go", "gone", "on"), "there", id="2")
    for name, records in {"a": [first], "b": [second, first], "c": bare("go")["messages"]}.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    (run,) = read_runs(tmp_path, tmp_path / "b.jsonl", findings=Findings())
    assert [(len(call.prompt), len(call.output)) for call in run.calls] == [(1, 1), (3, 1)]


WORDS = ("go", "gone", "on", "there", "back", "home")


@pytest.mark.parametrize("order", [*permutations(range(3))])
@pytest.mark.parametrize("id_of", [str, None])
def test_requests_are_one_run_in_any_order_and_count_once_by_their_id(order: Any, id_of: Any) -> None:
    asked = [bare(*WORDS[: 2 * n + 1], tools=[FIND]) for n in order]
    answered = [pair(each, WORDS[len(each["messages"])]) for each in asked]
    if id_of:
        for each, n in zip(answered, order, strict=True):
            each["response"]["id"] = id_of(n)
        answered += answered
    assert calls(*answered) == [[(1, 1), (3, 1), (5, 1)]]
    assert [[sent for sent, _ in run] for run in calls(*asked)] == [[1, 3, 5]]
    assert tools(*asked) == tools(*answered) == [1, 1, 1]


FIND, FETCH = ({"type": "function", "function": {"name": name}} for name in ("find", "accp_fetch"))


def tools(*records: dict[str, Any]) -> list[int]:
    """Return the number of tools that each call of the one run was sent."""
    (run,) = parse_runs("\n".join(map(json.dumps, records)), path="log.jsonl")
    return [len(json.loads(call.tools)) for call in run.calls]


def test_a_tool_that_is_offered_later_is_not_counted_in_earlier_calls() -> None:
    first, second = bare("go", tools=[FIND]), bare("go", "gone", "on", tools=[FIND, FETCH])
    third = bare("go", "gone", "on", "there", "back", tools=[FIND])
    whole = {"messages": bare("go", "gone", "on", "there")["messages"], "tools": [FIND, FETCH]}
    assert tools(first, second) == [1, 2]
    assert tools(first, second, third) == [1, 2, 1]
    assert tools(first, pair(second, "there"), third) == [1, 2, 1]
    assert tools(first, whole) == [1, 2]
    assert tools(first, second, whole) == [1, 2]
    assert tools(second, third) == [2, 1]
