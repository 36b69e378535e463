"""Tool results that are stored compressed, for `CompressNode` and `CompressedMessages`, and the way back.

`additional_kwargs["accp"]` of such a message says, for each content block, how it leads back: null, {"layout": …} of
a view, or {"ref": key} of a preview. Nothing but `restore_message` reads it; it opens nothing and grants nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage, ToolMessage

from accp_adapters.langchain.messages import texts_of, with_texts
from accp_core import view
from accp_core.compression import Compressed
from accp_core.packing.expansion import OWN_EXPANSION
from accp_core.references import StoredText, checked_text, is_hash_key

__all__ = ["compressed_message", "is_compressed", "restore_message"]

_METADATA_KEY: Final = "accp"


def is_compressed(message: BaseMessage) -> bool:
    """Return whether the metadata of `message` says that its text is stored compressed."""
    return _ways_back(message.additional_kwargs.get(_METADATA_KEY), len(texts_of(message))) is not None


def compressed_message(
    message: ToolMessage, blocks: Sequence[Compressed | None]
) -> tuple[ToolMessage, tuple[StoredText, ...]]:
    """Return `message` with `blocks` in place of its texts, and the texts that must be stored before anybody sees it.

    Only text changes; id, name, tool_call_id, status, artifact and other content blocks stay. The same object comes
    back where all of `blocks` are None.
    """
    if not any(blocks):
        return message, ()
    small = with_texts(message, [block.text if block else None for block in blocks])
    kwargs = {**message.additional_kwargs, _METADATA_KEY: {"blocks": [_way_back(block) for block in blocks]}}
    stored = tuple(block.stored for block in blocks if block and block.stored)
    return small.model_copy(update={"additional_kwargs": kwargs}), stored


def _way_back(block: Compressed | None) -> dict[str, str] | None:
    if block is None:
        return None
    return {"ref": block.stored.key} if block.stored else {"layout": block.layout or ""}


def restore_message(message: ToolMessage, read_stored: Callable[[str], str | None] | None = None) -> ToolMessage:
    """Return the message as the tool returned it, byte for byte.

    Args:
        message: A message, compressed by `CompressNode` or `CompressedMessages` or not.
        read_stored: Returns the text stored under a key, or None; needed for previews.

    Raises:
        ProtocolError: E2001, a text that the message cites is not in the store, or is another text.
        DecodeError: a view is not what was stored.
    """
    texts = texts_of(message)
    ways_back = _ways_back(message.additional_kwargs.get(_METADATA_KEY), len(texts))
    if ways_back is None:
        return message

    def source(text: str, way_back: Mapping[str, str]) -> str:
        if "ref" not in way_back:
            return view.restore(text, way_back["layout"], limits=OWN_EXPANSION)
        return checked_text(way_back["ref"], read_stored(way_back["ref"]) if read_stored else None)

    whole = [
        source(text or "", way_back) if way_back else None for text, way_back in zip(texts, ways_back, strict=True)
    ]
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key != _METADATA_KEY}
    return with_texts(message, whole).model_copy(update={"additional_kwargs": kwargs})


def _ways_back(data: Any, blocks: int) -> list[Mapping[str, str] | None] | None:
    """Return how each of the `blocks` leads back, None for anything of another shape than we write."""
    found = data.get("blocks") if isinstance(data, Mapping) else None
    if not isinstance(found, list) or len(found) != blocks or not all(map(_is_way_back, found)):
        return None
    return found


def _is_way_back(value: Any) -> bool:
    match value:
        case None:
            return True
        case {"ref": str(key), **rest}:
            return not rest and is_hash_key(key)
        case {"layout": str(), **rest}:
            return not rest
    return False
