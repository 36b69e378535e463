"""Tiny recorded runs for the tests of the command, in every format that it reads."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from accp_adapters.replay.recorded_run import RecordedMessage, Role, Run, calls_in_order

FLIGHTS = [
    {"flight": "HAT069", "price": 121, "seats": {"economy": 17, "business": 4}},
    {"flight": "HAT083", "price": 1100, "seats": {"economy": 7, "business": 12}},
]


def user(text: str, turn: int = 0) -> RecordedMessage:
    """Return what the user says to the agent `clerk`."""
    return RecordedMessage(sender="user", recipient="clerk", role=Role.USER, text=text, turn=turn)


def says(text: str, turn: int, *, sender: str = "clerk", to: str = "user") -> RecordedMessage:
    """Return what an agent says."""
    return RecordedMessage(sender=sender, recipient=to, role=Role.AGENT, text=text, turn=turn, by_model=True)


def asks(arguments: dict[str, Any], turn: int, *, tool: str = "search", call_id: str = "") -> RecordedMessage:
    """Return a tool call of `clerk`."""
    return replace(says(json.dumps(arguments), turn, to=tool), tool=tool, call_id=call_id)


def answers(text: str, turn: int, *, tool: str = "search", call_id: str = "") -> RecordedMessage:
    """Return a tool's answer to `clerk`."""
    return RecordedMessage(
        sender=tool, recipient="clerk", role=Role.TOOL, text=text, tool=tool, call_id=call_id, turn=turn
    )


def run_of(*messages: RecordedMessage, tools: str = "") -> Run:
    """Return the run of `messages`, its calls found in their order."""
    return Run(name="test", source="test.json", messages=messages, calls=calls_in_order(messages, tools))


def chat() -> list[dict[str, Any]]:
    """Return a conversation in the OpenAI chat format."""
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"to":"SEA"}'}}
    return [
        {"role": "system", "content": "You book flights."},
        {"role": "user", "content": [{"type": "text", "text": "To Seattle"}]},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": json.dumps(FLIGHTS)},
        {"role": "assistant", "content": "Take HAT083 for 1,100 dollars."},
    ]
