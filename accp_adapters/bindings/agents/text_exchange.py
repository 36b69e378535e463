"""The texts that an agent waits for, kept in a store: any worker may take one, and a second run asks for none twice."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from functools import partial
from typing import Final

from accp_adapters.bindings.agents.context_messages import TextAnswer, TextWanted
from accp_adapters.remote import MAX_OPENED, AskedReference, PeerAnswer, ReferenceRequest
from accp_adapters.serving.off_loop import in_thread
from accp_core.bounded import SizedCache
from accp_core.error_codes import ErrorCode
from accp_core.errors import ProtocolError
from accp_core.ports import ColdStore
from accp_core.strict_json import compact_json

__all__ = ["TextExchange", "TextExchanges"]

MAX_WAITING_BYTES: Final = 64 << 20
"""Bytes of the texts that deliveries were given in this process; those of the oldest delivery are deleted."""
_POLL: Final = 0.5
"""Seconds between two looks at the store, where another worker may take the text."""


class TextExchanges:
    """The texts of all deliveries."""

    def __init__(self, store: ColdStore) -> None:
        """Keep texts in `store`, which all workers share."""
        self._store: Final = store
        self._running: Final[dict[str, TextExchange]] = {}
        self._given: Final[SizedCache[str, int]] = SizedCache(MAX_WAITING_BYTES)
        self._deleting: Final[set[asyncio.Future[int]]] = set()

    def __len__(self) -> int:
        """Return the number of deliveries that run in this process."""
        return len(self._running)

    def begin(self, scope: str) -> TextExchange:
        """Return the texts of a delivery that runs here from now on."""
        self._running[scope] = TextExchange(self._store, scope)
        return self._running[scope]

    async def take(self, scope: str, answer: TextAnswer) -> None:
        """Take what the master says, whichever worker runs the delivery.

        Raises:
            ProtocolError: E3001, no delivery waits for it; E2003, the delivery was given too much.
        """
        if await in_thread(partial(self._store.get, scope, f"wanted.{answer.number}")) is None:
            raise ProtocolError("expected a delivery that waits, found none", code=ErrorCode.TIMEOUT)
        size = len(answer.text.encode("utf-8", "surrogatepass")) + (self._given.pop(scope) or 0)
        if size > MAX_WAITING_BYTES:
            reason = f"expected texts of at most {MAX_WAITING_BYTES} bytes in a delivery, found {size}"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        for evicted, _ in self._given.put(scope, size, size):
            await in_thread(partial(self._store.purge, evicted))
        await in_thread(partial(self._store.put, scope, f"text.{answer.number}.{answer.piece}", answer.text))
        if answer.has_more:
            return
        refusal = None if answer.refusal is None else answer.to_json_refusal(answer.refusal)
        end = compact_json({"pieces": answer.piece + 1, "refusal": refusal})
        await in_thread(partial(self._store.put, scope, f"end.{answer.number}", end))
        if running := self._running.get(scope):
            running.arrived.set()

    def stop(self, scope: str) -> None:
        """Take the end of a run; another worker may go on with the delivery."""
        self._running.pop(scope, None)

    def forget(self, scope: str) -> None:
        """Delete the texts of a delivery that has its answer."""
        self._given.pop(scope)
        # The host cancels a handler whose answer is recorded, so nobody can wait for this.
        deleting = asyncio.ensure_future(in_thread(partial(self._store.purge, scope)))
        self._deleting.add(deleting)
        deleting.add_done_callback(self._deleting.discard)


class TextExchange:
    """The texts of one delivery."""

    def __init__(self, store: ColdStore, scope: str) -> None:
        """Keep them in `store` under `scope`."""
        self.arrived: Final = asyncio.Event()
        """Set when a text has arrived at this worker."""
        self._store: Final = store
        self._scope: Final = scope
        self._count = 0
        self._before: deque[TextWanted] = deque()

    async def wanted_before(self) -> list[TextWanted]:
        """Return what an earlier run, which was cut off, has waited for."""
        while (text := await self._get(f"wanted.{self._count}")) is not None:
            request = ReferenceRequest.from_payload(json.loads(text))
            self._before.append(TextWanted(number=self._count, request=request))
            self._count += 1
        return list(self._before)

    async def want(self, request: ReferenceRequest) -> tuple[TextWanted, bool]:
        """Return what is waited for, and whether the master is to be asked for it.

        Raises:
            ProtocolError: E2003, the agent has opened too much.
        """
        for wanted in self._before:
            if wanted.request.payload == request.payload:
                self._before.remove(wanted)
                return wanted, False
        if self._count >= MAX_OPENED:
            reason = f"expected an agent that opens at most {MAX_OPENED} references, found more"
            raise ProtocolError(reason, code=ErrorCode.BUDGET_EXCEEDED)
        wanted = TextWanted(number=self._count, request=request)
        self._count += 1
        await in_thread(partial(self._store.put, self._scope, f"wanted.{wanted.number}", compact_json(request.payload)))
        return wanted, True

    async def resolve(self, wanted: TextWanted, opened: AskedReference) -> None:
        """Give the agent its text as soon as that is there, or the master's refusal."""
        while (end := await self._get(f"end.{wanted.number}")) is None:
            self.arrived.clear()
            try:
                async with asyncio.timeout(_POLL):
                    await self.arrived.wait()
            except TimeoutError:
                continue
        found = json.loads(end)
        if refusal := found["refusal"]:
            opened.answer.set_exception(ProtocolError(refusal["reason"], code=refusal["code"]))
            return
        pieces = [await self._get(f"text.{wanted.number}.{piece}") or "" for piece in range(found["pieces"])]
        opened.answer.set_result(PeerAnswer("".join(pieces), wanted.request.query is not None))

    async def _get(self, key: str) -> str | None:
        return await in_thread(partial(self._store.get, self._scope, key))
