"""What each agent of a thread knows, may open and was refused."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from accp_adapters.inspector.live.prompts import count_tokens
from accp_adapters.inspector.live.references import Reference, refused_fetches
from accp_adapters.inspector.live.threads import Thread
from accp_adapters.inspector.page.plain_text import shorten
from accp_adapters.replay.contents.largest_texts import beginning_of
from accp_core.aci import AgentContext
from accp_core.references import find_references, is_named, uri_to_key
from accp_core.strict_json import compact_json

__all__ = ["AgentRow", "agents_of"]

_MAX_AGENTS: Final = 100
_MAX_NAME: Final = 60
_MAX_CHARS: Final = 2_000
_MAX_LINES: Final = 100
_STATES: Final[Mapping[int, str]] = {1: "done", 0: "not done"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRow:
    """One agent, or one subtask of it."""

    name: str
    """The agent."""
    about: str
    """Its subtask; empty: it has no AgentContext."""
    calls: int
    """Its model calls."""
    messages: int
    """Messages of its last prompt."""
    tokens: int
    """Their tokens, as recorded."""
    knows: tuple[str, ...]
    """Facts that its AgentContext gives it."""
    items: tuple[tuple[str, str, str], ...]
    """What it is to do: the item, its state and its result."""
    may_open: tuple[str, ...]
    """Keys of what it may open."""
    refused: tuple[str, ...]
    """Why fetches of it were refused."""


def agents_of(thread: Thread, references: Mapping[str, Reference]) -> list[AgentRow]:
    """Return the agents of a thread, at most 100; those with an AgentContext first."""
    names = dict.fromkeys(call.agent for run in thread.runs for call in run.calls)
    contexts = {context.agent_id for context in thread.contexts}
    rows = [_row(thread, context.agent_id, context, references) for context in thread.contexts]
    rows += [_row(thread, name, None, references) for name in names if name not in contexts]
    return rows[:_MAX_AGENTS]


def _row(thread: Thread, name: str, context: AgentContext | None, references: Mapping[str, Reference]) -> AgentRow:
    prompts = [(run, call) for run in thread.runs for call in run.calls if call.agent == name]
    last = [run.messages[position].text for run, call in prompts[-1:] for position in call.prompt]
    return AgentRow(
        name=shorten(name, _MAX_NAME),
        about=shorten(context.subtask_name or context.subtask_id, _MAX_NAME) if context else "",
        calls=len(prompts),
        messages=len(last),
        tokens=sum(map(count_tokens, last)),
        knows=tuple(_facts(context, thread.contexts))[:_MAX_LINES] if context else (),
        items=tuple(_items(context))[:_MAX_LINES] if context else (),
        may_open=tuple(_may_open(thread, name, context, references))[:_MAX_LINES],
        refused=tuple(reason for agent, reason in refused_fetches(thread) if agent == name)[:_MAX_LINES],
    )


def _facts(context: AgentContext, others: Iterable[AgentContext]) -> Iterator[str]:
    """Yield the facts that a context holds, and the results of the subtasks that it waits for."""
    for value in context.context:
        yield beginning_of(value if isinstance(value, str) else compact_json(value), frozenset(), _MAX_CHARS)

    for other in others:
        if other.subtask_id in context.dependencies and other.abstracts:
            results = "\n".join(other.abstracts.values())
            yield beginning_of(f"{other.subtask_name or other.subtask_id}:\n{results}", frozenset(), _MAX_CHARS)


def _items(context: AgentContext) -> Iterator[tuple[str, str, str]]:
    for item in context.todo_items:
        state = context.states.get(item.item_id)
        result = context.abstracts.get(item.item_id, "")
        words = (beginning_of(text, frozenset(), _MAX_CHARS) for text in (item.description, result))
        description, shown = words
        yield description, "open" if state is None else _STATES.get(state, str(state)), shown


def _may_open(
    thread: Thread, name: str, context: AgentContext | None, references: Mapping[str, Reference]
) -> Iterator[str]:
    """Yield what the context of an agent grants, or what the prompts of an agent hold."""
    if context is not None:
        yield from (uri_to_key(uri) or uri for uri in context.context_uri)
        return
    reached = {
        (number, position): run.messages[position].text
        for number, run in enumerate(thread.runs)
        for call in run.calls
        if call.agent == name
        for position in call.prompt
    }
    cited = {key for text in reached.values() for key in find_references(text)}
    for key, reference in references.items():
        if reference.place in reached or (key in thread.texts and is_named(key, cited)):
            yield key
