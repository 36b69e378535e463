"""Every vector of the agents' contexts: reading, writing, refusing, accepting replies, evaluating them."""

import json
from typing import Any

import pytest

from accp_core.aci import (
    AgentContext,
    TaskContext,
    TodoItem,
    accept_reply,
    evaluate,
    reply_from_value,
    reply_from_words,
    todo,
)
from accp_core.errors import ProtocolError
from tests.conformance.vectors import load


@pytest.mark.requirement("aci:5.2-1", "aci:5.2-3", "aci:5.2-4", "aci:5.2-8")
@pytest.mark.parametrize("vector", load("aci", "agents"))
def test_an_agent_context_is_read_and_written(vector: dict[str, Any]) -> None:
    check(AgentContext, vector)


@pytest.mark.requirement("aci:5.1-1", "aci:5.1-3")
@pytest.mark.parametrize("vector", load("aci", "tasks"))
def test_a_task_context_is_read_and_written(vector: dict[str, Any]) -> None:
    check(TaskContext, vector)


def check(kind: type[AgentContext] | type[TaskContext], vector: dict[str, Any]) -> None:
    written = vector.get("canonical", vector["data"])
    context = kind.from_json(vector["data"])
    assert json.dumps(context.to_json()) == json.dumps(written)
    assert len(context.notes) == vector.get("notes", 0)
    again = kind.from_json(written)
    assert again == context
    assert kind.from_json(written[kind.__name__]) == context


@pytest.mark.requirement("aci:5.2-4")
@pytest.mark.parametrize("vector", load("aci", "no_agents"))
def test_what_is_no_agent_context_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refusal:
        AgentContext.from_json(vector["data"])
    assert refusal.value.code == vector["error"]


@pytest.mark.parametrize("vector", load("aci", "no_tasks"))
def test_what_is_no_task_context_is_refused(vector: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError) as refusal:
        TaskContext.from_json(vector["data"])
    assert refusal.value.code == vector["error"]


@pytest.mark.requirement("aci:2.1-3", "aci:5.3-2")
@pytest.mark.parametrize("vector", load("aci", "replies"))
def test_a_reply_is_accepted_or_refused(vector: dict[str, Any]) -> None:
    sent = AgentContext.from_json(vector["sent"])
    stored = vector.get("stored", ())
    if "error" in vector:
        with pytest.raises(ProtocolError) as refusal:
            accept_reply(sent, vector["returned"], stored=stored)
        assert refusal.value.code == vector["error"]
    else:
        assert accept_reply(sent, vector["returned"], stored=stored) == AgentContext.from_json(vector["accepted"])


@pytest.mark.requirement("aci:4.1-3", "aci:5.2-6")
@pytest.mark.parametrize("vector", load("aci", "evaluations"))
def test_phase_1_says_what_is_open_and_what_is_claimed(vector: dict[str, Any]) -> None:
    unfinished, claims = evaluate(vector["context"])
    assert [item.item_id for item in unfinished] == vector["unfinished"]
    assert {claim.item_id: claim.abstract for claim in claims} == vector["claims"]


@pytest.mark.requirement("aci:5.2-4")
@pytest.mark.parametrize("vector", load("aci", "answers"))
def test_an_answer_is_read_and_an_undone_item_is_never_done(vector: dict[str, Any]) -> None:
    known = vector["items"]
    items = todo(*known) if isinstance(known, list) else tuple(TodoItem(name, text) for name, text in known.items())
    sent = AgentContext(agent_id="crm", subtask_id="s1", subtask_name="Churn", todo_items=items)
    reply = reply_from_words(sent, vector["text"]) if "text" in vector else reply_from_value(sent, vector["value"])
    unfinished, claims = evaluate(reply.context, reply.unread)
    verdicts = {item.item_id: item.outcome.value for item in unfinished} | {each.item_id: "done" for each in claims}
    kept = {item.item_id: item.words for item in unfinished} | {each.item_id: each.abstract for each in claims}
    for item, verdict in vector["verdicts"].items():
        assert verdicts[item] in (("failed", "unverified") if verdict == "not done" else (verdict,)), item
    assert {item: kept[item] for item, text in vector.get("results", {}).items() if text is not None} == {
        item: text for item, text in vector.get("results", {}).items() if text is not None
    }


def test_most_answers_are_of_agents_that_have_not_done_their_work() -> None:
    verdicts = [set(vector.values[0]["verdicts"].values()) for vector in load("aci", "answers")]
    assert len(verdicts) >= 80
    assert 2 * sum("done" not in each for each in verdicts) >= len(verdicts)
