"""The pages of the inspector: what the templates show of a thread, tab by tab."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from accp_adapters.inspector.live.agents import agents_of
from accp_adapters.inspector.live.events import MAX_TITLE
from accp_adapters.inspector.live.frames import show_frame, shown_time
from accp_adapters.inspector.live.lanes import arrows_of, lanes_of, overview_of
from accp_adapters.inspector.live.prompts import ShownProjection, count_tokens, totals
from accp_adapters.inspector.live.references import Reference, ask, references_of
from accp_adapters.inspector.live.sources.cold_texts import ColdTexts
from accp_adapters.inspector.live.threads import Observed, Thread, ThreadEvent
from accp_adapters.inspector.page.bars import SEGMENT_KINDS
from accp_adapters.inspector.page.environment import render_template
from accp_adapters.inspector.page.plain_text import shorten, shorten_middle
from accp_adapters.replay import StrategyName
from accp_adapters.replay.contents.largest_texts import beginning_of
from accp_adapters.replay.contents.secrets import secrets_in
from accp_core.bounded import BoundedDict

__all__ = ["Missing", "Pages", "Shown"]

_PAGE: Final = 400
"""Events of one page."""
_MAX_CHARS: Final = 20_000
_MAX_NAME: Final = 80
_WHO: Final = 26
"""Characters of the names in a row."""
_PROJECTIONS: Final = 32
"""Projections of runs that are kept."""
_TABS: Final = {"timeline": "Timeline", "prompts": "Prompts", "agents": "Agents", "references": "References"}
_POLICIES: Final = (StrategyName.LOSSLESS, StrategyName.DEFAULT, StrategyName.TIGHT)


class Missing(Exception):
    """There is no such page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What all pages show of the source."""

    source: str
    """What it is called."""
    observed: Observed
    """What it holds."""
    version: int
    """How often that has changed."""
    problem: str
    """Why it could not be read; empty: it could."""


class Pages:
    """Renders pages, and keeps the projections that it has computed."""

    def __init__(self, policy: StrategyName, store: ColdTexts | None = None) -> None:
        """Project prompts under `policy` unless a page asks for another one; `store` keeps texts of references."""
        self._store: Final = store
        self._policy: Final = policy
        self._projections: Final[BoundedDict[tuple[int, int, str], tuple[Any, ShownProjection]]] = BoundedDict(
            _PROJECTIONS
        )

    def render(self, shown: Shown, wanted: Mapping[str, str]) -> str:
        """Return a page.

        Args:
            shown: What the source holds.
            wanted: The thread and the tab of the address, and what it asks for: `event`, `from`, `call`, `reference`,
                `query`, `policy`.

        Raises:
            Missing: there is no such thread, tab, event, call or reference.
        """
        threads = shown.observed.threads
        thread = _chosen(threads, wanted.get("thread", ""))
        tab = wanted.get("tab", "timeline")
        if tab not in _TABS:
            raise Missing(f"expected one of {', '.join(_TABS)}, found {tab!r:.80}")
        values = getattr(self, f"_{tab}")(thread, wanted) if thread else {}
        return render_template(
            f"live/{tab if thread else 'empty'}.html.jinja",
            shown=shown,
            threads=[(each.id, shorten(each.name, _MAX_NAME), len(each.events)) for each in threads],
            thread=thread,
            name=shorten(thread.name, _MAX_NAME) if thread else "",
            tab=tab,
            tabs=_TABS,
            kinds=SEGMENT_KINDS,
            **values,
        )

    def _timeline(self, thread: Thread, wanted: Mapping[str, str]) -> dict[str, Any]:
        event = _number(wanted.get("event"), len(thread.events), "an event")
        first = _first(thread, wanted.get("from"), event)
        events = thread.events[first : first + _PAGE]
        lanes = lanes_of(thread.events)
        return {
            "lanes": lanes,
            "arrows": arrows_of(events, lanes),
            "overview": overview_of(thread.events, lanes, _PAGE),
            "rows": [_row(number, each) for number, each in enumerate(events, first)],
            "first": first,
            "page": _PAGE,
            "event": event,
            "detail": None if event is None else self._detail(thread, thread.events[event], wanted),
        }

    def _detail(self, thread: Thread, event: ThreadEvent, wanted: Mapping[str, str]) -> dict[str, Any]:
        """Return what is shown of one event."""
        frame = show_frame(event.frame) if event.frame else None
        detail: dict[str, Any] = {"event": event, "frame": frame, "message": None}
        if event.place is None:
            return detail
        number, position = event.place
        message = thread.runs[number].messages[position]
        projection = self._projection(thread, number, wanted)
        sent = projection.sent(position)
        secrets = secrets_in(message.text)
        return detail | {
            "message": message,
            "recorded": beginning_of(message.text, secrets, _MAX_CHARS),
            "recorded_tokens": count_tokens(message.text),
            "sent": beginning_of(sent, secrets, _MAX_CHARS) if sent not in (None, message.text) else None,
            "sent_tokens": count_tokens(sent or ""),
            "cut": len(message.text) > _MAX_CHARS,
            "calls": projection.calls_with(position),
            "run": number,
            "policy": projection.policy,
        }

    def _prompts(self, thread: Thread, wanted: Mapping[str, str]) -> dict[str, Any]:
        run = _number(wanted.get("run", "0"), max(len(thread.runs), 1), "a conversation") or 0
        if not thread.runs:
            return {"rows": [], "call": None}
        projection = self._projection(thread, run, wanted)
        rows = projection.rows()
        call = _number(wanted.get("call"), len(rows), "a call")
        parts, left_out = projection.parts(call) if call is not None else ([], 0)
        return {
            "rows": rows,
            "run": run,
            "runs": [shorten(each.name.rpartition("/")[2], _MAX_NAME) for each in thread.runs],
            "call": call,
            "parts": parts,
            "left_out": left_out,
            "hidden": len(thread.runs[run].calls) - len(rows),
            "totals": totals(rows),
            "policy": projection.policy,
            "policies": _POLICIES,
        }

    def _agents(self, thread: Thread, wanted: Mapping[str, str]) -> dict[str, Any]:
        references = self._references_of(thread, wanted)
        return {"agents": agents_of(thread, references), "linked": references}

    def _references(self, thread: Thread, wanted: Mapping[str, str]) -> dict[str, Any]:
        references = self._references_of(thread, wanted)
        key = wanted.get("reference", "")
        reference = references.get(key)
        if key and reference is None:
            raise Missing(f"expected a reference of this thread, found {key!r:.80}")
        query = wanted.get("query", "")[:10_000]
        result = ask(reference.text, query) if reference and reference.text is not None else None
        return {"references": list(references.values()), "reference": reference, "query": query, "result": result}

    def _references_of(self, thread: Thread, wanted: Mapping[str, str]) -> dict[str, Reference]:
        cited = {
            reference: (number, position)
            for number in range(len(thread.runs))
            for reference, position in self._projection(thread, number, wanted).references.items()
        }
        return references_of(thread, cited, self._store)

    def _projection(self, thread: Thread, number: int, wanted: Mapping[str, str]) -> ShownProjection:
        """Return the projection of a run."""
        run = thread.runs[number]
        policy = next((each for each in _POLICIES if each == wanted.get("policy")), self._policy)
        key = id(run), number, policy.value
        kept = self._projections.get(key)
        if kept is not None and kept[0] is run:
            return kept[1]
        projection = ShownProjection(run, policy)
        self._projections.put(key, (run, projection))
        return projection


def _chosen(threads: tuple[Thread, ...], wanted: str) -> Thread | None:
    if not wanted:
        return threads[0] if threads else None
    found = next((thread for thread in threads if thread.id == wanted), None)
    if found is None:
        raise Missing(f"expected a thread of the source, found {wanted!r:.80}")
    return found


def _number(given: str | None, end: int, what: str) -> int | None:
    if given is None:
        return None
    if not given.isascii() or not given.isdecimal() or int(given[:9]) >= end:
        raise Missing(f"expected {what} from 0 to {end - 1}, found {given!r:.80}")
    return int(given)


def _first(thread: Thread, given: str | None, event: int | None) -> int:
    """Return the first event of a page: of the one that is asked for, else of the one with the chosen event."""
    if given == "last":
        return max(len(thread.events) - 1, 0) // _PAGE * _PAGE
    first = _number(given, max(len(thread.events), 1), "an event")
    return (first if first is not None else event or 0) // _PAGE * _PAGE


def _who(event: ThreadEvent) -> str:
    if not event.recipient:
        return shorten_middle(event.sender, _WHO)
    return f"{shorten_middle(event.sender, _WHO // 2)} → {shorten_middle(event.recipient, _WHO // 2)}"


def _row(number: int, event: ThreadEvent) -> dict[str, Any]:
    return {
        "number": number,
        "kind": event.kind,
        "who": _who(event),
        "title": shorten(event.title, MAX_TITLE),
        "time": shown_time(event.at)[11:],
    }
