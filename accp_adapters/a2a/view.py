"""What a model reads of a remote task: its state, the agent's last words, its artifacts and what describes them.

Most of a task is ids, and history that the caller wrote itself. The view leaves them out and says so in `omitted`. With
a store nothing is lost: the whole task is stored first, and the view ends with the reference to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from a2a.types import Artifact, Message, Part, Role, Task, TaskState
from google.protobuf.struct_pb2 import Struct

from accp_adapters.a2a.frames import decode
from accp_adapters.a2a.values import protojson_text, read_struct, read_value
from accp_adapters.a2a.walk import state_kind
from accp_adapters.tokens import o200k_base
from accp_core.bounded import share
from accp_core.markers import escape_markers
from accp_core.ports import ColdStore, TokenCounter
from accp_core.previews import preview
from accp_core.references import HANDING, StoredText, short_reference
from accp_core.strict_json import compact_json
from accp_core.view import render, render_text

__all__ = ["TaskView", "task_view"]

_MARGIN: Final = 8
"""Tokens that joining sections may add."""
_STATE_PREFIX: Final = "TASK_STATE_"
_PLAIN_NAME: Final = re.compile(r"[\w ./()-]{0,80}")
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
    """Return what a model reads of `task`: its state, messages and artifacts, each part under its name.

    `task_view(task).text` goes into the prompt in place of the task's JSON. Nothing is changed in the task.

    Args:
        task: A task, such as a client received it.
        counter: Counts the tokens of the model; None: o200k_base.
        store: Keeps the whole task; None: only the agent has what the view leaves out. In a tool of an agent with
            `AccpMiddleware`, the references of the view open with `accp_fetch`.
        session_id: The session of the store that owns the task; None: the context id of the task.
        limit: Tokens that the text may take; parts that are too long become previews, each with a reference to that
            part. Needs a store.
        request: What the reader works on; it ranks what a preview keeps.

    Raises:
        ValueError: `limit` without `store`, or a limit too small even for the reference.
        EncodeError: E1004, the task holds something that is not JSON (NaN).
    """
    if limit is not None and store is None:
        raise ValueError(f"expected a store with a limit of {limit!r} tokens, found none")
    count = counter or o200k_base()
    whole = StoredText.of(protojson_text(task, sort_keys=True))
    kept: dict[str, StoredText] = {}

    def keep(text: str) -> str:
        stored = kept[text] = StoredText.of(text)
        assert store is not None  # there are no references without
        store.put(session_id or task.context_id or task.id, stored.key, stored.text)
        return short_reference(stored.key)

    opening = None if store is None else keep(whole.text)
    sections = _sections(decode(task), opening, count)
    text = "\n".join(section.shown for section in sections)
    if opening is not None and limit is not None and count(text) > limit:
        text = _previewed(sections, keep, limit=limit, counter=count, request=request)
    if (handed := HANDING.get()) is not None:  # a tool of an agent, whose own references these become
        handed |= {each.key: each.text for each in kept.values() if short_reference(each.key) in text}
    reference = None if store is None else whole.reference
    return TaskView(text=text, reference=reference, tokens_before=count(whole.text), tokens_after=count(text))


class _Section(NamedTuple):
    """One piece of the view: a label, and a content that is read by itself, so that nothing in it refers elsewhere."""

    label: str
    source: str
    """The content as the agent sent it."""
    view: str
    """The content as the model reads it."""

    @property
    def shown(self) -> str:
        """The lines of the view; a content of one line stands beside its label."""
        between = "" if not self.label else "\n" if "\n" in self.view else " "
        return f"{self.label}{between}{self.view}"


def _sections(task: Task, opening: str | None, counter: TokenCounter) -> list[_Section]:
    """Return the state of a task, the agent's last words, its artifacts, and what the view leaves out."""
    words = _last_words(task)
    sections = [_of_value("", {"state": _state_name(task.status.state)}, counter)]
    if words is not None:
        sections.append(_of_parts("message:", words.parts, counter, metadata=words.metadata))
    for artifact in task.artifacts:
        about = {"description": artifact.description} if artifact.description else {}
        sections.append(_of_parts(_label(artifact), artifact.parts, counter, metadata=artifact.metadata, **about))
    if metadata := read_struct(task.metadata):
        sections.append(_of_value("metadata:", metadata, counter))
    end = {"omitted": _omitted(task), **({} if opening is None else {"whole": opening})}
    return [*sections, _of_value("", end, counter)]


def _of_value(label: str, value: Any, counter: TokenCounter) -> _Section:
    return _Section(label, compact_json(value), escape_markers(render(value, counter=counter)))


def _of_parts(label: str, parts: Iterable[Part], counter: TokenCounter, *, metadata: Struct, **about: Any) -> _Section:
    """Return the section of parts, each on lines of its own; texts side by side are read as one text."""
    fields = {**about, "metadata": read_struct(metadata)}
    contents = [_of_value("", {name: value for name, value in fields.items() if value}, counter)] * any(fields.values())
    texts: list[str] = []
    for part in parts:
        described, content = _content(part)
        if isinstance(content, str) and not described:
            texts.append(content)
            continue
        contents += _of_texts(texts, counter)
        texts = []
        contents += [_of_value("", described, counter)] * bool(described)
        contents += _of_texts([content], counter) if isinstance(content, str) else [_of_value("", content, counter)]
    contents += _of_texts(texts, counter)
    return _Section(label, "\n".join(each.source for each in contents), "\n".join(each.view for each in contents))


def _of_texts(texts: Sequence[str], counter: TokenCounter) -> list[_Section]:
    """Return the view of texts, read as any text is: a table in it is shown as a table."""
    source = "\n".join(text.removesuffix("\n") for text in texts if text)
    return [_Section("", source, escape_markers(render_text(source, counter=counter).text))] if source else []


def _previewed(
    sections: Sequence[_Section], keep: Callable[[str], str], *, limit: int, counter: TokenCounter, request: str
) -> str:
    """Return the view with previews of the sections that are longer than their share, or a preview of everything.

    A preview names a reference to what it is of, so that its lines and tables are those that a query finds there.
    """
    labels = sum(counter(section.label) + _MARGIN for section in sections)
    shares = share([counter(section.view) for section in sections], limit - labels)

    def short(section: _Section, own: float) -> _Section:
        if counter(section.view) <= own:
            return section
        opening = keep(section.source)
        shown = preview(section.source, limit=int(own), opening=opening, counter=counter, request=request)
        return section._replace(view=shown)

    with suppress(ValueError):  # a share has no room for a reference
        text = "\n".join(short(each, own).shown for each, own in zip(sections, shares, strict=True))
        if counter(text) <= limit:
            return text
    source = "\n".join(f"{section.label}\n{section.source}" for section in sections[:-1])
    return preview(source, limit=limit, opening=keep(source), counter=counter, request=request)


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


def _state_name(state: int) -> str:
    if (kind := state_kind(state)).state_name != "unknown":
        return kind.state_name
    return TaskState.Name(state).removeprefix(_STATE_PREFIX).lower() if state in TaskState.values() else str(state)


def _label(artifact: Artifact) -> str:
    """Return what stands before an artifact; a name that could look like lines of the view is quoted."""
    name = artifact.name if _PLAIN_NAME.fullmatch(artifact.name) else json.dumps(artifact.name)
    return f"artifact {name}".rstrip() + ":"


def _content(part: Part) -> tuple[dict[str, Any], Any]:
    """Return what describes a part, and its text or value; of a file only what describes it: its address and size."""
    kind = part.WhichOneof("content") or ""
    is_usual = part.media_type == _USUAL_TYPES.get(kind)
    about: dict[str, Any] = {"file": part.filename, "type": "" if is_usual else part.media_type}
    if kind not in _USUAL_TYPES:
        about |= {"url": part.url, "bytes": len(part.raw)}
    described = {name: value for name, value in {**about, "metadata": read_struct(part.metadata)}.items() if value}
    if kind not in _USUAL_TYPES:
        return {}, described
    return described, part.text if kind == "text" else read_value(part.data)
