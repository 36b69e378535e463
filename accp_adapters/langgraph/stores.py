"""Stores for full texts: a LangGraph `BaseStore` or a `ColdStore` of ours (ACCP section 5.1, tier 3)."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from accp_adapters.serving.threads import until_cancelled
from accp_adapters.stores import SqliteColdStore, open_store
from accp_adapters.stores.sqlite import MEMORY
from accp_adapters.stores.texts import item_filter, namespace_label, read_item, write_item
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore
from accp_core.references import StoredText, reference_to

__all__ = ["Store", "StoreColdStore", "choose", "failure_of", "failures_as_refusals", "in_thread", "opened", "put"]


Store: TypeAlias = BaseStore | ColdStore
"""What the user may give as `store=`."""

_PAGE: Final = 20
"""Items of one search, which returns their texts, too; each may be megabytes."""
_Result = TypeVar("_Result")
_LOOP: Final[ContextVar[asyncio.AbstractEventLoop]] = ContextVar("accp_loop")
"""The event loop that waits for this thread."""


async def in_thread(work: Callable[..., _Result], *arguments: Any, **named: Any) -> _Result:
    """Return what `work` returns in another thread, in which a store that is asynchronous only can be used, too."""
    before = _LOOP.set(asyncio.get_running_loop())
    try:
        return await until_cancelled(partial(work, *arguments, **named))
    finally:
        _LOOP.reset(before)


class StoreColdStore:
    """A `ColdStore` over a LangGraph `BaseStore`."""

    def __init__(self, store: BaseStore, *, namespace: str = "accp") -> None:
        """Keep texts in `store`.

        Args:
            store: Any store of LangGraph.
            namespace: The first label of each namespace; the session is the second.
        """
        self.base: Final = store
        self._root: Final = namespace

    def put(self, session_id: str, key: str, text: str) -> None:
        """Keep `text` under `key` for `session_id`; putting the same key again changes nothing.

        Raises:
            ProtocolError: E2001, the store does not give back what it was given.
        """
        item = write_item(key, text)
        self._batch([PutOp(self._namespace(session_id), key, item, index=False)])
        found = self.get(session_id, key)
        if found != text:
            # LangGraph's RedisStore loses texts without an error with some versions of Redis' search module.
            reason = f"expected {type(self.base).__name__} to give back {reference_to(key)!r} after it was put, found "
            raise ProtocolError(reason + ("nothing" if found is None else "another text"), code=ErrorCode.REF_NOT_FOUND)

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text kept under `key` for `session_id`, or None when there is none.

        Raises:
            ProtocolError: E2001, what the store has there is no text, or a later version wrote it.
        """
        (item,) = self._batch([GetOp(self._namespace(session_id), key)])
        return read_item(item.value) if isinstance(item, Item) else None

    def find(self, session_id: str, beginning: str) -> list[str]:
        """Return the keys of `session_id` that `short_key` shortens to `beginning`; 0.1 has put none that is found."""
        namespace = self._namespace(session_id)
        wanted = SearchOp(namespace, filter=item_filter(beginning), limit=_PAGE, refresh_ttl=False)
        mine = (item.key for item in self._batch([wanted])[0] if item.namespace == namespace)
        return sorted(key for key in mine if key.startswith(beginning))

    def delete(self, session_id: str, key: str) -> None:
        """Delete the text under `key` of `session_id`, where there is one."""
        self._batch([PutOp(self._namespace(session_id), key, None)])

    def purge(self, session_id: str) -> int:
        """Delete all texts of `session_id`; return how many there were."""
        namespace = self._namespace(session_id)
        deleted: set[str] = set()
        offset = 0
        page: list[Any] = [None] * _PAGE
        while len(page) == _PAGE:
            (page,) = self._batch([SearchOp(namespace, limit=_PAGE, offset=offset, refresh_ttl=False)])
            # Some stores return more: a search in session "1" the texts of "10", or of a name in another case.
            mine = {item.key for item in page if item.namespace == namespace} - deleted
            if mine:
                self._batch([PutOp(namespace, key, None) for key in sorted(mine)])
            deleted |= mine
            offset += len(page) - len(mine)
        return len(deleted)

    def _batch(self, operations: list[Op]) -> list[Any]:
        try:
            return self.base.batch(operations)
        except NotImplementedError:
            # Some stores have asynchronous methods only.
            if (loop := _LOOP.get(None)) is None:
                raise
            return asyncio.run_coroutine_threadsafe(self.base.abatch(operations), loop).result()

    def _namespace(self, session_id: str) -> tuple[str, str]:
        return namespace_label(self._root), namespace_label(session_id)


def choose(given: Store | None, compiled: BaseStore | None) -> ColdStore | None:
    """Return the store that is `given`, else the graph's own (`compile(store=...)`), else None."""
    store = given if given is not None else compiled
    if isinstance(store, BaseStore):
        return StoreColdStore(store)
    return store


@contextmanager
def failures_as_refusals(store: ColdStore) -> Iterator[None]:
    """Turn what a store raises that is closed, full or out of reach into a refusal.

    Its own words may hold the password of an address, so only the class of the error is told.

    Raises:
        ProtocolError: E4002, the store failed; as the store raises it.
    """
    try:
        yield
    except ProtocolError:
        raise
    except Exception as error:
        raise ProtocolError(failure_of(store, error), code=ErrorCode.TOOL_EXEC_FAILED) from error


def failure_of(store: Store | None, error: Exception) -> str:
    """Return what is told of an error of a store: its own words may hold the password of an address."""
    base = store.base if isinstance(store, StoreColdStore) else store
    return f"expected {type(base).__name__} to answer, found {type(error).__name__}; try again later"


def put(store: ColdStore, session_id: str, texts: Iterable[StoredText]) -> None:
    """Store all `texts` of a session; warn where they end with the process and the conversation does not."""
    for text in texts:
        _warn_of_memory(store)
        store.put(session_id, text.key, text.text)


def _warn_of_memory(store: ColdStore) -> None:
    """Warn, at the first text, that references will not open after a restart of the process."""
    with suppress(RuntimeError):  # outside of a run nothing is checkpointed
        saver = get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
        if saver is not None and not isinstance(saver, InMemorySaver) and _is_in_memory(store):
            warnings.warn(
                f"{type(saver).__name__} keeps this conversation, but the texts behind its references are in memory "
                "only and will be lost with this process: use another store, such as SqliteColdStore('cold.sqlite')",
                stacklevel=2,
            )


def _is_in_memory(store: ColdStore) -> bool:
    """Return whether `store` ends with this process."""
    if isinstance(store, StoreColdStore):
        return type(store.base) is InMemoryStore  # a subclass may write to a disk
    return isinstance(store, SqliteColdStore) and store.path == MEMORY


def opened(store: Store | str | None) -> Store | None:
    """Return the store that an option was given; a text is the address of one (`open_store`).

    Raises:
        TypeError: It is no store.
        ValueError: It is no address.
    """
    if isinstance(store, str):
        return open_store(store)
    if store is None or isinstance(store, BaseStore) or all(hasattr(store, name) for name in ("put", "get", "purge")):
        return store
    raise TypeError(f"expected a ColdStore, a LangGraph BaseStore or an address as sqlite:PATH, found {store!r}")
