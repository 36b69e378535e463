"""Planning and stepping a task: order, retries, verdicts, and that nothing unfinished passes."""

import json
from typing import Any

import pytest

from accp_core.aci import Interaction, Mode, Status, SubtaskState, interaction_from_json, interaction_to_json
from accp_core.aci.plan import ItemMove, Progress
from accp_core.errors import LocalProtocolError, ProtocolError
from tests.core.aci.plans import TASK, ids, reply, start, subtask

DIAMOND = (subtask("a"), subtask("b", "a"), subtask("c", "a"), subtask("d", "b", "c"))


def accept(*_: str) -> None:
    return None


def finish(interaction: Interaction, verifier: Any = accept) -> tuple[Interaction, list[list[str]]]:
    """Answer every delivery until all is over; return the rounds of deliveries, too."""
    rounds = []
    while not interaction.finished:
        interaction, deliveries = interaction.deliver()
        rounds.append(ids(deliveries))
        for each in deliveries:
            interaction = interaction.receive(each.id, reply(each))
        interaction = interaction.verify(verifier)
    return interaction, rounds


@pytest.mark.requirement("aci:2.1-5")
def test_asynchronously_all_that_is_ready_is_delivered() -> None:
    done, rounds = finish(start(*DIAMOND))
    assert rounds == [["a"], ["b", "c"], ["d"]]
    assert done.task.overall_status is Status.COMPLETED


@pytest.mark.requirement("aci:2.1-4")
def test_synchronously_one_is_delivered_and_awaited_before_the_next() -> None:
    done, rounds = finish(start(*DIAMOND, mode=Mode.SYNCHRONOUS))
    assert rounds == [["a"], ["b"], ["c"], ["d"]]
    assert done.task.overall_status is Status.COMPLETED


@pytest.mark.requirement("aci:2.1-4")
def test_synchronously_nothing_is_delivered_before_the_evaluation() -> None:
    interaction, (first,) = start(subtask("a"), subtask("b"), mode=Mode.SYNCHRONOUS).deliver()
    assert interaction.deliver()[1] == ()
    interaction = interaction.receive(first.id, reply(first))
    assert interaction.deliver()[1] == ()
    assert ids(interaction.verify(accept).deliver()[1]) == ["b"]


@pytest.mark.requirement("aci:3-1")
def test_a_dependant_gets_abstracts_and_stored_references_and_no_other_agent_does() -> None:
    interaction, (first,) = start(
        subtask("a", context_uri=("$cold.given",)), subtask("b", "a"), subtask("c", "b")
    ).deliver()
    answer = reply(first, i1="6 accounts") | {"ContextURI": ["accp://cold/given", "accp://cold/full"]}
    interaction = interaction.receive(first.id, answer, stored=["$cold.full"]).verify(accept)
    interaction, (second,) = interaction.deliver()
    assert second.context.context == ({"Part a": "6 accounts"},)
    assert second.context.context_uri == ("accp://cold/full",)
    interaction = interaction.receive(second.id, reply(second)).verify(accept)
    _, (third,) = interaction.deliver()
    assert third.context.context == ({"Part b": "result 1 of b"},)
    assert third.context.context_uri == ()
    assert interaction.references == ("cold.full",)


@pytest.mark.requirement("aci:2.1-2")
def test_no_delivery_holds_the_query_or_anything_of_another_subtask() -> None:
    contexts = [subtask(each, subtask_name=f"MARKER-{each}", context=(f"SECRET-{each}",)) for each in "abc"]
    _, deliveries = start(*contexts).deliver()
    for each in deliveries:
        text = json.dumps(each.payload)
        mine = each.context.subtask_id
        assert f"MARKER-{mine}" in text and f"SECRET-{mine}" in text
        others = [f"{word}-{other}" for word in ("MARKER", "SECRET") for other in "abc" if other != mine]
        assert not [secret for secret in (*others, TASK.user_query) if secret in text]


@pytest.mark.requirement("aci:5.2-6")
def test_only_open_items_are_tried_again_with_feedback() -> None:
    interaction, (first,) = start(subtask("a", items=3)).deliver()
    interaction = interaction.receive(first.id, reply(first, i1="6 accounts", i2="wrong", i3=None))
    interaction = interaction.verify(lambda *claim: "count again" if claim[2] == "wrong" else None)
    interaction, (second,) = interaction.deliver()
    assert second.id != first.id
    assert [item.item_id for item in second.context.todo_items] == ["2", "3"]
    assert second.context.context == ({"done": {"1": "6 accounts"}, "feedback": {"3": "not done", "2": "count again"}},)
    done = interaction.receive(second.id, reply(second)).verify(accept)
    assert done.contexts["a"].abstracts == {"1": "6 accounts", "2": "result 2 of a", "3": "result 3 of a"}
    assert done.task.overall_status is Status.COMPLETED


def test_what_an_agent_stored_before_a_retry_is_still_granted_and_kept() -> None:
    interaction, (first,) = start(subtask("a")).deliver()
    interaction = interaction.receive(
        first.id, reply(first, i1=None) | {"ContextURI": "$cold.one"}, stored=["$cold.one"]
    )
    interaction, (second,) = interaction.verify().deliver()
    assert second.context.context_uri == ("accp://cold/one",)
    answer = reply(second) | {"ContextURI": ["$cold.one", "$cold.two"]}
    interaction = interaction.receive(second.id, answer, stored=["$cold.two"]).verify()
    assert interaction.references == ("cold.one", "cold.two")
    assert interaction.contexts["a"].context_uri == ("accp://cold/one", "accp://cold/two")


@pytest.mark.parametrize("retries", [0, 1, 2, 5])
def test_unfinished_work_is_tried_so_often_and_then_fails(retries: int) -> None:
    done, rounds = finish(start(subtask("a"), retries=retries), lambda *_: "no")
    assert len(rounds) == retries + 1
    assert done.task.overall_status is Status.FAILED
    assert done.progress["a"].open[0].reason == "no"
    assert done.contexts["a"].states == {"1": 0}


def test_two_failed_dependencies_fail_a_subtask_once() -> None:
    interaction, deliveries = start(subtask("a"), subtask("b"), subtask("c", "a", "b"), retries=0).deliver()
    for each in deliveries:
        interaction = interaction.mark_lost(each.id, "no answer")
    assert interaction.finished
    assert interaction.progress["c"].reason == "stopped: subtask 'a' (Part a) failed: no answer"


def test_a_reply_that_breaks_a_rule_leaves_the_subtask_unverified_and_says_why() -> None:
    interaction, (first,) = start(subtask("a")).deliver()
    interaction = interaction.receive(first.id, reply(first) | {"AgentID": "somebody else"})
    assert interaction.progress["a"].state is SubtaskState.UNVERIFIED
    assert "somebody else" in interaction.progress["a"].reason


def test_after_such_a_reply_a_repeatable_subtask_is_tried_again() -> None:
    interaction, (first,) = start(subtask("a"), repeatable=["a"]).deliver()
    interaction = interaction.receive(first.id, reply(first) | {"AgentID": "somebody else"})
    interaction, (second,) = interaction.deliver()
    assert "somebody else" in second.context.context[0]["feedback"]


def test_a_reply_counts_once_and_for_its_delivery_only() -> None:
    interaction, (first,) = start(subtask("a")).deliver()
    answered = interaction.receive(first.id, reply(first))
    retried, _ = interaction.receive(first.id, reply(first, i1=None)).verify().deliver()
    for known, delivery_id in ((answered, first.id), (retried, first.id), (interaction, "000000000000")):
        with pytest.raises(LocalProtocolError, match="E3002"):
            known.receive(delivery_id, reply(first))
        with pytest.raises(LocalProtocolError, match="E3002"):
            known.mark_lost(delivery_id, "x")


def test_a_verifier_that_raises_changes_nothing() -> None:
    interaction, (first,) = start(subtask("a")).deliver()
    interaction = interaction.receive(first.id, reply(first))

    def broken(*_: str) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        interaction.verify(broken)
    assert interaction.progress["a"].state is SubtaskState.RETURNED


@pytest.mark.requirement("aci:4.1-2", "aci:5.3-3")
def test_the_status_follows_the_subtasks() -> None:
    interaction = start(subtask("a"), subtask("b", "a"))
    assert interaction.task.overall_status is Status.PENDING
    interaction, (first,) = interaction.deliver()
    assert [goal.status for goal in interaction.task.goal_status] == ["in_progress", "pending"]
    assert interaction.receive(first.id, reply(first)).verify().task.overall_status is Status.IN_PROGRESS
    assert interaction.task.user_query == TASK.user_query


def test_context_that_may_not_leave_is_refused_when_the_task_begins() -> None:
    with pytest.raises(ProtocolError, match="E5001"):
        start(subtask("a", context=(TASK.user_query,)))


@pytest.mark.parametrize("retries", [-1, 101, True, 1.0, "2", None])
def test_retries_are_a_bounded_whole_number(retries: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        start(subtask("a"), retries=retries)


MOVES = {
    "waiting": {"deliver": "delivered", "fail": "failed"},
    "delivered": {"accept": "returned", "retry": "waiting", "fail": "failed", "doubt": "unverified"},
    # Nothing but verification completes a subtask.
    "returned": {"complete": "completed", "retry": "waiting", "fail": "failed", "doubt": "unverified"},
}
"""State and move to the next state."""


def advanced(state: SubtaskState, move: ItemMove) -> str:
    try:
        return Progress(state=state).advance(move).state.value
    except LocalProtocolError as refused:
        assert refused.code == "E5001"
        return "refused"


def test_a_subtask_moves_as_the_table_says_or_not_at_all() -> None:
    expected = {(state, move): MOVES.get(state, {}).get(move, "refused") for state in SubtaskState for move in ItemMove}
    assert {(state, move): advanced(state, move) for state in SubtaskState for move in ItemMove} == expected


def test_an_interaction_is_saved_and_loaded_at_every_step() -> None:
    interaction = start(*DIAMOND, goals={"all": "abcd"}, mode=Mode.SYNCHRONOUS, retries=1)
    steps = [interaction]
    while not interaction.finished:
        interaction, deliveries = interaction.deliver()
        steps.append(interaction)
        for each in deliveries:
            said = {"i1": None} if interaction.progress[each.context.subtask_id].attempts == 1 else {"i1": "fine 1"}
            interaction = interaction.receive(each.id, reply(each, **said))
            steps.append(interaction)
        interaction = interaction.verify()
    for step in [*steps, interaction]:
        again = interaction_from_json(json.loads(json.dumps(interaction_to_json(step))))
        assert again == step
        assert interaction_to_json(again) == interaction_to_json(step)


@pytest.mark.parametrize("data", [None, {}, [], "x", {"TaskContext": {"TaskID": "t"}}])
def test_anything_else_is_no_interaction(data: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        interaction_from_json(data)
