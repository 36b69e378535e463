"""What a model reads of a remote task: its state, the agent's last words, its artifacts and what describes them.

Most of a task is ids, and history that the caller wrote itself. The view leaves them out and says so in `omitted`. With
a store nothing is lost: the whole task is stored first, and the view ends with the reference to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from a2a.types import Artifact, Message, Part, Role, Task, TaskState
from google.protobuf.struct_pb2 import Struct

from accp_adapters.a2a.wire.states import FRAME_KINDS
from accp_adapters.a2a.wire.values import protojson_text, read_struct, read_value
from accp_adapters.tokens import o200k_base
from accp_core.markers import escape_markers
from accp_core.ports import ColdStore, TokenCounter
from accp_core.previews import preview
from accp_core.references import StoredText, short_reference
from accp_core.strict_json import compact_json
from accp_core.view import render

__all__ = ["TaskView", "task_view"]

_STATE_PREFIX: Final = "TASK_STATE_"
_USUAL_TYPES: Final = {"text": "text/plain", "data": "application/json"}
"""Kind of a part to the media type that says nothing more than the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task as a model reads it."""

    text: str
    """What the model reads."""
    reference: str | None
    """The reference "$cold.…" to the whole task in the store, with its whole key; None without a store."""
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
    text = _text(
        _shown(task), None if store is None else short_reference(whole.key), limit=limit, counter=count, request=request
    )
    reference = None if store is None else whole.reference
    return TaskView(text=text, reference=reference, tokens_before=count(whole.text), tokens_after=count(text))


def _text(
    shown: dict[str, Any], reference: str | None, *, limit: int | None, counter: TokenCounter, request: str
) -> str:
    """Return the view of `shown` with the reference at its end, or a preview where the view is over the limit."""
    text = escape_markers(render(shown if reference is None else {**shown, "whole": reference}, counter=counter))
    if reference is None or limit is None or counter(text) <= limit:
        return text
    # The reference is a part of its own, because A2A has no tool that opens it.
    return preview(compact_json(shown), limit=limit, opening=reference, counter=counter, request=request)


def _shown(task: Task) -> dict[str, Any]:
    """Return the state of a task, the agent's last words, and its artifacts, without what is empty."""
    words = _last_words(task)
    artifacts = {name: _artifact(artifact) for name, artifact in _named(task.artifacts)}
    shown = {
        "state": _state_name(task.status.state),
        "message": None if words is None else _described(_content(words.parts), metadata=words.metadata),
        "artifacts": artifacts,
        "metadata": read_struct(task.metadata),
    }
    return {**{name: value for name, value in shown.items() if value not in (None, {})}, "omitted": _omitted(task)}


# A server keeps a message in `status` only until the next change of state; then it is the last one of the history.
def _last_words(task: Task) -> Message | None:
    """Return the message of the status, else the agent's last one after the user's last one; None without either."""
    if task.status.message.parts:
        return task.status.message
    last = task.history[-1] if task.history else None
    return last if last is not None and last.role == Role.ROLE_AGENT else None


def _omitted(task: Task) -> str:
    """Return what the view of a task leaves out, in words."""
    words, shown = _last_words(task), bool(task.status.message.parts)
    messages = len(task.history) - (words is not None and not shown)
    parts = [part for artifact in task.artifacts for part in artifact.parts] + list(words.parts if words else ())
    files = sum(part.WhichOneof("content") == "raw" for part in parts)
    has_extensions = any(each.extensions for each in (*task.artifacts, *((words,) if words else ())))
    counted = [_counted(messages, "earlier message"), _counted(files, "file content")]
    return ", ".join(["ids", "times", *filter(None, counted), *(["extensions"] if has_extensions else [])])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number > 1)}" if number else ""


def _artifact(artifact: Artifact) -> Any:
    return _described(_content(artifact.parts), description=artifact.description, metadata=artifact.metadata)


def _described(content: Any, *, metadata: Struct, **words: str) -> Any:
    """Return a content as it is, or in a map with what describes it: its media type, a description, metadata."""
    about = {name: value for name, value in {**words, "metadata": read_struct(metadata)}.items() if value}
    return {**about, "content": content} if about else content


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


def _content(parts: Sequence[Part]) -> Any:
    """Return the content of parts: None, one value, or a list; texts side by side are joined, as they were streamed."""
    values: list[Any] = []
    follows_text = False
    for part in parts:
        value = _value(part)
        is_text = isinstance(value, str) and part.WhichOneof("content") == "text"
        if is_text and follows_text:
            values[-1] += value
        else:
            values.append(value)
        follows_text = is_text
    return values if len(values) > 1 else next(iter(values), None)


def _value(part: Part) -> Any:
    """Return the text or data of a part, of a file its address and size in bytes, with what describes it."""
    kind = part.WhichOneof("content") or ""
    media_type = "" if part.media_type == _USUAL_TYPES.get(kind) else part.media_type
    if kind in _USUAL_TYPES:
        content = part.text if kind == "text" else read_value(part.data)
        return _described(content, metadata=part.metadata, file=part.filename, type=media_type)
    file = {"file": part.filename, "type": part.media_type, "url": part.url, "bytes": len(part.raw)}
    shown = {**file, "metadata": read_struct(part.metadata)}
    return {name: value for name, value in shown.items() if value}
