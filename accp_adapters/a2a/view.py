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

from accp_adapters.a2a.frames import decode
from accp_adapters.a2a.values import protojson_text, read_struct, read_value
from accp_adapters.a2a.walk import state_kind
from accp_adapters.policy import is_disabled
from accp_adapters.tokens import o200k_base
from accp_core.bounded import share
from accp_core.markers import UNSEEN, escape_markers
from accp_core.ports import ColdStore, TokenCounter
from accp_core.previews import preview
from accp_core.references import HANDING, StoredText, short_reference
from accp_core.strict_json import compact_json
from accp_core.view import render, render_text

__all__ = ["TaskView", "task_view"]

_MARGIN: Final = 2
"""Tokens that joining two pieces may add."""
_PLAIN_NAME: Final = re.compile(r"[\w ./()-]{0,80}")
_ALIKE: Final = r"artifact\b.*:|(?:message|metadata):|omitted ids|whole \"?\$"
_HEADING: Final = re.compile(rf"(?i)[{UNSEEN}]*(?:source text: )*(?:{_ALIKE})")
"""A line that reads as one of ours; one of a value says that it is source text."""
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
    """Return what a model reads of `task`: its state, its last message and its artifacts, each under its name.

    `task_view(task).text` goes into the prompt in place of the task's JSON. Nothing is changed in the task.

    Args:
        task: A task, such as a client received it.
        counter: Counts the tokens of the model; None: o200k_base.
        store: Keeps the whole task; None: only the agent has what the view leaves out. In a tool of an agent with
            `AccpMiddleware`, the references of the view open with `accp_fetch`.
        session_id: The session of the store that owns the task; None: the context id of the task.
        limit: Tokens that the text may take. A part that is too long becomes a preview with a reference to that part;
            where there are too many parts for that, the whole task becomes one preview. Needs a store.
            `ACCP_DISABLED` lifts the limit.
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
    pieces = _pieces(decode(task), opening, count)
    text = "\n".join(piece.shown for piece in pieces)
    if limit is not None and count(text) > limit and not is_disabled():
        text = _previewed(pieces, whole.text, keep, limit=limit, counter=count, request=request)
    if (handed := HANDING.get()) is not None:  # a tool of an agent, whose own references these become
        handed |= {each.key: each.text for each in kept.values() if short_reference(each.key) in text}
    reference = None if store is None else whole.reference
    return TaskView(text=text, reference=reference, tokens_before=count(whole.text), tokens_after=count(text))


class _Piece(NamedTuple):
    """One piece of the view: a label, a content, or both.

    Each content is written by itself: no marker in it stands for something in another piece.
    """

    label: str
    source: str = ""
    """The content as the agent sent it."""
    view: str = ""
    """The content as the model reads it."""

    @property
    def shown(self) -> str:
        """The lines of the view; a content of one line stands beside its label."""
        between = "" if not self.label or not self.view else "\n" if "\n" in self.view else " "
        lines = self.view.splitlines(keepends=True)
        return self.label + between + "".join("source text: " * bool(_HEADING.match(line)) + line for line in lines)


def _pieces(task: Task, opening: str | None, counter: TokenCounter) -> list[_Piece]:
    """Return the state of a task, the agent's last words, its artifacts, and what the view leaves out."""
    words = _last_words(task)
    pieces = [_Piece(render({"state": _state_name(task.status.state)}, counter=counter))]
    if words is not None:
        pieces += _of_parts("message:", {"metadata": read_struct(words.metadata)}, words.parts, counter)
    for each in task.artifacts:
        about = {"description": each.description, "metadata": read_struct(each.metadata)}
        pieces += _of_parts(_label(each), about, each.parts, counter)
    if metadata := read_struct(task.metadata):
        pieces.append(_of_value(metadata, counter)._replace(label="metadata:"))
    end = {"omitted": _omitted(task), **({} if opening is None else {"whole": opening})}
    return [*pieces, _Piece(render(end, counter=counter))]


def _of_about(fields: dict[str, Any], counter: TokenCounter) -> list[_Piece]:
    filled = {name: value for name, value in fields.items() if value}
    return [_of_value(filled, counter)] if filled else []


def _of_value(value: Any, counter: TokenCounter) -> _Piece:
    return _Piece("", compact_json(value), escape_markers(render(value, counter=counter)))


def _of_parts(label: str, about: dict[str, Any], parts: Iterable[Part], counter: TokenCounter) -> list[_Piece]:
    """Return the pieces of parts: what describes one stands before its content; texts side by side are one text."""
    pieces = _of_about(about, counter)
    texts: list[str] = []
    for part in parts:
        fields, content = _content(part)
        described, is_text = _of_about(fields, counter), isinstance(content, str)
        if is_text and not described:
            texts.append(content)
            continue
        pieces += [*_of_texts(texts, counter), *described]
        pieces += _of_texts([content], counter) if is_text else [_of_value(content, counter)]
        texts = []
    pieces += _of_texts(texts, counter)
    return [pieces[0]._replace(label=label)] if len(pieces) == 1 else [_Piece(label), *pieces]


def _of_texts(texts: Sequence[str], counter: TokenCounter) -> list[_Piece]:
    """Return the view of texts, read as any text is: a table in it is shown as a table."""
    source = "\n".join(text.removesuffix("\n") for text in texts if text)
    return [_Piece("", source, escape_markers(render_text(source, counter=counter).text))] if source else []


def _previewed(
    pieces: Sequence[_Piece], whole: str, keep: Callable[[str], str], *, limit: int, counter: TokenCounter, request: str
) -> str:
    """Return the view with previews of the pieces that are longer than their share, or the state and one of the task.

    A preview names a reference to what it is of, so that its lines and tables are those that a query finds there.
    """

    def short(piece: _Piece, room: int) -> str:
        shown, own = piece.shown, room - counter(piece.label) - _MARGIN
        while piece.source and counter(shown) > room:
            view = preview(piece.source, limit=own, opening=keep(piece.source), counter=counter, request=request)
            shown = piece._replace(view=view).shown
            own = own * room // max(counter(shown), 1)  # lines that say that they are source text take more
        return shown

    shares = share([counter(piece.shown) + _MARGIN for piece in pieces], limit)
    with suppress(ValueError):  # a share has no room for a reference
        text = "\n".join(short(piece, int(own)) for piece, own in zip(pieces, shares, strict=True))
        if counter(text) <= limit:
            return text
    state = pieces[0].label
    return f"{state}\n{short(_Piece('', whole, whole), limit - counter(state) - _MARGIN)}"


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
    return TaskState.Name(state).removeprefix("TASK_STATE_").lower() if state in TaskState.values() else str(state)


def _label(artifact: Artifact) -> str:
    """Return what stands before an artifact; a name that could look like lines of the view is quoted."""
    name = artifact.name if _PLAIN_NAME.fullmatch(artifact.name) else json.dumps(artifact.name)
    return f"artifact {name}".rstrip() + ":"


def _content(part: Part) -> tuple[dict[str, Any], Any]:
    """Return what describes a part, and its text or value; of a file only what describes it: its address and size."""
    kind = part.WhichOneof("content") or ""
    media_type = "" if part.media_type == _USUAL_TYPES.get(kind) else part.media_type
    described = {"file": part.filename, "type": media_type, "url": part.url, "bytes": len(part.raw)}
    content = read_value(part.data) if kind == "data" else part.text
    return {**described, "metadata": read_struct(part.metadata)}, content
