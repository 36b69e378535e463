"""A tools/call result as texts for a model, and the plain result again.

Each text block is shown in the fewest tokens that lose nothing; a list that stands in one block for each item becomes
one table; with a shelf, a text that is too big is kept there and cited. A host that shows its model both `content` and
`structuredContent` can have one of them: what the other said is in it, or is put there. A note in `_meta` leads back
to what the server sent, byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from accp_adapters.mcp.shim.meta import has_room, note_in, with_note, without_note
from accp_adapters.mcp.shim.negotiation import Structured
from accp_adapters.mcp.shim.protocol import Json, compact, same_result, text_block, without
from accp_adapters.mcp.shim.results.duplicate_content import Block, Copy, find_copy
from accp_adapters.mcp.shim.stored_results import Shelf
from accp_core.ports import TokenCounter
from accp_core.view import View, read, render, render_text

__all__ = ["Showing", "is_view", "restore_view", "write_view"]

_NOTE: Final = "view"
_STRUCTURED: Final = "structuredContent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Showing:
    """How a host is shown results."""

    counter: TokenCounter
    """Counts the tokens of its model."""
    structured: Structured = "keep"
    """Which form it is shown, where a result has two."""
    shelf: Shelf | None = None
    """Where texts are kept that are too big to show; None: everything is shown whole."""
    inline_limit: int = 3_000
    """Tokens of a view, above which it is previewed."""
    preview_limit: int = 2_000
    """Tokens of a preview."""
    request: str = ""
    """What was asked, which ranks what a preview keeps."""


def write_view(result: Json, showing: Showing, *, is_large: bool = False) -> Json | None:
    """Return `result` as a model is to read it; None where nothing in it can be said in fewer tokens.

    Of one that `is_large` texts are only kept and cited: looking into it would take long.

    Raises: ValueError (EncodeError among them), RecursionError: something in it cannot be restored.
    """
    if not has_room(result) or not isinstance(result.get("content"), list):
        return None
    work = _Writing(showing, list(result["content"]), is_large)
    found = None if is_large else find_copy(result)
    dropped = work.choose_form(result, found)
    if found is not None and found[0].each and "left" not in work.note:
        work.merge(found[0])
    work.shorten()
    if not work.note:
        return None
    written = with_note(
        {**(without(result, _STRUCTURED) if dropped else result), "content": work.content}, {_NOTE: work.note}
    )
    opened = showing.shelf.open if showing.shelf else None
    if not is_large and not same_result(restore_view(written, opened), result):
        raise ValueError("expected a result that its view gives back")
    return written


def restore_view(result: Json, opened: Callable[[str], str] | None = None) -> Json:
    """Return the plain result that `write_view` was given; `opened` returns the text of a reference.

    Raises: ValueError (DecodeError among them), TypeError, LookupError: the note does not fit the result, or cites
        what `opened` is needed for.
    """
    note: Json = note_in(result)[_NOTE]
    content, restored = list(result["content"]), without_note(result)
    for index, (layout, key) in note.get("texts", {}).items():
        content[int(index)] = {**content[int(index)], "text": _source(content[int(index)], layout, key, opened)}
    if "merged" in note:
        copy = Copy.from_json(note["merged"])
        content[copy.at : copy.at + 1] = copy.write(_value(content[copy.at], note.get("merged_ref"), opened))
    if "added" in note:
        restored[_STRUCTURED] = _value(content.pop(), note["added"], opened)
    if "dropped" in note:
        restored[_STRUCTURED] = Copy.from_json(note["dropped"]).read(content)
    if "left" in note:
        copy = Copy.from_json(note["left"])
        content[copy.at : copy.at] = copy.write(restored[_STRUCTURED])
    return {**restored, "content": content}


def is_view(result: object) -> bool:
    """Tell whether a result holds views of ours, by its note."""
    return isinstance(note_in(result).get(_NOTE), dict)


def _source(block: Block, layout: str, key: str | None, opened: Callable[[str], str] | None) -> str:
    if key is not None:
        return _opened(key, opened)
    return View(text=block["text"], layout=layout, tokens_before=0, tokens_after=0).restore()


def _value(block: Block, key: str | None, opened: Callable[[str], str] | None) -> Any:
    return read(block["text"]) if key is None else json.loads(_opened(key, opened))


def _opened(key: str, opened: Callable[[str], str] | None) -> str:
    if opened is None:
        raise LookupError(f"expected a way to open {key!r}")
    return opened(key)


@dataclass(slots=True)
class _Writing:
    """A result on its way to a view."""

    showing: Showing
    content: list[Block]
    is_large: bool
    note: Json = field(default_factory=dict)

    def choose_form(self, result: Json, found: tuple[Copy, object] | None) -> bool:
        """Leave out what the other form says; return whether that is `structuredContent`."""
        how = self.showing.structured
        if how == "keep" or _STRUCTURED not in result:
            return False
        copy = found[0] if found else None
        if how == "only":
            if copy is not None:
                del self.content[copy.at : copy.at + copy.count]
                self.note["left"] = copy.to_json()
            return False
        if copy is not None:
            self.note["dropped"] = copy.to_json()
        else:
            text, self.note["added"] = self._say(result[_STRUCTURED])
            self.content.append(text_block(text))
        return True

    def merge(self, copy: Copy) -> None:
        """Put one block in the place of those that each hold an item of a list, where that is shorter."""
        counter, items = self.showing.counter, replace(copy, key=None)
        blocks = self.content[copy.at : copy.at + copy.count]
        text, key = self._say(items.read(self.content))
        if counter(text) < sum(counter(block["text"]) for block in blocks):
            self.content[copy.at : copy.at + copy.count] = [text_block(text)]
            self.note["merged"] = items.to_json()
            if key is not None:
                self.note["merged_ref"] = key

    def shorten(self) -> None:
        """Put views in the place of texts, less those that are views already or that only a person is shown."""
        done = {self.note["merged"]["at"]} if "merged" in self.note else set()
        done |= {len(self.content) - 1} if "added" in self.note else set()
        texts = {}
        for index, block in enumerate(self.content):
            shown = None if index in done or not _is_shown(block) else self._shown(block["text"])
            if shown is not None:
                text, layout, key = shown
                self.content[index] = {**block, "text": text}
                texts[str(index)] = [layout, key]
        if texts:
            self.note["texts"] = texts

    def _shown(self, source: str) -> tuple[str, str, str | None] | None:
        """Return the view of a text, its layout and the key under which it was kept; None where it stays."""
        if self.is_large:
            short = len(source) <= self.showing.inline_limit
            return None if short or (cited := self._cite(source, None)) is None else (cited[0], "", cited[1])
        view = render_text(source, counter=self.showing.counter)
        if view.tokens_after > self.showing.inline_limit and (cited := self._cite(source, view)) is not None:
            return cited[0], "", cited[1]
        return (view.text, view.layout, None) if view.tokens_after < view.tokens_before else None

    def _say(self, value: Any) -> tuple[str, str | None]:
        """Return a value as text, and the key under which it was kept if that is a preview."""
        if self.is_large:
            return self._cite(compact(value), None) or (compact(value), None)
        text = render(value, counter=self.showing.counter)
        if self.showing.counter(text) > self.showing.inline_limit:
            return self._cite(compact(value), None) or (text, None)
        return text, None

    def _cite(self, source: str, view: View | None) -> tuple[str, str] | None:
        """Return a preview and the key of the whole; None where nothing is kept."""
        showing = self.showing
        if showing.shelf is None or showing.shelf.is_full:
            return None
        return showing.shelf.shorten(
            source, view, limit=showing.preview_limit, request=showing.request, counter=showing.counter
        )


def _is_shown(block: Any) -> bool:
    """Tell whether a block is text that a model is shown."""
    if not isinstance(block, dict) or block.get("type") != "text" or not isinstance(block.get("text"), str):
        return False
    annotations = block.get("annotations")
    return not isinstance(annotations, dict) or annotations.get("audience") != ["user"]
