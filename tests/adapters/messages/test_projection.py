"""The same projection as LangGraph's middleware makes, in the JSON of each provider."""

from __future__ import annotations

import copy
import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import pytest
from hypothesis import given
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from accp_adapters.langgraph.conversation import MessageProjector
from accp_adapters.messages import Projection, project_messages
from accp_adapters.policy import Policy
from accp_core.references import find_references, key_of, reference_to, short_key
from tests.adapters.langgraph.transcripts import PROVIDERS, payload
from tests.adapters.messages.conversations import LAYOUT_OF
from tests.properties.test_projection import policies, transcripts

ROWS: Final = [
    {"id": f"C-{n:03}", "name": f"Customer {n}", "open": n % 3 == 0, "note": f"note {n * n}"} for n in range(90)
]
PAGE: Final = "\n".join(f"week {n}: {n * 7} calls, {n % 5} of them by new customers" for n in range(60))
KEY_OF_ROWS: Final = key_of(json.dumps(ROWS))
TIGHT: Final = Policy(inline_limit=200, preview_limit=150)
FIELD_OF: Final = {"openai": "messages", "responses": "input", "anthropic": "messages"}


def request_of(provider: str, messages: list[Any]) -> list[dict[str, Any]]:
    """Return the messages as LangChain sends them to a provider."""
    found: list[dict[str, Any]] = json.loads(json.dumps(payload(provider, messages)[FIELD_OF[provider]]))
    return found


def conversation(provider: str) -> list[dict[str, Any]]:
    """Return a question, two calls at once and their results."""
    made = [{"name": "crm", "args": {"query": query}, "id": query} for query in ("q1", "q2")]
    results = [ToolMessage(json.dumps(ROWS), tool_call_id="q1"), ToolMessage("nothing", tool_call_id="q2")]
    return request_of(
        provider, [SystemMessage("You help."), HumanMessage("Who is open?"), AIMessage("", tool_calls=made), *results]
    )


def text_with_reference(projection: Projection) -> str:
    return next(key for key in find_references(json.dumps(projection.messages)))


@pytest.mark.parametrize("provider", PROVIDERS)
@given(messages=transcripts, policy=policies)
def test_a_conversation_has_the_projection_that_the_middleware_makes(
    provider: str, messages: list[AnyMessage], policy: Policy
) -> None:
    messages = list(fitting(provider, messages))
    given_messages = request_of(provider, list(messages))
    before = copy.deepcopy(given_messages)
    projection = project_messages(given_messages, policy=policy, layout=LAYOUT_OF[provider])
    shown = MessageProjector(policy).project(messages).messages
    assert projection.messages == request_of(provider, shown)
    assert given_messages == before


@given(messages=transcripts, policy=policies)
def test_langchain_messages_have_the_projection_that_the_middleware_makes(
    messages: list[AnyMessage], policy: Policy
) -> None:
    before = copy.deepcopy(messages)
    projection = project_messages(messages, policy=policy)
    assert projection.layout == ("langchain" if messages else "openai-chat")
    assert projection.messages == MessageProjector(policy).project(messages).messages
    assert messages == before


def test_langchain_messages_are_opened_by_a_tool_message() -> None:
    made = [{"name": "crm", "args": {"query": "q1", "page": PAGE}, "id": "q1"}]
    messages = [HumanMessage("Who?"), AIMessage("", tool_calls=made), ToolMessage(json.dumps(ROWS), tool_call_id="q1")]
    projection = project_messages(messages, policy=replace(TIGHT, argument_limit=100))
    assert [tool["function"]["name"] for tool in projection.tools] == ["accp_fetch"]
    assert projection.messages[0] is messages[0]
    for key, found in zip((KEY_OF_ROWS, key_of(PAGE)), ("Customer 77", "week 3"), strict=True):
        assert short_key(key) in find_references(" ".join(map(str, projection.messages)))
        call = {"name": "accp_fetch", "args": {"ref": reference_to(key)}, "id": "f1", "type": "tool_call"}
        answered = projection.open(call)
        assert isinstance(answered, ToolMessage) and found in answered.text
        assert (answered.tool_call_id, answered.status, answered.name) == ("f1", "success", "accp_fetch")
    refused = projection.open({"name": "accp_fetch", "args": {"ref": "$cold.000000000000000000000000"}, "id": "f2"})
    assert (refused.status, refused.text[:5]) == ("error", "E5002")
    assert projection.open(made[0]) is None


def test_messages_of_two_kinds_are_refused_with_their_index() -> None:
    with pytest.raises(ValueError, match=r"expected messages with a role or a type, found .* at index 0"):
        project_messages([HumanMessage("hi"), {"role": "user", "content": "hi"}])


def fitting(provider: str, messages: list[AnyMessage]) -> Iterator[AnyMessage]:
    """Yield those messages that a provider's layout and LangChain's formatter for it have a place for."""
    ids, before = deque[str](), None
    for number, message in enumerate(messages):
        if isinstance(message, AIMessage) and message.tool_calls:
            ids = deque(f"c{number}_{index}" for index in range(len(message.tool_calls)))
            calls = [{**call, "id": new} for call, new in zip(message.tool_calls, ids, strict=True)]
            yield message.model_copy(update={"tool_calls": calls})
        elif isinstance(message, ToolMessage):
            # Only Anthropic's layout says that a result is an error.
            status = message.status if provider == "anthropic" else "success"
            text = message.text if message.text.strip() else "nothing"
            yield message.model_copy(update={"tool_call_id": ids.popleft(), "status": status, "content": text})
        # Only the layout of Chat names who speaks; the formatters of both others put what one side says twice in a row
        # into one message.
        elif message.text.strip() and (
            provider == "openai" or (type(before) is not type(message) and not message.name)
        ):
            yield message
        else:
            continue
        before = message


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_large_result_becomes_a_preview_that_the_fetch_tool_opens(provider: str) -> None:
    messages = conversation(provider)
    projection = project_messages(messages, policy=TIGHT)
    assert projection.layout == LAYOUT_OF[provider]
    assert 0 < projection.tokens_after <= 200 < projection.tokens_before
    assert json.dumps(projection.tools).count("accp_fetch") == 1
    reference = reference_to(text_with_reference(projection))
    arguments = {"ref": reference, "query": "select name from rows where id = 'C-077'"}
    answered = projection.open(call_of(provider, "accp_fetch", arguments))
    assert answered is not None and "Customer 77" in json.dumps(answered) and "f1" in json.dumps(answered)
    refused = projection.open(call_of(provider, "accp_fetch", {"ref": "$cold.000000000000000000000000"}))
    assert "E5002" in json.dumps(refused) and ("is_error" in json.dumps(refused)) == (provider == "anthropic")
    assert projection.open(call_of(provider, "crm", {"query": "q3"})) is None


def call_of(provider: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call as a model of the provider writes it."""
    written = json.dumps(arguments)
    return {
        "openai": {"id": "f1", "type": "function", "function": {"name": name, "arguments": written}},
        "responses": {"type": "function_call", "call_id": "f1", "name": name, "arguments": written},
        "anthropic": {"type": "tool_use", "id": "f1", "name": name, "input": arguments},
    }[provider]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_tools_stay_once_a_reference_was_fetched(provider: str) -> None:
    fetched = [
        HumanMessage("Who?"),
        AIMessage("", tool_calls=[{"name": "accp_fetch", "args": {"ref": "$cold.x"}, "id": "f1"}]),
        ToolMessage("E5002: no", tool_call_id="f1"),
    ]
    assert len(project_messages(request_of(provider, fetched)).tools) == 1
    assert project_messages(request_of(provider, fetched[:1])).tools == []


def test_what_is_not_text_stays_the_object_that_was_given() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aWNo"}}
    marked = {"type": "text", "text": json.dumps(ROWS), "cache_control": {"type": "ephemeral"}}
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    messages = [
        {"role": "user", "content": [image, {"type": "text", "text": "What is this?"}]},
        {"role": "assistant", "content": [thinking, {"type": "tool_use", "id": "c1", "name": "crm", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": [marked, image]}]},
    ]
    projection = project_messages(messages)
    assert projection.messages[:2] == messages[:2] and projection.messages[0] is messages[0]
    (result,) = projection.messages[2]["content"]
    assert result["tool_use_id"] == "c1" and result["content"][1] is image
    assert result["content"][0]["cache_control"] == marked["cache_control"]
    assert (
        len(result["content"][0]["text"]) < len(marked["text"]) == len(messages[2]["content"][0]["content"][0]["text"])
    )


def test_other_agents_are_those_that_are_named_or_handed_over_to() -> None:
    long = json.dumps(ROWS)
    messages = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "name": "scout", "content": long},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "h", "type": "function", "function": {"name": "transfer_to_market", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "h", "content": "done"},
        {"role": "assistant", "name": "market", "content": long},
    ]  # fmt: skip
    policy = Policy(repeats=False)
    shown = [message["content"] for message in project_messages(messages, policy=policy).messages]
    assert (shown[1] == long, shown[4] == long) == (True, False)
    named = Policy(repeats=False, agent_names=frozenset({"scout"}))
    assert project_messages(messages, policy=named).messages[1]["content"] != long
    assert project_messages(messages, policy=named, agent="scout").messages[1]["content"] == long
    alone = Policy(repeats=False, agent_names=None)
    assert project_messages(messages, policy=alone).messages == messages


def test_ids_that_repeat_from_turn_to_turn_pair_with_the_newest_call() -> None:
    turn = [
        {"role": "user", "content": "Which?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_0", "type": "function", "function": {"name": "crm", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "call_0", "content": json.dumps(ROWS)},
    ]  # fmt: skip
    other = {**turn[2], "content": json.dumps(ROWS[::-1])}
    shown = project_messages([*turn, *turn[:2], other], policy=TIGHT)
    keys = [next(iter(find_references(shown.messages[index]["content"]))) for index in (2, 5)]
    assert keys == [short_key(KEY_OF_ROWS), short_key(key_of(other["content"]))]
    for key in keys:
        call = call_of("openai", "accp_fetch", {"ref": reference_to(key), "query": "select count(*) from rows"})
        assert "90" in str(shown.open(call))
    assert project_messages(turn, policy=TIGHT).messages == shown.messages[:3]


def test_old_and_broken_messages_are_read_as_far_as_they_are_clear() -> None:
    broken = {"id": "c2", "type": "function", "function": {"name": "crm", "arguments": "[" * 20_000}}
    custom = {"id": "c3", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    messages: list[Any] = [
        {"role": "user", "content": None},
        {"role": "assistant", "content": "", "tool_calls": [broken, custom, {"id": "c4"}]},
        {"role": "tool", "tool_call_id": "c2", "content": json.dumps(ROWS)},
        {"role": "function", "name": "crm", "content": json.dumps(ROWS)},
    ]
    projection = project_messages(messages, policy=TIGHT)
    assert all(len(each["content"]) < 1_500 for each in projection.messages[2:])
    assert projection.open({"id": "x"}) is None
    items = [{"role": "developer", "content": "hi"}, {"type": "reasoning", "id": "r", "summary": []},
             {"type": "custom_tool_call", "call_id": "k", "name": "sql", "input": "select 1"},
             {"type": "custom_tool_call_output", "call_id": "k", "output": json.dumps(ROWS)}]  # fmt: skip
    shown = project_messages(items, policy=TIGHT).messages
    assert shown[:3] == items[:3] and len(shown[3]["output"]) < 1_500


@pytest.mark.parametrize("message", ["hello", 5, {}, {"content": "hello"}])
def test_what_is_no_message_is_refused_with_its_index(message: Any) -> None:
    with pytest.raises(ValueError, match=r"expected messages with a role or a type, found .* at index 1"):
        project_messages([{"role": "user", "content": "hi"}, message])
    with pytest.raises(ValueError, match="'xml' is not a valid Layout"):
        project_messages([], layout="xml")


@pytest.mark.parametrize("layout", [None, "openai-chat", "openai-responses", "anthropic"])
@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": ["x"], "content": "[1]"},
        {"role": "assistant", "name": ["x"], "content": "x"},
        {"role": ["tool"], "content": "x"},
        {"type": ["function_call"], "name": "x"},
        {"type": "function_call_output", "call_id": {"x": 1}, "output": "x"},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": ["x"], "content": "x"}]},
        {"role": "user", "content": [{"type": ["text"], "text": "x"}]},
    ],
)
def test_an_id_or_a_name_that_is_no_text_is_refused_with_its_index(message: Any, layout: str | None) -> None:
    with pytest.raises(ValueError, match=r"expected '\w+' to be a text, found [\[{].* at index 1"):
        project_messages([{"role": "user", "content": "hi"}, message], layout=layout)


def test_any_iterable_is_a_conversation() -> None:
    assert project_messages(each for each in [{"role": "user", "content": "hi"}]).messages != []  # type: ignore[arg-type]


def test_nothing_is_a_conversation() -> None:
    projection = project_messages([])
    assert (projection.messages, projection.tools, projection.tokens_before) == ([], [], 0)


CITED_PART = {"openai": "text", "responses": "input_text", "anthropic": "text"}


@pytest.mark.parametrize("provider", CITED_PART)
def test_texts_behind_words_that_cite_them_are_results(provider: str) -> None:
    rows = json.dumps([{"id": n, "status": "late" if n % 50 == 0 else "paid"} for n in range(600)])
    asker = project_messages([{"role": "tool", "tool_call_id": "1", "content": rows}])
    words = f"Which are late in {reference_to(key_of(rows))}?"
    assert asker.cited_by(words) == [rows] and asker.cited_by("Which are late?") == []
    parts = [{"type": CITED_PART[provider], "text": text} for text in (words, *asker.cited_by(words), rows[1:])]
    (message,) = (shown := project_messages([{"role": "user", "content": parts}], layout=LAYOUT_OF[provider])).messages
    texts = [part["text"] for part in message["content"]]
    assert texts == [words, asker.messages[0]["content"], rows[1:]]
    query = json.dumps({"ref": reference_to(key_of(rows)), "query": "select count(*) as n from rows"})
    assert shown.answer(query) == "n 600" and shown.answer("{}").startswith("E")
    assert project_messages([], layout=LAYOUT_OF[provider]).answer(query).startswith("E5002")


def test_the_150th_call_of_a_conversation_costs_at_most_twice_the_10th() -> None:
    counted: list[int] = []

    def counter(text: str) -> int:
        counted.append(len(text))
        return len(text) // 4 + 1

    policy, messages, work = Policy(counter=counter), [], []
    for turn in range(150):
        rows = [{"id": f"{turn}-{n}", "city": "Leeds", "sum": n * turn} for n in range(20)]
        called = {"id": f"c{turn}", "type": "function", "function": {"name": "crm", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [called]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": json.dumps(rows)},
        ]
        counted.clear()
        shown = project_messages(messages, policy=policy)
        work.append(sum(counted))
    assert shown.messages[-1] != messages[-1]
    assert 0 < work[149] <= 2 * work[9]
