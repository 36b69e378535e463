"""What a model reads of a remote task: its state, its last message, and its artifacts.

Most of a task is ids, and history that the caller wrote itself. The view leaves them out. With a store nothing is lost:
the whole task is stored first, and the view ends with the reference to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from a2a.types import Artifact, Part, Task, TaskState

from accp_adapters.a2a.wire.states import FRAME_KINDS
from accp_adapters.a2a.wire.values import protojson_text, read_value
from accp_adapters.tokens import o200k_base
from accp_core.ports import ColdStore, TokenCounter
from accp_core.references import StoredText
from accp_core.strict_json import compact_json
from accp_core.view import preview, render

__all__ = ["TaskView", "task_view"]

_STATE_PREFIX: Final = "TASK_STATE_"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task as a model reads it."""

    text: str
    """What the model reads."""
    reference: str | None
    """The reference "$cold.…" to the whole task in the store; None without a store."""
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
    """Return what a model reads of `task`.

    Args:
        task: A task, such as a client received it.
        counter: Counts the tokens of the model; None: o200k_base.
        store: Keeps the whole task; None: only the agent has what the view leaves out.
        session_id: The session of the store that owns the task; None: the context id of the task.
        limit: Tokens that the text may take; a longer view becomes a preview with the reference. Needs a store.
        request: What the reader works on; it ranks what a preview keeps.

    Raises:
        ValueError: `limit` without `store`, or a limit too small even for the reference.
        EncodeError: E1004, the task holds something that is not JSON (NaN).
    """
    if limit is not None and store is None:
        raise ValueError(f"expected a store with a limit of {limit!r} tokens, found none")
    count = counter or o200k_base()
    whole = StoredText.of(protojson_text(task, sort_keys=True))
    if store is not None:
        store.put(session_id or task.context_id or task.id, whole.key, whole.text)
    reference = None if store is None else whole.reference
    text = _text(_shown(task), reference, limit=limit, counter=count, request=request)
    return TaskView(text=text, reference=reference, tokens_before=count(whole.text), tokens_after=count(text))


def _text(
    shown: dict[str, Any], reference: str | None, *, limit: int | None, counter: TokenCounter, request: str
) -> str:
    """Return the view of `shown` with the reference at its end, or a preview where the view is over the limit."""
    text = render(shown if reference is None else {**shown, "whole": reference}, counter=counter)
    if reference is None or limit is None or counter(text) <= limit:
        return text
    # The reference stands alone, because A2A has no tool that opens it.
    return preview(compact_json(shown), limit=limit, opening=reference, counter=counter, request=request)


def _shown(task: Task) -> dict[str, Any]:
    """Return the state of a task, the message that came with it, and its artifacts, without what is empty."""
    shown: dict[str, Any] = {"state": _state_name(task.status.state)}
    message = _content(task.status.message.parts)
    if message is not None:
        shown["message"] = message
    artifacts = {name: _content(artifact.parts) for name, artifact in _named(task.artifacts)}
    return {**shown, "artifacts": artifacts} if artifacts else shown


def _state_name(state: int) -> str:
    if state in FRAME_KINDS:
        return FRAME_KINDS[state].state_name
    return TaskState.Name(state).removeprefix(_STATE_PREFIX).lower() if state in TaskState.values() else str(state)


def _named(artifacts: Iterable[Artifact]) -> Iterable[tuple[str, Artifact]]:
    """Yield each artifact with a name that no other has: its own, with its number where that is taken or empty."""
    taken: set[str] = set()
    for number, artifact in enumerate(artifacts, start=1):
        name = artifact.name or f"artifact_{number}"
        while name in taken:
            name = f"{name}_{number}"
        taken.add(name)
        yield name, artifact


def _content(parts: Iterable[Part]) -> Any:
    """Return the content of parts: None, one value, or a list; texts side by side are joined, as they were streamed."""
    values: list[Any] = []
    follows_text = False
    for part in parts:
        is_text = part.WhichOneof("content") == "text"
        if is_text and follows_text:
            values[-1] += part.text
        else:
            values.append(_value(part))
        follows_text = is_text
    return values if len(values) > 1 else next(iter(values), None)


def _value(part: Part) -> Any:
    """Return the text or data of a part; of a file its name, type, address and size in bytes."""
    kind = part.WhichOneof("content")
    if kind == "text":
        return part.text
    if kind == "data":
        return read_value(part.data)
    about = {"file": part.filename, "type": part.media_type, "url": part.url, "bytes": len(part.raw)}
    return {name: value for name, value in about.items() if value}
