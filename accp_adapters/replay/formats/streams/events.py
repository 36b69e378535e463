"""The events of a recorded stream: server-sent events as text or as lines, or a list of the objects in them.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

__all__ = ["BROKEN", "STREAM_END", "StreamEvent", "events_of"]

StreamEvent = Mapping[str, Any]
"""The JSON object that one event holds."""
BROKEN: Final[StreamEvent] = {"broken": "event"}
"""Stands for an event that is no JSON object, such as one that breaks off."""
STREAM_END: Final[StreamEvent] = {"done": "stream"}
"""Stands for the end that OpenAI's streams say."""
_STARTS: Final = ("data:", "event:", "id:", "retry:", ":")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")
"""Not what `str.splitlines` takes for one: JSON may have such characters in its texts."""
_DONE: Final = "[DONE]"


def events_of(recorded: Any) -> list[StreamEvent] | None:
    """Return the events of a recorded response; None: it is no stream.

    Args:
        recorded: Text such as "data: {…}", a list of such lines, blocks or bare JSON texts, or a list of objects, which
            may be events themselves or have them in `data`.
    """
    match recorded:
        case str(text) if text.lstrip("\ufeff\r\n").startswith(_STARTS):
            return list(_from_text(text))
        case [str(), *_]:
            lines = [line for line in recorded if isinstance(line, str)]
            if len(lines) == len(recorded) and lines[0].lstrip().startswith((*_STARTS, "{")):
                return list(_from_text("\n".join(map(_line, lines))))
        case [{}, *_] if all(isinstance(each, Mapping) for each in recorded):
            return [_inner(each) for each in recorded]
    return None


def _line(line: str) -> str:
    """Return one text of a list as lines of a stream: a line, a whole event, or the JSON of an event."""
    bare = line.lstrip()
    return f"data: {bare}\n" if bare.startswith(("{", _DONE)) else line


def _from_text(text: str) -> Iterator[StreamEvent]:
    """Yield the events in the text of a stream; one ends at a blank line, where a new one begins, or with the text."""
    data: list[str] = []
    for line in _LINE_END.split(text):
        if line.startswith("data:"):
            # Logs leave out blank lines; no provider writes an event on several lines.
            if data and _is_object("\n".join(data)):
                yield from _parsed(data)
                data = []
            data.append(line.removeprefix("data:").removeprefix(" "))
        elif not line.strip() and data:
            yield from _parsed(data)
            data = []
    if data:
        yield from _parsed(data)


def _is_object(text: str) -> bool:
    return next(iter(_parsed([text])), BROKEN) is not BROKEN


def _parsed(lines: list[str]) -> Iterator[StreamEvent]:
    text = "\n".join(lines)
    if text.strip() == _DONE:
        yield STREAM_END
        return
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        event = None
    yield event if isinstance(event, dict) else BROKEN


def _inner(recorded: StreamEvent) -> StreamEvent:
    """Return the event in a record of one: `{"event": …, "data": …}`, where the data may be JSON in a text."""
    if not recorded.keys() <= {"event", "data", "id", "retry", "time", "timestamp"} or "data" not in recorded:
        return recorded
    data = recorded["data"]
    if isinstance(data, Mapping):
        return data
    return next(_parsed([str(data)]), {})
