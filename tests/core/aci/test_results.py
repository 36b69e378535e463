"""What came of a task: by title or id, failures with their reasons, times and costs."""

import json
from typing import Any

import pytest

from accp_core import aci
from accp_core.errors import ProtocolError
from tests.core.aci.plans import TASK, start, subtask

PLAN = [
    aci.step("crm", "Find churn"),
    aci.step("mail", "Write one mail", after="crm"),
    aci.step("web", "Search", repeatable=True),
]


def run(said: dict[str, list[str]], *plan: Any, **options: Any) -> tuple[aci.Interaction, list[str]]:
    """Return the end of a task whose agents say this, one text for each call, and the agents that were called."""
    interaction = aci.Interaction.start(TASK, plan or PLAN, **options)
    called: list[str] = []
    while not interaction.finished:
        interaction, deliveries = interaction.deliver()
        for each in deliveries:
            agent = each.context.agent_id
            called.append(agent)
            reply = aci.reply_from_words(each.context, said[agent].pop(0))
            interaction = interaction.receive(each.id, aci.AcceptedReply.of(each.context, reply))
        interaction = interaction.verify()
    return interaction, called


def test_a_result_is_found_by_title_and_by_id() -> None:
    done, _ = run({"crm": ["done: 6 of 40"], "mail": ["done: Dear Ana"], "web": ["done: nothing new was there"]})
    results = done.results
    assert results["Find churn"] is not None
    assert str(results["Find churn"]) == results["s1"].text == results["s1"].value == "6 of 40"
    assert list(results) == ["Find churn", "Write one mail", "Search"]
    assert len(results) == 3
    assert "s2" in results and "Search" in results and "x" not in results and 7 not in results
    assert results["Search"].done
    assert results.failures == {}
    assert results.to_json() == {
        "Find churn": "6 of 40",
        "Write one mail": "Dear Ana",
        "Search": "nothing new was there",
    }


def test_an_unknown_or_ambiguous_name_is_refused_with_the_known_ones() -> None:
    same = [aci.step("crm", "Search"), aci.step("web", "Search")]
    results = aci.Interaction.start(TASK, same).results
    assert list(results) == ["Search", "s2"]
    with pytest.raises(KeyError, match=r"expected one of \['s1', 's2'\]"):
        results["Search"]
    with pytest.raises(KeyError, match="found 'Find'"):
        results["Find"]


@pytest.mark.requirement("aci:4.1-2")
def test_a_failure_is_an_answer_and_says_which_failure_stopped_what_waits_for_it() -> None:
    done, called = run({"crm": ["not done: no access"] * 2, "web": ["done: 3 pages"]}, retries=1)
    assert called == ["crm", "web", "crm"]
    results = done.results
    assert str(results["Find churn"]) == "failed: no access"
    assert results["Write one mail"].stopped_by == "s1"
    assert results.failures == {
        "Find churn": "no access",
        "Write one mail": "stopped: subtask 's1' (Find churn) failed: no access",
    }
    assert aci.result_texts(done.contexts.values()) == {
        "Find churn": "failed: no access",
        "Write one mail": "failed: stopped: subtask 's1' (Find churn) failed: no access",
        "Search": "3 pages",
    }


def test_the_words_that_were_not_understood_are_kept() -> None:
    done, _ = run({"mail": ["I will see."]}, aci.step("mail", "Send one mail"), aci.step("crm", "Log it", after="mail"))
    assert str(done.results["Send one mail"]) == "unverified: I will see."
    assert aci.result_texts(done.contexts.values())["Send one mail"] == "unverified: I will see."
    assert done.results["Log it"].reason.startswith("stopped: subtask 's1' (Send one mail) is unverified: ")


def test_plain_data_cost_a_repeatable_step_one_more_question_and_another_step_its_result() -> None:
    said = ["6 of 40", "done: 6 of 40"]
    done, called = run({"crm": list(said)}, aci.step("crm", "Count", repeatable=True))
    assert (called, str(done.results["Count"])) == (["crm", "crm"], "6 of 40")
    once, called = run({"crm": list(said)}, aci.step("crm", "Count"))
    assert (called, str(once.results["Count"])) == (["crm"], "unverified: 6 of 40")


def test_a_verifier_that_fails_leaves_the_item_unverified_with_the_reason() -> None:
    interaction, (first,) = start(subtask("a")).deliver()
    interaction = interaction.receive(first.id, aci.reply_from_words(first.context, "done: 6 of 40"))

    def broken(*_: str) -> None:
        raise TimeoutError("60 s")

    done = interaction.verify(broken, catch=(OSError,))
    assert done.results["a"].reason == "the result was not judged: TimeoutError: 60 s"
    assert done.results["a"].text == "unverified: 6 of 40"
    assert done == interaction.judge({("a", "1"): aci.NotJudged("TimeoutError: 60 s")})


@pytest.mark.requirement("aci:5.1-3", "aci:5.2-8")
def test_times_are_those_that_were_passed() -> None:
    interaction = aci.Interaction.start(TASK, PLAN[:2], now=1_000)
    assert interaction.task.start_time == "1970-01-01T00:16:40Z"
    interaction, (first,) = interaction.deliver(now=1_001)
    interaction = interaction.receive(
        first.id, aci.reply_from_words(first.context, "done: 6 of 40"), now=1_002.5
    ).verify(now=1_003)
    assert interaction.contexts["s1"].last_updated == "1970-01-01T00:16:43Z"
    assert interaction.task.end_time is None
    interaction, (second,) = interaction.deliver(now=1_004)
    assert second.context.last_updated is None
    done = interaction.mark_lost(second.id, "no answer", now=1_009)
    results = done.results
    assert (results["s1"].started, results["s1"].ended) == ("1970-01-01T00:16:41Z", "1970-01-01T00:16:43Z")
    assert (results["s2"].started, results["s2"].ended) == ("1970-01-01T00:16:44Z", "1970-01-01T00:16:49Z")
    assert done.task.end_time == "1970-01-01T00:16:49Z"
    assert aci.interaction_from_json(json.loads(json.dumps(aci.interaction_to_json(done)))) == done


def test_a_subtask_that_was_stopped_has_an_end_and_no_start() -> None:
    interaction, (first,) = aci.Interaction.start(TASK, PLAN[:2]).deliver(now=0.5)
    done = interaction.mark_lost(first.id, "no answer", now=2)
    assert done.results["s1"].started == "1970-01-01T00:00:00.500Z"
    assert (done.results["s2"].started, done.results["s2"].ended) == (None, "1970-01-01T00:00:02Z")
    assert done.task.start_time is None


@pytest.mark.parametrize("now", ["now", 1e20, float("nan"), -1e20])
def test_what_is_no_time_is_refused(now: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        aci.Interaction.start(TASK, PLAN, now=now)


def test_calls_and_tokens_add_up_for_each_agent() -> None:
    usage = aci.Usage(calls=2, input_tokens=300, output_tokens=20)
    interaction, deliveries = aci.Interaction.start(TASK, [aci.step("crm", "Count"), aci.step("crm", "Name")]).deliver()
    for each in deliveries:
        reply = aci.AgentReply(context=aci.reply_from_words(each.context, "done: 6 of 40").context, usage=usage)
        stored = aci.AcceptedReply.from_json(
            json.loads(json.dumps(aci.AcceptedReply.of(each.context, reply).to_json()))
        )
        interaction = interaction.receive(each.id, stored)
    done = interaction.verify()
    assert done.results.usage == {"crm": usage + usage}
    assert done.results["Count"].usage.to_json() == {"calls": 2, "input_tokens": 300, "output_tokens": 20}
    assert aci.interaction_from_json(aci.interaction_to_json(done)) == done


@pytest.mark.parametrize("data", [None, [], {"calls": -1}, {"calls": 1.5}, {"calls": True}, {"tokens": 1}])
def test_anything_else_is_no_usage(data: Any) -> None:
    with pytest.raises(ProtocolError, match="E1004"):
        aci.Usage.from_json(data)


def test_a_result_of_nothing_yet_is_empty() -> None:
    result = aci.Interaction.start(TASK, PLAN).results["Search"]
    assert (str(result), result.value, result.done, result.items[0].outcome) == ("", [], False, None)


def test_repeatable_names_subtasks_of_the_plan() -> None:
    with pytest.raises(ProtocolError, match=r"E1004.*repeatable subtasks among"):
        start(subtask("a"), repeatable=["b"])
