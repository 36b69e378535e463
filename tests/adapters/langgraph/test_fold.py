"""The epoch fold in a compiled agent: rare, reversible, valid, and nowhere in the state's messages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from accp_adapters.langgraph import AccpMiddleware, Policy
from accp_adapters.langgraph.fold import Fold, Folder, folded_source
from accp_adapters.langgraph.summary import rows_of
from accp_adapters.langgraph.turns import count_tokens, turns_of
from accp_adapters.policy import Size
from accp_adapters.stores import SqliteColdStore
from accp_adapters.tokens import count_o200k
from tests.adapters.langgraph.jobs import ROWS, results, thread
from tests.adapters.langgraph.transcripts import check
from tests.scripted_model import ScriptedModel, call, calls

BUDGET = 1_300


@tool
def page(number: int) -> str:
    """Return a page of customers."""
    return json.dumps(ROWS[number * 10 : number * 10 + 10])


@tool
def picture(number: int) -> list[dict[str, Any]]:
    """Return a picture and a page."""
    image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    return [image, {"type": "text", "text": json.dumps(ROWS[number * 10 : number * 10 + 10])}]


def look(number: int, name: str = "page") -> AIMessage:
    return calls(call(name, f"p{number}", number=number))


LOOKS = [look(number) for number in range(10)]


def build(
    script: Sequence[Any], policy: Policy | None = None, *, budget: int | None = BUDGET, **options: Any
) -> tuple[Any, ScriptedModel]:
    model = ScriptedModel(script=list(script))
    given = {key: options.pop(key) for key in ("store", "summarizer", "fold_trigger") if key in options}
    trigger = None if budget is None else ("tokens", budget)
    middleware = AccpMiddleware(policy, **{"store": SqliteColdStore(), "fold_trigger": trigger, **given})
    return create_agent(model, [page, picture], middleware=[middleware], **options), model


async def ask(graph: Any, words: str, asynchronous: bool, **options: Any) -> Any:
    given: Any = {"messages": words}
    return await graph.ainvoke(given, **options) if asynchronous else graph.invoke(given, **options)


def tokens(messages: Sequence[BaseMessage]) -> int:
    return sum(count_tokens(message, count_o200k) for message in messages)


def folds(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    return [message for message in messages if "earlier results folded" in message.text]


def breaks(received: Sequence[Sequence[BaseMessage]]) -> int:
    said = [[message.model_dump_json() for message in messages] for messages in received]
    return sum(after[: len(before)] != before for before, after in pairwise(said))


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_ten_looks_break_the_prompt_twice_at_most_and_stay_small(asynchronous: bool) -> None:
    graph, model = build([*LOOKS, "done"])
    plain, unfolded = build([*LOOKS, "done"], budget=None)
    state = await ask(graph, "find customers", asynchronous)
    await ask(plain, "find customers", asynchronous)
    assert 1 <= breaks(model.received) <= 2
    assert breaks(unfolded.received) == 0
    assert sum(map(tokens, model.received)) < 0.7 * sum(map(tokens, unfolded.received))
    assert len(results(state)) == 10
    assert folds(state["messages"]) == []
    assert state.keys() == {"messages"}


@pytest.mark.parametrize("asynchronous", [False, True])
async def test_what_is_folded_is_one_fetch_away(asynchronous: bool) -> None:
    graph, _ = build([*LOOKS[:6], fetching("2.result"), fetching("1"), "done"])
    state = await ask(graph, "find customers", asynchronous)
    for fetched, number in zip(results(state)[-2:], (2, 1), strict=True):
        assert fetched.status == "success", fetched.text
        assert ROWS[number * 10]["email"] in fetched.text
        assert ROWS[number * 10 + 9]["trace"] in fetched.text


def test_the_summary_numbers_what_was_asked_and_says_how_to_open_it() -> None:
    first = folder().fold(history(5), None, overhead=0)
    assert first
    assert first.text.splitlines() == [
        "[earlier results folded: 4; each intact by its number, as in query='1.result']",
        "3 page: number=3, rows=10, of=id name email status trace; 2 page: number=2, rows=10, of=id name email status "
        "trace; 1 page: number=1, rows=10, of=id name email status trace; 0 page: number=0, rows=10, of=id name email "
        "status trace",
    ]
    second = folder().fold(history(10), first, overhead=0)
    assert second
    assert second.text.startswith("[earlier results folded: 9; each intact by its number, as in query='1.result']\n8 ")


def fetching(query: str, call_id: str = "") -> Any:
    def step(messages: Sequence[BaseMessage]) -> AIMessage:
        at = messages.index(folds(messages)[0])
        ref = messages[at - 1].tool_calls[0]["args"]["ref"]
        return calls(call("accp_fetch", call_id or f"f{len(messages)}", ref=ref, query=query))

    return step


def test_the_fetch_tool_comes_with_the_fold() -> None:
    graph, model = build([*LOOKS[:6], "done"], Policy.lossless())
    graph.invoke({"messages": "find customers"})
    offered = ["accp_fetch" in names for names in model.tool_names]
    assert [bool(folds(messages)) for messages in model.received] == offered
    assert any(offered)


def test_the_reference_of_a_second_fold_opens_the_results_of_the_first_directly() -> None:
    graph, model = build([*LOOKS, fetching("0.result", "f1"), "done"])
    state = graph.invoke({"messages": "find customers"})
    assert breaks(model.received) == 2
    assert ROWS[0]["email"] in results(state)[-1].text


def test_a_summary_cites_no_reference_of_an_earlier_fetch() -> None:
    ref = "$cold.00000000000000000123456789012"
    fetched = [calls(call("accp_fetch", "f0", ref=ref, query="won")), ToolMessage("[]", tool_call_id="f0", id="rf")]
    assert [row["args"] for row in rows_of(turns_of(fetched))] == [{"query": "won"}]


def test_a_fold_of_messages_that_were_changed_since_is_no_longer_sent() -> None:
    due = folder().fold(history(5), None, overhead=0)
    assert due
    redacted = history(5)
    redacted[2].content = "[redacted]"
    assert folder().apply(redacted, due) == redacted
    assert folded_source(redacted, due) is None
    assert folded_source(history(5), due) is not None


def test_the_users_words_and_the_answers_stay() -> None:
    script = [*LOOKS[:5], "first answer", *LOOKS[5:], "second answer"]
    graph, model = build(script, checkpointer=InMemorySaver())
    graph.invoke({"messages": "first question"}, thread("t"))
    graph.invoke({"messages": "second question"}, thread("t"))
    said = [message.text for message in model.received[-1]]
    assert [text for text in said if "question" in text or "answer" in text] == [
        "first question",
        "first answer",
        "second question",
    ]
    assert folds(model.received[-1])


def test_the_newest_results_and_parallel_ones_stay_together() -> None:
    turn = calls(*(call("page", f"q{number}", number=4 + number) for number in range(4)))
    graph, model = build([*LOOKS[:2], turn, "done"])
    graph.invoke({"messages": "find customers"})
    last = model.received[-1]
    assert folds(last)
    assert [message.tool_call_id for message in last if isinstance(message, ToolMessage)][-4:] == [
        "q0",
        "q1",
        "q2",
        "q3",
    ]
    assert not any(getattr(message, "tool_call_id", "") in {"p0", "p1"} for message in last)


def test_what_counts_is_what_the_model_reads() -> None:
    again = calls(*(call("page", f"q{number}", number=number) for number in range(2)))
    graph, model = build([*LOOKS[:2], again, *LOOKS[2:3], "done"], Policy(), budget=1_600)
    graph.invoke({"messages": "find customers"})
    assert "[as above: " in model.received[-1][-3].text
    assert not folds(model.received[-1])
    plain = Policy(repeats=False)
    graph, model = build([*LOOKS[:2], again, *LOOKS[2:3], "done"], plain, budget=1_600)
    graph.invoke({"messages": "find customers"})
    assert folds(model.received[-1])


def test_a_result_that_no_model_has_read_stays_even_when_the_user_speaks_first() -> None:
    messages = [*history(5), HumanMessage("wait", id="h9")]
    folded = folder(1_000).fold(messages, None, overhead=0)
    assert folded
    assert folded.cut_id == messages[-3].id
    check(folder().apply(messages, folded))


def history(looks: int) -> list[Any]:
    found: list[Any] = [HumanMessage("find customers", id="h0")]
    for number in range(looks):
        said = look(number)
        said.id = f"a{number}"
        result = ToolMessage(page.invoke({"number": number}), tool_call_id=f"p{number}", id=f"r{number}", name="page")
        found += [said, result]
    return found


def folder(budget: int = BUDGET, **changes: Any) -> Folder:
    given: dict[str, Any] = {"counter": count_o200k, "summarizer": None}
    return Folder(**{"trigger": Size("tokens", budget), **given, **changes})


def test_pictures_and_excluded_tools_stay_where_they_are() -> None:
    script = [look(0, "picture"), *LOOKS[1:6], "done"]
    graph, model = build(script)
    graph.invoke({"messages": "find customers"})
    assert folds(model.received[-1])
    kept = [message.tool_call_id for message in model.received[-1] if isinstance(message, ToolMessage)]
    assert kept[0] == "p0"
    graph, model = build([*LOOKS[:6], "done"], Policy(tools={"page": "as_is"}))
    graph.invoke({"messages": "find customers"})
    assert not folds(model.received[-1])


def test_system_prompt_and_tools_count() -> None:
    assert folder(3_000).fold(history(3), None, overhead=0) is None
    assert folder(3_000).fold(history(3), None, overhead=3_000)
    graph, model = build([*LOOKS[:3], "done"], system_prompt="Be thorough. " * 1_000)
    graph.invoke({"messages": "find customers"})
    assert folds(model.received[-1])


THOUGHTS: dict[str, list[dict[str, Any]]] = {
    "thinking": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}],
    "reasoning": [{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"}],
}


@pytest.mark.parametrize("kind", THOUGHTS)
def test_thoughts_of_turns_kept_across_a_fold_are_left_out_on_every_later_call(kind: str) -> None:
    def thinking(number: int) -> AIMessage:
        made = [call("page", f"p{number}", number=number)]
        return AIMessage([*THOUGHTS[kind]], tool_calls=made, response_metadata={"model_provider": "openai"})

    graph, model = build([thinking(number) for number in range(7)] + ["done"])
    graph.invoke({"messages": "find customers"})
    first = next(number for number, messages in enumerate(model.received) if folds(messages))
    for number, messages in enumerate(model.received[first:]):
        thoughts = [message for message in messages if kind in str(message.content)]
        assert len(thoughts) == number
    assert len(model.received) - first >= 2


def test_forks_before_a_fold_have_none_and_forks_after_it_have_the_same() -> None:
    graph, model = build([*LOOKS[:6], "done", "again", "again"], checkpointer=InMemorySaver())
    graph.invoke({"messages": "find customers"}, thread("t"))
    past = [state for state in graph.get_state_history(thread("t")) if state.next == ("model",)]
    seen = len(model.received)
    graph.invoke(None, past[0].config)
    graph.invoke(None, past[-2].config)
    assert [m.text for m in model.received[seen]] == [m.text for m in model.received[seen - 1]]
    assert folds(model.received[seen])
    assert not folds(model.received[seen + 1])


def test_where_the_folds_place_is_gone_all_is_shown() -> None:
    messages = history(5)
    due = folder().fold(messages, None, overhead=0)
    assert due
    rest = [message for message in messages if message.id != due.cut_id]
    assert folder().apply(rest, due) == rest
    graph, model = build([*LOOKS[:6], "done", "bye"], checkpointer=InMemorySaver())
    graph.invoke({"messages": "find customers"}, thread("t"))
    state = graph.get_state(thread("t")).values
    graph.update_state(thread("t"), {"messages": [RemoveMessage(message.id) for message in state["messages"]]})
    graph.invoke({"messages": "new"}, thread("t"))
    assert [message.text for message in model.received[-1]] == ["new"]


def test_nothing_is_folded_where_little_would_go_or_no_place_is_named() -> None:
    assert folder(400).fold(history(1), None, overhead=0) is None
    small = [HumanMessage("hi " * 600, id="h"), look(0), ToolMessage("none", tool_call_id="p0"), look(1)]
    small.append(ToolMessage("none", tool_call_id="p1"))
    assert folder(400).fold(small, None, overhead=0) is None
    nameless = [message.model_copy(update={"id": None}) for message in history(5)]
    assert folder().fold(nameless, None, overhead=0) is None


def test_a_fold_survives_what_a_checkpointer_makes_of_it() -> None:
    due = folder().fold(history(5), None, overhead=0)
    assert due
    assert Fold.of(json.loads(json.dumps(due.to_json()))) == due
    wrong: list[Any] = [{**due.to_json(), name: [1]} for name in due.to_json()]
    for other in (None, {}, "x", {"key": "x"}, {**due.to_json(), "more": 1}, {**due.to_json(), "upto": True}, *wrong):
        assert Fold.of(other) is None


def test_a_summarizer_writes_the_summary_and_rules_stand_in_where_it_fails() -> None:
    def fail(raw: str, limit: int) -> str:
        raise OSError("no network")

    said = folder(summarizer=lambda raw, limit: f"pages of customers, {limit}").fold(history(5), None, overhead=0)
    ruled = folder(summarizer=fail).fold(history(5), None, overhead=0)
    assert said
    assert said.text.endswith("\npages of customers, 100")
    assert ruled
    assert "3 page: number=3, rows=10" in ruled.text
    assert max(count_o200k(said.text), count_o200k(ruled.text)) <= 200


def test_a_budget_without_room_for_a_summary_is_refused() -> None:
    with pytest.raises(ValueError, match="expected fold_trigger to be at least 400 tokens, found 10"):
        AccpMiddleware(fold_trigger=("tokens", 10))


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"fold_trigger": 8_000}, r"fold_trigger to be like \('tokens', 8000\) or .*, found 8000"),
        ({"fold_trigger": ("token", 8_000)}, r"fold_trigger to be like .*, found \('token', 8000\)"),
        ({"fold_trigger": ("tokens", 0.5)}, r"fold_trigger to be like .*, found \('tokens', 0.5\)"),
        ({"fold_trigger": ("messages", True)}, r"fold_trigger to be like .*, found \('messages', True\)"),
        ({"fold_trigger": ("fraction", 1.5)}, r"fold_trigger to be like .*, found \('fraction', 1.5\)"),
        ({"fold_trigger": ("fraction", 0.5)}, r"expected a window for fold_trigger=\('fraction', 0.5\)"),
        (
            {"fold_trigger": ("messages", 4), "fold_keep": ("messages", 4)},
            "fold_keep to be smaller .* found 4 and 4",
        ),
        ({"fold_keep": ("messages", 4)}, "expected fold_trigger with fold_keep, found None"),
        ({"summarizer": str}, "expected fold_trigger with summarizer, found None"),
    ],
)
def test_an_option_of_another_form_is_refused_by_name_and_value(options: Any, found: str) -> None:
    with pytest.raises(ValueError, match=found):
        AccpMiddleware(**options)


def test_a_fold_may_be_due_by_messages_and_keep_messages() -> None:
    due = folder(trigger=Size("messages", 12), keep=Size("messages", 4))
    assert due.fold(history(5), None, overhead=9_000) is None
    fold = due.fold(history(6), None, overhead=0)
    assert fold
    assert len(due.apply(history(6), fold)) == 1 + 2 + 4
    assert fold.cut_id == "a4"
    wide = folder(trigger=Size("messages", 12), keep=Size("tokens", 4_000)).fold(history(6), None, overhead=0)
    assert wide is None or wide.cut_id < fold.cut_id


def test_a_share_of_the_window_is_a_number_of_tokens() -> None:
    policy = Policy.for_window(2_600)
    graph, model = build([*LOOKS, "done"], policy, budget=None, fold_trigger=("fraction", 0.5))
    plain, alike = build([*LOOKS, "done"])
    graph.invoke({"messages": "find customers"})
    plain.invoke({"messages": "find customers"})
    assert [len(messages) for messages in model.received] == [len(messages) for messages in alike.received]
    assert folds(model.received[-1])


SEGMENTS = st.lists(
    st.one_of(
        st.tuples(st.just("talk"), st.sampled_from(["fine", "go on"])),
        st.tuples(st.just("look"), st.lists(st.integers(0, 29), min_size=1, max_size=3, unique=True)),
        st.tuples(st.just("picture"), st.just([1])),
    ),
    max_size=14,
)


def transcript(segments: Sequence[tuple[str, Any]], waiting: str) -> list[Any]:
    """Return messages as an agent has them before a model call, which wait for it with results or with words."""
    found: list[Any] = [HumanMessage("find customers", id="h")]
    for number, (kind, what) in enumerate([*segments, ("look", [0])]):
        if kind == "talk":
            found += [AIMessage(what, id=f"a{number}"), HumanMessage(what, id=f"h{number}")]
            continue
        made = [call("page", f"c{number}-{each}", number=each) for each in what]
        found.append(AIMessage("", tool_calls=made, id=f"a{number}"))
        answer = picture if kind == "picture" else page
        for each, one in zip(what, made, strict=True):
            content = answer.invoke({"number": each})
            found.append(ToolMessage(content, tool_call_id=one["id"], id=f"r-{one['id']}", name="page"))
    return [*found, AIMessage("so", id="a"), HumanMessage("and?", id="e")] if waiting == "words" else found


@given(segments=SEGMENTS, waiting=st.sampled_from(["words", "results"]))
def test_every_fold_is_a_transcript_that_providers_take_and_loses_no_words(segments: Any, waiting: str) -> None:
    messages = transcript(segments, waiting)
    check(messages)
    fold = None
    for end in (len(messages) // 2, len(messages)):
        if end == len(messages) or isinstance(messages[end - 1], HumanMessage):
            due = folder(2_000).fold(messages[:end], fold, overhead=0)
            fold = due if due else fold
    view = folder(2_000).apply(messages, fold)
    check(view)
    spoken = [message.id for message in messages if isinstance(message, HumanMessage)]
    assert [message.id for message in view if isinstance(message, HumanMessage)] == spoken
    assert view[-1] is messages[-1]
    assert len(folds(view)) == bool(fold)
