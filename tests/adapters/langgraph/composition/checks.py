"""What must hold of a conversation, whatever stands beside `AccpMiddleware`. Each check raises AssertionError."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from accp_adapters.fetching import FETCH_NAME
from accp_core.references import find_references, key_of, short_key
from tests.adapters.langgraph import transcripts
from tests.adapters.langgraph.composition.harness import Prompt, Run

__all__ = [
    "answers_of", "fetch_is_offered", "markers_have_lines", "only_texts_changed", "opened", "own_references",
    "prefixes_stay", "provider_rules", "same_state", "same_tools", "texts_of", "without_fetches",
]  # fmt: skip

_MARKER: Final = re.compile(r'\[as above: \d+ lines? from "(.+)…"\]')
_RANDOM_ID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|lc_run--.*|run-.*")


def texts_of(message: BaseMessage) -> list[str]:
    """Return the text blocks of a message."""
    if isinstance(message.content, str):
        return [message.content]
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in message.content]
    return [block["text"] for block in blocks if block.get("type") == "text"]


def provider_rules(run: Run) -> None:
    """No prompt breaks the message rules of OpenAI Chat, OpenAI Responses or Anthropic."""
    for prompt in run.prompts:
        transcripts.check(prompt.messages)


def without_fetches(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Return the messages but for calls of the fetch tool and their answers."""
    fetches = {
        message.id
        for message in messages
        if isinstance(message, AIMessage) and {call["name"] for call in message.tool_calls} == {FETCH_NAME}
    }
    return [
        message
        for message in messages
        if message.id not in fetches and not (isinstance(message, ToolMessage) and message.name == FETCH_NAME)
    ]


def same_state(run: Run, plain: Run) -> None:
    """The state is the one without us, message by message, and nothing of ours is returned."""
    found, expected = ([_described(each) for each in without_fetches(one.state["messages"])] for one in (run, plain))
    assert found == expected
    assert set(run.state) == set(plain.state)


def _described(message: BaseMessage) -> dict[str, Any]:
    described = message.model_dump()
    described["id"] = _RANDOM_ID.sub("random", str(message.id))
    return described


def prefixes_stay(run: Run) -> None:
    """Of two calls in a row, as many first messages are sent alike as were given alike."""
    assert len(run.given) == len(run.passed)
    for (given, sent), (given_next, sent_next) in pairwise(zip(run.given, run.passed, strict=True)):
        alike = _alike(given.messages, given_next.messages)
        assert _alike(sent.messages, sent_next.messages) >= alike


def _alike(one: Sequence[BaseMessage], other: Sequence[BaseMessage]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def only_texts_changed(run: Run) -> None:
    """Of a message that is sent, nothing but texts differs from what was given; what the agent said does not differ."""
    for given, sent in zip(run.given, run.passed, strict=True):
        for before, after in zip(given.messages, sent.messages, strict=True):
            if isinstance(before, AIMessage):
                assert after == before
            assert _without_texts(after) == _without_texts(before)


def _without_texts(message: BaseMessage) -> tuple[dict[str, Any], list[Any]]:
    blocks = [message.content] if isinstance(message.content, str) else message.content
    kept = [block for block in blocks if isinstance(block, dict) and block.get("type") != "text"]
    return message.model_dump(exclude={"content"}), [len(blocks), *kept]


def same_tools(run: Run, plain: Run) -> None:
    """The tools are those without us, in their order; the fetch tool comes once at most and stays."""
    offered = [FETCH_NAME in prompt.tools for prompt in run.prompts]
    assert offered == sorted(offered)
    for prompt, expected in zip(run.prompts, plain.prompts, strict=True):
        assert [name for name in prompt.tools if name != FETCH_NAME] == expected.tools


def markers_have_lines(run: Run) -> int:
    """Each repeat marker quotes a line that stands above it in what was sent, in the same message or an earlier one.

    Returns:
        How many markers there are.
    """
    markers = 0
    for prompt in run.passed:
        above: list[str] = []
        for line in (line for message in prompt.messages for text in texts_of(message) for line in text.split("\n")):
            marker = _MARKER.fullmatch(line)
            assert not marker or any(each.lstrip().startswith(marker[1]) for each in above), line
            markers += bool(marker)
            above.append(line)
    return markers


def fetch_is_offered(run: Run) -> None:
    """The fetch tool is offered with each prompt that holds a reference of ours or a call of it."""
    for number, prompt in enumerate(run.prompts):
        calls = [call["name"] for each in prompt.messages if isinstance(each, AIMessage) for call in each.tool_calls]
        if own_references(run, number) or FETCH_NAME in calls:
            assert prompt.tools.count(FETCH_NAME) == 1


def own_references(run: Run, number: int) -> set[str]:
    """Return the keys that we wrote into prompt `number` and that are still in it; others' words name others."""
    at = _call_of(run, number)
    written = {key for before, after in _changed(run.given[at], run.passed[at]) for key in _new_keys(before, after)}
    seen = {key for message in run.prompts[number].messages for key in find_references(message.text)}
    return written & seen


def _call_of(run: Run, number: int) -> int:
    """Return the call of ours that led to prompt `number`: inside of it a fallback may ask two models."""
    each = len(run.prompts) // len(run.given)
    assert len(run.prompts) == each * len(run.given)
    return number // each


def _changed(given: Prompt, sent: Prompt) -> Iterator[tuple[BaseMessage, BaseMessage]]:
    pairs = zip(given.messages, sent.messages, strict=True)
    return ((before, after) for before, after in pairs if before.content != after.content)


def _new_keys(before: BaseMessage, after: BaseMessage) -> set[str]:
    return set(find_references(after.text)) - set(find_references(before.text))


def answers_of(run: Run) -> dict[str, ToolMessage]:
    """Return the answers of the fetch tool by the call's id, as models were sent them or as the state keeps them."""
    seen = [message for prompt in run.given for message in prompt.messages]
    found = [message for message in [*seen, *run.state["messages"]] if isinstance(message, ToolMessage)]
    return {message.tool_call_id: message for message in found if message.name == FETCH_NAME}


def opened(run: Run, *, everything: bool) -> int:
    """Each reference of ours opened, to the text it was made of; with `everything`, those that others repeat, too.

    Returns:
        How many were opened.
    """
    held = [text for prompt in run.given for message in prompt.messages for text in texts_of(message)]
    texts = {short_key(key_of(text)): text for text in held}
    answers = answers_of(run)
    ours = {key for number in range(len(run.prompts)) for key in own_references(run, number)}
    assert ours <= set(run.asked.values())
    for call_id, key in run.asked.items():
        answer = answers[call_id]
        if everything or key in _ours_at(run, call_id):
            assert answer.status == "success", (key, answer.text)
        if answer.status == "success":
            assert _first_word(texts[key]) in answer.text
        else:
            assert answer.text.startswith("E5002")
    return len(run.asked)


def _ours_at(run: Run, call_id: str) -> set[str]:
    """Return the keys that were ours in the prompt that call `call_id` answered."""
    for number, prompt in enumerate(run.prompts):
        answered = [message for message in prompt.messages if isinstance(message, ToolMessage)]
        if any(message.tool_call_id == call_id for message in answered):
            return own_references(run, number - 1)
    return set()


def _first_word(text: str) -> str:
    """Return the first word of a text that any notation must show: one with digits, or nothing."""
    found = re.search(r"\b(?=\w*\d)(?=\w*[a-z])\w{8,16}\b", text)
    return found[0] if found else ""
