"""Spans as events of a thread: those of our adapters, and those of model calls, tools and agents that others tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.inspector.live.events import MAX_TITLE
from accp_adapters.inspector.live.threads import Event, Kind
from accp_adapters.inspector.live.told import Told
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay.contents.secrets import hide_secrets
from accp_adapters.replay.formats.traces.otlp import to_span
from accp_adapters.replay.formats.traces.span import Span
from accp_adapters.telemetry import (
    AGENT,
    CODE,
    CONVERSATION,
    ERROR,
    FETCH,
    KEYS,
    METRICS,
    MODEL_CALL,
    REWRITTEN,
    SOURCE,
    Rewriting,
)
from accp_core.accp.debug import DEFAULT_REDACTION
from accp_core.accp.debug.redaction import HIDDEN_VALUE

__all__ = ["ReceivedSpan", "event_of", "received"]

_BEFORE: Final = METRICS["tokens_before"].name
_AFTER: Final = METRICS["tokens_after"].name
_OTHERS: Final = ("gen_ai.operation.name", "openinference.span.kind", "langfuse.observation.type", "llm.request.type")
"""Attributes of the spans of others that say what an agent does."""
_CONVERSATIONS: Final = (CONVERSATION, "session.id", "langfuse.session.id")
_AGENTS: Final = (AGENT, "agent.name", "graph.node.id")
_REDACTION: Final = DEFAULT_REDACTION.adding("pwd")
_MAX_NAME: Final = 100
_MAX_KEYS: Final = 32
_MAX_FACTS: Final = 60
_MAX_VALUE: Final = 300
_MAX_TOKENS: Final = 1 << 53
_MAX_EVENTS: Final = 200
_UNIT: Final = 500
"""What a span, an attribute or an event takes besides its text, in bytes, roughly."""
_NANO: Final = 1e9


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedSpan:
    """A span, and what is not in it."""

    span: Span
    """The span."""
    service: str
    """The program that has sent it."""
    parent: str
    """The id of the span around it; empty: there is none."""
    began: float | None
    """When it began, in seconds of the Unix epoch."""
    ended: float | None
    """When it ended."""
    failed: bool
    """Whether its status is an error."""
    size: int
    """The memory that it takes, in bytes, roughly."""

    @property
    def conversation(self) -> str:
        """The conversation that it names; empty: it names none."""
        return _first(self.span.attributes, _CONVERSATIONS)

    @property
    def is_own(self) -> bool:
        """Whether one of our adapters tells it."""
        return self.span.name in (MODEL_CALL, FETCH)

    @property
    def is_shown(self) -> bool:
        """Whether it says what an agent does."""
        return self.is_own or any(name in self.span.attributes for name in _OTHERS)


def received(service: str, document: Mapping[str, Any]) -> ReceivedSpan:
    """Return a span from its JSON.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not as it should be.
    """
    span = to_span(document)
    status = document.get("status") or {}
    return ReceivedSpan(
        span=span,
        service=shorten(service, _MAX_NAME),
        parent=str(document.get("parentSpanId") or "")[:_MAX_NAME],
        began=_seconds(document.get("startTimeUnixNano")),
        ended=_seconds(document.get("endTimeUnixNano")),
        failed=status.get("code") in (2, "STATUS_CODE_ERROR"),
        size=_size(span.attributes) + _UNIT + sum(_UNIT + _size(attributes) for _, attributes in span.events),
    )


def event_of(each: ReceivedSpan) -> Event:
    """Return what happened in a span."""
    told = _told(each)
    return Event(kind=_kind(told), sender=told.agent, title=shorten(_title(told), MAX_TITLE), at=each.began, told=told)


def _told(each: ReceivedSpan) -> Told:
    attributes = each.span.attributes
    error = _text(attributes, ERROR) or ("error" if each.failed else "")
    return Told(
        name=shorten(hide_secrets(each.span.name[:_MAX_VALUE]), _MAX_NAME),
        agent=shorten(_first(attributes, _AGENTS) or each.service or "agent", _MAX_NAME),
        calls_model=each.span.name == MODEL_CALL,
        rewritten=tuple(_rewritings(each.span)),
        opened=_keys(attributes) if each.span.name == FETCH else (),
        refused=shorten(_text(attributes, CODE), _MAX_NAME),
        error=shorten(error, _MAX_NAME),
        seconds=None if each.began is None or each.ended is None else max(each.ended - each.began, 0.0),
        facts=tuple(_facts(each)),
    )


def _rewritings(span: Span) -> Iterator[Rewriting]:
    for name, attributes in span.events[:_MAX_EVENTS]:
        if name == REWRITTEN:
            yield Rewriting(
                source=shorten(_text(attributes, SOURCE), _MAX_NAME),
                tokens_before=_number(attributes, _BEFORE),
                tokens_after=_number(attributes, _AFTER),
                references=_keys(attributes),
            )


def _kind(told: Told) -> Kind:
    if told.refused or told.error:
        return Kind.FAILURE
    if told.calls_model:
        return Kind.PROMPT
    return Kind.CALL if told.name == FETCH else Kind.OTHER


def _title(told: Told) -> str:
    trouble = told.refused or told.error
    if told.calls_model:
        references = sum(len(each.references) for each in told.rewritten)
        sources = ", ".join(dict.fromkeys(each.source for each in told.rewritten))
        made = f", {references} references" if references else ""
        changed = f": {sources} {told.before:,} → {told.after:,} tokens{made}" if told.rewritten else ""
        return f"model call{changed}" + (f", ended by {trouble}" if trouble else "")
    if told.name == FETCH:
        return f"query refused: {trouble}" if trouble else f"opened {', '.join(f'${key}' for key in told.opened)}"
    return f"{told.name}, ended by {trouble}" if trouble else told.name


def _facts(each: ReceivedSpan) -> Iterator[tuple[str, str]]:
    yield "service", each.service
    for name, value in [*each.span.attributes.items()][:_MAX_FACTS]:
        shown = HIDDEN_VALUE if _REDACTION.hides(name.rpartition(".")[2]) else hide_secrets(str(value)[:_MAX_VALUE])
        yield shorten(name, _MAX_NAME), shorten(shown, _MAX_VALUE)
    yield "trace", shorten(each.span.trace, _MAX_NAME)


def _first(attributes: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return shorten(next(filter(None, (_text(attributes, name) for name in names)), ""), _MAX_NAME)


def _text(attributes: Mapping[str, Any], name: str) -> str:
    value = attributes.get(name)
    return value if isinstance(value, str) else ""


def _number(attributes: Mapping[str, Any], name: str) -> int:
    value = attributes.get(name)
    return value if isinstance(value, int) and 0 <= value <= _MAX_TOKENS else 0


def _keys(attributes: Mapping[str, Any]) -> tuple[str, ...]:
    value = attributes.get(KEYS)
    keys = value[:_MAX_KEYS] if isinstance(value, list) else []
    return tuple(shorten(key, _MAX_NAME) for key in keys if isinstance(key, str))


def _seconds(nanoseconds: object) -> float | None:
    text = str(nanoseconds or "")[:_MAX_NAME]
    return int(text) / _NANO if text.isascii() and text.isdecimal() and text.strip("0") else None


def _size(value: object) -> int:
    match value:
        case str():
            return len(value) + _UNIT
        case list():
            return _UNIT + sum(map(_size, value))
        case dict():
            return _UNIT + sum(len(key) + _size(item) for key, item in value.items())
    return _UNIT
