"""What an agent of a graph was really sent: its subgraph has it, the messages of the graph do not say it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from accp_adapters.replay import RecordedCall, RecordedMessage, Run

__all__ = ["with_own_prompts"]

_Key: TypeAlias = tuple[str, str, str, str]


def with_own_prompts(run: Run, others: Iterable[Run]) -> Run:
    """Return the conversation of a graph in which each call has the prompt that the conversation of its agent gives it.

    A call whose prompt holds a message that the graph does not have stays as it is.

    Args:
        run: The conversation of the graph.
        others: Those of its subgraphs.
    """
    places: defaultdict[_Key, list[int]] = defaultdict(list)
    for position, message in enumerate(run.messages):
        places[_key(message)].append(position)
    prompts = {}
    for other in others:
        for call in other.calls:
            output = _placed(other.messages, call.output, places, len(run.messages))
            prompt = _placed(other.messages, call.prompt, places, output[0]) if output else None
            if output and prompt is not None:
                prompts[output[0]] = prompt
    return replace(run, calls=tuple(_corrected(call, prompts) for call in run.calls))


def _corrected(call: RecordedCall, prompts: Mapping[int, tuple[int, ...]]) -> RecordedCall:
    prompt = prompts.get(call.output[0]) if call.output else None
    return call if prompt is None else replace(call, prompt=prompt)


def _placed(
    messages: Sequence[RecordedMessage], positions: Iterable[int], places: Mapping[_Key, list[int]], end: int
) -> tuple[int, ...] | None:
    """Return the positions of messages in the graph, each the last time before `end`; None where one does not."""
    found = []
    for position in positions:
        before = [place for place in places.get(_key(messages[position]), ()) if place < end]
        if not before:
            return None
        found.append(before[-1])
    return tuple(found)


def _key(message: RecordedMessage) -> _Key:
    return message.role, message.text, message.tool, message.call_id
