"""What prompts hold, by kind and by text: each token in one kind, each repeat marker with what it names."""

from __future__ import annotations

import dataclasses
import json

from accp_adapters.replay import SentMessage, Strategy, StrategyName, replay
from accp_adapters.replay.contents.largest_texts import MAX_LARGEST_CHARS, MAX_LARGEST_TEXTS
from accp_adapters.replay.contents.named_lines import find_named_lines
from accp_adapters.tokens import count_o200k
from tests.adapters.replay.runs import answers, asks, run_of, says, user

LINES = "\n".join(f"flight {n} to Seattle leaves at gate {n * 7} with {n * 13} seats" for n in range(120))


def test_the_kinds_of_content_add_up_to_the_prompt() -> None:
    run = run_of(
        user("To Seattle"),
        asks({"to": "SEA"}, 0, call_id="c1"),
        answers(LINES, 0, call_id="c1"),
        says("I know a flight.", 1, sender="pilot", to="clerk"),
        says("Take flight 3.", 2),
        tools='[{"name":"search"}]',
    )
    for strategy in (StrategyName.AS_RECORDED, StrategyName.TIGHT):
        for call in replay(run, strategy).calls:
            assert sum(dataclasses.asdict(call.contents).values()) == call.charge.tokens
    last = replay(run, StrategyName.AS_RECORDED).calls[-1].contents
    assert (last.user, last.others) == (count_o200k("To Seattle"), count_o200k("I know a flight."))
    assert (last.results, last.own) == (count_o200k(LINES), count_o200k('{"to": "SEA"}'))


def test_the_largest_texts_are_kept_as_recorded_and_as_sent() -> None:
    messages = [user("go")]
    for n in range(MAX_LARGEST_TEXTS + 5):
        messages += [asks({"n": n}, n, call_id=f"c{n}"), answers(f"{n} " * (n + 9), n, call_id=f"c{n}")]
    run = run_of(*messages, says("done", 99))
    assert replay(run, StrategyName.DEFAULT).texts == ()
    texts = replay(run, StrategyName.DEFAULT, texts=True).texts
    assert len(texts) == MAX_LARGEST_TEXTS
    assert [text.recorded_tokens for text in texts] == sorted((text.recorded_tokens for text in texts), reverse=True)
    assert texts[0].recorded == run.messages[texts[0].position].text
    long = run_of(asks({}, 0), answers("x " * 9_000, 0), says("done", 1))
    (text,) = replay(long, StrategyName.AS_RECORDED, texts=True).texts
    assert (len(text.recorded), text.recorded_chars, text.sent_chars) == (MAX_LARGEST_CHARS, 18_000, 18_000)


def test_a_repeat_marker_leads_to_the_lines_that_it_names() -> None:
    run = run_of(
        user("To Seattle"),
        asks({"to": "SEA"}, 0, call_id="c1"),
        answers(LINES, 0, call_id="c1"),
        asks({"to": "SEA", "again": True}, 1, call_id="c2"),
        answers(f"Checked twice.\n{LINES}\nNothing else.", 1, call_id="c2"),
        says("Take flight 3.", 2),
    )
    shown = {text.position: text for text in replay(run, StrategyName.LOSSLESS, texts=True).texts}
    (named,) = shown[4].named
    assert (named.position, named.text) == (2, LINES[:500])
    (whole,) = find_named_lines(shown[4].sent, 4, [(0, "To Seattle"), (2, shown[2].sent)])
    restored = shown[4].sent[: whole.start] + whole.text + shown[4].sent[whole.end :]
    assert restored == run.messages[4].text


def test_a_marker_for_a_passage_is_followed_too() -> None:
    passage = "the quick brown fox jumps over the lazy dog while nine other animals watch it from afar"
    marker = '[as above: "the quick brown fox … it from afar"]'
    (named,) = find_named_lines(f"Again: {marker}.", 3, [(1, f"Look, {passage}, they say."), (2, "nothing")])
    assert (named.start, named.end) == (7, 7 + len(marker))
    assert (named.position, named.text) == (1, passage)


def test_what_is_no_marker_or_names_nothing_is_passed_over() -> None:
    for text in (
        '[as above: 2 lines from "gone…"]',
        '[as above: "gone … away"]',
        '[as above: "gone"]',
        "[as above: 2 lines",
    ):
        assert list(find_named_lines(text, 1, [(0, json.dumps("something else"))])) == []


def test_a_message_is_kept_once_for_each_form() -> None:
    seen: list[str] = []

    def rewrite(incoming: object) -> SentMessage:
        seen.append("x")
        return SentMessage(text="short")

    run = run_of(asks({}, 0), answers(LINES, 0), says("one", 1), says("two", 2))
    texts = replay(run, Strategy(name="short", rewrite=rewrite), texts=True).texts
    assert ([text.sent for text in texts], len(seen)) == (["short"], 1)
