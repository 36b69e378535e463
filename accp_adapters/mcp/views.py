"""A tools/call result with texts for a model, and the plain result again.

Every text block is shown as its view or preview; what looks like a marker of ours in it is escaped
(`accp_core.markers`), which may cost tokens. A list that the server wrote as one block for each item becomes one table.
A host that would show its model `structuredContent` gets only texts, with what it contained.
The metadata in `_meta` leads back to what the server sent, byte for byte:

    {"view": {"texts": {"0": [layout, key]},        layout of a view, or key of the stored text
              "merged": {…}, "merged_ref": key,     blocks that became one table
              "dropped": {…}, "added": key}}        `structuredContent` is in a text of the server, or in one of ours
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from accp_adapters.fetching import FETCH_NAME
from accp_adapters.mcp import messages
from accp_adapters.mcp.hosts import shown_text
from accp_adapters.mcp.sessions import SessionTexts
from accp_core import view as views
from accp_core.compression import Compressed, ResultLimits, Source, compress, part_blocks
from accp_core.markers import escape_markers, unescape_markers
from accp_core.packing.expansion import DEFAULT_EXPANSION, Expansion, size_of
from accp_core.ports import TokenCounter
from accp_core.strict_json import compact_json, read_json

__all__ = ["ViewSettings", "has_escapes", "is_view", "references_in", "restore_view", "write_view"]

OpenReference: TypeAlias = Callable[[str], str]
"""Returns the stored text of a key."""

_VIEW: Final = "view"
_STRUCTURED: Final = "structuredContent"
_MAX_SHORT_ERROR: Final = 500
"""Characters of the result of a failed call that stays as it is, but for what looks like a marker of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSettings:
    """How the results for one client are shown."""

    counter: TokenCounter
    """Counts the tokens of the client's model."""
    drops_structured: bool = False
    """Whether `structuredContent` is left out, since its value is in the texts."""
    stored_results: SessionTexts | None = None
    """Where texts are kept that are too large to show; None: everything is shown whole."""
    limits: ResultLimits = field(default_factory=ResultLimits)
    """When a view becomes a preview, and how long that may be."""
    request: str = ""
    """The arguments of the call, which rank what a preview keeps."""


def write_view(
    result: messages.JsonObject, settings: ViewSettings, *, is_large: bool = False
) -> messages.JsonObject | None:
    """Return `result` as a model is to read it; None where that saves nothing.

    Args:
        result: A result of tools/call.
        settings: How it is shown.
        is_large: Whether its texts are only stored and previewed, since anything else would take too long.

    Raises:
        ValueError: Something in it cannot be restored (EncodeError among them).
        RecursionError: It nests too deep.
    """
    if not messages.has_room_for_metadata(result) or not isinstance(result.get("content"), list):
        return None
    is_short_error = bool(result.get("isError")) and size_of(result) <= _MAX_SHORT_ERROR
    writer = _ViewWriter(settings, list(result["content"]), is_large, is_short_error)
    # Without a form to leave out, only a list in several blocks matters.
    is_wanted = settings.drops_structured or sum(map(messages.is_plain_text, result["content"])) > 1
    found = messages.find_duplicate(result) if is_wanted and not is_short_error else None
    duplicate = found[0] if found else None
    drops_structured = settings.drops_structured and _STRUCTURED in result
    if drops_structured:
        writer.drop_structured(result[_STRUCTURED], duplicate)
    if duplicate is not None and duplicate.each and duplicate.count > 1:
        writer.merge(duplicate)
    writer.shorten()
    if not writer.metadata:
        return None
    shown = messages.without(result, _STRUCTURED) if drops_structured else result
    written = messages.add_metadata({**shown, "content": writer.content}, {_VIEW: writer.metadata})
    open_reference = settings.stored_results.open if settings.stored_results else None
    if not is_large and not messages.is_same_result(restore_view(written, open_reference), result):
        raise ValueError("expected to restore the same result from its view, found another")
    return written


def restore_view(result: messages.JsonObject, open_reference: OpenReference | None = None) -> messages.JsonObject:
    """Return the plain result that `write_view` was given.

    Args:
        result: What `write_view` returned.
        open_reference: Returns the stored text of a key; None: previews cannot be restored.

    Raises:
        ValueError, TypeError, LookupError: The metadata does not fit the result (DecodeError among them), or a
            preview cannot be restored.
    """
    metadata: messages.JsonObject = messages.read_metadata(result)[_VIEW]
    content, restored = list(result["content"]), messages.remove_metadata(result)
    expansion = Expansion(DEFAULT_EXPANSION.of(size_of(restored)))
    for index, (layout, key) in metadata.get("texts", {}).items():
        block = content[int(index)]
        text = _restore_text(block, layout, key, open_reference)
        expansion.add(len(text) if key is None else 0, "a view")
        content[int(index)] = {**block, "text": text}
    if "merged" in metadata:
        merged = messages.DuplicateContent.from_json(metadata["merged"])
        key = metadata.get("merged_ref")
        value = _restore_value(content[merged.at], key, open_reference)
        content[merged.at : merged.at + 1] = merged.write(value, expansion if key is None else None)
    if "added" in metadata:
        restored[_STRUCTURED] = _restore_value(content.pop(), metadata["added"], open_reference)
    if "dropped" in metadata:
        restored[_STRUCTURED] = messages.DuplicateContent.from_json(metadata["dropped"]).read(content)
    return {**restored, "content": content}


def references_in(result: messages.JsonObject) -> tuple[str, ...]:
    """Return the keys of the texts that the previews of a result stand for."""
    view: messages.JsonObject = messages.read_metadata(result).get(_VIEW, {})
    keys = (*(key for _, key in view.get("texts", {}).values()), view.get("merged_ref"), view.get("added"))
    return tuple(key for key in keys if key)


def is_view(result: object) -> bool:
    """Return whether a result holds views of ours, by its metadata."""
    return isinstance(messages.read_metadata(result).get(_VIEW), dict)


def has_escapes(shown: messages.JsonObject) -> bool:
    """Return whether `write_view` escaped anything: then it must be sent, though it may save nothing."""
    text = shown_text(shown)
    return unescape_markers(text) != text


def _restore_text(
    block: messages.ContentBlock, layout: str, key: str | None, open_reference: OpenReference | None
) -> str:
    if key is not None:
        return _stored_text(key, open_reference)
    text = unescape_markers(block["text"])
    return views.View(text=text, layout=layout, tokens_before=0, tokens_after=0).restore()


def _restore_value(block: messages.ContentBlock, key: str | None, open_reference: OpenReference | None) -> Any:
    return views.read(unescape_markers(block["text"])) if key is None else read_json(_stored_text(key, open_reference))


def _stored_text(key: str, open_reference: OpenReference | None) -> str:
    if open_reference is None:
        raise LookupError(f"expected a function that opens {key!r}, found none")
    return open_reference(key)


@dataclass(slots=True)
class _ViewWriter:
    """A result that is being written as a view."""

    settings: ViewSettings
    content: list[messages.ContentBlock]
    is_large: bool
    is_short_error: bool
    metadata: messages.JsonObject = field(default_factory=dict)
    done: dict[int, Compressed | None] = field(default_factory=dict)
    """By their indices the blocks that are views already, without the layouts of others."""

    def drop_structured(self, structured: object, duplicate: messages.DuplicateContent | None) -> None:
        """Note which texts hold `structuredContent`; where none does, add one."""
        if duplicate is not None:
            self.metadata["dropped"] = duplicate.to_json()
            return
        text = compact_json(structured)
        shown = self._escape(self._compress(text))
        self.metadata["added"] = self._keep(shown)
        self.content.append(messages.text_block(shown.text if shown else escape_markers(text)))

    def merge(self, duplicate: messages.DuplicateContent) -> None:
        """Replace blocks that each hold an item of a list by one block with the list, if that has fewer tokens."""
        # Counting the tokens of megabytes takes seconds; a preview is always shorter than its text.
        counter, items = len if self.is_large else self.settings.counter, replace(duplicate, key=None)
        blocks = self.content[items.at : items.at + items.count]
        shown = self._escape(self._compress(compact_json(items.read(self.content))))
        if shown is not None and shown.tokens_after < sum(counter(block["text"]) for block in blocks):
            self.content[items.at : items.at + items.count] = [messages.text_block(shown.text)]
            self.done[items.at] = replace(shown, layout=None)
            self.metadata["merged"] = items.to_json()
            if (key := self._keep(shown)) is not None:
                self.metadata["merged_ref"] = key

    def shorten(self) -> None:
        """Replace texts by views or previews, except those that are views already or are for the user only."""
        self.done |= {len(self.content) - 1: None} if "added" in self.metadata else {}
        blocks = [
            self.done[at] if at in self.done else self._compress(block["text"]) if _is_for_model(block) else None
            for at, block in enumerate(self.content)
        ]
        texts = {}
        for at, shown in enumerate(part_blocks(blocks, self.settings.counter)):
            shown = None if at in self.done else self._escape(shown)
            if shown is not None and shown.text != self.content[at]["text"]:
                self.content[at] = {**self.content[at], "text": shown.text}
                texts[str(at)] = [shown.layout or "", self._keep(shown)]
        if texts:
            self.metadata["texts"] = texts

    def _compress(self, text: str) -> Compressed | None:
        """Return a text as it is shown; None for a text of a large result that is shown whole."""
        if self.is_short_error:
            return Compressed(text=text, layout=views.AS_IS, stored=None, tokens_before=0, tokens_after=0)
        settings, limits, counter = self.settings, self.settings.limits, self.settings.counter
        if settings.stored_results is None or settings.stored_results.is_full:
            limits = replace(limits, inline=None)
        if not self.is_large:
            return compress(text, limits=limits, counter=counter, request=settings.request, open_with=FETCH_NAME)
        if limits.inline is None or len(text) <= limits.inline:
            return None
        source = Source(text, counter=counter, open_with=FETCH_NAME, verbatim=limits.verbatim)
        return source.preview(limits.preview, chars=limits.previewed_chars, request=settings.request)

    def _escape(self, shown: Compressed | None) -> Compressed | None:
        """Return a view in which what looks like a marker of ours says that it is source text; others as they are."""
        if shown is None or shown.stored:
            return shown
        text = views.escape_view(shown.text, shown.layout)
        return shown if text == shown.text else replace(shown, text=text, tokens_after=self.settings.counter(text))

    def _keep(self, shown: Compressed | None) -> str | None:
        """Store the whole text of a preview; return its key, None for anything else."""
        if shown is None or shown.stored is None or self.settings.stored_results is None:
            return None
        self.settings.stored_results.keep(shown.stored)
        if self.settings.limits.verbatim:
            self.settings.stored_results.verbatim.add(shown.stored.key)
        return shown.stored.key


def _is_for_model(block: Any) -> bool:
    """Return whether a block is text that a model is shown."""
    if not messages.is_text(block):
        return False
    annotations = block.get("annotations")
    return not isinstance(annotations, dict) or annotations.get("audience") != ["user"]
