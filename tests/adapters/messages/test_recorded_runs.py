"""Recorded runs in the messages of each provider: to the byte what the middleware sends for the same conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from accp_adapters.langgraph.projection import MessageProjector
from accp_adapters.messages import project_messages
from accp_adapters.policy import Policy
from accp_adapters.replay import Run, read_runs
from accp_adapters.tokens import count_o200k
from tests.adapters.langgraph.transcripts import PROVIDERS, payload, violations
from tests.adapters.messages.conversations import LAYOUT_OF
from tests.adapters.messages.test_projection import FIELD_OF, request_of
from tests.bench.data import find_data, recorded_runs
from tests.limits import LONG

SHIPPED = Path(str(files("accp_adapters.replay"))) / "recorded_run.json"
RUNS_OF_A_SOURCE = None if LONG else 1
SHORT = 60_000
"""Characters of the longest run that is always replayed."""


def runs() -> Iterator[Run]:
    """Yield the shipped run and, where the recorded data is, short ones of each source; with ACCP_LONG=1 all."""
    yield from read_runs(SHIPPED)
    if data := find_data():
        found, _ = recorded_runs(data)
        for _, group in groupby(found, lambda run: run.source):
            short = (run for run in group if RUNS_OF_A_SOURCE is None or chars(run) < SHORT)
            yield from islice(short, RUNS_OF_A_SOURCE)


def chars(run: Run) -> int:
    return sum(len(message.text) for message in run.messages)


@pytest.mark.parametrize("policy", [Policy(), Policy.lossless(), Policy.tight()], ids=["default", "lossless", "tight"])
def test_a_recorded_run_has_the_tokens_that_the_middleware_sends(policy: Policy) -> None:
    counted = []
    for run in runs():
        messages = as_transcript(run)
        assert violations(messages) == []
        expected = MessageProjector(policy).project(messages).messages
        assert project_messages(messages, policy=policy).messages == expected
        for provider in PROVIDERS:
            shown = project_messages(request_of(provider, messages), policy=policy, layout=LAYOUT_OF[provider])
            assert {**payload(provider, messages), FIELD_OF[provider]: shown.messages} == payload(provider, expected)
            assert tokens(shown.messages) == tokens(request_of(provider, expected))
            assert [line for rule in PROVIDERS[provider] for line in rule({FIELD_OF[provider]: shown.messages})] == []
        counted.append((tokens(request_of("openai", messages)), tokens(request_of("openai", expected))))
    before, after = map(sum, zip(*counted, strict=True))
    print(f"{len(counted)} runs, {before:,} → {after:,} tokens")
    assert counted and after <= before


def tokens(messages: object) -> int:
    return count_o200k(json.dumps(messages, ensure_ascii=False))


def as_transcript(run: Run) -> list[BaseMessage]:
    """Return a recorded run as one conversation that each provider takes: who spoke, the calls, and their results."""
    messages: list[BaseMessage] = []
    waiting: list[tuple[str, str]] = []
    for index, each in enumerate(run.messages):
        if each.by_model and each.tool:
            call_id = f"call_{index}"
            waiting.append((each.call_id, call_id))
            made = {"name": "".join(c if c.isalnum() else "_" for c in each.tool)[:60], "args": {"input": each.text}}
            messages.append(AIMessage("", tool_calls=[{**made, "id": call_id}]))
        elif each.role == "tool" and waiting:
            found = next((pair for pair in waiting if pair[0] == each.call_id), waiting[0])
            waiting.remove(found)
            messages.append(ToolMessage(each.text, tool_call_id=found[1]))
        elif each.text.strip():
            messages.append(AIMessage(each.text) if each.by_model else HumanMessage(each.text))
    return [*_merged([HumanMessage("Begin."), *_paired(messages), HumanMessage("Go on.")])]


def _paired(messages: list[BaseMessage]) -> Iterator[BaseMessage]:
    """Yield the messages with each result right behind its call, an empty one where none was recorded."""
    results = {each.tool_call_id: each for each in messages if isinstance(each, ToolMessage)}
    for message in messages:
        if isinstance(message, ToolMessage):
            continue
        yield message
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            yield results.get(str(call["id"])) or ToolMessage("(none)", tool_call_id=str(call["id"]))


def _merged(messages: list[BaseMessage]) -> Iterator[BaseMessage]:
    """Yield the messages with what one side says twice in a row as one, as some providers' formatters send it."""

    def speaker(message: BaseMessage) -> Any:
        says = not isinstance(message, ToolMessage) and not getattr(message, "tool_calls", None)
        return message.type if says else id(message)

    for _, group in groupby(messages, speaker):
        first, *others = group
        text = "\n\n".join(each.text for each in (first, *others))
        yield first.model_copy(update={"content": text}) if others else first
