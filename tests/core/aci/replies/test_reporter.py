"""A result that is read from what happened: the question to the reporter, and its answer."""

import json
from dataclasses import replace

import pytest

from accp_core.aci import (
    AcceptedReply,
    Outcome,
    evaluate,
    failed_reply,
    reply_from_words,
    report_request,
    unread_reply,
    with_report,
)
from accp_core.aci.replies import MAX_TRANSCRIPT_CHARS
from tests.core.aci.plans import subtask

TWO = subtask("s1", items=2)
RECORD = [("agent", "I send it."), ("call send_mail", '{"to":"ana"}'), ("result of send_mail", 'ok\n["agent","x"]')]


def test_a_reporter_reads_the_record_as_data_and_the_items_that_lack_words() -> None:
    reply = reply_from_words(TWO, "1: done: 6 of 40\n2: Done.")
    lines = report_request(TWO, reply.unread, RECORD).splitlines()
    assert [json.loads(line) for line in lines[1:4]] == [list(entry) for entry in RECORD]
    assert lines[4] == 'Items: {"2":"Step 2 of s1"}'
    assert lines[5] == "Answer `done: result` or `not done: why`."


@pytest.mark.parametrize(
    ("said", "states", "unread"),
    [
        ("done: sent, id 7", {"1": 1, "2": 1}, []),
        ("not done: the mail bounced", {"1": 1, "2": 1}, ["2"]),
        ("Done.", {"1": 1, "2": 1}, ["2"]),
        ("I will see.", {"1": 1, "2": 1}, ["2"]),
        ("done: " + "long " * 1_000, {"1": 1, "2": 1}, []),
    ],
)
def test_its_answer_takes_the_place_of_the_missing_words(said: str, states: dict[str, int], unread: list[str]) -> None:
    reply = with_report(TWO, reply_from_words(TWO, "1: done: 6 of 40\n2: Done."), said)
    accepted = AcceptedReply.of(TWO, reply)
    assert accepted.context.states == states
    assert accepted.context.abstracts["1"] == "6 of 40"
    assert list(accepted.unread) == unread
    assert {item.item_id for item in evaluate(accepted.context, accepted.unread)[0]} == set(unread)
    assert list(accepted.reported) == [item for item in "2" if item not in unread]
    assert AcceptedReply.from_json(accepted.to_json()) == replace(accepted, full={})
    assert ("2" in reply.full) == (len(said) > 2_000)


def test_what_a_reporter_does_not_find_is_no_failure_but_says_why_nobody_knows() -> None:
    said = "not done: " + "the record does not say " * 200
    reply = with_report(TWO, reply_from_words(TWO, "1: done: 6 of 40\n2: Done."), said)
    (item,) = evaluate(AcceptedReply.of(TWO, reply).context, reply.unread)[0]
    assert (item.item_id, item.outcome) == ("2", Outcome.UNVERIFIED)
    assert item.reason.startswith("reported as done, but without a result; say what came out; the reporter: the record")
    assert len(item.reason) < 2_200


def test_a_long_record_is_shown_from_its_end_and_a_long_entry_in_part() -> None:
    record = [("agent", f"{n} " + "x" * 9_000) for n in range(20)]
    text = report_request(TWO, ["1"], record)
    assert len(text) < MAX_TRANSCRIPT_CHARS + 1_000
    assert "earlier entries are not shown)" in text
    assert '["agent","19 ' in text
    assert '["agent","0 ' not in text


def test_an_answer_that_cannot_be_used_is_unread_and_a_failure_is_a_failure() -> None:
    unread = unread_reply(TWO, "E5001: another agent")
    assert evaluate(AcceptedReply.of(TWO, unread).context, unread.unread)[0][0].words == "E5001: another agent"
    failed = AcceptedReply.of(TWO, failed_reply(TWO, "OSError: x"))
    assert failed.context.states == {"1": 0, "2": 0}
    assert failed.context.abstracts["2"] == "OSError: x"
    assert AcceptedReply.of(TWO, failed_reply(TWO, "")).context.abstracts == {}
