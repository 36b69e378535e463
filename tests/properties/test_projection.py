"""What a model is sent of a conversation depends on the messages alone: a sent prefix stands, whoever projects it."""

import gc
import json
import sys
from collections.abc import Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from accp_adapters.langgraph import Policy
from accp_adapters.langgraph.conversation import MessageProjector
from accp_adapters.replay import Run
from accp_core.projection import CallRecord, MessageRecord, ProjectedConversations, Projector, Role
from tests.properties.recorded import some_recorded_runs

ROWS: Final = [{"id": f"C-{n:03}", "name": f"Customer {n}", "city": ("Leeds", "Ghent")[n % 2]} for n in range(40)]
PAGE: Final = "\n".join(f"{row['id']} is {row['name']} of {row['city']}, whom we visited last week" for row in ROWS)
POLICIES: Final = (
    Policy(inline_limit=80, preview_limit=70, batch_limit=150, user_limit=60, agent_names=frozenset({"scout"})),
    Policy(inline_limit=80, preview_limit=70),
    Policy.lossless(),
    Policy(inline_limit=None),
)
policies: Final = st.sampled_from(POLICIES)
texts: Final = st.lists(
    st.sampled_from(
        [
            json.dumps(ROWS[:12], indent=2),
            json.dumps(ROWS[6:]),
            PAGE,
            PAGE[:900],
            "short",
            "",
            '[as above: 3 lines from "C-000 is Customer…"]',
            "… accp_fetch $cold.0123456789abcdef01234567 …",
            "日本語のテキスト。" * 30,
        ]
    ),
    min_size=1,
    max_size=2,
).map("\n".join)
Turn = list[AnyMessage]


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    """Return a user's words, an agent's, or calls with their results."""
    kind = draw(st.sampled_from(["user", "model", "scout", "calls", "calls", "calls"]))
    text = draw(texts)
    if kind == "user":
        return [HumanMessage(text)]
    if kind != "calls":
        return [AIMessage(text, name=None if kind == "model" else kind)]
    ids = [f"c{draw(st.integers(0, 99))}" for _ in range(draw(st.integers(1, 3)))]
    made = AIMessage("", tool_calls=[{"name": "look", "args": {"query": text[:30]}, "id": each} for each in ids])
    status = st.sampled_from(["success", "success", "error"])
    results = [ToolMessage(draw(texts), name="look", tool_call_id=each, status=draw(status)) for each in ids]
    return [made, *results]


transcripts: Final = st.lists(turns(), min_size=1, max_size=5).map(lambda each: [m for turn in each for m in turn])


def sent(projector: MessageProjector, messages: Sequence[AnyMessage]) -> list[str]:
    """Return what a model is sent of each message."""
    return [message.model_dump_json() for message in projector.project(messages).messages]


@pytest.mark.slow
@given(transcripts, policies)
def test_what_was_sent_is_a_prefix_of_what_is_sent_next(messages: list[AnyMessage], policy: Policy) -> None:
    whole = sent(MessageProjector(policy), messages)
    for length in range(len(messages) + 1):
        assert sent(MessageProjector(policy), messages[:length]) == whole[:length]


@pytest.mark.slow
@given(transcripts, transcripts, policies, st.data())
def test_what_a_projector_has_seen_changes_no_byte(
    messages: list[AnyMessage], other: list[AnyMessage], policy: Policy, data: st.DataObject
) -> None:
    used = MessageProjector(policy)
    cuts = st.integers(0, len(messages))
    for length, forks in data.draw(st.lists(st.tuples(cuts, st.booleans()), max_size=8)):
        sent(used, [*messages[:length], *other] if forks else messages[:length])
    assert sent(used, messages) == sent(MessageProjector(policy), messages)
    fork = [*messages[: data.draw(cuts)], *other]
    assert sent(used, fork) == sent(MessageProjector(policy), fork)


@pytest.mark.slow
@given(st.lists(transcripts, min_size=1, max_size=4))
def test_conversations_that_were_evicted_come_to_the_same_bytes(conversations: list[list[AnyMessage]]) -> None:
    rules = POLICIES[0].rules
    tiny = ProjectedConversations(lambda opens: Projector(rules, opens=opens), max_bytes=100_000)
    for messages in (*conversations, *conversations):
        records = [MessageRecord(role=Role.TOOL, blocks=(message.text,)) for message in messages]
        projector = Projector(rules)
        assert tiny.project(records) == [projector.project(record) for record in records]


def held_bytes(root: object) -> int:
    """Return the bytes of all strings that `root` holds, each string once."""
    seen: dict[int, object] = {}
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) not in seen and not isinstance(each, type | ModuleType | FunctionType):
            seen[id(each)] = each
            waiting += gc.get_referents(each)
    return sum(sys.getsizeof(each) for each in seen.values() if isinstance(each, str))


def conversations_of(kind: str) -> Iterator[list[MessageRecord]]:
    """Yield conversations of which each is new."""
    for number in range(400):
        text = "\n".join(f"line {line} of conversation {number}, in some words" for line in range(20))
        call = CallRecord(id="c1", name="write", args={"text": text})
        yield {
            "results": [MessageRecord(role=Role.TOOL, blocks=(text,))],
            "arguments": [MessageRecord(role=Role.MODEL, blocks=("",), calls=(call,), name=f"agent {number}")],
            "greetings": [MessageRecord(role=Role.USER, blocks=(f"hi {number}",))],
        }[kind]


@pytest.mark.parametrize("kind", ["results", "arguments", "greetings"])
def test_what_is_remembered_is_bounded_in_bytes(kind: str) -> None:
    rules = Policy().rules
    conversations = ProjectedConversations(lambda opens: Projector(rules, opens=opens), max_bytes=200_000)
    before, most = held_bytes(conversations), 0
    for number, records in enumerate(conversations_of(kind)):
        conversations.project(records)
        if number % 50 == 49:
            most = max(most, held_bytes(conversations) - before)
    assert 0 < most <= 200_000


def messages_of(run: Run) -> list[AnyMessage]:
    """Return a recorded run as one conversation."""
    made: dict[str, type[Any]] = {"system": SystemMessage, "user": HumanMessage, "assistant": AIMessage}
    return [
        ToolMessage(message.text, name=message.tool or None, tool_call_id=message.call_id or "c")
        if message.role == "tool"
        else made.get(message.role, HumanMessage)(message.text)
        for message in run.messages
    ]


@pytest.mark.slow
@pytest.mark.parametrize("policy", [Policy(), Policy(inline_limit=600, preview_limit=500)], ids=["default", "tight"])
def test_recorded_runs_keep_what_was_sent(policy: Policy) -> None:
    runs = some_recorded_runs()
    assert sum(check_run(messages_of(run), policy) for run in runs) > 5 * len(runs)


def check_run(messages: Sequence[AnyMessage], policy: Policy) -> int:
    """Return the number of prompts of a run, each of which begins with the one before."""
    growing = MessageProjector(policy)
    before: list[str] = []
    lengths = [n for n, message in enumerate(messages) if isinstance(message, AIMessage)]
    for length in (*lengths, len(messages)):
        now = [message.text for message in growing.project(messages[:length]).messages]
        assert now[: len(before)] == before
        before = now
    assert [message.text for message in MessageProjector(policy).project(messages).messages] == before
    return len(lengths)


SCRIPTS: Final = "北京上海서울부산あアمرحباשלוםไทยहिन्दी😀👩👧e\u0301z\u0308\u200d\ufe0f\u202e\x00\ud800AZaz09"
SIGNS: Final = " /-._@:+,;|·…\u3000\u00a0\n\t\"'()[]{}<>=&%$#*\\~^?!"
words: Final = st.text(SCRIPTS + SIGNS, min_size=1, max_size=60)
SMALL: Final = Policy(inline_limit=200, preview_limit=150, counter=lambda text: len(text) // 4 + 1)


def check_any_script(text: str, request: str) -> None:
    """Project results that become previews, for a request in any script."""
    rows = [{"key": text, "n": n, request[:8]: text[n % 7 :]} for n in range(12)]
    projector = Projector(SMALL.rules)
    projector.project(MessageRecord(role=Role.USER, blocks=(request,)))
    for result in (json.dumps(rows, ensure_ascii=False), "\n".join(f"{text}{n}" for n in range(30)), text):
        assert not projector.project(MessageRecord(role=Role.TOOL, blocks=(result,))).failed


@given(words, words)
@settings(max_examples=200)
def test_texts_and_requests_in_any_script_raise_nothing(text: str, request: str) -> None:
    check_any_script(text, request)


@pytest.mark.slow
@given(words, words)
@settings(max_examples=50_000)
def test_fifty_thousand_texts_and_requests_raise_nothing(text: str, request: str) -> None:
    check_any_script(text, request)
