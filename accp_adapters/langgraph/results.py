"""Tool results, compressed when the tool returns them, and the way back to what the tool returned."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from accp_adapters.langgraph.messages import texts_of, to_record, with_texts
from accp_adapters.langgraph.metadata import (
    Grant,
    Metadata,
    carried_text,
    is_carriable,
    is_compressed,
    pack_carried,
    without_metadata,
)
from accp_adapters.langgraph.policy import Policy
from accp_core.compression import Compressed
from accp_core.projection import Projector, compress_blocks
from accp_core.references import StoredText, checked_text
from accp_core.view import View

__all__ = ["ResultCompressor", "restore_message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultCompressor:
    """Compresses the results of one model turn. The same messages and policy give the same texts."""

    policy: Policy
    """The limits and the token counter."""
    session_id: str
    """The session whose store gets the texts that previews cite."""
    before: Projector | None = None
    """Has all messages before the results; None: they are unknown, so that every saving counts."""
    carries: bool = False
    """Whether messages carry the texts that they cite, because the graph has no store."""

    def compress_message(self, message: ToolMessage) -> tuple[ToolMessage, tuple[StoredText, ...]]:
        """Return `message` in fewer tokens, and the texts that must be stored before anybody sees it.

        The same object comes back where nothing gets smaller and where the message must stay as it is: an error, the
        result of an excluded tool, a message that was compressed before. Only text changes; id, name, tool_call_id,
        status, artifact and other content blocks stay.
        """
        if message.status == "error" or message.name in self.policy.exclude_tools or is_compressed(message):
            return message, ()
        blocks = self._compressed_blocks(message)
        if not any(blocks):
            return message, ()
        texts = [block.stored for block in blocks if block and block.stored]
        carried = [text for text in texts if self.carries and is_carriable(text.text)]
        metadata = Metadata(
            blocks=tuple(_way_back(block) if block else None for block in blocks),
            grants=tuple(Grant(key=text.key, session_id=self.session_id) for text in texts),
            texts=tuple(map(pack_carried, carried)),
        )
        small = with_texts(message, [block.text if block else None for block in blocks])
        return metadata.on(small), tuple(text for text in texts if text not in carried)

    def _compressed_blocks(self, message: ToolMessage) -> tuple[Compressed | None, ...]:
        if self.before is not None:
            return self.before.compress(to_record(message, self.policy, None))
        limits, counter = self.policy.result_limits(), self.policy.counter
        return compress_blocks(texts_of(message), limits=limits, counter=counter, open_with=self.policy.rules.open_with)

    def compress_result(self, result: Any, known: Collection[str | None]) -> tuple[Any, list[StoredText]]:
        """Return what a tool returned with every new ToolMessage in it compressed, and the texts to store.

        Args:
            result: A message, a `Command`, or a list of both. Everything else that a command holds stays.
            known: The ids of the messages in the state, which the model may have read, so that they stay.
        """
        texts: list[StoredText] = []

        def compress(message: Any) -> Any:
            if not isinstance(message, ToolMessage) or (message.id is not None and message.id in known):
                return message
            small, stored = self.compress_message(message)
            texts.extend(stored)
            return small

        return _walk(result, compress), texts


def _way_back(block: Compressed) -> dict[str, str]:
    return {"ref": block.stored.key} if block.stored else {"layout": block.layout or ""}


def _walk(result: Any, compress: Callable[[Any], Any]) -> Any:
    """Return `result` with `compress` applied to the messages in it; the same object where none changed."""
    if isinstance(result, list):
        return _same_or(result, [_walk(member, compress) for member in result])
    if not isinstance(result, Command):
        return compress(result)
    update = _walk_update(result.update, compress)
    return result if update is result.update else replace(result, update=update)


def _walk_update(update: Any, compress: Callable[[Any], Any]) -> Any:
    if isinstance(update, list):
        return _same_or(update, [compress(member) for member in update])
    if not isinstance(update, Mapping) or "messages" not in update:
        return update
    messages = update["messages"]
    changed = _walk_update(messages, compress) if isinstance(messages, list) else compress(messages)
    return update if changed is messages else {**update, "messages": changed}


def _same_or(before: list[Any], after: list[Any]) -> list[Any]:
    return before if all(old is new for old, new in zip(before, after, strict=True)) else after


def restore_message(message: ToolMessage, read_stored: Callable[[str], str | None] | None = None) -> ToolMessage:
    """Return the message as the tool returned it, byte for byte.

    Args:
        message: A message, compressed or not.
        read_stored: Returns the text stored under a key, or None; for previews whose text the message does not carry.

    Raises:
        ProtocolError: E2001, a text that the message cites is neither in it nor in the store, or is another text.
    """
    blocks, texts = Metadata.of(message).blocks, texts_of(message)
    if len(blocks) != len(texts) or not blocks:
        return message

    def source(text: str, way_back: Mapping[str, str]) -> str:
        if "ref" not in way_back:
            return View(text=text, layout=way_back.get("layout", ""), tokens_before=0, tokens_after=0).restore()
        key = way_back["ref"]
        stored = carried_text(key, [message])
        return checked_text(key, read_stored(key) if stored is None and read_stored else stored)

    whole = with_texts(
        message, [source(text or "", block) if block else None for text, block in zip(texts, blocks, strict=True)]
    )
    return without_metadata(whole)
