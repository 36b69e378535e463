"""A recorded run as the messages that a middleware sees: who spoke, the calls that a message makes, their results.

The instructions and the tool definitions of a model call stand beside its messages, not in them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import dropwhile, groupby, islice
from typing import Any, Final

from accp_adapters.messages.openai_chat import read_messages
from accp_adapters.messages.placed import TextPath
from accp_adapters.replay.recorded_run import RecordedCall, RecordedMessage, Role, Run
from accp_core.projection import MessageRecord
from accp_core.strict_json import compact_json

__all__ = ["SeenMessage", "SeenMessages", "name_of"]

_MAX_PARALLEL: Final = 128
"""Calls of one turn among which that of a result without an id is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMessage:
    """One message, made of one recorded text or of several."""

    message: dict[str, Any]
    """The message in the layout of OpenAI's Chat Completions."""
    record: MessageRecord
    """Its record."""
    positions: tuple[int, ...]
    """Of each block of the record the position of its text in the run."""


class SeenMessages:
    """The messages of one run."""

    def __init__(self, run: Run) -> None:
        """Read the messages of `run`."""
        self._messages: Final = run.messages
        self._ids: Final = _call_ids(run.messages)
        self._seen: Final = cache(self._read)

    def of(self, call: RecordedCall) -> Iterator[SeenMessage]:
        """Yield the messages that are seen before a model call; the instructions at its beginning are none."""
        prompt = dropwhile(lambda position: self._messages[position].role is Role.INSTRUCTIONS, call.prompt)
        for _, positions in groupby(prompt, self._said_together):
            yield from self._seen(tuple(positions))

    def _said_together(self, position: int) -> tuple[object, ...]:
        """Return what neighbouring texts of one message have in common; of a result, only itself."""
        message = self._messages[position]
        own = position if message.role is Role.TOOL else None
        return message.role, message.sender, message.turn, message.by_model, own

    def _read(self, positions: tuple[int, ...]) -> tuple[SeenMessage, ...]:
        parts = [self._messages[position] for position in positions]
        message = self._message(positions, parts)
        texts = tuple(position for position, part in zip(positions, parts, strict=True) if not _is_call(part))
        return tuple(
            SeenMessage(
                message=message,
                record=placed.record,
                positions=tuple(texts[_number(place)] for place in placed.places if place),
            )
            for placed in read_messages([message])
        )

    def _message(self, positions: Sequence[int], parts: Sequence[RecordedMessage]) -> dict[str, Any]:
        first = parts[0]
        texts = [part.text for part in parts if not _is_call(part)]
        parted = [{"type": "text", "text": text} for text in texts] or None
        content = texts[0] if len(texts) == 1 else parted
        match first.role:
            case Role.INSTRUCTIONS:
                return {"role": "system", "content": content}
            case Role.TOOL:
                return {"role": "tool", "content": content, "tool_call_id": self._ids[positions[0]], "name": first.tool}
            case Role.AGENT:
                calls = [
                    _call(part, self._ids[position])
                    for position, part in zip(positions, parts, strict=True)
                    if _is_call(part)
                ]
                made = {"tool_calls": calls} if calls else {}
                return {"role": "assistant", "content": content, **_named(first), **made}
        return {"role": "user", "content": content, **_named(first)}


def _number(place: TextPath) -> int:
    """Return which text of a message is at a place: its content is one text, or a list of them."""
    number = place[2] if len(place) > 2 else 0
    assert isinstance(number, int)
    return number


def name_of(participant: str, role: Role) -> str | None:
    """Return the name of a participant, None where it is not recorded."""
    return None if participant in ("", role.value) else participant


def _named(message: RecordedMessage) -> dict[str, str]:
    name = name_of(message.sender, message.role)
    return {"name": name} if name else {}


def _is_call(message: RecordedMessage) -> bool:
    return message.role is Role.AGENT and bool(message.tool)


def _call(message: RecordedMessage, call_id: str) -> dict[str, Any]:
    """Return a call; arguments that are no object, such as a command, are those of a tool with one text."""
    arguments = message.text if isinstance(message.value, dict) else compact_json({"input": message.text})
    return {"id": call_id, "type": "function", "function": {"name": message.tool, "arguments": arguments}}


def _call_ids(messages: Iterable[RecordedMessage]) -> dict[int, str]:
    """Return the id of each call, and of each result that of the call that it answers; by position.

    A result without one answers a call of the last turn of its recipient that has no result: of the same tool, else the
    first.
    """
    ids: dict[int, str] = {}
    waiting: defaultdict[str, dict[int, str]] = defaultdict(dict)
    turns: dict[str, int] = {}
    for position, message in enumerate(messages):
        if _is_call(message):
            ids[position] = message.call_id or f"call_{position}"
            if turns.get(message.sender) != message.turn:
                waiting[message.sender].clear()
            turns[message.sender] = message.turn
            waiting[message.sender][position] = message.tool
        elif message.role is Role.TOOL and message.call_id:
            ids[position] = message.call_id
        elif message.role is Role.TOOL:
            calls = waiting[message.recipient]
            first = [position for position, _ in islice(calls.items(), _MAX_PARALLEL)]
            answered = next((each for each in first if calls[each] == message.tool), first[0] if first else None)
            ids[position] = ids[answered] if answered is not None else f"result_{position}"
            if answered is not None:
                del calls[answered]
    return ids
