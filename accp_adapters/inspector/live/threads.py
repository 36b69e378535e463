"""What the inspector shows: threads, and what happened in each of them, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import Final

from accp_adapters.inspector.live.frame_record import FrameRecord
from accp_adapters.replay import Run
from accp_core.aci import AgentContext, TaskContext

__all__ = ["MAX_THREADS", "EventKind", "Observed", "Thread", "ThreadEvent", "identified"]

MAX_THREADS: Final = 2_000
"""Threads of a source that are shown."""
_DIGITS: Final = 12


class EventKind(StrEnum):
    """What an event is."""

    WORDS = "words"
    CALL = "call"
    RESULT = "result"
    HANDOFF = "handoff"
    REQUEST = "request"
    DONE = "done"
    STREAM = "stream"
    FAILURE = "failure"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadEvent:
    """Something that an agent, a tool or a person said."""

    kind: EventKind
    """What it is."""
    sender: str
    """The agent in whose lane it is; empty: it is in none."""
    recipient: str = ""
    """To whose lane its arrow goes; empty: it stays in its lane."""
    title: str
    """What happened, in a few words."""
    at: float | None = None
    """When, in seconds of the Unix epoch; None: not recorded."""
    place: tuple[int, int] | None = None
    """The run of the thread and the position of its message; None: it is none."""
    frame: FrameRecord | None = None
    """The frame; None: it is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One conversation of a graph with its subgraphs, one recorded run, or one session of frames."""

    name: str
    """What it is called."""
    events: tuple[ThreadEvent, ...]
    """What happened, in order."""
    id: str = ""
    """Names it in addresses of pages; the same as long as its name is."""
    runs: tuple[Run, ...] = ()
    """Its conversations."""
    task: TaskContext | None = None
    """The task that its master works on."""
    contexts: tuple[AgentContext, ...] = ()
    """What each agent was given and has reported."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Key to text, of texts that were handed over."""
    stored: frozenset[str] = frozenset()
    """Keys of the texts that a store keeps for it."""
    sessions: frozenset[str] = frozenset()
    """The sessions under which a store keeps them."""
    updated: str = ""
    """When it changed last, in ISO 8601; empty: not recorded."""
    note: str = ""
    """A sentence about the part that is left out; empty: all of it is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """All threads of a source at one time."""

    threads: tuple[Thread, ...] = ()
    """The threads."""
    left_out: int = 0
    """How many more there are, at least."""
    findings: tuple[str, ...] = ()
    """What was not understood."""


def identified(threads: Iterable[Thread]) -> Iterator[Thread]:
    """Yield the threads with an id each; those of one name are told apart by their order."""
    seen: dict[str, int] = {}
    for thread in threads:
        number = seen[thread.name] = seen.get(thread.name, -1) + 1
        digest = sha256(f"{number} {thread.name}".encode("utf-8", "surrogatepass")).hexdigest()
        yield replace(thread, id=digest[:_DIGITS])
