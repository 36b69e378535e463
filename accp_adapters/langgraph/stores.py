"""Where full texts are kept: a LangGraph `BaseStore` or a `ColdStore` of ours (ACCP section 5.1, tier 3)."""

from __future__ import annotations

import asyncio
import hashlib
import json
import warnings
from collections.abc import Generator, Iterable
from contextlib import suppress
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config
from langgraph.constants import CONFIG_KEY_CHECKPOINTER
from langgraph.store.base import BaseStore, GetOp, Item, Op, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from accp_adapters.langgraph.messages import ColdItem
from accp_adapters.langgraph.policy import Policy
from accp_adapters.stores import SqliteColdStore, embedded_store
from accp_adapters.stores.sqlite import MEMORY
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore

__all__ = ["Store", "StoreColdStore", "aget", "apurge", "aput", "choose", "has_store", "put"]

Store: TypeAlias = BaseStore | ColdStore
"""What the user may give as `store=`."""

# A search brings the texts along, which may be megabytes each.
_PAGE: Final = 20
# PostgreSQL's index holds 2,704 bytes of namespace and key together.
_LONGEST_LABEL: Final = 500


class StoreColdStore:
    """A `ColdStore` over a LangGraph `BaseStore`, with an async twin of each method."""

    def __init__(self, store: BaseStore, *, namespace: str = "accp", ttl: float | None = None) -> None:
        """Keep texts in `store` under (`namespace`, session); `ttl` is in minutes, None means for ever.

        Raises:
            ValueError: `ttl` is given and `store` cannot forget.
        """
        if ttl is not None and not store.supports_ttl:
            raise ValueError(f"expected ttl None for a {type(store).__name__}, which cannot forget, found {ttl!r}")
        self.base: Final = store
        self._root: Final = namespace
        self._ttl: Final = ttl

    def put(self, session_id: str, key: str, text: str) -> None:
        """Keep `text` under `key` for `session_id`; putting the same key again changes nothing.

        Raises:
            ProtocolError: E2001, the store does not give back what it was given.
        """
        self.base.batch([self._put(session_id, key, text)])
        self._check(key, text, self.get(session_id, key))

    async def aput(self, session_id: str, key: str, text: str) -> None:
        """`put`, asynchronously."""
        await self._abatch([self._put(session_id, key, text)])
        self._check(key, text, await self.aget(session_id, key))

    def get(self, session_id: str, key: str) -> str | None:
        """Return the text kept under `key` for `session_id`, or None when there is none."""
        return _text_of(self.base.batch([GetOp(self._place(session_id), key)])[0])

    async def aget(self, session_id: str, key: str) -> str | None:
        """`get`, asynchronously."""
        return _text_of((await self._abatch([GetOp(self._place(session_id), key)]))[0])

    def purge(self, session_id: str) -> int:
        """Forget everything of `session_id`; return how many texts went."""
        steps = self._purge(session_id)
        found: Any = None  # a generator's first answer
        while True:
            try:
                found = self.base.batch(steps.send(found))
            except StopIteration as end:
                return int(end.value)

    async def apurge(self, session_id: str) -> int:
        """`purge`, asynchronously."""
        steps = self._purge(session_id)
        found: Any = None  # a generator's first answer
        while True:
            try:
                found = await self._abatch(steps.send(found))
            except StopIteration as end:
                return int(end.value)

    async def _abatch(self, operations: list[Op]) -> list[Any]:
        try:
            return await self.base.abatch(operations)
        except NotImplementedError:
            # SqliteStore has no asynchronous half; an asynchronous run of its graph must not fail for that.
            return await asyncio.to_thread(self.base.batch, operations)

    def _put(self, session_id: str, key: str, text: str) -> PutOp:
        # As ASCII JSON: PostgreSQL's jsonb holds neither NUL nor lone surrogates, and a tool may return both.
        return PutOp(self._place(session_id), key, {"text": json.dumps(text)}, index=False, ttl=self._ttl)

    def _check(self, key: str, text: str, found: str | None) -> None:
        """Refuse a store that forgets: a message must not cite what nobody can open.

        LangGraph's RedisStore does so on some versions of Redis' search module, without a word.
        """
        if found != text:
            reason = f"expected {type(self.base).__name__} to give back {f'${key}'!r} after it was put, found "
            raise ProtocolError(reason + ("nothing" if found is None else "another text"), code=ErrorCode.REF_NOT_FOUND)

    def _place(self, session_id: str) -> tuple[str, str]:
        return _label(self._root), _label(session_id)

    def _purge(self, session_id: str) -> Generator[list[Op], Any, int]:
        """Yield the operations that forget a session, page by page, each to be answered with what it found."""
        place = self._place(session_id)
        gone: set[str] = set()
        offset = 0
        page: list[Any] = [None] * _PAGE
        while len(page) == _PAGE:
            (page,) = yield [SearchOp(place, limit=_PAGE, offset=offset, refresh_ttl=False)]
            # Some stores find neighbours, too: a search in session "1" those of "10", or of another case.
            mine = {item.key for item in page if item.namespace == place} - gone
            if mine:
                yield [PutOp(place, key, None) for key in sorted(mine)]
            gone |= mine
            offset += len(page) - len(mine)
        return len(gone)


def has_store(given: Store | None, compiled: BaseStore | None) -> bool:
    """Tell whether texts go to a store that somebody gave; if not, messages carry theirs."""
    return given is not None or compiled is not None


def choose(policy: Policy, given: Store | None, compiled: BaseStore | None) -> ColdStore:
    """Return the store given, else the graph's own (`compile(store=...)`), else ours in memory."""
    store = given if given is not None else compiled
    if store is None:
        return embedded_store()
    if isinstance(store, BaseStore):
        return StoreColdStore(store, namespace=policy.namespace, ttl=policy.ttl)
    return store


def put(store: ColdStore, session_id: str, items: Iterable[ColdItem]) -> None:
    """Keep all `items` of a session; warn where that ends with the process and the conversation does not."""
    for item in items:
        _warn_of_memory(store)
        store.put(session_id, item.key, item.text)


async def aput(store: ColdStore, session_id: str, items: Iterable[ColdItem]) -> None:
    """`put` without blocking the event loop."""
    for item in items:
        _warn_of_memory(store)
        if isinstance(store, StoreColdStore):
            await store.aput(session_id, item.key, item.text)
        else:
            await asyncio.to_thread(store.put, session_id, item.key, item.text)


def _warn_of_memory(store: ColdStore) -> None:
    """Say that references will dangle after a restart, the first time that one is made which will."""
    with suppress(RuntimeError):  # outside of a run nothing is checkpointed
        saver = get_config().get("configurable", {}).get(CONFIG_KEY_CHECKPOINTER)
        if saver is not None and not isinstance(saver, InMemorySaver) and _in_memory(store):
            warnings.warn(
                f"{type(saver).__name__} keeps this conversation, but what its references stand for is kept in this "
                "process only and will be lost with it: give another store, such as SqliteColdStore('cold.sqlite')",
                stacklevel=2,
            )


def _in_memory(store: ColdStore) -> bool:
    """Tell whether what `store` holds ends with this process."""
    if isinstance(store, StoreColdStore):
        return type(store.base) is InMemoryStore  # what derives from it may well write to a disk
    return isinstance(store, SqliteColdStore) and store.path == MEMORY


async def aget(store: ColdStore, session_id: str, key: str) -> str | None:
    """`ColdStore.get` without blocking the event loop."""
    if isinstance(store, StoreColdStore):
        return await store.aget(session_id, key)
    return await asyncio.to_thread(store.get, session_id, key)


async def apurge(store: ColdStore, session_id: str) -> int:
    """`ColdStore.purge` without blocking the event loop."""
    if isinstance(store, StoreColdStore):
        return await store.apurge(session_id)
    return await asyncio.to_thread(store.purge, session_id)


def _label(name: str) -> str:
    """Return `name` as a namespace label, which may be neither empty nor hold a dot, nor be very long.

    Email addresses are common thread ids, and stores join labels with dots.
    """
    label = quote(name, safe="@:", errors="surrogatepass").replace(".", "%2E") or "%"
    if len(label) <= _LONGEST_LABEL:
        return label
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{label[:100]}%~{digest}"  # nothing that is quoted holds "%~"


def _text_of(item: Any) -> str | None:
    return json.loads(item.value["text"]) if isinstance(item, Item) else None
