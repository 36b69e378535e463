"""The spans that were received, the threads that they are of, and what was counted."""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from accp_adapters.inspector.live.events import run_events
from accp_adapters.inspector.live.telemetry.counters import Counters, Program
from accp_adapters.inspector.live.telemetry.spans import ReceivedSpan, event_of, received
from accp_adapters.inspector.live.threads import MAX_THREADS, Observed, Thread, identified
from accp_adapters.replay import Findings, Run
from accp_adapters.replay.formats.assembly import Assembler
from accp_adapters.replay.formats.traces.otlp import read_call

__all__ = ["CollectedSpans"]

_MAX_SPANS: Final = 20_000
_MAX_SIZE: Final = 200_000_000
"""Bytes that all spans take, roughly; of more, the last ones are kept."""
_UNNAMED: Final = "agents"
_UNREADABLE: Final = (KeyError, TypeError, ValueError, AttributeError, RecursionError)


class CollectedSpans:
    """A source that programs send their spans and counters to; threads may share it."""

    def __init__(self, name: str = "OpenTelemetry") -> None:
        """Begin with none; `name` is what pages call it."""
        self.name: Final = name
        self._lock: Final = threading.Lock()
        self._spans: Final[deque[ReceivedSpan]] = deque()
        self._size = 0
        self._dropped = 0
        self._others = 0
        self._unread = 0
        self._counters: Final = Counters()
        self._observed: Observed | None = Observed()
        self._built: dict[str, tuple[Sequence[ReceivedSpan], Thread]] = {}

    def add(self, spans: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Add spans, each with the service that has sent it; of too many, the last are kept."""
        found = [_received(*each) for each in spans]
        with self._lock:
            for each in found:
                self._put(each)
            self._observed = None

    def count(self, counters: Iterable[tuple[Program, Mapping[str, Any]]]) -> None:
        """Take counters, each with the program that has sent it."""
        with self._lock:
            for program, metric in counters:
                self._counters.add(program, metric)
            self._observed = None

    def read(self) -> Observed:
        """Return the threads that are there now."""
        with self._lock:
            if self._observed is None:
                self._observed = self._build()
            return self._observed

    def _put(self, each: ReceivedSpan | None) -> None:
        if each is None:
            self._unread += 1
        elif not each.is_shown:
            self._others += 1
        else:
            self._spans.append(each)
            self._size += each.size
        while len(self._spans) > _MAX_SPANS or self._size > _MAX_SIZE:
            self._size -= self._spans.popleft().size
            self._dropped += 1

    def _build(self) -> Observed:
        groups = _grouped(self._spans)
        names = [*groups][-MAX_THREADS:]
        self._built = {name: self._thread(name, groups[name]) for name in names}
        threads = (thread for _, thread in self._built.values())
        return Observed(
            threads=tuple(identified(threads)),
            left_out=len(groups) - len(names),
            findings=tuple(self._findings()),
            counted=self._counters.rows(),
        )

    def _thread(self, name: str, spans: Sequence[ReceivedSpan]) -> tuple[Sequence[ReceivedSpan], Thread]:
        """Return a thread, the same one as long as it has the same spans."""
        known = self._built.get(name)
        if known is not None and len(known[0]) == len(spans) and all(map(_is, known[0], spans)):
            return known
        runs = tuple(_runs(name, spans))
        told = (event_of(each) for each in sorted(spans, key=_began))
        messages = chain.from_iterable(run_events(run, number) for number, run in enumerate(runs))
        return spans, Thread(name=name, events=(*messages, *told), runs=runs)

    def _findings(self) -> Iterator[str]:
        if self._dropped:
            yield f"{self._dropped:,} earlier spans are no longer kept"
        if self._unread:
            yield f"{self._unread:,} spans that are not as OTLP has them"
        if self._counters.unread:
            yield f"{self._counters.unread:,} counters that are not as OTLP has them"
        if self._counters.left_out:
            yield f"{self._counters.left_out:,} values of counters beyond the series that are kept"


def _received(service: str, document: Mapping[str, Any]) -> ReceivedSpan | None:
    try:
        return received(service, document)
    except _UNREADABLE:
        return None


def _grouped(spans: Iterable[ReceivedSpan]) -> dict[str, list[ReceivedSpan]]:
    """Return the spans by thread: the conversation that one of the trace names, else the trace, else the service."""
    spans = list(spans)
    conversations = {each.span.trace: each.conversation for each in spans if each.conversation}
    groups: defaultdict[str, list[ReceivedSpan]] = defaultdict(list)
    for each in spans:
        groups[each.conversation or conversations.get(each.span.trace) or _alone(each)].append(each)
    return groups


def _alone(each: ReceivedSpan) -> str:
    if each.is_own and not each.parent:
        # Without a span around it and without a thread, nothing says which calls belong together.
        return each.service or _UNNAMED
    return f"trace {each.span.trace[:32]}" if each.span.trace else each.service or _UNNAMED


def _runs(name: str, spans: Iterable[ReceivedSpan]) -> Iterator[Run]:
    """Yield the conversations that spans of model calls hold, where a tracer records them."""
    findings = Findings()
    assembler = Assembler(name, findings)
    for each in spans:
        try:
            for request in read_call(each.span, findings):
                yield from assembler.add(request) if request.prompt else ()
        except _UNREADABLE:
            continue
    yield from assembler.close()


def _began(each: ReceivedSpan) -> float:
    return each.began or 0.0


def _is(one: ReceivedSpan, other: ReceivedSpan) -> bool:
    return one is other
