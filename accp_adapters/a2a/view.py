"""What a model reads of a remote task: its state, the agent's last words, its artifacts and what describes them.

Most of a task is ids, and history that the caller wrote itself. The view leaves them out and says so in `omitted`. With
a store nothing is lost: the whole task is stored first, and the view ends with the reference to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from typing import Any, Final, NamedTuple, TypeAlias

from a2a.types import Artifact, Message, Part, Role, Task, TaskState

from accp_adapters.a2a.frames import decode
from accp_adapters.a2a.values import protojson_text, read_struct, read_value
from accp_adapters.policy import is_disabled
from accp_adapters.tokens import o200k_base
from accp_core.bounded import share
from accp_core.compression import MIN_PREVIEW
from accp_core.markers import UNSEEN, escape_markers
from accp_core.ports import ColdStore, TokenCounter
from accp_core.previews import preview
from accp_core.references import HANDING, Handing, StoredText, short_reference
from accp_core.strict_json import compact_json
from accp_core.view import render, render_text

__all__ = ["TaskView", "task_view"]

_MARGIN: Final = 2
"""Tokens that joining two pieces may add."""
_PLAIN_NAME: Final = re.compile(r"[\w ./()-]{0,80}")
_QUOTES: Final = re.compile(rf'[{UNSEEN}"]+')
"""A line that may look like one that ends a content."""
_Keep: TypeAlias = Callable[[str], str]
"""Keeps a text, and returns the reference to it."""
_USUAL_TYPES: Final = {"text": "text/plain", "data": "application/json"}
"""Kind of a part to the media type that says nothing more than the kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskView:
    """A task as a model reads it."""

    text: str
    """What the model reads. A content of several lines stands between two lines of three quotes, or of more than any
    line in it has, so that none of its lines is taken for a line of the view."""
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
            where there are too many parts for that, the whole task, ids included, becomes one preview. Needs a store.
            `ACCP_DISABLED` lifts the limit.
        request: What the reader works on; it ranks what a preview keeps.

    Raises:
        ValueError: `limit` without `store`, or a limit too small even for the reference.
        TypeError: `task` is no task, but the message with which an agent answered.
        EncodeError: E1004, the task holds something that is not JSON (NaN).
    """
    if not isinstance(task, Task):
        raise TypeError(f"expected a Task, found a {type(task).__name__}; of a Message, read the texts of its parts")
    if limit is not None and store is None:
        raise ValueError(f"expected a store with a limit of {limit!r} tokens, found none")
    count = counter or o200k_base()
    whole = StoredText.of(protojson_text(task, sort_keys=True))
    handing = HANDING.get() or Handing()  # where a tool of an agent runs, these become the references of that agent

    def keep(text: str) -> str:
        stored = StoredText.of(text)
        handing.texts[stored.key] = text
        if store is not None:
            store.put(session_id or task.context_id or task.id, stored.key, text)
        return short_reference(stored.key)

    opening = None if store is None else keep(whole.text)
    pieces = _pieces(decode(task), opening, count)
    shorten = partial(_previewed, *pieces, whole.text, keep)
    text = "\n".join(piece.shown for piece in chain(*pieces))
    if limit is not None and count(text) > limit and not is_disabled():
        text = shorten(limit, count, request)
    handing.views[text] = shorten
    reference = None if store is None else whole.reference
    return TaskView(text=text, reference=reference, tokens_before=count(whole.text), tokens_after=count(text))


class _Piece(NamedTuple):
    """One piece of the view: a label, a content, or both.

    Each content is written by itself: no marker in it stands for something in another piece.
    """

    label: str
    """Lines of ours."""
    source: str = ""
    """The content as the agent sent it."""
    view: str = ""
    """The content as the model reads it."""

    @property
    def shown(self) -> str:
        """The lines of the view; a content of one line stands beside a label of one, others between quotes."""
        lines = self.view.splitlines()
        if not lines or (self.label.endswith(":") and "\n" not in self.label and len(lines) == 1):
            return f"{self.label} {self.view}".rstrip()
        quotes = (line.count('"') for line in lines if _QUOTES.fullmatch(line))
        fence = '"' * max(3, 1 + max(quotes, default=0))
        return "\n".join(filter(None, [self.label, fence, self.view.removesuffix("\n"), fence]))


def _pieces(task: Task, opening: str | None, counter: TokenCounter) -> tuple[list[_Piece], list[_Piece]]:
    """Return the state of a task and the agent's last words; and its artifacts, and what the view leaves out."""
    words, pieces = _last_words(task), []
    head = [_Piece(_lines({"state": _state_name(task.status.state)}, counter))]
    if words is not None:
        told = _lines({"metadata": read_struct(words.metadata)}, counter)
        head += _of_parts(["message:", told], words.parts, counter)
    for each in task.artifacts:
        about = {"description": each.description, "metadata": read_struct(each.metadata)}
        pieces += _of_parts([_label(each), _lines(about, counter)], each.parts, counter)
    if metadata := read_struct(task.metadata):
        pieces.append(_piece("metadata:", metadata, counter))
    return head, [*pieces, _Piece(_lines({"omitted": _omitted(task), "whole": opening}, counter))]


def _lines(fields: dict[str, Any], counter: TokenCounter) -> str:
    filled = {name: value for name, value in fields.items() if value}
    return escape_markers(render(filled, counter=counter)) if filled else ""


def _piece(label: str, content: Any, counter: TokenCounter) -> _Piece:
    """Return a text, read as any text is, so that a table in it is shown as a table; or a JSON value."""
    is_text = isinstance(content, str)
    shown = render_text(content, counter=counter).text if is_text else render(content, counter=counter)
    return _Piece(label, content if is_text else compact_json(content), escape_markers(shown))


def _of_parts(labels: list[str], parts: Iterable[Part], counter: TokenCounter) -> list[_Piece]:
    """Return the pieces of parts: what describes one stands before its content; texts side by side are one text."""
    pieces = []
    for is_plain, group in groupby(map(_content, parts), lambda each: not each[0] and isinstance(each[1], str)):
        contents = list(group)
        if is_plain:
            texts = [str(text) for _, text in contents if text]
            joined = "\n".join([*(text.removesuffix("\n") for text in texts[:-1]), *texts[-1:]])
            contents = [({"texts": len(texts)} if len(texts) > 1 else {}, joined)]
        for fields, content in contents:
            piece = _piece("\n".join(filter(None, [*labels, _lines(fields, counter)])), content, counter)
            pieces += [piece] if piece.shown else []
            labels = []
    return pieces or [_Piece("\n".join(filter(None, labels)))]


def _previewed(
    head: list[_Piece], rest: list[_Piece], whole: str, keep: _Keep, limit: int, counter: TokenCounter, request: str
) -> str:
    """Return the view with previews of the pieces that are longer than their share; or the head, and one of the task.

    A preview names a reference to what it is of, so that its lines and tables are those that a query finds there.
    """

    def short(piece: _Piece, room: int) -> str:
        shown, own = piece.shown, room - counter(piece._replace(view="\n\n").shown) - _MARGIN
        if piece.source and counter(shown) > room:
            view = preview(piece.source, limit=own, opening=keep(piece.source), counter=counter, request=request)
            shown = piece._replace(view=view).shown
        return shown

    pieces = head + rest
    sizes = [counter(piece.shown) + _MARGIN for piece in pieces]
    shares = share(sizes, limit)
    if all(own >= min(size, MIN_PREVIEW) for own, size in zip(shares, sizes, strict=True)):
        with suppress(ValueError):  # a long label leaves no room for a reference
            text = "\n".join(short(piece, int(own)) for piece, own in zip(pieces, shares, strict=True))
            if counter(text) <= limit:
                return text
    first = "\n".join(piece.shown for piece in head)
    first = first if counter(first) <= limit // 2 else head[0].label
    try:
        return f"{first}\n{short(_Piece('', whole, whole), limit - counter(first) - _MARGIN)}"
    except ValueError as error:  # it names what is left of the limit
        reason = f"expected a limit of at least {MIN_PREVIEW} tokens for a task, found {limit!r}"
        raise ValueError(reason if limit < MIN_PREVIEW else str(error)) from None


# A server keeps a message in `status` only until the next change of state; then it is the last one of the history.
def _last_words(task: Task) -> Message | None:
    """Return the message of the status, else the agent's last one after the user's last one; None without either."""
    if task.status.message.parts:
        return task.status.message
    last = task.history[-1] if task.history else None
    return last if last is not None and last.role == Role.ROLE_AGENT else None


def _omitted(task: Task) -> str:
    """Return what the view of a task leaves out, in words."""
    words = _last_words(task)
    messages = len(task.history) - (words is not None and not task.status.message.parts)
    owners = [*task.artifacts, *([words] if words else ())]
    files = sum(part.WhichOneof("content") == "raw" for each in owners for part in each.parts)
    extensions = "extensions" * any(each.extensions for each in owners)
    counted = _counted(messages, "earlier message"), _counted(files, "file content"), extensions
    return ", ".join(["ids", "times", *filter(None, counted)])


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number > 1)}" if number else ""


def _state_name(state: int) -> str:
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
    return {
        name: value for name, value in (described | {"metadata": read_struct(part.metadata)}).items() if value
    }, content
