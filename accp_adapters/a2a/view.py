"""What a model reads of a remote task: its state, what was said of it last, and its artifacts.

Most of a task is history that the caller wrote itself, and ids. They are left out, not lost: with a store the whole
task is kept there first, and the view ends with the reference that opens it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from a2a.types import Artifact, Part, Task, TaskState

from accp_adapters.a2a.wire.states import STATES
from accp_adapters.a2a.wire.values import compact_json, read_value
from accp_adapters.tokens import o200k_base
from accp_core.accp import ColdWrite
from accp_core.accp.state.context_state import cold_write
from accp_core.ports import ColdStore, TokenCounter
from accp_core.view import preview, render

__all__ = ["TaskView", "task_view"]

_PREFIX: Final = "TASK_STATE_"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task as a model reads it."""

    text: str
    """What the model reads."""
    ref: str | None
    """What opens the whole task in the store, such as "$cold.1f2e3d4c5b6a"; None where none was given."""
    tokens_before: int
    """Tokens of the whole task as compact JSON."""
    tokens_after: int
    """Tokens of `text`."""


def task_view(
    task: Task,
    *,
    counter: TokenCounter | None = None,
    store: ColdStore | None = None,
    session_id: str | None = None,
    limit: int | None = None,
    request: str = "",
) -> TaskView:
    """Return what a model is to read of `task`.

    Args:
        task: A task, such as a client received it.
        counter: Counts tokens; None: o200k_base.
        store: Keeps the whole task; None: what is left out can only be had from the agent.
        session_id: Who owns what is kept; None: the context of the task.
        limit: At most so many tokens; what does not fit is behind the reference. Needs a store.
        request: What the reader works on; it ranks what a limit leaves.

    Raises:
        ValueError: `limit` without `store`, or no room even for the reference.
        EncodeError: E1004, the task holds what JSON does not (NaN).
    """
    if limit is not None and store is None:
        raise ValueError(f"expected a store with a limit of {limit!r} tokens, found none")
    count = counter or o200k_base()
    whole = compact_json(task)
    write = None if store is None else _keep(store, session_id or task.context_id or task.id, whole)
    shown = _shown(task)
    text = render(shown if write is None else {**shown, "whole": f"${write.key}"}, counter=count)
    if write is not None and limit is not None and count(text) > limit:
        source = json.dumps(shown, ensure_ascii=False)
        text = preview(source, limit=limit, opening=f"${write.key}", counter=count, request=request)
    return TaskView(
        text=text,
        ref=None if write is None else f"${write.key}",
        tokens_before=count(whole),
        tokens_after=count(text),
    )


def _keep(store: ColdStore, session_id: str, text: str) -> ColdWrite:
    """Store the whole before anything cites it."""
    write = cold_write(session_id, text)
    store.put(write.session_id, write.key, write.text)
    return write


def _shown(task: Task) -> dict[str, Any]:
    """Return the state of a task, the words that came with it, and what it made."""
    shown: dict[str, Any] = {"state": _word(task.status.state)}
    words = _content(task.status.message.parts)
    if words is not None:
        shown["message"] = words
    artifacts = {name: _content(artifact.parts) for name, artifact in _named(task.artifacts)}
    return {**shown, "artifacts": artifacts} if artifacts else shown


def _word(state: int) -> str:
    if state in STATES:
        return STATES[state].word
    return TaskState.Name(state).removeprefix(_PREFIX).lower() if state in TaskState.values() else str(state)


def _named(artifacts: Iterable[Artifact]) -> Iterable[tuple[str, Artifact]]:
    """Yield each artifact with a name of its own: that which it has, else its number."""
    taken: set[str] = set()
    for number, artifact in enumerate(artifacts, start=1):
        name = artifact.name or f"artifact_{number}"
        name = name if name not in taken else f"{name}_{number}"
        taken.add(name)
        yield name, artifact


def _content(parts: Iterable[Part]) -> Any:
    """Return what parts say: one value, or a list of them; the pieces of a text are one text, as they were streamed."""
    values: list[Any] = []
    texts = False
    for part in parts:
        text = part.WhichOneof("content") == "text"
        if text and texts:
            values[-1] += part.text
        else:
            values.append(_value(part))
        texts = text
    return values if len(values) > 1 else next(iter(values), None)


def _value(part: Part) -> Any:
    kind = part.WhichOneof("content")
    if kind == "text":
        return part.text
    if kind == "data":
        return read_value(part.data)
    about = {"file": part.filename, "type": part.media_type, "url": part.url, "bytes": len(part.raw)}
    return {name: value for name, value in about.items() if value}
