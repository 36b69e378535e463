"""ToolMessage to compact ToolMessage and back: the pure part that every seam of this adapter calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from langchain_core.messages import BaseMessage, ToolMessage

from accp_adapters.langgraph.marks import MARK, carried_text, carry
from accp_adapters.langgraph.policy import SMALLEST_PREVIEW, Limits, Policy
from accp_core.cold import cold_key
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import TokenCounter
from accp_core.projection.cache_cost import Prompt, first_reference_pays, worth_it
from accp_core.view import View, preview, render_text

__all__ = [
    "MARK", "Block", "ColdItem", "compact_content", "compact_message", "restore_message", "texts_of",
    "with_texts",
]  # fmt: skip

Block: TypeAlias = str | dict[str, Any]
"""One piece of a message's content: text, or a content block."""

_Message = TypeVar("_Message", bound=BaseMessage)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColdItem:
    """A text that must be in the cold store before the message that cites it is returned."""

    key: str
    """Its key, as in the reference `$key`."""
    text: str
    """The whole text, as the tool returned it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewritten:
    """One block's new text, the note that leads back to the old one, and what to store."""

    text: str
    note: dict[str, str]
    before: int
    after: int
    """Tokens of the block, as it was and as it is."""
    item: ColdItem | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewriter:
    """What every block of one message is rewritten by."""

    counter: TokenCounter
    session_id: str
    limits: Limits
    request: str
    prompt: Prompt

    def rewrite(self, texts: Sequence[str | None]) -> list[_Rewritten | None]:
        """Return each block's new text, None where it stays as it is."""
        views = [render_text(text, counter=self.counter) if text else None for text in texts]
        found = [_whole(view) if view else None for view in views]
        rooms = self._rooms([view.tokens_after if view else 0 for view in views])
        short = [
            self._preview(text, view, room) if text and view and room is not None else None
            for text, view, room in zip(texts, views, rooms, strict=True)
        ]
        saved = sum(view.tokens_after - part.after for view, part in zip(views, short, strict=True) if view and part)
        if first_reference_pays(saved, self.prompt):
            found = [part or whole for part, whole in zip(short, found, strict=True)]
        before, after = sum(part.before for part in found if part), sum(part.after for part in found if part)
        return found if worth_it(before, after, self.prompt) else [None] * len(found)

    def _rooms(self, sizes: Sequence[int]) -> list[int | None]:
        """Return what the preview of each block may take, None for blocks that are shown whole."""
        if self.limits.inline is None:
            return [None] * len(sizes)
        budgets = _allot(sizes, self.limits.inline)
        over = [size > budget for size, budget in zip(sizes, budgets, strict=True)]
        least = max(self.limits.preview // max(sum(over), 1), SMALLEST_PREVIEW)
        return [
            min(self.limits.preview, max(budget, least)) if large else None
            for budget, large in zip(budgets, over, strict=True)
        ]

    def _preview(self, source: str, view: View, room: int) -> _Rewritten | None:
        """Return the preview of `source`, None where it would not be shorter than the view."""
        key = cold_key(self.session_id, source)
        text = preview(
            source, limit=room, opening=f"accp_fetch ${key}", counter=self.counter, request=self.request, view=view
        )
        after = self.counter(text)
        if after >= view.tokens_after:
            return None
        item = ColdItem(key=key, text=source)
        return _Rewritten(text=text, note={"ref": key}, before=view.tokens_before, after=after, item=item)


def _whole(view: View) -> _Rewritten | None:
    before, after = view.tokens_before, view.tokens_after
    if after >= before:
        return None
    return _Rewritten(text=view.text, note={"layout": view.layout}, before=before, after=after)


def compact_message(
    message: ToolMessage,
    policy: Policy,
    session_id: str,
    *,
    limits: Limits | None = None,
    request: str = "",
    prompt: Prompt | None = None,
    carries: bool = False,
) -> tuple[ToolMessage, tuple[ColdItem, ...]]:
    """Return `message` in fewer tokens, and the texts to store before anyone sees it.

    The same message comes back when nothing gets smaller, and when it must stay as it is: errors, results
    of excluded tools, messages already rewritten. Only text changes; id, name, tool_call_id, status,
    artifact and other content blocks stay.

    Args:
        message: A tool's answer.
        policy: The limits and the token counter.
        session_id: Whose store the texts belong to.
        limits: What this message may take; None: what `policy` gives to a single result.
        request: The user's words and the call's arguments, which rank what a preview keeps.
        prompt: What the model has before it; None: unknown, so that every saving counts.
        carries: The message itself carries the texts, as there is no store; then none are returned.
    """
    if message.status == "error" or message.name in policy.exclude_tools or MARK in message.additional_kwargs:
        return message, ()
    return compact_content(message, policy, session_id, limits=limits, request=request, prompt=prompt, carries=carries)


def compact_content(
    message: _Message,
    policy: Policy,
    session_id: str,
    *,
    limits: Limits | None = None,
    request: str = "",
    prompt: Prompt | None = None,
    carries: bool = False,
) -> tuple[_Message, tuple[ColdItem, ...]]:
    """Return any message in fewer tokens, as `compact_message` does a tool's answer."""
    rewriter = _Rewriter(
        counter=policy.counter,
        session_id=session_id,
        limits=limits or policy.limits(1),
        request=request,
        prompt=prompt if prompt and policy.cache_aware else Prompt(references=True),
    )
    found = rewriter.rewrite(texts_of(message))
    if not any(found):
        return message, ()
    items = tuple(one.item for one in found if one and one.item)
    mark: dict[str, Any] = {"blocks": [one.note if one else None for one in found]}
    if items:
        # Lists only: where LangChain merges two messages it joins lists, and would join the strings, too.
        mark |= {"refs": [item.key for item in items], "sessions": [session_id] * len(items)}
    if carries:
        mark |= carry((item.key, item.text) for item in items)
        items = ()
    small = with_texts(message, [one.text if one else None for one in found])
    return small.model_copy(update={"additional_kwargs": {**message.additional_kwargs, MARK: mark}}), items


def restore_message(message: ToolMessage, read_cold: Callable[[str], str | None] | None = None) -> ToolMessage:
    """Return the message that `compact_message` was given, byte for byte.

    Args:
        message: A message, rewritten or not.
        read_cold: Returns the text stored under a key, or None; needed for previews that do not carry theirs.

    Raises:
        ProtocolError: E2001, a text that the message cites is neither in it nor in the store.
    """
    if MARK not in message.additional_kwargs:
        return message
    kwargs = dict(message.additional_kwargs)
    notes = kwargs.pop(MARK)["blocks"]

    def read(key: str) -> str | None:
        text = carried_text(key, [message])
        return read_cold(key) if text is None and read_cold else text

    pairs = zip(texts_of(message), notes, strict=True)
    whole = with_texts(message, [_source(text or "", note, read) if note else None for text, note in pairs])
    return whole.model_copy(update={"additional_kwargs": kwargs})


def texts_of(message: BaseMessage) -> list[str | None]:
    """Return the text of each content block, None for one that holds something else (an image, a file)."""
    return [_text_of(block) for block in _blocks_of(message)]


def with_texts(message: _Message, texts: Sequence[str | None]) -> _Message:
    """Return `message` with the text of each of its content blocks replaced; None: as it is."""
    pairs = zip(_blocks_of(message), texts, strict=True)
    content = [block if text is None else _with_text(block, text) for block, text in pairs]
    return message.model_copy(update={"content": content[0] if isinstance(message.content, str) else content})


def _allot(sizes: Sequence[int], budget: int) -> list[int]:
    """Share `budget` among blocks so that small ones keep their size and large ones get equal parts."""
    shares = [0] * len(sizes)
    left = budget
    for rank, index in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        part = left // (len(sizes) - rank)
        shares[index] = part
        left -= min(part, sizes[index])
    return shares


def _source(text: str, note: dict[str, str], read: Callable[[str], str | None]) -> str:
    if layout := note.get("layout"):
        return View(text=text, layout=layout, tokens_before=0, tokens_after=0).restore()
    key = note["ref"]
    source = read(key)
    if source is None:
        raise ProtocolError(f"expected a stored text under {f'${key}'!r}, found none", code=ErrorCode.REF_NOT_FOUND)
    return source


def _text_of(block: Block) -> str | None:
    if isinstance(block, str):
        return block
    text = block.get("text")
    return text if block.get("type") == "text" and isinstance(text, str) else None


def _with_text(block: Block, text: str) -> Block:
    return text if isinstance(block, str) else {**block, "text": text}


def _blocks_of(message: BaseMessage) -> list[Block]:
    return [message.content] if isinstance(message.content, str) else list(message.content)
