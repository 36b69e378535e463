"""Where a recorded stream ends: one that breaks off, and a second one after it in the same response."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Final

from accp_adapters.replay.formats.findings import Findings
from accp_adapters.replay.formats.streams.events import STREAM_END, StreamEvent

__all__ = ["RESPONSE_ENDS", "breaks_off", "first_stream"]

RESPONSE_ENDS: Final = ("response.completed", "response.incomplete", "response.failed")
"""Types of the events that end a stream of OpenAI Responses and hold the whole response."""


def breaks_off(events: list[StreamEvent], kind: str) -> bool:
    """Return whether the events of one stream of a provider lack its end."""
    return not _ENDS[kind](events)


def first_stream(events: list[StreamEvent], kind: str, findings: Findings) -> list[StreamEvent]:
    """Return the events of the first stream of a response; others, after it or mixed with it, are named."""
    if kind == "OpenAI chat":
        events = _of_first_id(events, kind, findings)
    position = _SECOND[kind](events)
    if position is None:
        return events
    findings.add("stream", f"of {kind} after another one in a response")
    return events[:position]


def _of_first_id(events: list[StreamEvent], kind: str, findings: Findings) -> list[StreamEvent]:
    """Return the chunks of the completion that begins first, where those of several are mixed.

    Chunks of some servers have ids of their own: only where an id comes again after another one are they mixed.
    """
    ids = [event.get("id") for event in events if event.get("id")]
    changes = [each for before, each in pairwise([None, *ids]) if each != before]
    if len(changes) == len(set(map(str, changes))):
        return events
    for _ in range(len(set(map(str, ids))) - 1):
        findings.add("stream", f"of {kind} mixed with another one in a response")
    kept = [event for event in events if event is not STREAM_END and event.get("id") in (ids[0], None, "")]
    return [*kept, *([STREAM_END] if any(event is STREAM_END for event in events) else [])]


def _all_finished(choices: Iterable[Any]) -> bool | None:
    """Return whether each choice or candidate says why it ended; None: there is none."""
    ended: dict[str, bool] = {}
    for choice in choices:
        index = str(choice.get("index") or 0)
        reason = choice.get("finish_reason") or choice.get("finishReason")
        ended[index] = ended.get(index, False) or bool(reason)
    return all(ended.values()) if ended else None


def _listed(events: Iterable[StreamEvent], name: str) -> Iterable[Any]:
    return (each for event in events for each in event.get(name) or ())


def _chat_ends(events: list[StreamEvent]) -> bool:
    choices = list(_listed(events, "choices"))
    # Some servers say [DONE] and no reason; where one choice has its reason, all have.
    says_reasons = any(choice.get("finish_reason") for choice in choices)
    return bool(_all_finished(choices)) if says_reasons else STREAM_END in events


def _second_chat(events: list[StreamEvent]) -> int | None:
    first: object = None
    ended: dict[str, bool] = {}
    done = False
    for position, event in enumerate(events):
        done |= event is STREAM_END
        choices = event.get("choices") or ()
        # Chunks of some servers have ids of their own: another id alone is no other stream.
        if choices and (done or (ended and all(ended.values()) and event.get("id") != first)):
            return position
        first = first or event.get("id")
        for choice in choices:
            index = str(choice.get("index") or 0)
            ended[index] = ended.get(index, False) or bool(choice.get("finish_reason"))
    return None


def _second_gemini(events: list[StreamEvent]) -> int | None:
    ids = [event.get("responseId") or event.get("response_id") for event in events]
    first = next(filter(None, ids), None)
    return next((position for position, each in enumerate(ids) if each and each != first), None)


def _second(begins: Callable[[StreamEvent], bool]) -> Callable[[list[StreamEvent]], int | None]:
    """Return what finds the second event of a list with which a stream begins."""

    def find(events: list[StreamEvent]) -> int | None:
        found = [position for position, event in enumerate(events) if begins(event)]
        return found[1] if len(found) > 1 else None

    return find


_ENDS: Final[Mapping[str, Callable[[list[StreamEvent]], bool]]] = {
    "OpenAI chat": _chat_ends,
    "OpenAI Responses": lambda events: any(event.get("type") in RESPONSE_ENDS for event in events),
    "Anthropic": lambda events: any(event.get("type") == "message_stop" for event in events),
    "Gemini": lambda events: _all_finished(_listed(events, "candidates")) is not False,
    "Bedrock Converse": lambda events: any("messageStop" in event for event in events),
}
_SECOND: Final[Mapping[str, Callable[[list[StreamEvent]], int | None]]] = {
    "OpenAI chat": _second_chat,
    "OpenAI Responses": _second(lambda event: event.get("type") == "response.created"),
    "Anthropic": _second(lambda event: event.get("type") == "message_start"),
    "Gemini": _second_gemini,
    "Bedrock Converse": _second(lambda event: "messageStart" in event),
}
