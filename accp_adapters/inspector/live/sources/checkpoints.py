"""Threads of LangGraph's checkpointers: the graph, its subgraphs and their agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby, islice
from typing import Any, Final

from accp_adapters.inspector.live.events import MAX_TITLE, USER, run_events
from accp_adapters.inspector.live.sources.subgraphs import with_own_prompts
from accp_adapters.inspector.live.threads import MAX_THREADS, EventKind, Observed, Thread, ThreadEvent, identified
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay import Findings, RecordedMessage, Run
from accp_adapters.replay.contents.secrets import hide_secrets
from accp_adapters.replay.formats.assembly import Assembler
from accp_adapters.replay.formats.checkpoints.threads import StoredCheckpoint, read_threads
from accp_core.aci import AgentContext, TaskContext
from accp_core.errors import ProtocolError
from accp_core.references import HANDED_TEXTS_KEY, key_of

__all__ = ["observe_checkpoints"]

_UNNAMED: Final = "assistant"
_MASTER: Final = "master"
_TEXTS: Final = (HANDED_TEXTS_KEY, "aci_texts")
"""Channels that hold texts by their keys."""
_SESSION: Final = "accp_session"
"""The channel of `AccpMiddleware` that names the session of its store."""
_STORED: Final = "accp_stored"
"""The channel of `AccpMiddleware` that says which texts of a message its store keeps."""


def observe_checkpoints(path: str, read: Callable[[], Iterator[StoredCheckpoint]]) -> Observed:
    """Return the threads of a database.

    Args:
        path: The database, for messages.
        read: Yields the last checkpoint of each graph and subgraph, those of one thread together.
    """
    findings = Findings()
    groups = groupby(read(), key=lambda checkpoint: checkpoint.thread)
    threads = [_thread(name, list(group), path, findings) for name, group in islice(groups, MAX_THREADS)]
    return Observed(
        threads=tuple(identified(threads)),
        left_out=sum(1 for _ in groups),
        findings=tuple(map(str, findings.not_understood())),
    )


def _thread(name: str, checkpoints: Sequence[StoredCheckpoint], path: str, findings: Findings) -> Thread:
    ordered = sorted(checkpoints, key=lambda each: (bool(each.namespace), each.written))
    runs = tuple(_runs(name, ordered, path, findings))
    if runs and len(ordered) > 1:
        own = chain.from_iterable(_own_runs(checkpoint, path) for checkpoint in ordered if checkpoint.namespace)
        runs = (with_own_prompts(runs[0], own), *runs[1:])
    values = [checkpoint.values for checkpoint in ordered]
    task = next(filter(None, map(_task, values)), None)
    of_master = [run for run in runs if task and all(call.agent == _UNNAMED for call in run.calls)]
    runs = tuple(run for run in runs if run not in of_master)
    events = tuple(chain.from_iterable(run_events(run, number) for number, run in enumerate(runs)))
    return Thread(
        name=name,
        events=_with_master(events, task, of_master) if task else events,
        runs=runs,
        task=task,
        contexts=tuple(chain.from_iterable(map(_contexts, values))),
        texts=dict(chain.from_iterable(map(_texts, values))),
        stored=frozenset(chain.from_iterable(map(_stored, values))),
        sessions=frozenset(chain.from_iterable(map(_sessions, values))),
        updated=max((each.written for each in ordered), default=""),
    )


def _runs(thread: str, checkpoints: Iterable[StoredCheckpoint], path: str, findings: Findings) -> Iterator[Run]:
    """Yield the conversations of a thread; a model without a name has that of its subgraph."""
    namespace = ""

    def followed() -> Iterator[StoredCheckpoint]:
        nonlocal namespace
        for checkpoint in checkpoints:
            namespace = checkpoint.namespace
            yield checkpoint

    # Each item comes while its checkpoint is the last one that was taken.
    for item in read_threads(followed(), findings):
        assembler = Assembler(path, _Quiet())
        for run in (*assembler.add(item), *assembler.close()):
            agent = _agent_of(namespace)
            named = _renamed(run, agent) if agent else run
            yield replace(named, name=f"{thread} {agent}".strip())


def _own_runs(checkpoint: StoredCheckpoint, path: str) -> Iterator[Run]:
    """Yield the conversations of one subgraph, also of one whose messages its graph has, too."""
    quiet = _Quiet()
    for item in read_threads([replace(checkpoint, namespace="")], quiet):
        assembler = Assembler(path, quiet)
        yield from (*assembler.add(item), *assembler.close())


class _Quiet(Findings):
    """Says nothing of a conversation without a model call: here it is an early one, not a broken one."""

    def add(self, noun: str, detail: str, *, left_out: bool = False) -> None:
        """Count nothing."""


def _agent_of(namespace: str) -> str:
    """Return the name of the last node of "master:id|crm:id"."""
    return namespace.rpartition("|")[2].partition(":")[0]


def _renamed(run: Run, agent: str) -> Run:
    def rename(message: RecordedMessage) -> RecordedMessage:
        sender, recipient = (agent if name == _UNNAMED else name for name in (message.sender, message.recipient))
        return replace(message, sender=sender, recipient=recipient)

    calls = tuple(replace(call, agent=agent) if call.agent == _UNNAMED else call for call in run.calls)
    return replace(run, messages=tuple(map(rename, run.messages)), calls=calls)


def _with_master(events: Iterable[ThreadEvent], task: TaskContext, own: Sequence[Run]) -> tuple[ThreadEvent, ...]:
    """Return the events of a team: its agents talk to their master only, and the master to the user.

    Args:
        events: Those of its agents.
        task: What the user asks for.
        own: The conversations of the master itself, each of which ends with what it answers.
    """
    query = shorten(hide_secrets(task.user_query), MAX_TITLE)
    asked = ThreadEvent(kind=EventKind.WORDS, sender=USER, recipient=_MASTER, title=query)
    said = [shorten(hide_secrets(run.messages[-1].text), MAX_TITLE) for run in own if run.messages]
    answers = (ThreadEvent(kind=EventKind.WORDS, sender=_MASTER, recipient=USER, title=each) for each in said)
    return (asked, *(_of_master(event) for event in events), *answers)


def _of_master(event: ThreadEvent) -> ThreadEvent:
    sender, recipient = (_MASTER if lane == USER else lane for lane in (event.sender, event.recipient))
    kind = EventKind.HANDOFF if event.sender == USER else event.kind
    return replace(event, kind=kind, sender=sender, recipient=recipient)


def _task(values: Mapping[str, Any]) -> TaskContext | None:
    try:
        return TaskContext.from_json(values["task_context"]) if values.get("task_context") else None
    except ProtocolError:
        return None


def _contexts(values: Mapping[str, Any]) -> Iterator[AgentContext]:
    contexts = values.get("agent_contexts")
    for context in contexts.values() if isinstance(contexts, Mapping) else ():
        try:
            yield AgentContext.from_json(context)
        except ProtocolError:
            continue


def _texts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for channel in _TEXTS:
        found = values.get(channel)
        for key, text in found.items() if isinstance(found, Mapping) else ():
            if isinstance(text, str) and key_of(text) == key:
                yield key, text


def _stored(values: Mapping[str, Any]) -> Iterator[str]:
    index = values.get(_STORED)
    for keys in index.values() if isinstance(index, Mapping) else ():
        yield from (key for key in keys if isinstance(key, str)) if isinstance(keys, list) else ()


def _sessions(values: Mapping[str, Any]) -> Iterator[str]:
    progress = values.get("aci_progress")
    of_master = progress.get("session") if isinstance(progress, Mapping) else None
    yield from (session for session in (values.get(_SESSION), of_master) if isinstance(session, str) and session)
