"""What an adapter did, for operators: totals, log records of the logger "accp", OpenTelemetry counters and spans.

Nothing of a text is told, only the name of its tool, its size and the keys of references, which are hashes.
OpenTelemetry is used where `opentelemetry-api` is installed (extra `telemetry`); `METRICS` names the counters.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

try:
    from opentelemetry import metrics, propagate, trace
except ImportError:  # the totals and the log records need nothing
    metrics = propagate = trace = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from opentelemetry.util.types import AttributeValue

__all__ = [
    "ADAPTER", "AGENT", "CHARS", "CODE", "CONVERSATION", "ERROR", "FETCH_SPAN", "KEYS", "METRICS", "MODEL_CALL",
    "PASSED_SPAN", "REWRITTEN", "SOURCE", "TOOL", "TOOL_RESULT", "Metric", "RewritingRecord", "Stats",
    "Telemetry",
]  # fmt: skip

_log: Final = logging.getLogger("accp")
ADAPTER: Final = "accp.adapter"
"""The attribute of every counter and span that names the adapter, such as "langgraph"."""
MODEL_CALL: Final = "accp.model_call"
"""The span of a model call, from the projection of its prompt to its answer."""
FETCH_SPAN: Final = "accp.fetch"
"""The span of a query of references."""
PASSED_SPAN: Final = "accp.pass_on"
"""The span of a call in whose arguments references are replaced by their texts."""
TOOL_RESULT: Final = "accp.tool_result"
"""The span of a result of a tool in a proxy, from its arrival to what its client is sent."""
REWRITTEN: Final = "accp.message.rewritten"
"""The event of a span of a model call for each message that is sent in another form for the first time."""
AGENT: Final = "gen_ai.agent.name"
"""The attribute of a span that names the agent, as OpenTelemetry calls it."""
CONVERSATION: Final = "gen_ai.conversation.id"
"""The attribute of a span that names the thread of the agent, as OpenTelemetry calls it."""
TOOL: Final = "gen_ai.tool.name"
"""The attribute of a span that names the tool, as OpenTelemetry calls it."""
SOURCE: Final = "accp.source"
"""The attribute of an event that names the tool or the agent that a message comes from."""
KEYS: Final = "accp.reference.keys"
"""The attribute of an event or a span with the keys of its references, at most 32."""
CHARS: Final = "accp.passed.characters"
"""The attribute of a span with the characters that a tool was given in place of references."""
CODE: Final = "accp.error.code"
"""The attribute of a span of a query that was refused: the error code."""
ERROR: Final = "error.type"
"""The attribute of a span that an exception ended: its class, as OpenTelemetry calls it."""
_MAX_KEYS: Final = 32
_TRACE_FIELDS: Final = ("traceparent", "tracestate")
_MAX_TRACE: Final = 512
"""Characters of a field that names a trace; a longer one is left out."""
_MAX_KEPT: Final = 1_000
"""Pairs of a tool and a reason that are counted."""
_MAX_NAME: Final = 100
"""Characters of the name of a tool, an agent or a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A counter of OpenTelemetry; a span that was current has the last number under the same name."""

    name: str
    """Its name."""
    unit: str
    """Its unit, as OpenTelemetry writes what is counted."""
    description: str
    """What is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RewritingRecord:
    """A message or a result that a model is sent in another form for the first time."""

    source: str
    """The name of the tool or of the agent that it comes from."""
    tokens_before: int
    """Its tokens as it was; of a very long text an estimate."""
    tokens_after: int
    """Its tokens as it is sent."""
    references: tuple[str, ...] = ()
    """Keys of the references that its new form cites."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Totals since the adapter was created, in this process."""

    rewritten: int = 0
    """Messages or results that were sent in another form; each is counted where it is sent first."""
    tokens_before: int = 0
    """Their tokens as they were."""
    tokens_after: int = 0
    """Their tokens as they were sent."""
    references_made: int = 0
    """References in them."""
    references_opened: int = 0
    """Texts that were opened by a reference."""
    references_refused: int = 0
    """Fetches that were refused."""
    references_answered: int = 0
    """References in final answers, whose readers may not be able to open them."""
    references_passed: int = 0
    """References in arguments that a tool was given the texts of."""
    store_failures: int = 0
    """Times that a store failed; what it should have kept is tried again."""
    projection_failures: int = 0
    """Messages that were sent as they were because their projection raised."""
    kept: Counter[str] = field(default_factory=Counter)
    """Results that were sent as they were, by tool and reason: "search: prose"."""

    def __add__(self, other: Stats) -> Stats:
        """Return the sums of both."""
        names = [each.name for each in fields(self)]
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def __str__(self) -> str:
        """Return the totals that are not zero: "Stats(rewritten=1, tokens_before=24083, tokens_after=470)"."""
        totals = {**self.to_json(), "kept": dict(self.kept)}
        return f"Stats({', '.join(f'{name}={total}' for name, total in totals.items() if total)})"

    def to_json(self) -> dict[str, int]:
        """Return the totals by name."""
        return {name: getattr(self, name) for name in METRICS}


_COUNTED: Final = (
    ("rewritten", "accp.messages.rewritten", "message", "Messages and results sent in another form"),
    ("tokens_before", "accp.tokens.before", "token", "Their tokens as they were"),
    ("tokens_after", "accp.tokens.after", "token", "Their tokens as they were sent"),
    ("references_made", "accp.reference.made", "reference", "References in them"),
    ("references_opened", "accp.reference.opened", "reference", "Texts opened by a reference"),
    ("references_refused", "accp.reference.refused", "fetch", "Fetches that were refused"),
    ("references_answered", "accp.reference.answered", "reference", "References in final answers"),
    ("references_passed", "accp.reference.passed", "reference", "References whose texts tools were given"),
    ("store_failures", "accp.store.failed", "failure", "Failures of a store"),
    ("projection_failures", "accp.projection.failed", "message", "Messages sent as they were after an error"),
)
METRICS: Final[Mapping[str, Metric]] = MappingProxyType(
    {field: Metric(name=name, unit=f"{{{unit}}}", description=told) for field, name, unit, told in _COUNTED}
)
"""The counter of each field of `Stats`."""


class Telemetry:
    """Counts and tells what one adapter does; threads may share it."""

    def __init__(self, adapter: str) -> None:
        """Begin with nothing; `adapter` is the name in log records and attributes, such as "langgraph"."""
        self._adapter: Final = adapter
        self._lock: Final = threading.Lock()
        self._stats = Stats()
        self._counters: Final[dict[str, Any]] = {}

    def __deepcopy__(self, _memo: dict[int, Any]) -> Telemetry:
        """Return one that begins with the same totals: neither a lock nor a counter of OpenTelemetry can be copied."""
        other = Telemetry(self._adapter)
        other._stats = self._stats
        return other

    def stats(self) -> Stats:
        """Return the totals."""
        return self._stats

    def rewritten(self, rewritings: Sequence[RewritingRecord]) -> dict[str, int]:
        """Tell what one model call is sent in another form for the first time; return the sums."""
        for each in rewritings:
            _log.info(
                "%s: %s sent in %d of %d tokens, %d references",
                self._adapter,
                each.source or "a message",
                each.tokens_after,
                each.tokens_before,
                len(each.references),
            )
            self._tell_span(each)
        return self._tell(
            Stats(
                rewritten=len(rewritings),
                tokens_before=sum(each.tokens_before for each in rewritings),
                tokens_after=sum(each.tokens_after for each in rewritings),
                references_made=sum(len(each.references) for each in rewritings),
            )
        )

    def model_call(self, agent: str | None, thread: str | None) -> AbstractContextManager[None]:
        """Tell what a block does as one model call of an agent in a thread."""
        return _span(MODEL_CALL, {ADAPTER: self._adapter, AGENT: agent, CONVERSATION: thread})

    def tool_result(self, tool: str, meta: object) -> AbstractContextManager[None]:
        """Tell what a block does with a result of a tool; `meta` is the `_meta` of its call, which may name a trace."""
        return _span(TOOL_RESULT, {ADAPTER: self._adapter, TOOL: tool}, meta)

    def fetch(self, agent: str | None, thread: str | None, meta: object = None) -> AbstractContextManager[None]:
        """Tell what a block does as one query of references by an agent in a thread; `meta` as for `tool_result`."""
        return _span(FETCH_SPAN, {ADAPTER: self._adapter, AGENT: agent, CONVERSATION: thread}, meta)

    def opened(self, keys: Sequence[str]) -> None:
        """Tell that the texts of `keys` were opened."""
        _log.info("%s: %d references opened", self._adapter, len(keys))
        self._tell(Stats(references_opened=len(keys)))
        if trace is not None:
            trace.get_current_span().set_attribute(KEYS, [*keys[:_MAX_KEYS]])

    def passing_on(
        self, tool: str, agent: str | None, thread: str | None, meta: object = None
    ) -> AbstractContextManager[None]:
        """Tell what a block does as references in the arguments of a call of `tool` replaced by their texts."""
        return _span(PASSED_SPAN, {ADAPTER: self._adapter, TOOL: tool, AGENT: agent, CONVERSATION: thread}, meta)

    def passed_on(self, tool: str, keys: Sequence[str], chars: int) -> None:
        """Tell that `tool` is given `chars` characters of the texts of `keys`."""
        _log.info("%s: %s is given %d characters of %d references", self._adapter, tool, chars, len(keys))
        self._tell(Stats(references_passed=len(keys)))
        if trace is not None:
            trace.get_current_span().set_attributes({KEYS: [*keys[:_MAX_KEYS]], CHARS: chars})

    def refused(self, reason: str) -> None:
        """Tell that a fetch was refused; `reason` begins with the error code, and only that is told."""
        code = reason.partition(":")[0]
        _log.info("%s: a reference was refused: %s", self._adapter, code)
        self._tell(Stats(references_refused=1))
        if trace is not None:
            trace.get_current_span().set_attribute(CODE, code)

    def answered(self, references: int) -> None:
        """Tell that a final answer cites `references`."""
        _log.info("%s: a final answer cites %d references", self._adapter, references)
        self._tell(Stats(references_answered=references))

    def store_failed(self, reason: str) -> None:
        """Tell that a store failed; `reason` names the store and the class of its error."""
        _log.warning("%s: %s", self._adapter, reason)
        self._tell(Stats(store_failures=1))

    def kept(self, results: Sequence[tuple[str, str]]) -> None:
        """Tell which results stay as they are: the tool and the reason of each."""
        for source, reason in results:
            _log.info("%s: %s stays as it is: %s", self._adapter, source, reason)
        with self._lock:
            named = (f"{source[:_MAX_NAME]}: {reason}" for source, reason in results)
            more = Counter(
                each if each in self._stats.kept or len(self._stats.kept) < _MAX_KEPT else "others" for each in named
            )
            self._stats += Stats(kept=more)

    def projection_failed(self, messages: int) -> None:
        """Count messages that are sent as they were because their projection raised; the projector logs why."""
        self._tell(Stats(projection_failures=messages))

    def _tell_span(self, rewriting: RewritingRecord) -> None:
        """Add an event to the span that is current."""
        if trace is not None:
            attributes: dict[str, AttributeValue] = {
                SOURCE: rewriting.source[:_MAX_NAME],
                METRICS["tokens_before"].name: rewriting.tokens_before,
                METRICS["tokens_after"].name: rewriting.tokens_after,
                KEYS: [*rewriting.references[:_MAX_KEYS]],
            }
            trace.get_current_span().add_event(REWRITTEN, attributes)

    def _tell(self, more: Stats) -> dict[str, int]:
        with self._lock:
            self._stats += more
        changed = {name: value for name, value in more.to_json().items() if value}
        if metrics is not None:
            span = trace.get_current_span()
            attributes = {ADAPTER: self._adapter}
            for name, value in changed.items():
                self._counter(name).add(value, attributes)
                span.set_attribute(METRICS[name].name, value)
            if changed:
                span.set_attributes(attributes)
        return changed

    def _counter(self, name: str) -> Any:
        if name not in self._counters:
            metric = METRICS[name]
            meter = metrics.get_meter("accp")
            self._counters[name] = meter.create_counter(metric.name, unit=metric.unit, description=metric.description)
        return self._counters[name]


@contextmanager
def _span(name: str, named: Mapping[str, str | None], meta: object = None) -> Iterator[None]:
    """Make a span the current one, where OpenTelemetry is installed."""
    with ExitStack() as stack:
        if trace is not None:
            stack.enter_context(_current_span(name, named, meta))
        yield


@contextmanager
def _current_span(name: str, named: Mapping[str, str | None], meta: object) -> Iterator[None]:
    """Make a span the current one; of an exception only its class is told, as its words may be those of a prompt."""
    attributes = {key: value[:_MAX_NAME] for key, value in named.items() if value}
    tracer = trace.get_tracer("accp")
    given = meta if isinstance(meta, Mapping) else {}
    carrier = {key: given[key] for key in _TRACE_FIELDS if isinstance(given.get(key), str)}
    with tracer.start_as_current_span(
        name,
        context=propagate.extract({key: value for key, value in carrier.items() if len(value) <= _MAX_TRACE}),
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except Exception as error:
            span.set_attribute(ERROR, type(error).__name__)
            span.set_status(trace.StatusCode.ERROR)
            raise
