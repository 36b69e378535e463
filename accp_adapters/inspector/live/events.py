"""The events of a thread, from the messages of its runs or from its frames."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from accp_adapters.inspector.live.frame_record import FrameRecord, recipients
from accp_adapters.inspector.live.threads import EventKind, ThreadEvent
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay import RecordedMessage, Role, Run
from accp_adapters.replay.contents.secrets import hide_secrets
from accp_core.accp import Intent

__all__ = ["MAX_TITLE", "USER", "frame_events", "handed_to", "run_events"]

USER: Final = "user"
"""The lane of people."""
_HANDOFF: Final = re.compile(r"(?:transfer|hand_?off|delegate)_(?:back_)?to_(?P<agent>\w{1,64})")
MAX_TITLE: Final = 140
"""Characters of a title."""
_READ: Final = 600
"""Characters of a text of which its title is made."""
_KINDS: Final[Mapping[Intent, EventKind]] = {
    Intent.REQUEST: EventKind.REQUEST,
    Intent.QUERY: EventKind.REQUEST,
    Intent.COMPLETE: EventKind.DONE,
    Intent.ACKNOWLEDGE: EventKind.DONE,
    Intent.STREAM: EventKind.STREAM,
    Intent.END_STREAM: EventKind.STREAM,
    Intent.FAILURE: EventKind.FAILURE,
    Intent.ESCALATE: EventKind.FAILURE,
    Intent.CANCEL: EventKind.FAILURE,
}


def run_events(run: Run, number: int) -> Iterator[ThreadEvent]:
    """Yield the events of a run, the one of the thread with this number."""
    speakers, later = (_next_speakers(run.messages, across=across) for across in (False, True))
    callers = {message.call_id: message.sender for message in run.messages if message.by_model and message.call_id}
    agents = {message.sender for message in run.messages if message.by_model}
    caller, task = "", ""
    for position, message in enumerate(run.messages):
        caller = message.sender if message.by_model else caller
        answered = callers.get(message.call_id) or caller or message.recipient
        speaker = later[position] if message.role is Role.INSTRUCTIONS else speakers[position]
        kind, sender, recipient = _lanes(message, speaker, answered, agents)
        if kind is EventKind.HANDOFF:
            task = _task(message)
        elif task and message.role is Role.USER and message.text.startswith(task):
            # What the next agent reads as the words of a user are those of the agent before.
            kind, sender, task = EventKind.HANDOFF, caller, ""
        yield ThreadEvent(
            kind=kind, sender=sender, recipient=recipient, title=_title(message), place=(number, position)
        )


def frame_events(records: Sequence[FrameRecord]) -> Iterator[ThreadEvent]:
    """Yield the events of a session of frames."""
    for record, recipient in zip(records, recipients(records), strict=True):
        kind = (
            EventKind.FAILURE
            if record.refusal
            else _KINDS.get(record.intent, EventKind.OTHER)
            if record.intent
            else EventKind.OTHER
        )
        title = f"{record.intent} {record.operation}" if record.intent else record.operation
        yield ThreadEvent(
            kind=kind,
            sender=record.sender,
            recipient=recipient,
            title=shorten(f"{title}: {record.refusal}" if record.refusal else title, MAX_TITLE),
            at=record.at,
            frame=record,
        )


def handed_to(tool: str, agents: set[str]) -> str:
    """Return the agent that a tool call hands over to, empty for a call of any other tool."""
    found = _HANDOFF.fullmatch(tool)
    if found is None:
        return ""
    return next((agent for agent in sorted(agents) if _plain(agent) == _plain(found["agent"])), found["agent"])


def _lanes(message: RecordedMessage, next_speaker: str, caller: str, agents: set[str]) -> tuple[EventKind, str, str]:
    match message.role:
        case Role.TOOL:
            return EventKind.RESULT, caller, ""
        case Role.INSTRUCTIONS:
            return EventKind.OTHER, next_speaker, ""
        case Role.AGENT if message.tool:
            agent = handed_to(message.tool, agents)
            return (EventKind.HANDOFF, message.sender, agent) if agent else (EventKind.CALL, message.sender, "")
        case Role.AGENT:
            to = message.recipient if message.recipient in agents else next_speaker or USER
            return EventKind.WORDS, message.sender, USER if to == message.sender else to
    return EventKind.WORDS, message.sender or USER, next_speaker


def _task(message: RecordedMessage) -> str:
    """Return the task that a call hands over, empty for none."""
    task = message.value.get("task") if isinstance(message.value, dict) else None
    return task if isinstance(task, str) else ""


def _next_speakers(messages: Sequence[RecordedMessage], *, across: bool) -> list[str]:
    """Return for each message the model that says something next, empty for none.

    Args:
        messages: The messages of a run.
        across: Whether words of a person may come between.
    """
    speakers = [""] * len(messages)
    speaker = ""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        speakers[position] = speaker
        if message.by_model:
            speaker = message.sender
        elif message.role is Role.USER and not across:
            speaker = ""
    return speakers


def _title(message: RecordedMessage) -> str:
    words = hide_secrets(message.text[:_READ])
    if message.role is Role.INSTRUCTIONS:
        words = f"instructions: {words}"
    elif message.tool:
        words = f"{message.tool} {words}" if message.by_model else f"{message.tool}: {words}"
    return shorten(words, MAX_TITLE)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()
