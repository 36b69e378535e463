"""The node for hand-built graphs: between tools and model it compresses the results that the tools returned."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.runtime import Runtime, get_runtime

from accp_adapters.langchain import texts_of, to_records, with_texts
from accp_adapters.langgraph import stores
from accp_adapters.langgraph.conversation import (
    MessageProjector,
    agent_name,
    graph_session,
    messages_of,
    projector_after,
)
from accp_adapters.langgraph.grants import grant_of
from accp_adapters.policy import Policy
from accp_core import view
from accp_core.compression import Compressed
from accp_core.packing.expansion import OWN_EXPANSION
from accp_core.projection import Unit
from accp_core.references import StoredText, checked_text, is_hash_key

__all__ = ["CompressNode", "compressed_message", "restore_message", "stored_units"]


# Tool results that are stored compressed, for `CompressNode` and `CompressedMessages`, and the way back.

_METADATA_KEY: Final = "accp"


def stored_units(message: BaseMessage) -> tuple[Unit | None, ...]:
    """Return `MessageRecord.stored` of a message whose metadata say that it is stored compressed; () of another."""
    blocks = _ways_back(message.additional_kwargs.get(_METADATA_KEY), len(texts_of(message))) or ()
    return tuple(None if each is None else "whole" if "ref" in each else "rows" for each in blocks)


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


_log: Final = logging.getLogger("accp")
_NO_THREAD: Final = (
    "CompressNode makes no previews in a run without a thread: give the graph a checkpointer, and the run "
    'config={"configurable": {"thread_id": …}}'
)


class CompressNode(Runnable[Any, Any]):
    """A node that replaces the tool results after the last model turn, each in its place, for small checkpoints.

    `graph.add_node("compress", CompressNode(policy, store=store))` with edges tools → compress → model. Earlier
    messages, which the model may have read, never change. Add `fetch_tool(policy, store=store)` to the tools unless the
    policy is lossless, and let the model read `compress.read(state)`. The store keeps what previews leave out; without
    a store, and in a run without a thread, each result is stored as its view. `restore_message` returns a result as its
    tool returned it.
    """

    def __init__(
        self,
        policy: Policy | str | None = None,
        *,
        store: stores.Store | str | None = None,
        messages_key: str = "messages",
    ) -> None:
        """Compress by `policy` what the channel `messages_key` holds.

        Args:
            policy: As `AccpMiddleware` takes it.
            store: The same, for full texts; None: the graph's own, if it has one.
            messages_key: A channel whose reducer replaces by id, as `add_messages` does.
        """
        super().__init__()
        self._policy: Final = Policy.of(policy)
        self._store: Final = stores.opened(store)
        self._key: Final = messages_key
        self._projector: Final = MessageProjector(self._policy, stored=stored_units)

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the update of the state `input`: the messages that became smaller, under their ids.

        Raises:
            ValueError: A result has no id, so that it would be appended instead of replaced.
        """
        runtime = get_runtime()
        update, texts, session_id = self._compress(input, runtime)
        if store := stores.choose(self._store, runtime.store):
            try:
                stores.put(store, session_id, texts)
            except Exception as failure:
                return self._without_store(input, runtime, store, failure)
        return update

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """`invoke`, asynchronously."""
        runtime = get_runtime()
        update, texts, session_id = await asyncio.to_thread(self._compress, input, runtime)
        if store := stores.choose(self._store, runtime.store):
            try:
                await stores.in_thread(stores.put, store, session_id, texts)
            except Exception as failure:
                return await asyncio.to_thread(self._without_store, input, runtime, store, failure)
        return update

    def read(self, state: Any, *, agent: str | None = None) -> list[BaseMessage]:
        """Return the messages of `state` as a model is to be sent them; the state keeps them as they are.

        What is stored compressed stays so, but for repeat markers and for the changes of a table that was read before.

        For the node that calls the model: `model.invoke(compress.read(state))`.

        Args:
            state: The state of the graph.
            agent: The name of this agent's own messages, which stay as they are; None: that of the running agent.
        """
        return self._projector.project(messages_of(state, self._key), agent=agent or agent_name()).messages

    def _without_store(self, state: Any, runtime: Runtime[Any], store: stores.Store, failure: Exception) -> Any:
        """Return the update after a store failed: a preview whose text is not stored would open nothing."""
        _log.warning("CompressNode makes no previews: %s", stores.failure_of(store, failure))
        return self._compress(state, runtime, stores_texts=False)[0]

    def _compress(
        self, state: Any, runtime: Runtime[Any], *, stores_texts: bool = True
    ) -> tuple[Any, list[StoredText], str]:
        messages = messages_of(state, self._key)
        results = _newest_results(messages)
        session_id = graph_session(runtime)
        has_store = self._store is not None or runtime.store is not None
        if has_store and session_id is None and self._policy.previews:
            warnings.warn(_NO_THREAD, stacklevel=2)
        can_store = session_id is not None and has_store and stores_texts
        policy = self._policy if can_store else self._policy.without_previews()
        projector = projector_after(messages[: len(messages) - len(results)], policy, agent_name())
        changed: list[BaseMessage] = []
        texts: list[StoredText] = []
        for message in results:
            (record,) = to_records([message], stored=stored_units)
            small, stored = compressed_message(message, projector.compress(record))
            if small is not message:
                changed.append(_with_id(small))
                texts += [*stored, *(grant_of(small.id, text.key) for text in stored)]
        update = changed if isinstance(state, list) else {self._key: changed}
        return update, texts, session_id or ""


def _newest_results(messages: Sequence[BaseMessage]) -> list[ToolMessage]:
    """Return the tool results after the last model turn: no model has read them yet."""
    turns = (index for index in reversed(range(len(messages))) if isinstance(messages[index], AIMessage))
    newest = messages[next(turns, -1) + 1 :]
    return [message for message in newest if isinstance(message, ToolMessage)]


def _with_id(message: ToolMessage) -> ToolMessage:
    """Return `message`; refuse one without an id: it would be appended, a second answer to one call."""
    if message.id is None:
        raise ValueError(
            f"expected messages with ids, as `add_messages` gives them, found none on the result of call "
            f"{message.tool_call_id!r}"
        )
    return message
